//! Compiling GLSL and HLSL with glslang.

use std::path::Path;
use translate::frontend::{self, Dialect, Settings, Stage, Text};

/// Any text is a module, or an error with a message. A text with a version is treated as GLSL, others as HLSL.
pub fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let dialect = match text.contains("#version") {
        true => Dialect::Glsl,
        false => Dialect::Hlsl,
    };
    let stage = match text {
        _ if text.contains("numthreads") || text.contains("local_size") => Stage::Compute,
        _ if text.contains("gl_Position") || text.contains("SV_Position") => Stage::Vertex,
        _ => Stage::Fragment,
    };
    let text = Text::new(text, Path::new(""), dialect, stage, Settings::NONE);
    let errors = [
        frontend::spirv(&text).err(),
        frontend::judge(&[text]).err(),
        frontend::preprocess(&text).err(),
    ];
    for error in errors.into_iter().flatten() {
        assert!(!error.to_string().is_empty(), "an error without words");
    }
}

/// Initial texts.
pub fn seeds() -> Vec<Vec<u8>> {
    let glsl = "#version 450\nlayout(set = 0, binding = 0) uniform U { mat4 m; vec4 k[3]; } u;\n\
        layout(binding = 1) uniform sampler2D t;\nlayout(location = 0) in vec2 v;\nlayout(location = 0) out vec4 c;\n\
        float f(inout float x, vec2 y) { x += 1.0; return dot(y, v) / x; }\n\
        void main() { float x = u.k[1].x; for (int i = 0; i < 3; i++) { if (x > 2.0) break; x *= u.k[i].y; }\n\
        c = texture(t, v.yx) * f(x, v) + u.m[2]; }\n";
    let compute = "#version 460\n#define N 8\nlayout(local_size_x = N) in;\nshared uint s[N];\n\
        layout(std430, binding = 0) buffer B { uint a[]; } b;\n\
        void main() { uint i = gl_LocalInvocationIndex; s[i] = b.a[i]; barrier(); atomicAdd(b.a[0], s[N - 1u - i]); }\n";
    let hlsl = "cbuffer C : register(b0) { float4x4 m; float4 k[3]; };\nTexture2D t : register(t0);\n\
        SamplerState s : register(s0);\nstruct V { float4 p : SV_Position; float2 u : TEXCOORD0; };\n\
        V main(float3 p : POSITION, float2 u : TEXCOORD0) { V v; v.p = mul(m, float4(p, 1)); v.u = u * k[1].xy;\n\
        [unroll] for (int i = 0; i < 3; ++i) v.u += k[i].zw; return v; }\n\
        float4 ps(V v) : SV_Target { return t.Sample(s, v.u) + float4((float3)k[0].x, 1.0); }\n";
    let kernel = "RWStructuredBuffer<uint2> b : register(u0);\ngroupshared uint g[8];\n\
        [numthreads(8, 1, 1)] void main(uint3 id : SV_DispatchThreadID, uint i : SV_GroupIndex) {\n\
        g[i] = b[id.x].x; GroupMemoryBarrierWithGroupSync(); uint old; InterlockedAdd(b[0].y, g[7 - i], old); }\n";
    [glsl, compute, hlsl, kernel]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}
