@group(0) @binding(0) var<uniform> base: vec4i;
@group(0) @binding(1) var<uniform> table: array<vec4u, 6>;

@vertex
fn vs(@location(0) p: vec3f, @location(1) bone: vec4u, @builtin(vertex_index) number: u32)
    -> @builtin(position) vec4f {
    let high = (bone.x >> 2u) & 15u;
    let low = bone.y & 3u;
    let both = (high << 2u) + low;
    let whole = i32(p.x * 8.0 + 0.25);
    let quotient = whole / 3 - whole % 3;
    let sum = table[u32(abs(base.x)) % 6u].y + number;
    return vec4f(f32(both) * 0.125, f32(quotient), f32(sum) * 0.0625, 1.0 + f32(min(base.y, 3) - max(base.z, -2)) * 0.0);
}

@fragment
fn fs(@location(0) v: vec2f) -> @location(0) vec4f {
    let i = i32(v.x * 16.0 + 0.25);
    let odd = (i & 1) == 1;
    let n = u32(abs(v.y) * 8.0 + 0.2);
    let power = f32(1 << 3u) * 0.125;
    let t = f32(table[n % 6u].x) * 0.03125;
    return vec4f(select(0.25, 0.75, odd), f32(i / 4) * 0.125, f32(-i % 5) * 0.25 * power, t);
}
