/* Features of an OpenGL ES 2 driver and its GPU: each section draws and checks pixels. */
#include "check.h"
#include <math.h>
#include <poll.h>
#include <unistd.h>

#define SIZE 64

static void clear(float red, float green, float blue, float alpha)
{
    glClearColor(red, green, blue, alpha);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
}

static void tint(float red, float green, float blue, float alpha)
{
    glUniform4f(uniform("tint"), red, green, blue, alpha);
}

static void clears(void)
{
    begin("clear");
    clear(0.25f, 0.5f, 0.75f, 1.0f);
    pixel(0, 0, 64, 128, 191, 255, 1);
    pixel(SIZE - 1, SIZE - 1, 64, 128, 191, 255, 1);

    begin("clear in the scissor");
    glEnable(GL_SCISSOR_TEST);
    glScissor(10, 20, 30, 7);
    clear(1, 0, 0, 0);
    glDisable(GL_SCISSOR_TEST);
    pixel(10, 20, 255, 0, 0, 0, 0);
    pixel(39, 26, 255, 0, 0, 0, 0);
    pixel(9, 20, 64, 128, 191, 255, 1);
    pixel(10, 19, 64, 128, 191, 255, 1);
    pixel(40, 26, 64, 128, 191, 255, 1);
    pixel(39, 27, 64, 128, 191, 255, 1);

    begin("clear of some channels");
    glColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
    clear(0, 1, 0, 0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    pixel(0, 0, 64, 255, 191, 0, 1);
    no_error();
}

static void triangle(void)
{
    static const float corners[] = { -1, -1, 1, -1, -1, 1 };
    static const float colors[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    begin("triangle");
    program("attribute vec4 position; attribute vec3 color; varying vec3 c;"
            "void main() { gl_Position = position; c = color; }",
            "precision mediump float; varying vec3 c; void main() { gl_FragColor = vec4(c, 1.0); }");
    clear(0, 0, 0, 1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, colors);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    pixel(0, 0, 251, 2, 2, 255, 3);
    pixel(SIZE - 3, 0, 8, 245, 2, 255, 4);
    pixel(0, SIZE - 3, 8, 2, 245, 255, 4);
    pixel(SIZE / 4, SIZE / 4, 124, 65, 65, 255, 4);
    pixel(SIZE - 1, SIZE - 1, 0, 0, 0, 255, 0);

    begin("triangle from buffers, with indices");
    GLuint buffers[2];
    static const GLushort numbers[] = { 9, 2, 0, 1 };
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof numbers, numbers, GL_STATIC_DRAW);
    clear(0, 0, 0, 1);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, (void *)2);
    pixel(SIZE / 4, SIZE / 4, 124, 65, 65, 255, 4);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDeleteBuffers(2, buffers);
    glDisableVertexAttribArray(1);
    glVertexAttrib3f(1, 0, 1, 1);
    begin("constant attribute");
    rectangle(-1, -1, 1, 1, 0);
    pixel(5, 5, 0, 255, 255, 255, 0);
    no_error();
}

static void culling(void)
{
    begin("cull");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    tint(1, 1, 1, 1);
    glEnable(GL_CULL_FACE);
    rectangle(-1, -1, 0, 1, 0); /* counter-clockwise: the front */
    pixel(10, 10, 255, 255, 255, 255, 0);
    glCullFace(GL_FRONT);
    rectangle(0, -1, 1, 1, 0);
    pixel(50, 10, 0, 0, 0, 255, 0);
    glFrontFace(GL_CW);
    rectangle(0, -1, 1, 1, 0);
    pixel(50, 10, 255, 255, 255, 255, 0);
    glFrontFace(GL_CCW);
    glCullFace(GL_BACK);
    glDisable(GL_CULL_FACE);
    no_error();
}

