#version 450
layout(local_size_x = 64) in;
layout(constant_id = 3) const int COUNT = 7;
layout(constant_id = 4) const float GAIN = -0.5;
struct Item { vec3 at; float mass; uint tags[4]; };
layout(std430, set = 0, binding = 0) buffer Items { uint count; Item items[]; } data;
layout(std430, set = 0, binding = 1) readonly buffer Other { float values[]; } other;
shared float cache[64];
void main() {
    uint i = gl_GlobalInvocationID.x;
    cache[gl_LocalInvocationIndex] = other.values[i] * GAIN;
    barrier();
    memoryBarrierShared();
    if (i < data.items.length()) {
        float m = 0.0;
        int k = 0;
        while (k < COUNT) { m += cache[(gl_LocalInvocationIndex + uint(k)) % 64u]; k++; }
        data.items[i].mass = m;
        data.items[i].at = normalize(cross(data.items[i].at, vec3(0, 1, 0)));
        data.items[i].tags[i & 3u] ^= bitfieldReverse(i) | uint(bitCount(i)) << 3;
        atomicAdd(data.count, 1u);
    }
}
