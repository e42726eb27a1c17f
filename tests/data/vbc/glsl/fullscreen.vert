#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(location=0) out vec2 uv;
void main() { float x = float((gl_VertexIndex & 1) * 4) - 1.0; float y = float((gl_VertexIndex & 2) * 2) - 1.0; uv = vec2(x, y); gl_Position = vec4(x, y, 0.0, 1.0); }
