#version 450
layout(location = 0) in mat3 basis;
layout(location = 4) centroid in vec4 c;
layout(location = 5) noperspective in float q;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform samplerCubeArray cube;
layout(set = 0, binding = 1) uniform sampler2DShadow shadow;
layout(set = 0, binding = 2) uniform usampler3D volume;
layout(set = 0, binding = 3) uniform samplerBuffer texels;
layout(set = 0, binding = 4) uniform sampler2DMS many;
void swap(inout float a, inout float b) { float t = a; a = b; b = t; }
mat3 spin(float a) { return mat3(cos(a), sin(a), 0, -sin(a), cos(a), 0, 0, 0, 1); }
void main() {
    mat3 m = inverse(spin(q)) * transpose(basis);
    float x = determinant(m), y = c.x;
    swap(x, y);
    uvec4 v = texelFetch(volume, ivec3(1, 2, 3), 0);
    vec4 sum = texture(cube, vec4(m[0], 1.0)) + vec4(texture(shadow, vec3(x, y, 0.5)));
    sum += texelFetch(texels, int(v.x)) + texelFetch(many, ivec2(0), 1) + textureGather(cube, vec4(m[1], 0.0));
    sum += vec4(textureSize(cube, 0), textureQueryLevels(volume)) + textureProjOffset(shadow, vec4(1), ivec2(1, -1));
    gl_FragDepth = isnan(x) || isinf(y) ? 0.0 : uintBitsToFloat(v.y);
    color = any(lessThan(sum, vec4(0))) ? sum.wzyx : ldexp(sum, ivec4(2));
}