static void depth(void)
{
    begin("depth");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    glEnable(GL_DEPTH_TEST);
    clear(0, 0, 0, 1);
    tint(1, 0, 0, 1);
    rectangle(-1, -1, 0.5f, 1, 0.0f);
    tint(0, 1, 0, 1);
    rectangle(-0.5f, -1, 1, 1, 0.5f);
    pixel(8, 32, 255, 0, 0, 255, 0);
    pixel(32, 32, 255, 0, 0, 255, 0);
    pixel(56, 32, 0, 255, 0, 255, 0);
    begin("depth, another function");
    glDepthFunc(GL_GREATER);
    tint(0, 0, 1, 1);
    rectangle(-1, -1, 1, 1, 0.25f);
    pixel(8, 32, 0, 0, 255, 255, 0);
    pixel(56, 32, 0, 255, 0, 255, 0);
    begin("depth survives a read-back");
    glDepthFunc(GL_EQUAL);
    tint(1, 1, 0, 1);
    rectangle(-1, -1, 1, 1, 0.25f);
    pixel(8, 32, 255, 255, 0, 255, 0);
    pixel(56, 32, 0, 255, 0, 255, 0);
    begin("depth is not written");
    glDepthFunc(GL_LESS);
    clear(0, 0, 0, 1);
    glDepthMask(GL_FALSE);
    tint(1, 0, 0, 1);
    rectangle(-1, -1, 1, 1, -0.5f);
    glDepthMask(GL_TRUE);
    tint(0, 1, 0, 1);
    rectangle(-1, -1, 1, 1, 0.5f);
    pixel(32, 32, 0, 255, 0, 255, 0);
    begin("polygon offset");
    clear(0, 0, 0, 1);
    tint(1, 0, 0, 1);
    rectangle(-1, -1, 1, 1, 0.5f);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(0, -8);
    tint(0, 1, 0, 1);
    rectangle(-1, -1, 0, 1, 0.5f);
    glPolygonOffset(0, 8);
    rectangle(0, -1, 1, 1, 0.5f);
    glDisable(GL_POLYGON_OFFSET_FILL);
    pixel(10, 10, 0, 255, 0, 255, 0);
    pixel(50, 10, 255, 0, 0, 255, 0);
    glDisable(GL_DEPTH_TEST);
    no_error();
}

static void stencil(void)
{
    begin("stencil");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 3, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    rectangle(-0.5f, -0.5f, 0.5f, 0.5f, 0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glStencilFunc(GL_EQUAL, 3, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    tint(0, 1, 0, 1);
    rectangle(-1, -1, 1, 1, 0);
    pixel(32, 32, 0, 255, 0, 255, 0);
    pixel(8, 8, 0, 0, 0, 255, 0);
    glStencilFunc(GL_EQUAL, 4, 0xff);
    tint(0, 0, 1, 1);
    rectangle(-1, -1, 1, 1, 0);
    pixel(32, 32, 0, 0, 255, 255, 0);
    pixel(8, 8, 0, 0, 0, 255, 0);
    glDisable(GL_STENCIL_TEST);
    no_error();
}

static void blending(void)
{
    begin("blend");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0.5f, 0.5f, 0.5f, 0.5f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    tint(1, 0, 0, 0.25f);
    rectangle(-1, -1, 0, 0, 0);
    pixel(8, 8, 159, 95, 95, 111, 2);
    glBlendFunc(GL_ONE, GL_ONE);
    tint(0.25f, 0.75f, 0, 0.5f);
    rectangle(0, -1, 1, 0, 0);
    pixel(56, 8, 191, 255, 128, 255, 2);
    glBlendFunc(GL_DST_COLOR, GL_ZERO);
    tint(0.5f, 1, 0, 1);
    rectangle(-1, 0, 0, 1, 0);
    pixel(8, 56, 64, 128, 0, 128, 2);
    glBlendEquation(GL_FUNC_REVERSE_SUBTRACT);
    glBlendFunc(GL_ONE, GL_ONE);
    tint(0.25f, 0.125f, 1, 0);
    rectangle(0, 0, 1, 1, 0);
    pixel(56, 56, 64, 96, 0, 128, 2);
    glBlendEquation(GL_FUNC_ADD);
    begin("blend with a constant");
    clear(0, 0, 0, 0);
    glBlendColor(0.5f, 0.25f, 1, 0.75f);
    glBlendFunc(GL_CONSTANT_COLOR, GL_ZERO);
    tint(1, 1, 0.5f, 1);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 128, 64, 128, 191, 2);
    glDisable(GL_BLEND);
    no_error();
}

#include "textures.h"

static void framebuffers(void)
{
    begin("framebuffer object");
    GLuint frame, image = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE), depth;
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(1, &depth);
    glBindRenderbuffer(GL_RENDERBUFFER, depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, 32, 16);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
    check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "not complete");
    glViewport(0, 0, 32, 16);
    glEnable(GL_DEPTH_TEST);
    clear(0, 0, 1, 1);
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    tint(1, 0.5f, 0, 1);
    rectangle(-1, -1, 0, 0, 0);
    tint(0, 1, 0, 1);
    rectangle(-1, -1, 1, 0, 0.5f);
    glDisable(GL_DEPTH_TEST);
    pixel(3, 3, 255, 128, 0, 255, 1);
    pixel(28, 3, 0, 255, 0, 255, 0);
    pixel(3, 12, 0, 0, 255, 255, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, SIZE, SIZE);

    begin("framebuffer object as a texture");
    clear(0, 0, 0, 0);
    program(textured, sampled);
    rectangle(-1, -1, 1, 1, 0);
    pixel(6, 12, 255, 128, 0, 255, 1);
    pixel(56, 12, 0, 255, 0, 255, 0);
    pixel(6, 50, 0, 0, 255, 255, 0);

    begin("framebuffer object of 16 bits");
    GLuint color;
    glGenRenderbuffers(1, &color);
    glBindRenderbuffer(GL_RENDERBUFFER, color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGB565, 20, 20);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "not complete");
    glDisable(GL_DITHER);
    clear(1, 0.5f, 0, 1);
    glEnable(GL_DITHER);
    pixel(19, 19, 255, 130, 0, 255, 4);

    begin("copy from a framebuffer");
    glBindTexture(GL_TEXTURE_2D, image);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 0, 0, 16, 16, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    clear(0, 0, 0, 0);
    program(textured, sampled);
    rectangle(-1, -1, 1, 1, 0);
    pixel(30, 30, 255, 130, 0, 255, 4);
    glDeleteFramebuffers(1, &frame);
    glDeleteRenderbuffers(1, &color);
    glDeleteRenderbuffers(1, &depth);
    glDeleteTextures(1, &image);
    no_error();
}

