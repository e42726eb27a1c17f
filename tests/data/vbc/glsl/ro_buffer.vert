#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) in vec3 pos; layout(location=1) in vec3 normal; layout(location=0) out vec3 n;
void main() { gl_Position = vec4(pos, 1.0); n = normal; }
