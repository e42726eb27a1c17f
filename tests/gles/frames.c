/* frames NUMBER: draws frames, with objects created and destroyed; prints every hundredth and waits for a line of input. */
#include "check.h"
#include <unistd.h>

static const char vertex[] = "attribute vec4 position; varying vec2 at;"
                             "void main() { gl_Position = position; at = position.xy; }";
static const char fragment[] = "precision mediump float; uniform sampler2D image; uniform vec4 tint; varying vec2 at;"
                               "void main() { gl_FragColor = texture2D(image, at) + tint; }";

int main(int count, char **arguments)
{
    int frames = count > 1 ? atoi(arguments[1]) : 100;
    int waits = count > 2;
    struct target target = open_target(64, 64, 1);
    GLuint name = program(vertex, fragment);
    static unsigned char texels[32 * 32 * 4];
    begin("frames");
    for (int frame = 1; frame <= frames; frame++) {
        GLuint image, buffer;
        memset(texels, frame & 0x7f, sizeof texels);
        glGenTextures(1, &image);
        glBindTexture(GL_TEXTURE_2D, image);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glGenBuffers(1, &buffer);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        static const float corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
        glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(0);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glUniform4f(uniform("tint"), 0.25f, 0, 0, 0);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        if (frame % 10 == 0) {
            int value = frame & 0x7f;
            pixel(17, 40, value + 64, value, value, value, 2);
        } else {
            glFlush();
        }
        glDeleteBuffers(1, &buffer);
        glDeleteTextures(1, &image);
        eglSwapBuffers(target.display, target.surface);
        if (frame % 100 == 0) {
            char line[10];
            glFinish();
            printf("frame %d\n", frame);
            fflush(stdout);
            if (waits && !fgets(line, sizeof line, stdin))
                die("no reply");
        }
    }
    glDeleteProgram(name);
    close_target(&target);
    return summary();
}
