#version 100
#extension GL_OES_standard_derivatives : enable
#define HIGHP highp
#if defined(GL_FRAGMENT_PRECISION_HIGH) && (GL_FRAGMENT_PRECISION_HIGH == 1)
precision highp float;
#else
precision mediump float;
#endif
#define ITER 4
#define SAMPLE(t, c) texture2D(t, (c))
uniform lowp sampler2D tex0; uniform lowp float alpha; uniform highp mat3 m;
varying highp vec2 v_texcoord;
varying lowp vec4 v_color;
lowp vec4 over(lowp vec4 a, lowp vec4 b) { return a + b * (1.0 - a.a); }
void main(void)
{
    lowp vec4 sum = vec4(0);
    for (int i = -ITER; i <= ITER; ++i) {
        vec2 off = vec2(float(i)) * 0.01;
        sum += SAMPLE(tex0, v_texcoord + off) / float(2*ITER+1);
    }
    vec3 p = m * vec3(v_texcoord, 1.);
    float edge = fwidth(p.x);
    float cover = smoothstep(.5 - edge, .5 + edge, length(p.xy));
    gl_FragColor = over(sum * v_color, vec4(cover)) * alpha;
    if (gl_FragColor.a < 0.01) discard;
}
