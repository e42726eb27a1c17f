#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(set=2, binding=0, input_attachment_index=0) uniform subpassInput gcolor; layout(set=2, binding=1, input_attachment_index=1) uniform subpassInput gnormal; layout(location=0) out vec4 target;
void main() { target = subpassLoad(gcolor) * subpassLoad(gnormal); }
