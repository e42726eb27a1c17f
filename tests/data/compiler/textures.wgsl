@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@group(0) @binding(2) var sky: texture_cube<f32>;
@group(1) @binding(0) var<uniform> offset: vec2f;

@fragment
fn fs(@builtin(position) at: vec4f, @builtin(front_facing) front: bool, @location(0) uv: vec2f, @location(1) way: vec3f)
    -> @location(0) vec4f {
    let plain = textureSample(picture, smooth_sampler, uv);
    let moved = textureSampleBias(picture, smooth_sampler, uv + offset, -0.5);
    let level = textureSampleLevel(picture, smooth_sampler, uv * 2.0, 1.0);
    let around = textureSample(sky, smooth_sampler, normalize(way));
    let edge = fwidth(uv.x) + dpdx(uv.y) + dpdyFine(uv.y) + dpdxCoarse(uv.x);
    let side = select(0.25, 0.5, front);
    return plain * moved + level * 0.25 + around * side + vec4f(edge, fract(at.x * 0.125), at.z, at.w * 0.0);
}
