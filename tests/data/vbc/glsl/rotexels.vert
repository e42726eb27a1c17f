#version 450
#extension GL_EXT_samplerless_texture_functions : enable
layout(set=0, binding=7) uniform textureBuffer tf; layout(location=0) in vec4 p;
void main() { gl_Position = p + texelFetch(tf, 3); }
