#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) out vec4 target; layout(location=0) in vec2 uv;
void main() { target = vec4(uv, 0.5, 1.0); }
