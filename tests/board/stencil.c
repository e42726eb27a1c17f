/* Which bits of the stencil are written: by draws with a mask, by clears with a mask, by both faces, and by counting. */
#include "board.h"

/* The stencil of the middle, found bit by bit. */
static int stencil(void)
{
    int value = 0;
    glStencilMask(0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    for (int bit = 1; bit < 256; bit *= 2) {
        unsigned char color[4];
        glDisable(GL_STENCIL_TEST);
        glUniform4f(uniform("tint"), 0, 0, 0, 1);
        rectangle(-1, -1, 1, 1, 0);
        glEnable(GL_STENCIL_TEST);
        glStencilFunc(GL_EQUAL, bit, bit);
        glUniform4f(uniform("tint"), 1, 1, 1, 1);
        rectangle(-1, -1, 1, 1, 0);
        read_pixel(SIZE / 2, SIZE / 2, color);
        if (color[0] > 127)
            value |= bit;
    }
    return value;
}

static void clear_to(int value, int mask)
{
    glStencilMask(mask);
    glClearStencil(value);
    glClear(GL_STENCIL_BUFFER_BIT);
}

/* Results of an operation on stencils under a partial mask. */
static void count(const char *name, GLenum operation, int mask)
{
    const int before[] = { 0x00, 0x01, 0x03, 0x04, 0x07, 0x2f, 0x30, 0x7f, 0xf8, 0xff };
    printf("%s with mask %#04x:", name, mask);
    for (unsigned at = 0; at < sizeof before / sizeof *before; at++) {
        clear_to(before[at], 0xff);
        glEnable(GL_STENCIL_TEST);
        glStencilMask(mask);
        glStencilFunc(GL_ALWAYS, 0, 0xff);
        glStencilOp(operation, operation, operation);
        rectangle(-1, -1, 1, 1, 0);
        printf(" %#04x-%#04x", before[at], stencil());
    }
    printf("\n");
}

int main(void)
{
    struct target target = start();
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    const int masks[] = { 0x00, 0x01, 0x0f, 0x3c, 0xaa, 0xf0, 0xff };
    for (unsigned at = 0; at < sizeof masks / sizeof *masks; at++) {
        clear_to(0x55, 0xff);
        glEnable(GL_STENCIL_TEST);
        glStencilMask(masks[at]);
        glStencilFunc(GL_ALWAYS, 0xcc, 0xff);
        glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
        rectangle(-1, -1, 1, 1, 0);
        int drawn = stencil();
        clear_to(0x55, 0xff);
        clear_to(0xcc, masks[at]);
        int cleared = stencil();
        clear_to(0x55, 0xff);
        glEnable(GL_STENCIL_TEST);
        glStencilMaskSeparate(GL_FRONT, masks[at]);
        glStencilMaskSeparate(GL_BACK, 0xff & ~masks[at]);
        glStencilFunc(GL_ALWAYS, 0xcc, 0xff);
        glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
        rectangle(-1, -1, 1, 1, 0);
        int front = stencil();
        clear_to(0x55, 0xff);
        glEnable(GL_STENCIL_TEST);
        glStencilMaskSeparate(GL_FRONT, masks[at]);
        glStencilMaskSeparate(GL_BACK, 0xff & ~masks[at]);
        glStencilFunc(GL_ALWAYS, 0xcc, 0xff);
        glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
        rectangle(1, -1, -1, 1, 0);
        printf("0xcc over 0x55 with mask %#04x: draw %#04x, clear %#04x, front %#04x, back %#04x\n", masks[at], drawn,
               cleared, front, stencil());
    }
    const int parts[] = { 0x02, 0x04, 0x0f, 0x28, 0xf0, 0xfe, 0xff };
    for (unsigned at = 0; at < sizeof parts / sizeof *parts; at++) {
        count("increment", GL_INCR, parts[at]);
        count("decrement", GL_DECR, parts[at]);
        count("increment and wrap", GL_INCR_WRAP, parts[at]);
        count("decrement and wrap", GL_DECR_WRAP, parts[at]);
        count("invert", GL_INVERT, parts[at]);
    }
    close_target(&target);
    return 0;
}
