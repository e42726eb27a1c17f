#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D tex;
layout(set = 0, binding = 1) uniform texture2D plain;
layout(set = 0, binding = 2) uniform sampler smp;
layout(set = 0, binding = 3, rgba8) uniform image2D img;
float noise(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 8; ++i) {
        if (i == 5) continue;
        vec2 at = uv + vec2(noise(uv + float(i)), float(i) * -0.125);
        sum += texture(tex, at) + textureLod(sampler2D(plain, smp), at, 1.5);
        if (sum.a > 4.0) break;
    }
    switch (int(gl_FragCoord.x) & 3) {
        case 0: sum.r = dFdx(sum.g); break;
        case 1: sum.g = fwidth(sum.b);
        case 2: sum.b += 1e-20; break;
        default: discard;
    }
    imageStore(img, ivec2(gl_FragCoord.xy), sum);
    color = clamp(mix(sum, imageLoad(img, ivec2(0)), 0.25), 0.0, 1.0);
}
