struct Entry { weight: f32, offset: vec2f }
@group(0) @binding(0) var<uniform> entries: array<vec4f, 8>;
@group(0) @binding(1) var<uniform> turns: array<mat3x3f, 4>;
var<private> counter: f32 = 0.25;

fn bump(p: ptr<function, f32>, by: f32) -> f32 {
    *p += by;
    counter += 0.125;
    return *p * 0.5;
}

fn fill(list: ptr<function, array<Entry, 4>>, v: vec2f) {
    for (var i = 0u; i < 4u; i++) {
        (*list)[i].weight = f32(i) * 0.25;
        (*list)[i].offset = v * f32(i);
    }
}

@fragment
fn fs(@location(0) v: vec2f, @location(1) pick: f32) -> @location(0) vec4f {
    var list: array<Entry, 4>;
    fill(&list, v);
    let at = u32(abs(pick) * 1.9 + 0.1);
    list[at].weight += 0.5;
    var total = 0.125;
    let first = bump(&total, v.x);
    let turned = turns[at] * vec3f(v, 1.0);
    var m = mat2x2f(1.0, 0.0, 0.0, 1.0);
    m[1] = v;
    m[0][1] = entries[at + 2u].z;
    var grid: array<array<f32, 3>, 2>;
    grid[1][2] = v.y;
    grid[0][at % 2u] = v.x;
    let picked = list[3u - min(at, 3u)];
    return vec4f(first + picked.weight, turned.x * 0.25 + counter, (m * picked.offset).x + grid[0][1], grid[1][2] + entries[7].w);
}