static void points(void)
{
    begin("points");
    program("attribute vec4 position; uniform float size;"
            "void main() { gl_Position = position; gl_PointSize = size; }",
            "precision mediump float; void main() { gl_FragColor = vec4(gl_PointCoord, 1.0, 1.0); }");
    clear(0, 0, 0, 0);
    static const float at[] = { -0.5f, -0.5f, 0.5f, 0.5f };
    glUniform1f(uniform("size"), 16);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, at);
    glDrawArrays(GL_POINTS, 0, 2);
    pixel(16, 16, 136, 120, 255, 255, 6);
    pixel(9, 9, 24, 231, 255, 255, 6);
    pixel(22, 22, 231, 24, 255, 255, 6);
    pixel(48, 48, 136, 120, 255, 255, 6);
    pixel(6, 16, 0, 0, 0, 0, 0);
    pixel(16, 26, 0, 0, 0, 0, 0);
    no_error();
}

static void lines(void)
{
    begin("lines");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    tint(1, 1, 1, 1);
    static const float across[] = { -1, 1 / 64.0f, 1, 1 / 64.0f };
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, across);
    glDrawArrays(GL_LINES, 0, 2);
    pixel(10, 32, 255, 255, 255, 255, 0);
    pixel(60, 32, 255, 255, 255, 255, 0);
    pixel(10, 34, 0, 0, 0, 255, 0);
    pixel(10, 30, 0, 0, 0, 255, 0);
    begin("wide lines");
    static const float up[] = { 0, -1, 0, 1 };
    glLineWidth(6);
    tint(0, 1, 0, 1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, up);
    glDrawArrays(GL_LINES, 0, 2);
    glLineWidth(1);
    pixel(30, 10, 0, 255, 0, 255, 0);
    pixel(33, 50, 0, 255, 0, 255, 0);
    pixel(27, 10, 0, 0, 0, 255, 0);
    pixel(37, 10, 0, 0, 0, 255, 0);
    no_error();
}

