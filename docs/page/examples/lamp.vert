attribute vec2 position;
varying vec2 at;

void main() {
    at = position * 1.2;
    gl_Position = vec4(position, 0.0, 1.0);
}
