#version 450
#extension GL_EXT_samplerless_texture_functions : enable
layout(set=0, binding=7) uniform textureBuffer tf; layout(set=0, binding=8) uniform itextureBuffer ti; layout(set=0, binding=9) uniform utextureBuffer tu; layout(location=0) out vec4 color;
void main() { color = texelFetch(tf, 0) + vec4(texelFetch(ti, 1)) + vec4(texelFetch(tu, 2)); }
