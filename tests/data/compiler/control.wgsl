@group(0) @binding(0) var<uniform> steps: vec4f;
const LIMIT: i32 = 7;
const WEIGHTS = array<f32, 5>(0.0625, 0.25, 0.375, 0.25, 0.0625);
override UNUSED: f32 = 1.0;

fn classify(x: f32) -> i32 {
    if x < -0.5 { return 0; }
    if x < 0.0 { return 1; }
    if x < 0.5 { return 2; }
    return 3;
}

@fragment
fn fs(@location(0) v: vec2f) -> @location(0) vec4f {
    var color = vec4f(0.0, 0.0, 0.0, 1.0);
    switch classify(v.x) {
        case 0: { color.r = 1.0; }
        case 1, 2: { color.g = 0.5; }
        default: { color.b = v.y; }
    }
    var n = 0;
    loop {
        if n >= LIMIT { break; }
        if f32(n) > steps.x * 4.0 { break; }
        color.r += 0.125;
        continuing {
            n += 1;
        }
    }
    var k: u32 = 5u;
    while k > 0u {
        k--;
        if k == 2u { continue; }
        color.g += WEIGHTS[k] * v.y;
    }
    loop {
        color.b *= 0.5;
        continuing {
            n -= 1;
            break if n <= 0;
        }
    }
    let chosen = select(v, v.yx, v > vec2f(0.25));
    if all(chosen > vec2f(0.0)) || any(v < vec2f(-0.75)) {
        color.a = 0.5;
    }
    if v.y > 0.9375 { discard; }
    return color;
}
