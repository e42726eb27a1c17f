/* Triangles of which two corners are outside several planes at once: how many pixels are covered, and their rectangle. */
#include "board.h"

int main(void)
{
    static unsigned char picture[SIZE * SIZE * 4];
    struct target target = start();
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    for (int number = 0; number < 64; number++) {
        float a[3], b[3];
        for (int axis = 0; axis < 3; axis++) {
            a[axis] = number >> axis & 1 ? 1.9f : -1.9f;
            b[axis] = number >> (axis + 3) & 1 ? 1.7f : -1.7f;
        }
        float corners[] = { 0.1f, 0.2f, 0.05f, a[0], a[1], a[2], b[0], b[1], b[2] };
        glClear(GL_COLOR_BUFFER_BIT);
        glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
        glEnableVertexAttribArray(0);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, picture);
        int count = 0, low[2] = { SIZE, SIZE }, high[2] = { -1, -1 };
        for (int at = 0; at < SIZE * SIZE; at++) {
            int place[2] = { at % SIZE, at / SIZE };
            if (picture[4 * at] < 128)
                continue;
            count++;
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = place[axis] < low[axis] ? place[axis] : low[axis];
                high[axis] = place[axis] > high[axis] ? place[axis] : high[axis];
            }
        }
        printf("%+.1f %+.1f %+.1f, %+.1f %+.1f %+.1f: %d pixels, %d,%d to %d,%d\n", a[0], a[1], a[2], b[0], b[1], b[2],
               count, low[0], low[1], high[0], high[1]);
    }
    close_target(&target);
    return 0;
}
