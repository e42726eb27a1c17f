#version 450
layout(vertices = 3) out;
layout(location = 0) in vec3 color[];
layout(location = 0) out vec3 corner[];
layout(location = 1) patch out float shade;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    corner[gl_InvocationID] = color[gl_InvocationID];
    shade = 0.75;
    gl_TessLevelOuter[0] = 4.0;
    gl_TessLevelOuter[1] = 4.0;
    gl_TessLevelOuter[2] = 4.0;
    gl_TessLevelInner[0] = 4.0;
}
