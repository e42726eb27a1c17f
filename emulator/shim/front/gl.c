/* Prints a line about an unsupported context: programs tend to print only "no context". */
#include "front.h"
#include <stdio.h>

enum { CONTEXT_MAJOR = 0x3098, CONTEXT_MINOR = 0x30fb, NO_ATTRIBUTE = 0x3038 };

void *eglCreateContext(void *, void *, void *, const int32_t *);

PUBLIC void *eglCreateContext(void *display, void *config, void *share, const int32_t *attributes)
{
    NEXT(eglCreateContext);
    int major = 1, minor = 0;
    if (!next) {
        /* A program that loads EGL itself, but looks its functions up globally. */
        void *library = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (library)
            next = (__typeof__(next))dlsym(library, "eglCreateContext");
        if (!next)
            return NULL;
    }
    void *context = next(display, config, share, attributes);
    for (; attributes && attributes[0] != NO_ATTRIBUTE; attributes += 2) {
        if (attributes[0] == CONTEXT_MAJOR)
            major = attributes[1];
        if (attributes[0] == CONTEXT_MINOR)
            minor = attributes[1];
    }
    if (!context && active() && (major > 2 || (major == 2 && minor > 1)))
        fprintf(stderr, "skrymir: the program wants OpenGL or OpenGL ES %d.%d, and this GPU's driver has OpenGL ES 2.0 and "
                        "OpenGL 2.1\n", major, minor);
    return context;
}
