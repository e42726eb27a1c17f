/* triangles FILE: many triangles with depth and culling, written as PNG. */
#include "../../tests/gles/check.h"
#include "png.h"

#define SIZE 128
#define COUNT 400

static unsigned seed = 1;

static float next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / (1 << 24);
}

int main(int count, char **arguments)
{
    static float corners[COUNT * 3][3], colors[COUNT * 3][4];
    static unsigned char pixels[SIZE * SIZE * 4];
    struct target target = open_target(SIZE, SIZE, 1);

    for (int number = 0; number < COUNT; number++) {
        float x = 2 * next() - 1, y = 2 * next() - 1, z = 2 * next() - 1;
        for (int corner = 3 * number; corner < 3 * number + 3; corner++) {
            corners[corner][0] = x + 0.4f * (next() - 0.5f);
            corners[corner][1] = y + 0.4f * (next() - 0.5f);
            corners[corner][2] = z + 0.3f * (next() - 0.5f);
            for (int channel = 0; channel < 4; channel++)
                colors[corner][channel] = next();
        }
    }
    program("attribute vec4 position, color; varying vec4 tint;"
            "void main() { gl_Position = vec4(position.xyz, 1.0 + 0.3 * position.z); tint = color; }",
            "precision mediump float; varying vec4 tint;"
            "void main() { if (tint.a < 0.2) discard; gl_FragColor = vec4(tint.rgb, 1.0); }");
    glClearColor(0.1f, 0.2f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, colors);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLES, 0, 3 * COUNT);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (count > 1 && !png_write(arguments[1], pixels, SIZE, SIZE)) {
        perror(arguments[1]);
        return 1;
    }
    close_target(&target);
    return 0;
}
