precision mediump float;
uniform samplerCube env; uniform sampler2D shadow, sampler; varying vec3 n; varying vec4 pos; uniform float inner, outer, texture, filters, commons, actives;
float pick(sampler2D s, vec2 at, float bias) { return texture2D(s, at, bias).r; }
vec4 around(samplerCube c, vec3 d) { return textureCube(c, d) + textureCube(c, d, 1.0); }
#define PI 3.14159
#define mad(a,b,c) ((a)*(b)+(c))
/* comment */ // another
void main() {
  vec4 a = texture2DProj(shadow, pos), b = texture2DProj(shadow, pos.xyw), c = texture2DProj(shadow, pos, 0.5);
  float s = pick(sampler, n.xy, 0.25) + pick(shadow, n.yz, -1.0);
  float x = mad(inner, outer, texture) + filters * commons - actives;
  gl_FragColor = around(env, n) + a + b + c + s + x * float(gl_FrontFacing) + gl_PointCoord.x + gl_FragCoord.z * PI + float(gl_MaxDrawBuffers) + 1e-2 + .5 + 3. + float(0x10) + float(010) + gl_DepthRange.far;
}
