precision mediump float;
uniform sampler2D layers[3];
uniform vec4 weights[3];
varying vec2 uv;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 3; i++) sum += texture2D(layers[i], uv) * weights[i];
    gl_FragColor = sum + texture2D(layers[2], uv * 0.5, 1.0);
}
