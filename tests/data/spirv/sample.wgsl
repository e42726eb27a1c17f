@group(0) @binding(0) var tex: texture_2d<f32>;
@group(0) @binding(1) var smp: sampler;
@group(0) @binding(2) var depth: texture_depth_2d;
@group(0) @binding(3) var cmp: sampler_comparison;
@group(0) @binding(4) var dst: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(5) var stack: texture_2d_array<u32>;
@fragment fn fs(@location(0) uv: vec2<f32>, @location(1) @interpolate(flat) layer: i32) -> @location(0) vec4<f32> {
    let a = textureSample(tex, smp, uv) + textureSampleBias(tex, smp, uv, 0.5, vec2<i32>(1, -1));
    let b = textureSampleCompare(depth, cmp, uv, 0.25) + textureSampleGrad(tex, smp, uv, dpdx(uv), dpdy(uv)).x;
    let c = textureLoad(stack, vec2<i32>(uv * vec2<f32>(textureDimensions(stack))), layer, 0);
    textureStore(dst, vec2<i32>(uv), a);
    if b < 0.0 { discard; }
    return a * b + vec4<f32>(c) + textureGather(1, tex, smp, uv);
}
