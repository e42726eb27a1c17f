#version 100
#define LIGHTS 4
#pragma optimize(on)
invariant gl_Position;
invariant varying vec4 color;
attribute vec4 a_position; attribute vec3 a_normal; attribute vec2 a_uv0, a_uv1; attribute mat4 a_model; attribute float a_index;
struct L { vec4 pos; vec3 spot; float cutoff, exponent; };
uniform L lights[LIGHTS]; uniform int count; uniform mat4 bones[8]; uniform mat3 normalMatrix; uniform vec4 fog;
varying vec2 uv[2]; varying float vfog;
vec3 one(int i, vec3 p, vec3 n) {
  vec3 d = lights[i].pos.xyz - p * lights[i].pos.w;
  float l = length(d); d /= l;
  float s = dot(-d, lights[i].spot);
  if (s < lights[i].cutoff) return vec3(0.0);
  return vec3(pow(s, lights[i].exponent) * max(dot(n, d), 0.0)) / (1.0 + l * l);
}
void main() {
  mat4 b = bones[int(a_index)];
  vec4 p = b * a_model * a_position; vec3 n = normalize(normalMatrix * mat3(b) * a_normal);
  vec3 sum = vec3(0.1);
  for (int i = 0; i < LIGHTS; i++) { if (i >= count) break; sum += one(i, p.xyz, n); }
  color = vec4(sum, 1.0);
  for (int i = 0; i < 2; ++i) uv[i] = (i == 0 ? a_uv0 : a_uv1) * fog.xy + fog.zw;
  vfog = clamp((fog.y - abs(p.z)) / (fog.y - fog.x), 0.0, 1.0);
  gl_Position = p; gl_PointSize = max(1.0, 10.0 / p.w);
}
