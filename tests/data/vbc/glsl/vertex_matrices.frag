#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) out vec4 target; layout(location=0) in vec4 c;
void main() { target = c; }