static void shaders(void)
{
    begin("uniforms and arithmetic");
    program("attribute vec4 position; uniform mat4 turn; varying vec4 v;"
            "void main() { gl_Position = turn * position; v = vec4(sin(position.x), cos(position.y), position.xy); }",
            "precision mediump float; uniform float list[4]; varying vec4 v;"
            "void main() { gl_FragColor = vec4(list[0] + list[3], sqrt(list[1]), max(v.x, 0.5), v.y * v.y); }");
    static const float quarter[] = { 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    static const float list[] = { 0.25f, 0.25f, 9, 0.5f };
    glUniformMatrix4fv(uniform("turn"), 1, GL_FALSE, quarter);
    glUniform1fv(uniform("list"), 4, list);
    clear(0, 0, 0, 0);
    rectangle(-1, -0.125f, 1, 0.125f, 0);
    pixel(32, 10, 191, 128, 128, 251, 3);
    pixel(32, 60, 191, 128, 191, 251, 3);
    pixel(10, 32, 0, 0, 0, 0, 0);

    begin("branches, loops and discard");
    program(textured,
            "precision mediump float; uniform int rounds; varying vec2 at;"
            "void main() { float sum = 0.0; for (int i = 0; i < 10; i++) { if (float(i) > at.x * 10.0) break; sum += 0.1; }"
            "if (at.y > 0.5) discard; gl_FragColor = vec4(sum, at.x > 0.5 ? 1.0 : 0.0, 0.0, 1.0); }");
    clear(0, 0, 1, 1);
    rectangle(-1, -1, 1, 1, 0);
    pixel(3, 10, 26, 0, 0, 255, 3);
    pixel(35, 10, 153, 255, 0, 255, 3);
    pixel(61, 10, 255, 255, 0, 255, 3);
    pixel(35, 40, 0, 0, 255, 255, 0);

    begin("where the fragment is");
    program(PLAIN_VERTEX, "precision mediump float; void main() { gl_FragColor = vec4(gl_FragCoord.xy / 64.0,"
                          "gl_FragCoord.z, gl_FrontFacing ? 1.0 : 0.0); }");
    rectangle(-1, -1, 1, 1, 0.5f);
    pixel(10, 50, 42, 201, 191, 255, 2);

    begin("perspective");
    program("attribute vec4 position; attribute float color; varying float c;"
            "void main() { gl_Position = position; c = color; }",
            "precision mediump float; varying float c; void main() { gl_FragColor = vec4(c, c, c, 1.0); }");
    static const float corners[] = { -1, -1, 0, 1, 3, -3, 0, 3, -1, 1, 0, 1, 3, 3, 0, 3 };
    static const float colors[] = { 0, 1, 0, 1 };
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, corners);
    glVertexAttribPointer(1, 1, GL_FLOAT, GL_FALSE, 0, colors);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisableVertexAttribArray(1);
    pixel(31, 20, 63, 63, 63, 255, 3);
    no_error();
}

static void clipping(void)
{
    begin("clipping");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    tint(1, 0, 0, 1);
    static const float corners[] = { -30, -30, 0, 1, 30, -30, 0, 1, 0, 60, 0, 1 };
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, corners);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    pixel(0, 0, 255, 0, 0, 255, 0);
    pixel(63, 63, 255, 0, 0, 255, 0);
    begin("clipping behind the eye");
    clear(0, 0, 0, 1);
    static const float behind[] = { -1, -1, 0, 1, 1, -1, 0, 1, 0, -1, 0, -1 };
    tint(0, 1, 0, 1);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, behind);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    pixel(32, 1, 0, 0, 0, 255, 255);
    begin("clipping in depth");
    clear(0, 0, 0, 1);
    tint(0, 0, 1, 1);
    static const float deep[] = { -1, -1, -3, 1, 1, -1, -3, 1, -1, 1, 3, 1, 1, 1, 3, 1 };
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, deep);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    pixel(32, 32, 0, 0, 255, 255, 0);
    pixel(32, 10, 0, 0, 0, 255, 0);
    pixel(32, 54, 0, 0, 0, 255, 0);
    no_error();
}

static void read_back(void)
{
    begin("read-back");
    static unsigned char all[SIZE * SIZE * 4];
    int wrong = 0;
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 1, 1);
    tint(1, 1, 0, 1);
    rectangle(-0.5f, -0.75f, 0.25f, 0.5f, 0);
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, all);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            int in = x >= 16 && x < 40 && y >= 8 && y < 48;
            wrong += memcmp(all + 4 * (y * SIZE + x), in ? "\377\377\0\377" : "\0\0\377\377", 4) != 0;
        }
    check(wrong == 0, "%d pixels of the picture are wrong", wrong);
    no_error();
}

