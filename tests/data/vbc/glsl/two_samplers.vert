#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) in vec2 pos; layout(location=0) out vec2 uv;
void main() { gl_Position = vec4(pos, 0.0, 1.0); uv = pos * 0.5 + vec2(0.5, 0.5); }
