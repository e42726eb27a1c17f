#version 450
#extension GL_EXT_scalar_block_layout : enable
struct Light { vec3 dir; float power; vec4 color; };
layout(set=0, binding=3, std430) readonly buffer Lights { Light data[]; } lights;
layout(location=0) out vec4 target; layout(location=0) in vec3 n;
void main() { vec4 acc = vec4(0.0, 0.0, 0.0, 1.0);
for (int i = 0; i < 4; i++) { acc += lights.data[i].color * (max(dot(n, lights.data[i].dir), 0.0) * lights.data[i].power); }
target = acc; }
