#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 out_uv;
layout(location = 1) flat out int id;
layout(set = 1, binding = 0, std140) uniform Camera { mat4 view; mat4 proj; vec4 tint[3]; float scale; } camera;
layout(push_constant) uniform Push { vec4 offset; uint flags; } push;
void main() {
    vec4 p = vec4(position * camera.scale, 1.0) + push.offset;
    if ((push.flags & 1u) != 0u) p.xy = -p.yx;
    gl_Position = camera.proj * camera.view * p + camera.tint[gl_VertexIndex % 3];
    gl_PointSize = 2.0;
    out_uv = uv;
    id = gl_InstanceIndex;
}
