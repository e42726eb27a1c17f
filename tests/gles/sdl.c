// An SDL program on a bare screen: a window in one colour, ten pictures, then exit. SDL is loaded at run time, so it is not
// needed to compile this.
#include <dlfcn.h>
#include <stdio.h>

enum { VIDEO = 0x20, OPENGL = 2, FULLSCREEN = 1, PROFILE = 21, ES = 4, MAJOR = 17, COLOR = 0x4000 };

static void *library;

static void *find(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "SDL has no %s\n", name);
    }
    return found;
}

int main(void) {
    library = dlopen("libSDL2-2.0.so.0", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*init)(unsigned) = find("SDL_Init");
    const char *(*error)(void) = find("SDL_GetError");
    const char *(*driver)(void) = find("SDL_GetCurrentVideoDriver");
    int (*attribute)(int, int) = find("SDL_GL_SetAttribute");
    void *(*window)(const char *, int, int, int, int, unsigned) = find("SDL_CreateWindow");
    void *(*context)(void *) = find("SDL_GL_CreateContext");
    void *(*proc)(const char *) = find("SDL_GL_GetProcAddress");
    void (*swap)(void *) = find("SDL_GL_SwapWindow");
    void (*quit)(void) = find("SDL_Quit");
    if (init(VIDEO)) {
        fprintf(stderr, "no video: %s\n", error());
        return 1;
    }
    attribute(PROFILE, ES);
    attribute(MAJOR, 2);
    void *shown = window("colour", 0, 0, 640, 480, OPENGL | FULLSCREEN);
    if (!shown || !context(shown)) {
        fprintf(stderr, "no window: %s\n", error());
        return 1;
    }
    void (*clear_color)(float, float, float, float) = proc("glClearColor");
    void (*clear)(unsigned) = proc("glClear");
    for (int picture = 0; picture < 10; picture++) {
        clear_color(0.8f, 0.2f, 0.4f, 1.0f);
        clear(COLOR);
        swap(shown);
    }
    printf("%s\n", driver());
    quit();
    return 0;
}
