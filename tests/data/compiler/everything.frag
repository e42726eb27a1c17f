#version 450
layout(location = 0) in vec4 v;
layout(location = 1) in vec2 uv;
layout(set = 0, binding = 0) uniform Block { vec4 k; float list[6]; vec3 axis; } block;
layout(location = 0) out vec4 color;

const float table[4] = float[4](0.125, 0.5, 0.25, 0.75);
const vec2 corners[3] = vec2[3](vec2(0.0), vec2(1.0, 0.0), vec2(0.5));

struct Ray { vec3 from; vec3 way; };

float fall(float x);

float step2(inout float total, in float x, out float last) {
    last = total;
    total += x;
    return total * 0.5;
}

Ray make(vec3 a) {
    return Ray(a, vec3(a.yz, 1.0));
}

float fall(float x) {
    return x <= 0.0 ? 0.0 : x / (1.0 + x);
}

void main() {
    float total = 0.25, last;
    float a = step2(total, v.x, last);
    Ray ray = make(v.xyz);
    int i = 0;
    do {
        total += table[i] * v.y;
        if (total > 2.0) break;
        i++;
    } while (i < 4);
    switch (int(abs(v.z) * 2.0 + 0.1)) {
    case 0:
        a += 0.5;
    case 1:
        a -= 0.125;
        break;
    case 2: {
        a *= 0.5;
        break;
    }
    default:
        a = 0.0;
    }
    mat3 m = mat3(1.0);
    m[2] = ray.way;
    vec3 moved = m * ray.from * inverse(mat3(2.0));
    bvec3 above = greaterThan(moved, vec3(0.1));
    if (any(above) && !all(above)) a += 0.0625;
    vec2 corner = corners[int(abs(v.w) + 0.2) % 3];
    float f = mod(abs(v.x) * 4.0 + 0.15, 1.5) + fall(v.y);
    color = vec4(a, last + f * 0.25, mix(moved, vec3(corner, 1.0), lessThan(moved, vec3(0.0))).x, block.list[i] + total * 0.125);
    color.zw += outerProduct(v.xy, uv)[1] * 0.25;
    color *= refract(vec3(0.0, 0.0, -1.0), vec3(0.0, 0.0, 1.0), 0.9).z * -1.0;
    if (uint(uv.x * 4.0 + 0.1) > 200u) discard;
}
