#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in vec3 color[];
layout(location = 0) out vec3 tint;
// The triangle at half its size, twice: moved left as it is, moved right with its colour turned.
void main() {
    for (int copy = 0; copy < 2; copy++) {
        for (int i = 0; i < 3; i++) {
            gl_Position = vec4(gl_in[i].gl_Position.xy * 0.5 + vec2(copy == 0 ? -0.5 : 0.5, 0.0), 0.0, 1.0);
            tint = copy == 0 ? color[i] : color[i].brg;
            EmitVertex();
        }
        EndPrimitive();
    }
}
