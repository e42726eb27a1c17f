/* Wide lines at the border of the viewport: which rows of each column are covered. */
#include "board.h"

static void columns(const char *name, GLenum mode, const float *corners, int count)
{
    static unsigned char picture[SIZE * SIZE * 4];
    glClear(GL_COLOR_BUFFER_BIT);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(mode, 0, count);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, picture);
    printf("%s\n", name);
    for (int x = 0; x < SIZE; x++) {
        printf(" %d:", x);
        for (int y = 0, from = -1; y <= SIZE; y++) {
            int covered = y < SIZE && picture[4 * (y * SIZE + x)] > 127;
            if (covered && from < 0)
                from = y;
            if (!covered && from >= 0) {
                printf("%d-%d,", from, y - 1);
                from = -1;
            }
        }
    }
    printf("\n");
}

int main(void)
{
    struct target target = start();
    const float out_of_the_side[] = { -0.9f, -0.3f, 1.1f, -0.9f };
    const float beside[] = { -0.8f, -1.1f, 0.8f, -1.05f };
    const float steep[] = { 0.9f, -1.2f, 1.05f, 1.2f };
    const float bent[] = { -0.9f, -0.3f, 1.1f, -0.9f, 0.7f, -0.1f, 0.11f, 0.2f };
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    glClearColor(0, 0, 0, 1);
    glLineWidth(25);
    columns("a line out of the side", GL_LINES, out_of_the_side, 2);
    columns("the same as a strip", GL_LINE_STRIP, out_of_the_side, 2);
    columns("a line whose middle is outside", GL_LINES, beside, 2);
    columns("the same as a strip", GL_LINE_STRIP, beside, 2);
    columns("a steep line through the corner", GL_LINES, steep, 2);
    columns("the same as a strip", GL_LINE_STRIP, steep, 2);
    columns("a bent strip", GL_LINE_STRIP, bent, 4);
    close_target(&target);
    return 0;
}
