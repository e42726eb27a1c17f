struct Ring {
    color: vec4f,
    count: f32,
    time: f32,
}
@group(0) @binding(0) var<uniform> ring: Ring;

struct Varyings {
    @builtin(position) place: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn vertex(@location(0) position: vec2f) -> Varyings {
    return Varyings(vec4f(position, 0.0, 1.0), position);
}

@fragment
fn fragment(in: Varyings) -> @location(0) vec4f {
    let away = length(in.at);
    let wave = 0.5 + 0.5 * cos(6.2832 * (away * ring.count - ring.time));
    return vec4f(ring.color.rgb * wave * smoothstep(1.0, 0.9, away), 1.0);
}
