precision mediump float;
varying vec3 tint;
uniform float bright;

void main() {
    vec3 light = tint * bright;
    if (light.x > 0.25) {
        light = sqrt(light);
    }
    gl_FragColor = vec4(light, 1.0);
}
