/* Zero times infinity, infinity minus infinity, and NaN in min and max, in both processors: the result is zero, the other
 * operand, the largest number, or NaN. Plus quotients near integers. */
#include "board.h"

/* Classifies a value by colour: red if it equals itself, green if it is greater than 60,000, blue if it is zero. */
#define CLASSIFY "vec4 classify(float x) { return vec4(x == x ? 1.0 : 0.0, x > 60000.0 ? 1.0 : 0.0, x == 0.0 ? 1.0 : 0.0, 1.0); }\n"

#define FRAGMENT(value) "precision mediump float;\nuniform vec4 tint;\n" CLASSIFY "void main() { gl_FragColor = classify(" value "); }\n"

#define VERTEX(value) \
    "attribute vec4 position;\nuniform vec4 tint;\nvarying vec4 result;\n" CLASSIFY \
    "void main() { gl_Position = position; result = classify(" value "); }\n"

#define PASS "precision mediump float;\nvarying vec4 result;\nvoid main() { gl_FragColor = result; }\n"

/* tint is 0, 1, 3 and 100. */
#define ROWS(row) \
    row("1/0", "1.0 / tint.x") \
    row("0 * (1/0)", "tint.x * (1.0 / tint.x)") \
    row("0 / 0", "tint.x / tint.x") \
    row("1/0 - 1/0", "1.0 / tint.x - tint.y / tint.x") \
    row("max(3, 0/0)", "max(tint.z, -(tint.x / tint.x)) - 3.0") \
    row("max(0/0, 3)", "max(-(tint.x / tint.x), tint.z) - 3.0") \
    row("min(3, 0/0)", "min(tint.z, -(tint.x / tint.x)) - 3.0") \
    row("min(0/0, 3)", "min(-(tint.x / tint.x), tint.z) - 3.0") \
    row("max(3, inf - inf)", "max(tint.z, 1.0 / tint.x - tint.y / tint.x) - 3.0") \
    row("floor(100 / 100) - 1", "floor(tint.w / tint.w) - 1.0") \
    row("ceil(100 / 100) - 1", "ceil(tint.w / tint.w) - 1.0") \
    row("floor(3 / 3) - 1", "floor(tint.z / tint.z) - 1.0") \
    row("ceil(3 / 3) - 1", "ceil(tint.z / tint.z) - 1.0") \
    row("pow(0, 0)", "pow(tint.x, tint.x)") \
    row("exp2(0 * log2(0))", "exp2(tint.x * log2(tint.x))")

static void draw(const char *what, const char *vertex, const char *fragment)
{
    static const float corners[] = { -1, -1, 3, -1, -1, 3 };
    program(vertex, fragment);
    glUniform4f(uniform("tint"), 0, 1, 3, 100);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    print_pixel(what, 8, 8);
}

int main(void)
{
    struct target target = start();
    printf("a number, large, zero:\n");
#define IN_FRAGMENT(what, value) draw("fragment " what, PLAIN_VERTEX, FRAGMENT(value));
    ROWS(IN_FRAGMENT)
#define IN_VERTEX(what, value) draw("vertex " what, VERTEX(value), PASS);
    ROWS(IN_VERTEX)
    close_target(&target);
    return 0;
}
