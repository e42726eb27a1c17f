// An index outside of an array: WGSL says that nothing outside of it comes, here it is the nearest element.
@group(0) @binding(0) var<uniform> before: vec4f;
@group(0) @binding(1) var<uniform> list: array<vec4f, 4>;
@group(0) @binding(2) var<uniform> after: vec4f;

@fragment
fn fs(@location(0) v: vec4f) -> @location(0) vec4f {
    let far = abs(after.x) + 9.0;
    let past = list[u32(far)];
    let low = list[i32(before.y * 0.125) - 3];
    var local = array<vec4f, 6>(before, v, after, v.wzyx, v.yyxx, after);
    return past + low * 0.5 + local[i32(far + v.x)];
}
