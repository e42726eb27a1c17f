precision mediump float;
varying vec4 v; uniform bool flag; uniform bvec3 flags; uniform ivec2 n; uniform mat2 m2; uniform mat4 mm[2];
const int N = 3;
void f(out vec3 o, inout vec2 p, in float q) { o = vec3(p, q); p *= q; if (q > 0.5) return; o.z = 0.0; }
float g() { return v.x; }
float rec(float x) { return x * 2.0; }
vec2 g(vec2 a) { return a.yx; }
int h(int a) { return a / 2 + a * 3 - 1; }
bool both(bvec2 b) { return all(b) ^^ any(not(b)); }
void main() {
  vec3 o; vec2 p = v.zw;
  f(o, p, g());
  mat3 r = mat3(o, o.zxy, vec3(1.0)); r[0][2] = 3.0; r *= 2.0; r = r * mat3(m2[0].x); 
  vec3 q = matrixCompMult(r, r)[1];
  int a = h(int(v.x * 10.0)), b = a;
  a += b++; --a; b *= -a;
  float z = flag ? float(b) : (flags.y ? 1.0 : 0.5), w;
  w = z = clamp(z + 1.0, -20.0, 20.0);
  do { z -= 1.0; if (z < -3.0) continue; } while (z > 0.0);
  for (;;) { if (w > 8.0) break; w += 2.5; }
  int k = 0; while (k < N) { k++; o += float(k); }
  for (float t = 0.0; t < 1.0; t += 0.25) q += t;
  vec4 c = vec4(both(lessThan(p, vec2(0.5))), z, w, 1.0);
  c.zyx = o; c.xy += g(p).xy; c[1] *= 0.5; c = mm[1] * c * mm[0];
  c += vec4(notEqual(ivec2(a, b), n), equal(v.xy, v.yx)) ;
  c.rg = vec2(ivec2(c.st)); { float c = 2.0; q.x += c; }
  gl_FragColor = vec4(reflect(q, o), 1.0) + c * vec4(faceforward(o, q, o), refract(q, o, 0.5).x) + (p, v);
  gl_FragColor.a = mod(gl_FragColor.r, 2.0) + acos(v.x) + asin(v.y) + atan(v.z) + atan(v.x, v.w) + sign(v.x) + step(0.2, v.y) + inversesqrt(v.x) + radians(v.x) + degrees(v.y) + tan(v.x) + log(v.x) + exp(v.y);
}
