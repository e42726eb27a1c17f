#version 460
layout(set = 0, binding = 0) uniform texture2D picture;
layout(set = 0, binding = 1) uniform sampler smooth_sampler;
layout(set = 1, binding = 0) uniform textureCube sky;
layout(location = 0) in vec3 place;
layout(location = 0) out vec4 color;
void main() {
    vec4 a = texture(sampler2D(picture, smooth_sampler), place.xy);
    vec4 b = textureProj(sampler2D(picture, smooth_sampler), place);
    vec4 c = textureLod(samplerCube(sky, smooth_sampler), place, 0.0);
    vec4 d = texture(sampler2D(picture, smooth_sampler), place.xy, 1.0);
    float facing = gl_FrontFacing ? 1.0 : 0.5;
    color = (a + b + c + d) * 0.25 * facing + vec4(gl_FragCoord.xy * 0.001, gl_PointCoord.x, dFdx(place.z));
}
