struct Params { count: u32, step: f32, matrix: mat3x3<f32>, }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> hits: atomic<u32>;
var<workgroup> tile: array<f32, 16>;
fn collatz(start: u32) -> u32 {
    var n = start; var i = 0u;
    loop {
        if n <= 1u { break; }
        if n % 2u == 0u { n = n / 2u; } else { n = 3u * n + 1u; }
        continuing { i++; break if i > 100u; }
    }
    return i;
}
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    tile[l] = f32(collatz(g.x)) * params.step;
    workgroupBarrier();
    switch g.x & 3u { case 0u: { out[g.x] = vec4(tile[15u - l]); } case 1u, 2u: { out[g.x].y = -1.5e-3; } default: { atomicAdd(&hits, 1u); } }
    let v = params.matrix * vec3(1.0, 2.0, f32(params.count));
    out[g.x] = select(vec4(v, length(v)), out[g.x], all(v > vec3(0.0)));
}
