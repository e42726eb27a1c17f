/* stencil FILE [SIZE]: a stencil, lines, points, a scissor and a texture drawn to before, written as PNG. */
#include "../../tests/gles/check.h"
#include "png.h"

static void draw(GLenum mode, const float *corners, int count, float red, float green, float blue)
{
    glUniform4f(uniform("tint"), red, green, blue, 1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(mode, 0, count);
}

int main(int count, char **arguments)
{
    static const float diamond[] = { 0, 0.9f, -0.9f, 0, 0.9f, 0, 0, -0.9f };
    static const float all[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
    static float rays[64][2], dots[40][2];
    int size = count > 2 ? atoi(arguments[2]) : 128;
    unsigned char *pixels = malloc(4 * (size_t)size * size);
    struct target target = open_target(size, size, 1);
    GLuint image, frame, plain, textured;

    if (!pixels)
        die("no memory");
    for (int ray = 0; ray < 32; ray++) {
        rays[2 * ray + 1][0] = -1 + ray / 16.0f;
        rays[2 * ray + 1][1] = ray % 2 ? 1 : -1;
    }
    for (int dot = 0; dot < 40; dot++) {
        dots[dot][0] = -0.95f + dot * 0.048f;
        dots[dot][1] = 0.6f - (dot * dot % 17) * 0.07f;
    }
    plain = program("attribute vec4 position; void main() { gl_Position = position; gl_PointSize = 5.0; }",
                    "precision mediump float; uniform vec4 tint; void main() { gl_FragColor = tint; }");
    glGenTextures(1, &image);
    glBindTexture(GL_TEXTURE_2D, image);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image, 0);
    glViewport(0, 0, 16, 16);
    glClearColor(0.2f, 0.1f, 0.5f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    draw(GL_TRIANGLE_STRIP, diamond, 4, 0.9f, 0.8f, 0.1f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, size, size);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    draw(GL_TRIANGLE_STRIP, diamond, 4, 0.1f, 0.3f, 0.2f);
    glStencilFunc(GL_EQUAL, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    textured = program("attribute vec4 position; varying vec2 at;"
                       "void main() { gl_Position = position; at = position.xy * 1.5; }",
                       "precision mediump float; uniform sampler2D image; uniform vec4 tint; varying vec2 at;"
                       "void main() { gl_FragColor = texture2D(image, at) * tint; }");
    draw(GL_TRIANGLE_STRIP, all, 4, 1, 0.7f, 0.8f);
    glUseProgram(plain);
    glStencilFunc(GL_NOTEQUAL, 1, 0xff);
    glLineWidth(2);
    draw(GL_LINES, &rays[0][0], 64, 0.3f, 0.6f, 1);
    glDisable(GL_STENCIL_TEST);
    glEnable(GL_SCISSOR_TEST);
    glScissor(size / 8, size / 4, size / 2, size / 2);
    draw(GL_POINTS, &dots[0][0], 40, 1, 1, 1);
    glReadPixels(0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (count > 1 && !png_write(arguments[1], pixels, size, size)) {
        perror(arguments[1]);
        return 1;
    }
    glDeleteProgram(textured);
    close_target(&target);
    free(pixels);
    return 0;
}
