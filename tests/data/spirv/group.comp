#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer B { uint v[]; } b;
void main() {
    uint x = b.v[gl_GlobalInvocationID.x];
    uint s = subgroupAdd(x) + subgroupInclusiveMul(x);
    uvec4 ballot = subgroupBallot(x > 3u);
    if (subgroupElect()) b.v[0] = s + subgroupBallotBitCount(ballot);
    b.v[1] = subgroupShuffle(x, gl_SubgroupInvocationID ^ 1u);
}
