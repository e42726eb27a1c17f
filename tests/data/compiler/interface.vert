#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 tint;
layout(set = 0, binding = 0, std140) uniform Block {
    mat4 view;
    vec4 offsets[4];
    mat2x3 narrow;
    mat3 turn;
    float time;
} block;
layout(push_constant) uniform Push { vec4 scale; int index; } push;
layout(location = 0) out vec4 color;
layout(location = 1) out vec2 uv;
layout(location = 2) out float fog;

void main() {
    vec3 turned = block.turn * position;
    gl_Position = block.view * vec4(turned, 1.0) * push.scale.x + block.offsets[clamp(push.index, 0, 3)];
    gl_PointSize = 2.0 + block.time;
    color = tint * push.scale;
    uv = position * block.narrow;
    fog = exp(-length(turned));
}
