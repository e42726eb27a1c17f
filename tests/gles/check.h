/* Shared by the programs here: a context without a window, shaders, and checks of pixels. */
#ifndef CHECK_H
#define CHECK_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;
static const char *section = "";

static inline void die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    exit(2);
}

static inline void check(int good, const char *format, ...)
{
    checks++;
    if (good)
        return;
    failures++;
    printf("FAIL %s: ", section);
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}

/* Number of checks in a section, and of failures. */
static inline void begin(const char *name)
{
    section = name;
}

static inline int summary(void)
{
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

struct target {
    EGLDisplay display;
    EGLConfig config;
    EGLContext context;
    EGLSurface surface;
};

static inline EGLDisplay open_display(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (!display || !eglInitialize(display, NULL, NULL))
        die("no display: %x", eglGetError());
    return display;
}

/* A pbuffer with depth, stencil and a number of samples. */
static inline struct target open_target(int width, int height, int samples)
{
    struct target target = { .display = open_display() };
    EGLint wanted[] = {
        EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8,
        EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_SAMPLE_BUFFERS, samples > 1,
        EGL_SAMPLES, samples > 1 ? samples : 0, EGL_NONE,
    };
    EGLint count = 0;
    if (!eglChooseConfig(target.display, wanted, &target.config, 1, &count) || count != 1)
        die("no configuration with %d samples", samples);
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
    target.context = eglCreateContext(target.display, target.config, EGL_NO_CONTEXT, version);
    EGLint size[] = { EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE };
    target.surface = eglCreatePbufferSurface(target.display, target.config, size);
    if (!eglMakeCurrent(target.display, target.surface, target.surface, target.context))
        die("no context: %x", eglGetError());
    glViewport(0, 0, width, height);
    return target;
}

static inline void close_target(struct target *target)
{
    eglMakeCurrent(target->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(target->display, target->surface);
    eglDestroyContext(target->display, target->context);
    eglTerminate(target->display);
}

static inline GLuint shader(GLenum kind, const char *text)
{
    GLuint shader = glCreateShader(kind);
    GLint good = 0;
    char log[1000] = "";
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!good)
        die("%s: a shader does not compile: %s\n%s", section, log, text);
    return shader;
}

/* Attribute 0 is `position`, 1 `color`, 2 `place`. */
static inline GLuint program(const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram();
    GLuint shaders[2] = { shader(GL_VERTEX_SHADER, vertex), shader(GL_FRAGMENT_SHADER, fragment) };
    GLint good = 0;
    char log[1000] = "";
    for (int at = 0; at < 2; at++) {
        glAttachShader(program, shaders[at]);
        glDeleteShader(shaders[at]);
    }
    glBindAttribLocation(program, 0, "position");
    glBindAttribLocation(program, 1, "color");
    glBindAttribLocation(program, 2, "place");
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    if (!good)
        die("%s: a program does not link: %s", section, log);
    glUseProgram(program);
    return program;
}

static inline GLint uniform(const char *name)
{
    GLint now;
    glGetIntegerv(GL_CURRENT_PROGRAM, &now);
    return glGetUniformLocation((GLuint)now, name);
}

static inline int near(int a, int b, int tolerance)
{
    return abs(a - b) <= tolerance;
}

/* The pixel at x, y is this, each channel within the tolerance. */
static inline void pixel(int x, int y, int red, int green, int blue, int alpha, int tolerance)
{
    unsigned char got[4] = { 1, 2, 3, 4 };
    glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, got);
    check(near(got[0], red, tolerance) && near(got[1], green, tolerance) && near(got[2], blue, tolerance)
              && near(got[3], alpha, tolerance),
          "pixel %d, %d is %d %d %d %d instead of %d %d %d %d", x, y, got[0], got[1], got[2], got[3], red, green, blue,
          alpha);
}

static inline void no_error(void)
{
    GLenum error = glGetError();
    check(error == GL_NO_ERROR, "error %#x", error);
}

/* A rectangle in clip space, at a depth. */
static inline void rectangle(float left, float bottom, float right, float top, float depth)
{
    float corners[] = { left, bottom, depth, right, bottom, depth, left, top, depth, right, top, depth };
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* Everything in one colour. */
#define PLAIN_VERTEX "attribute vec4 position; void main() { gl_Position = position; gl_PointSize = 1.0; }"
#define PLAIN_FRAGMENT "precision mediump float; uniform vec4 tint; void main() { gl_FragColor = tint; }"

#endif
