#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer B { double d; int64_t l; uint64_t u; float16_t h; int16_t s; int8_t c; } b;
void main() {
    b.d = b.d * 3.141592653589793 + 1e-310 - 1e300;
    b.l = b.l * -9223372036854775807l + 5l;
    b.u = b.u ^ 0xfedcba9876543210ul;
    b.h = b.h * float16_t(0.333) + float16_t(1e-7);
    b.s = b.s + int16_t(-7);
    b.c = int8_t(b.c - int8_t(100));
    b.d = sqrt(b.d) + double(b.l);
}
