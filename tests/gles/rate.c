/* Small frames per second through program, driver, socket and emulator. Each is two jobs.
 * Usage: rate [SECONDS [SIZE]] */
#include "check.h"
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Frames a second; waits for each, or for all of them. */
static double rate(double seconds, int wait_for_each)
{
    double start = now();
    int frames = 0;
    while (now() - start < seconds) {
        glUniform4f(uniform("tint"), (float)(frames % 256) / 255, 1, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        rectangle(-1, -1, 1, 1, 0);
        if (wait_for_each)
            glFinish();
        else
            glFlush();
        frames++;
    }
    glFinish();
    return frames / (now() - start);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    int size = argc > 2 ? atoi(argv[2]) : 1;
    struct target target = open_target(size, size, 1);
    begin("rate");
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    rate(0.3, 1);
    printf("%dx%d, each waited for: %.0f jobs/s\n", size, size, 2 * rate(seconds, 1));
    printf("%dx%d, all at once: %.0f jobs/s\n", size, size, 2 * rate(seconds, 0));
    glUniform4f(uniform("tint"), 0, 1, 0, 1);
    rectangle(-1, -1, 1, 1, 0);
    pixel(0, 0, 0, 255, 0, 255, 0);
    close_target(&target);
    return summary();
}
