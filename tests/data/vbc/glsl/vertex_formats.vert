#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) in int i1; layout(location=1) in ivec2 i2; layout(location=2) in ivec3 i3; layout(location=3) in ivec4 i4;
layout(location=4) in uint u1; layout(location=5) in uvec2 u2; layout(location=6) in uvec3 u3; layout(location=7) in uvec4 u4;
layout(location=8) in float f1; layout(location=9) in vec2 f2; layout(location=10) in vec3 f3; layout(location=11) in vec4 f4; layout(location=0) out vec4 c;
void main() { gl_Position = vec4(f2, f1, 1.0); c = vec4(float(i1 + i2.x + i3.y + i4.z), float(u1 + u2.x + u3.y + u4.z), f3.x, f4.w); }
