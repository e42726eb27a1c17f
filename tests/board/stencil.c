/* Which bits of the stencil are written: by draws with a mask, by clears with a mask, by both faces. */
#include "board.h"

/* The stencil of the middle, found by comparing it with every value there is. */
static int stencil(void)
{
    glStencilMask(0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    for (int value = 0; value < 256; value++) {
        unsigned char color[4];
        glDisable(GL_STENCIL_TEST);
        glUniform4f(uniform("tint"), 0, 0, 0, 1);
        rectangle(-1, -1, 1, 1, 0);
        glEnable(GL_STENCIL_TEST);
        glStencilFunc(GL_EQUAL, value, 0xff);
        glUniform4f(uniform("tint"), 1, 1, 1, 1);
        rectangle(-1, -1, 1, 1, 0);
        read_pixel(SIZE / 2, SIZE / 2, color);
        if (color[0] > 127)
            return value;
    }
    return -1;
}

static void clear_to(int value, int mask)
{
    glStencilMask(mask);
    glClearStencil(value);
    glClear(GL_STENCIL_BUFFER_BIT);
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
    close_target(&target);
    return 0;
}
