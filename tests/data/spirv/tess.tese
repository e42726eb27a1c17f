#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 n[];
layout(location = 0) out vec3 on;
layout(location = 3) patch in float weight;
void main() {
    on = n[0] * gl_TessCoord.x + n[1] * gl_TessCoord.y + n[2] * gl_TessCoord.z * weight;
    gl_Position = gl_in[0].gl_Position + vec4(on, 0.0);
}
