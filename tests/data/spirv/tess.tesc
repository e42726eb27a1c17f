#version 450
layout(vertices = 3) out;
layout(location = 0) in vec3 n[];
layout(location = 0) out vec3 on[];
layout(location = 3) patch out float weight;
void main() {
    on[gl_InvocationID] = n[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        gl_TessLevelOuter[0] = 3.0; gl_TessLevelOuter[1] = 4.0; gl_TessLevelOuter[2] = 5.0; gl_TessLevelInner[0] = 2.0;
        weight = 0.5;
    }
}
