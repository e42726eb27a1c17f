#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=1, binding=0) uniform U { float a; vec2 b; vec3 c; vec4 d; int e; ivec3 f; uvec2 g; mat2 m2; mat3 m3; mat4 m4; float arr[5]; vec3 arr3[2]; mat3x4 m34; } u;
layout(location=0) in vec2 pos;
void main() { gl_Position = u.m4 * vec4(pos * u.b, u.a, 1.0); }
