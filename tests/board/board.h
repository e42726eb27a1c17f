/* Shared by the board programs: numbers read back from a small target. They print results without checking them,
 * once on a board and once on the emulator (`skrymir gles -- PROGRAM`), and the two outputs are compared. */
#ifndef BOARD_H
#define BOARD_H

#include "../gles/check.h"

#define SIZE 64

static inline void read_pixel(int x, int y, unsigned char color[4])
{
    glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, color);
}

static inline void print_pixel(const char *what, int x, int y)
{
    unsigned char color[4];
    read_pixel(x, y, color);
    printf("%s: %d %d %d %d\n", what, color[0], color[1], color[2], color[3]);
}

static inline struct target start(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct target target = open_target(SIZE, SIZE, 1);
    printf("%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
    return target;
}

#endif
