attribute vec4 position;
attribute vec3 color;
varying vec3 tint;

void main() {
    gl_Position = position;
    tint = color * 0.5;
}