static void frames(struct target *target)
{
    begin("frames");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    for (int frame = 0; frame < 20; frame++) {
        clear(0, 0, (float)frame / 20, 1);
        tint((float)frame / 20, 1, 0, 1);
        float x = (float)frame / 10 - 1;
        rectangle(x, -1, x + 0.25f, 1, 0);
        glFlush();
        pixel(frame * 32 / 10 + 3, 5, frame * 255 / 20, 255, 0, 255, 2);
        pixel((frame * 32 / 10 + 30) % SIZE, 5, 0, 0, frame * 255 / 20, 255, 2);
        eglSwapBuffers(target->display, target->surface);
    }
    glFinish();
    no_error();
}

static int has(const char *extension)
{
    const char *at = strstr((const char *)glGetString(GL_EXTENSIONS), extension);
    return at && (at[strlen(extension)] == ' ' || at[strlen(extension)] == 0);
}

/* Draws a texture of one texel; returns the colour. */
static void texel(const char *name, GLenum format, GLenum type, const void *bytes, const int wanted[4], int tolerance)
{
    begin(name);
    program(textured, sampled);
    GLuint image = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, 1, 1, 0, format, type, bytes);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, wanted[0], wanted[1], wanted[2], wanted[3], tolerance);
    glDeleteTextures(1, &image);
    no_error();
}

static void formats(void)
{
    clear(0, 0, 0, 0);
    texel("texture rgba4444", GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, (GLushort[]) { 0xf840 }, (int[]) { 255, 136, 68, 0 }, 1);
    texel("texture rgba5551", GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, (GLushort[]) { 0xf801 }, (int[]) { 255, 0, 0, 255 }, 1);
    texel("texture alpha", GL_ALPHA, GL_UNSIGNED_BYTE, (GLubyte[]) { 77 }, (int[]) { 0, 0, 0, 77 }, 1);
    texel("texture luminance alpha", GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, (GLubyte[]) { 50, 77 }, (int[]) { 50, 50, 50, 77 }, 1);
    texel("texture rgb", GL_RGB, GL_UNSIGNED_BYTE, (GLubyte[]) { 1, 128, 250 }, (int[]) { 1, 128, 250, 255 }, 1);
    if (has("GL_EXT_texture_format_BGRA8888"))
        texel("texture bgra", GL_BGRA_EXT, GL_UNSIGNED_BYTE, (GLubyte[]) { 1, 128, 250, 7 }, (int[]) { 250, 128, 1, 7 }, 1);
    if (has("GL_OES_texture_half_float"))
        texel("texture of halves", GL_RGBA, GL_HALF_FLOAT_OES, (GLushort[]) { 0x3800, 0x3c00, 0x3400, 0 },
              (int[]) { 128, 255, 64, 0 }, 1);
    if (has("GL_EXT_texture_rg"))
        texel("texture rg", GL_RG_EXT, GL_UNSIGNED_BYTE, (GLubyte[]) { 40, 80 }, (int[]) { 40, 80, 0, 255 }, 1);
    if (has("GL_OES_depth_texture"))
        texel("texture of depths", GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, (GLushort[]) { 0x8000 }, (int[]) { 128, 128, 128, 255 }, 1);

    begin("texture etc1");
    check(has("GL_OES_compressed_ETC1_RGB8_texture"), "no extension");
    /* One block: the left half of base colour 255 136 0, the right half of 0 136 255, both with the smallest table. */
    static const unsigned char block[] = { 0xf0, 0x88, 0x0f, 0x00, 0, 0, 0, 0 };
    program(textured, sampled);
    GLuint image = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_ETC1_RGB8_OES, 4, 4, 0, sizeof block, block);
    rectangle(-1, -1, 1, 1, 0);
    pixel(8, 8, 255, 138, 2, 255, 1);
    pixel(56, 8, 2, 138, 255, 255, 1);
    glDeleteTextures(1, &image);
    no_error();
}

