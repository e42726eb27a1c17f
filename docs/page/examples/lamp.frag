// A ball under a lamp: a branch that not every pixel takes.
precision mediump float;
varying vec2 at;
uniform vec3 color;
uniform vec2 lightPos;
uniform float shine;

void main() {
    float inside = 1.0 - dot(at, at);
    if (inside < 0.0) {
        gl_FragColor = vec4(0.08, 0.09, 0.11, 1.0);
        return;
    }
    vec3 normal = vec3(at, sqrt(inside));
    vec3 light = normalize(vec3(lightPos, 0.7));
    float diffuse = max(dot(normal, light), 0.0);
    float glow = pow(max(reflect(-light, normal).z, 0.0), 4.0 + 60.0 * shine);
    gl_FragColor = vec4(color * (0.1 + 0.9 * diffuse) + glow * shine, 1.0);
}
