#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) in vec3 pos; layout(location=1) in mat4 model; layout(location=5) in mat3 normal; layout(location=8) in mat2 uvm; layout(location=0) out vec4 c;
void main() { gl_Position = model * vec4(pos, 1.0); c = vec4(normal * pos, 1.0) + vec4(uvm * pos.xy, 0.0, 0.0); }
