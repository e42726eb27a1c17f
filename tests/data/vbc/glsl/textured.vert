#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=1, binding=0) uniform Camera { mat4 mvp; vec4 tint; vec2 offset; } cam;
layout(location=0) in vec3 pos; layout(location=1) in vec2 uv; layout(location=0) out vec2 vuv;
void main() { gl_Position = cam.mvp * vec4(pos, 1.0); vuv = uv + cam.offset; }
