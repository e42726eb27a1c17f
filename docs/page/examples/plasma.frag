precision mediump float;
varying vec2 at;
uniform float time;
uniform float scale;
uniform vec3 tint;

void main() {
    vec2 p = (at - 0.5) * 8.0 * scale;
    float wave = sin(p.x + time) + sin(0.5 * (p.y + time));
    vec2 c = p + 2.0 * vec2(sin(0.3 * time), cos(0.5 * time));
    wave += sin(length(c) + time);
    vec3 color = 0.5 + 0.5 * sin(wave * vec3(1.0, 1.3, 1.7) + vec3(0.0, 2.0, 4.0));
    gl_FragColor = vec4(color * tint, 1.0);
}
