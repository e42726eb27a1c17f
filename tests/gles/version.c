/* Asks for a context of OpenGL ES 3, which the driver does not have. */
#include "check.h"

int main(void)
{
    EGLDisplay display = open_display();
    EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE };
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLConfig config;
    EGLint count, wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE };
    eglChooseConfig(display, wanted, &config, 1, &count);
    return eglCreateContext(display, config, EGL_NO_CONTEXT, version) == EGL_NO_CONTEXT ? 5 : 0;
}
