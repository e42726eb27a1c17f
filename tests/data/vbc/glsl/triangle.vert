#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) in vec2 pos; layout(location=1) in vec3 color; layout(location=0) out vec3 vcolor;
void main() { gl_Position = vec4(pos, 0.0, 1.0); vcolor = color; }