static void extensions(void)
{
    begin("derivatives");
    program(PLAIN_VERTEX, "#extension GL_OES_standard_derivatives : require\n"
                          "precision highp float; void main() { vec2 at = gl_FragCoord.xy * gl_FragCoord.xy / 128.0;"
                          "gl_FragColor = vec4(dFdx(at.x), dFdy(at.y), fwidth(at.x + at.y) * 0.5, 1.0); }");
    rectangle(-1, -1, 1, 1, 0);
    pixel(32, 16, 131, 68, 100, 255, 4);
    begin("depth from the program");
    program(PLAIN_VERTEX, "#extension GL_EXT_frag_depth : require\n"
                          "precision highp float; void main() { gl_FragDepthEXT = gl_FragCoord.x / 64.0;"
                          "gl_FragColor = vec4(1.0, 0.0, 0.0, 1.0); }");
    glEnable(GL_DEPTH_TEST);
    clear(0, 0, 0, 1);
    rectangle(-1, -1, 1, 1, 0);
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    tint(0, 1, 0, 1);
    rectangle(-1, -1, 1, 1, 0); /* depth 0.5 */
    glDisable(GL_DEPTH_TEST);
    pixel(10, 10, 255, 0, 0, 255, 0);
    pixel(50, 10, 0, 255, 0, 255, 0);
    no_error();
}

static void crowds(void)
{
    begin("three thousand draws");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    for (int at = 0; at < 3000; at++) {
        int x = at % SIZE, y = at / SIZE % SIZE;
        float left = (float)x / 32 - 1, bottom = (float)y / 32 - 1;
        tint((float)x / 255, (float)y / 255, 1, 1);
        rectangle(left, bottom, left + 1 / 32.0f, bottom + 1 / 32.0f, 0);
    }
    for (int at = 0; at < 3000; at += 271)
        pixel(at % SIZE, at / SIZE, at % SIZE, at / SIZE, 255, 255, 1);

    begin("forty thousand triangles");
    enum { GRID = 142 };
    static GLfloat places[GRID * GRID][2];
    static GLushort numbers[(GRID - 1) * (GRID - 1) * 6];
    for (int at = 0; at < GRID * GRID; at++) {
        places[at][0] = (float)(at % GRID) / (GRID - 1) * 2 - 1;
        places[at][1] = (float)(at / GRID) / (GRID - 1) * 2 - 1;
    }
    int count = 0;
    for (int y = 0; y < GRID - 1; y++)
        for (int x = 0; x < GRID - 1; x++) {
            int corner = y * GRID + x, corners[6] = { 0, 1, GRID, 1, GRID + 1, GRID };
            for (int at = 0; at < 6; at++)
                numbers[count++] = (GLushort)(corner + corners[at]);
        }
    clear(0, 0, 0, 1);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    tint(0.5f, 0.25f, 0.125f, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glDrawElements(GL_TRIANGLES, count, GL_UNSIGNED_SHORT, numbers);
    glDisable(GL_BLEND);
    static unsigned char all[SIZE * SIZE * 4];
    int wrong = 0;
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, all);
    /* Every pixel once: no gaps between triangles, none twice. */
    for (int at = 0; at < SIZE * SIZE; at++)
        wrong += !near(all[4 * at], 128, 1) || !near(all[4 * at + 1], 64, 1) || !near(all[4 * at + 2], 32, 1);
    check(wrong == 0, "%d pixels are not covered once", wrong);
    no_error();
}

static void large(void)
{
    enum { WIDTH = 1000, HEIGHT = 700 };
    begin("a large picture");
    struct target target = open_target(WIDTH, HEIGHT, 1);
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0.5f, 1);
    tint(1, 0, 0, 1);
    rectangle(-1, -1, 0, 0, 0);
    glFlush();
    tint(0, 1, 0, 1);
    rectangle(0, 0, 1, 1, 0);
    glEnable(GL_SCISSOR_TEST);
    glScissor(333, 17, 500, 555);
    tint(1, 1, 1, 1);
    rectangle(-1, -0.5f, 1, 0.24f, 0);
    glDisable(GL_SCISSOR_TEST);
    static unsigned char all[WIDTH * HEIGHT * 4];
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, all);
    int wrong = 0;
    for (int at = 0; at < WIDTH * HEIGHT; at++) {
        int x = at % WIDTH, y = at / WIDTH;
        int white = x >= 333 && x < 833 && y >= 175 && y < 434;
        int red = white || (x < 500 && y < 350), green = white || (x >= 500 && y >= 350);
        int blue = white ? 255 : red || green ? 0 : 128;
        wrong += all[4 * at] != (red ? 255 : 0) || all[4 * at + 1] != (green ? 255 : 0) || !near(all[4 * at + 2], blue, 1);
    }
    check(wrong == 0, "%d pixels are wrong", wrong);
    no_error();
    close_target(&target);
}

