// Drop a picture on the texture at the right.
precision mediump float;
varying vec2 at;
uniform sampler2D stone;
uniform float time;
uniform float height;

void main() {
    vec2 wave = 0.02 * height * vec2(sin(20.0 * at.y + 2.0 * time), cos(17.0 * at.x + 1.5 * time));
    vec4 texel = texture2D(stone, at + wave);
    gl_FragColor = vec4(texel.rgb * (0.8 + 10.0 * (wave.x + wave.y) * vec3(0.6, 0.9, 1.0)), 1.0);
}
