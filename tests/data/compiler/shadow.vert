attribute vec2 quad; uniform vec2 size; varying vec2 taps[7]; uniform mat4 tm; varying mat3 tbn; attribute vec4 tangent; attribute vec3 normal;
void main() { vec2 uv = quad * .5 + .5; for (int i = 0; i < 7; i++) taps[i] = uv + (float(i) - 3.) / size;
 vec3 b = cross(normal, tangent.xyz) * tangent.w; tbn = mat3(tangent.xyz, b, normal); gl_Position = tm * vec4(quad, 0, 1); }