static void samples(void)
{
    begin("four samples");
    struct target target = open_target(SIZE, SIZE, 4);
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    clear(0, 0, 0, 1);
    tint(1, 1, 1, 1);
    static const float corners[] = { -1, -1, 1, -1, -1, 1 };
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    pixel(5, 5, 255, 255, 255, 255, 0);
    pixel(60, 60, 0, 0, 0, 255, 0);
    unsigned char edge[4];
    glReadPixels(20, 43, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, edge);
    check(edge[0] > 30 && edge[0] < 225, "the edge is %d: not smooth", edge[0]);
    /* The previous contents survive another draw. */
    tint(1, 0, 0, 1);
    rectangle(0.5f, 0.5f, 1, 1, 0);
    pixel(5, 5, 255, 255, 255, 255, 0);
    pixel(60, 60, 255, 0, 0, 255, 0);
    no_error();
    close_target(&target);
}

/* A texture is exported as a descriptor and imported as another texture, in another context of another display. */
static void images(void)
{
    begin("images by descriptor");
    struct target one = open_target(SIZE, SIZE, 1);
    const char *extensions = eglQueryString(one.display, EGL_EXTENSIONS);
    check(strstr(extensions, "EGL_MESA_image_dma_buf_export") && strstr(extensions, "EGL_EXT_image_dma_buf_import"),
          "extensions are missing");
    PFNEGLCREATEIMAGEKHRPROC create = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    PFNEGLDESTROYIMAGEKHRPROC destroy = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    PFNEGLEXPORTDMABUFIMAGEQUERYMESAPROC query =
        (PFNEGLEXPORTDMABUFIMAGEQUERYMESAPROC)eglGetProcAddress("eglExportDMABUFImageQueryMESA");
    PFNEGLEXPORTDMABUFIMAGEMESAPROC export =
        (PFNEGLEXPORTDMABUFIMAGEMESAPROC)eglGetProcAddress("eglExportDMABUFImageMESA");
    PFNGLEGLIMAGETARGETTEXTURE2DOESPROC as_texture =
        (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress("glEGLImageTargetTexture2DOES");
    static unsigned char texels[32 * 32][4];
    for (int at = 0; at < 32 * 32; at++)
        memcpy(texels[at], (unsigned char[4]) { (unsigned char)(at % 32 * 8), (unsigned char)(at / 32 * 8), 99, 255 }, 4);
    GLuint name = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    EGLImageKHR image = create(one.display, one.context, EGL_GL_TEXTURE_2D_KHR, (EGLClientBuffer)(size_t)name, NULL);
    int fourcc = 0, planes = 0, fd = -1;
    EGLuint64KHR modifier = 0;
    EGLint stride = 0, offset = 0;
    check(query(one.display, image, &fourcc, &planes, &modifier) && planes == 1, "it cannot be exported");
    check(export(one.display, image, &fd, &stride, &offset) && fd >= 0, "it is not exported");

    struct target two = open_target(SIZE, SIZE, 1);
    EGLint attributes[] = {
        EGL_WIDTH, 32, EGL_HEIGHT, 32, EGL_LINUX_DRM_FOURCC_EXT, fourcc, EGL_DMA_BUF_PLANE0_FD_EXT, fd,
        EGL_DMA_BUF_PLANE0_OFFSET_EXT, offset, EGL_DMA_BUF_PLANE0_PITCH_EXT, stride,
        EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, (EGLint)(modifier & 0xffffffff),
        EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, (EGLint)(modifier >> 32), EGL_NONE,
    };
    EGLImageKHR again = create(two.display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attributes);
    check(again != EGL_NO_IMAGE_KHR, "it cannot be imported: %#x", eglGetError());
    close(fd);
    GLuint other = texture(GL_TEXTURE_2D, GL_NEAREST, GL_CLAMP_TO_EDGE);
    as_texture(GL_TEXTURE_2D, again);
    program(textured, sampled);
    rectangle(-1, -1, 1, 1, 0);
    pixel(20, 40, 80, 160, 99, 255, 1);
    glDeleteTextures(1, &other);
    destroy(two.display, again);

    begin("fences by descriptor");
    PFNEGLCREATESYNCKHRPROC fence = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
    PFNEGLCLIENTWAITSYNCKHRPROC wait_for = (PFNEGLCLIENTWAITSYNCKHRPROC)eglGetProcAddress("eglClientWaitSyncKHR");
    PFNEGLWAITSYNCKHRPROC server_wait = (PFNEGLWAITSYNCKHRPROC)eglGetProcAddress("eglWaitSyncKHR");
    PFNEGLDESTROYSYNCKHRPROC forget = (PFNEGLDESTROYSYNCKHRPROC)eglGetProcAddress("eglDestroySyncKHR");
    PFNEGLDUPNATIVEFENCEFDANDROIDPROC duplicate =
        (PFNEGLDUPNATIVEFENCEFDANDROIDPROC)eglGetProcAddress("eglDupNativeFenceFDANDROID");
    check(strstr(extensions, "EGL_ANDROID_native_fence_sync") != NULL, "the extension is missing");
    clear(0, 1, 1, 1);
    EGLSyncKHR sync = fence(two.display, EGL_SYNC_NATIVE_FENCE_ANDROID, NULL);
    glFlush();
    fd = duplicate(two.display, sync);
    struct pollfd ready = { fd, POLLIN, 0 };
    check(fd >= 0 && poll(&ready, 1, 5000) == 1 && ready.revents & POLLIN, "the fence is never done");
    check(wait_for(two.display, sync, 0, 1000000000) == EGL_CONDITION_SATISFIED_KHR, "waiting for it fails");
    EGLint by_fd[] = { EGL_SYNC_NATIVE_FENCE_FD_ANDROID, fd, EGL_NONE };
    EGLSyncKHR imported = fence(two.display, EGL_SYNC_NATIVE_FENCE_ANDROID, by_fd);
    check(imported && server_wait(two.display, imported, 0) == EGL_TRUE, "it is not taken back");
    clear(1, 0, 1, 1);
    pixel(1, 1, 255, 0, 255, 255, 0);
    forget(two.display, sync);
    forget(two.display, imported);
    eglMakeCurrent(one.display, one.surface, one.surface, one.context);
    destroy(one.display, image);
    glDeleteTextures(1, &name);
    eglDestroySurface(two.display, two.surface);
    eglDestroyContext(two.display, two.context);
    close_target(&one);
}

static void contexts(void)
{
    begin("two contexts");
    struct target one = open_target(SIZE, SIZE, 1);
    clear(1, 0, 0, 1);
    struct target two = open_target(32, 32, 1);
    clear(0, 1, 0, 1);
    pixel(3, 3, 0, 255, 0, 255, 0);
    eglMakeCurrent(one.display, one.surface, one.surface, one.context);
    pixel(3, 3, 255, 0, 0, 255, 0);
    eglDestroySurface(two.display, two.surface);
    eglDestroyContext(two.display, two.context);
    pixel(40, 40, 255, 0, 0, 255, 0);
    close_target(&one);
}

/* With an argument, one wrong check, to verify that a wrong pixel is detected. */
int main(int count, char **arguments)
{
    (void)arguments;
    setvbuf(stdout, NULL, _IOLBF, 0);
    EGLDisplay display = open_display();
    EGLint configs = 0;
    eglGetConfigs(display, NULL, 0, &configs);
    struct target target = open_target(SIZE, SIZE, 1);
    printf("%s, %s, %d configurations\n", glGetString(GL_RENDERER), glGetString(GL_VERSION), configs);
    clears();
    triangle();
    culling();
    depth();
    stencil();
    blending();
    textures();
    mipmaps();
    cube();
    framebuffers();
    points();
    lines();
    shaders();
    clipping();
    formats();
    extensions();
    crowds();
    read_back();
    frames(&target);
    if (count > 1) {
        begin("wrong on purpose");
        clear(0, 0, 0, 1);
        pixel(3, 3, 0, 9, 0, 255, 8);
    }
    close_target(&target);
    large();
    samples();
    images();
    contexts();
    return summary();
}
