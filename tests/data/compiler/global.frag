precision mediump float;
varying vec2 v;
float total = 1.0; vec2 offset; const vec3 luma = vec3(0.299, 0.587, 0.114); const mat2 rot = mat2(0.8, -0.6, 0.6, 0.8);
const float scale = 2.0 * 3.0 / 4.0; const int count = int(scale) + 2;
float arr[count];
void add(float x) { total += x; offset = offset + vec2(x); }
void main() {
  for (int i = 0; i < count; i++) arr[i] = float(i) * v.x;
  add(v.x); add(arr[count - 1]);
  vec2 r = rot * v; r *= rot;
  vec3 col = vec3(r, total);
  gl_FragColor.rgb = vec3(dot(col, luma)); gl_FragColor.a = offset.x;
  if (v.x > 0.5) { gl_FragColor *= 0.5; return; }
  gl_FragColor += sqrt(abs(vec4(v, r))) * float(count);
}
