#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=0, binding=0) uniform sampler2D a; layout(set=0, binding=5) uniform sampler2D b;
layout(location=0) out vec4 target; layout(location=0) in vec2 uv;
void main() { target = mix(texture(a, uv), texture(b, uv), 0.25); }
