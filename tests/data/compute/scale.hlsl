// Multiplies the numbers of one buffer into another.
[[vk::binding(0)]] cbuffer Settings { float factor; };
[[vk::binding(1)]] StructuredBuffer<float> numbers;
[[vk::binding(2)]] RWStructuredBuffer<float> products;

[numthreads(4, 1, 1)]
void scale(uint3 id : SV_DispatchThreadID) {
    products[id.x] = numbers[id.x] * factor;
}
