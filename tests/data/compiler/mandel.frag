precision highp float; uniform vec2 center; uniform float zoom; varying vec2 p;
vec3 hsv(float h) { vec3 k = fract(vec3(h) + vec3(1.0, 2.0/3.0, 1.0/3.0)) * 6.0 - 3.0; return clamp(abs(k) - 1.0, 0.0, 1.0); }
void main() { vec2 z = vec2(0.0), c = p * zoom + center; int it = 0;
  for (int i = 0; i < 100; i++) { if (dot(z, z) > 4.0) break; z = vec2(z.x*z.x - z.y*z.y, 2.0*z.x*z.y) + c; it = i; }
  gl_FragColor = it == 99 ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(hsv(float(it) / 100.0), 1.0); }
