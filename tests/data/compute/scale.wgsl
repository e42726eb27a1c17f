// Multiplies the numbers of one buffer into another.
struct Settings { factor: f32 }
@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> numbers: array<f32>;
@group(0) @binding(2) var<storage, read_write> products: array<f32>;
override extra: f32 = 0.0;

@compute @workgroup_size(4)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    products[id.x] = numbers[id.x] * settings.factor + extra;
}
