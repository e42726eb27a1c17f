#version 450
layout(location = 0) in vec3 shade;
layout(location = 1) in vec2 place;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D picture;
void main() { color = vec4(shade, 1.0) * texture(picture, place); }
