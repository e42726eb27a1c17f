#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=1, binding=0) uniform Camera { mat4 mvp; vec4 tint; vec2 offset; } cam;
layout(set=0, binding=0) uniform sampler2D albedo; layout(location=0) out vec4 target; layout(location=0) in vec2 vuv;
void main() { target = texture(albedo, vuv) * cam.tint; }
