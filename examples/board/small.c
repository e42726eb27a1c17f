/* small FILE: one triangle on 16x16 pixels, written as PNG: the least that makes a job of each kind. */
#include "../../tests/gles/check.h"
#include "png.h"

#define SIZE 16

int main(int count, char **arguments)
{
    static const float corners[] = { -0.9f, -0.8f, 0.9f, -0.6f, 0.1f, 0.9f };
    static unsigned char pixels[SIZE * SIZE * 4];
    struct target target = open_target(SIZE, SIZE, 1);

    program("attribute vec4 position; varying vec2 at; void main() { gl_Position = position; at = position.xy; }",
            "precision mediump float; varying vec2 at; void main() { gl_FragColor = vec4(0.5 + 0.5 * at, 1.0, 1.0); }");
    glClear(GL_COLOR_BUFFER_BIT);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (count > 1 && !png_write(arguments[1], pixels, SIZE, SIZE)) {
        perror(arguments[1]);
        return 1;
    }
    close_target(&target);
    return 0;
}
