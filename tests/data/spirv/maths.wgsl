@group(0) @binding(0) var<storage, read_write> v: array<vec4<f32>, 8>;
@group(0) @binding(1) var<storage, read_write> n: array<vec2<i32>, 8>;
@compute @workgroup_size(1, 2, 4) fn main() {
    v[0] = sin(v[1]) + cos(v[2]) * tan(v[3]) - pow(abs(v[4]), v[5]) / exp2(v[6]) + log(v[7]);
    v[1] = vec4(dot(v[0], v[1]), distance(v[2], v[3]), smoothstep(0.0, 1.0, v[4].x), mix(1.0, 2.0, v[5].y));
    v[2] = vec4(reflect(v[0].xyz, v[1].xyz), fma(v[2].x, 2.0, -0.0)) + round(v[6]) + trunc(v[7]) + sign(v[0]);
    n[0] = (n[1] << vec2(3u)) ^ (n[2] >> vec2(1u)) | ~n[3];
    n[1] = vec2(firstLeadingBit(n[4].x), countOneBits(n[5].y)) + max(n[6], min(n[7], vec2(-2147483647)));
    n[2] = vec2(extractBits(n[0].x, 3u, 5u), insertBits(n[0].y, n[1].x, 2u, 4u)) % vec2(7) ;
    n[3] = vec2<i32>(bitcast<vec2<i32>>(v[3].xy)) + vec2<i32>(v[4].zw);
    v[3] = unpack4x8unorm(pack4x8snorm(v[3]));
    let f = frexp(v[4].x); v[5] = vec4(f.fract, f32(f.exp), modf(v[6].y).whole, 0.0);
}
