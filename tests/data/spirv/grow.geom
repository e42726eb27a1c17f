#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in vec2 uv[];
layout(location = 0) out vec2 out_uv;
void main() {
    for (int copy = 0; copy < 2; copy++) {
        for (int i = 0; i < 3; i++) {
            gl_Position = gl_in[i].gl_Position + vec4(float(copy), 0, 0, 0);
            out_uv = uv[i];
            gl_Layer = copy;
            EmitVertex();
        }
        EndPrimitive();
    }
}
