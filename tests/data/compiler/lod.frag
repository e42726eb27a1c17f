#extension GL_EXT_shader_texture_lod : require
precision highp float;
uniform sampler2D t; uniform samplerCube c; varying vec2 u;
void main() { gl_FragColor = texture2DLodEXT(t, u, 2.0) + textureCubeLodEXT(c, vec3(u, 1.0), 1.0) + texture2DProjLodEXT(t, vec3(u, 2.0), 0.0); }
