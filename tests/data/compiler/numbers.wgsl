@group(0) @binding(0) var<uniform> u: vec4f;

@fragment
fn fs(@location(0) v: vec4f) -> @location(0) vec4f {
    let a = clamp(v, vec4f(-1.0), vec4f(1.0));
    let b = saturate(v.x) + step(0.1, v.y) + smoothstep(0.0, 1.0, v.z);
    let c = mix(a.xy, a.zw, 0.25) + fract(abs(v.xy) * 2.0 + 0.3) * 0.125;
    let d = length(v.xyz) + distance(v.xy, u.xy) * 0.25;
    let e = reflect(a.xyz, vec3f(0.0, 1.0, 0.0)) + cross(a.xyz, u.xyz);
    let f = pow(abs(v.w) + 0.5, 1.5) + exp2(v.x) * 0.25 + log2(abs(v.y) + 1.0);
    let g = sign(v.x) * floor(v.y * 3.0 + 0.05) + ceil(v.z - 0.04) + trunc(v.w * 2.0 + 0.03);
    let h = sin(v.x) + cos(v.y) * tan(v.z * 0.5);
    let i = fma(v.x, v.y, v.z) + inverseSqrt(abs(v.w) + 0.25) + sqrt(abs(v.x));
    let j = degrees(v.x * 0.01) + radians(v.y * 50.0);
    let k = atan2(v.y, abs(v.x) + 0.5) + asin(v.x * 0.5) - acos(v.y * 0.5) + atan(v.z);
    let m = mat2x2f(v.xy, v.zw);
    let n = determinant(m) + (transpose(m) * v.xy).y + (v.zw * m).x;
    return vec4f(b + c.x + d, e.x + f * 0.25 + g * 0.125, h + i + e.y, j + k + n + c.y) * 0.25;
}
