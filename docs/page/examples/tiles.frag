#version 450
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform Block {
    vec4 light;
    vec4 dark;
    float gap;
};

void main() {
    vec2 cell = floor(at);
    vec2 edge = abs(fract(at) - 0.5);
    float odd = mod(cell.x + cell.y, 2.0);
    float inside = step(max(edge.x, edge.y), 0.5 - 0.1 * gap);
    color = vec4(mix(light.rgb, 0.4 * dark.rgb, odd) * inside, 1.0);
}
