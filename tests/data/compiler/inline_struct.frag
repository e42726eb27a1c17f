#ifdef GL_ES
precision mediump float;
#endif
uniform struct Fog { vec3 color; float density; } fog;
struct Material { vec4 ambient, diffuse; float shine; };
uniform Material materials[2];
varying float depth; varying vec3 n;
vec4 apply(const in Material m, float d) { return m.ambient + m.diffuse * pow(d, m.shine); }
void main() {
    float d = max(dot(normalize(n), vec3(0.0, 0.0, 1.0)), 0.0);
    vec4 c = apply(materials[0], d) + apply(materials[1], d * 0.5);
    gl_FragColor = vec4(mix(fog.color, c.rgb, clamp(exp(-fog.density * depth), 0.0, 1.0)), c.a);
}
