#version 450
layout(location = 0) in vec2 position;
layout(location = 0) out vec3 color;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    color = vec3(gl_VertexIndex == 0, gl_VertexIndex == 1, gl_VertexIndex == 2);
}
