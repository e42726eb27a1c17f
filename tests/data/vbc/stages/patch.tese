#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 corner[];
layout(location = 1) patch in float shade;
layout(location = 0) out vec3 color;
void main() {
    vec3 t = gl_TessCoord;
    vec2 p = t.x * gl_in[0].gl_Position.xy + t.y * gl_in[1].gl_Position.xy + t.z * gl_in[2].gl_Position.xy;
    gl_Position = vec4(p, 0.0, 1.0);
    color = shade * (t.x * corner[0] + t.y * corner[1] + t.z * corner[2]);
}
