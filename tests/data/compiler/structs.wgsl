struct Light { position: vec3f, power: f32, color: vec4f }
struct Scene { view: mat4x4f, lights: array<Light, 3>, count: i32, ambient: vec3<f32> }
@group(0) @binding(0) var<uniform> scene: Scene;

struct Vertex { @location(0) position: vec3f, @location(1) normal: vec3f, @location(2) uv: vec2f }
struct Varyings {
    @builtin(position) place: vec4f,
    @location(0) normal: vec3f,
    @location(1) @interpolate(perspective) uv: vec2f,
    @location(2) world: vec3f,
}

@vertex
fn vs(in: Vertex) -> Varyings {
    var out: Varyings;
    out.place = scene.view * vec4f(in.position, 1.0);
    out.normal = in.normal;
    out.uv = in.uv;
    out.world = in.position;
    return out;
}

fn lit(light: Light, normal: vec3f, at: vec3f) -> vec3f {
    let way = light.position - at;
    let near = light.power / (1.0 + dot(way, way));
    return max(dot(normalize(normal), normalize(way)), 0.0) * near * light.color.rgb;
}

@fragment
fn fs(in: Varyings) -> @location(0) vec4f {
    var sum = scene.ambient;
    for (var i = 0; i < scene.count && i < 3; i++) {
        sum += lit(scene.lights[i], in.normal, in.world);
    }
    return vec4f(sum, 1.0);
}
