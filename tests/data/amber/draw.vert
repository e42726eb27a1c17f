#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 shade;
layout(location = 1) out vec2 place;
layout(set = 0, binding = 0) uniform Block { vec4 tint; vec2 offset; };
void main() {
    gl_Position = vec4(position + offset, 0.5, 1.0);
    shade = color * tint.rgb;
    place = position;
}
