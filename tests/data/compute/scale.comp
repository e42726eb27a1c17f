#version 450
// Multiplies the numbers of one buffer into another, and paints where each group was.
layout(local_size_x = 4) in;
layout(constant_id = 3) const uint EXTRA = 0;
layout(binding = 0) uniform Settings { float factor; };
layout(binding = 1) readonly buffer From { float from[]; };
layout(binding = 2) buffer To { float to[]; };
layout(binding = 3, rgba8) uniform writeonly image2D picture;

void main() {
    uint at = gl_GlobalInvocationID.x;
    to[at] = from[at] * factor + float(EXTRA);
    imageStore(picture, ivec2(gl_WorkGroupID.x, 0), vec4(1.0, 0.5, 0.0, 1.0));
}
