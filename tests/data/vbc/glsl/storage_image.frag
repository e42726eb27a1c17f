#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=0, binding=0, rgba32f) uniform image2D dst; layout(set=0, binding=1, rgba8) uniform image2D tone;
layout(set=0, binding=2, r32i) uniform iimage1D hist; layout(set=0, binding=4, r32ui) uniform uimage3D vox; layout(location=0) out vec4 target;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); vec4 v = imageLoad(tone, p); imageStore(dst, p, v * 2.0);
imageStore(hist, p.x, ivec4(3)); imageStore(vox, ivec3(p, 0), uvec4(9u)); target = v; }
