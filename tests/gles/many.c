/* Threads with their own contexts, and processes that draw at the same time, one of which is killed. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20

/* Descriptor that is written to after a frame. */
static int tell = -1;

/* Draws frames in a colour per thread; returns the number of wrong pixels. */
static long draw(int number, int rounds)
{
    struct target target = open_target(48, 48, 1);
    long wrong = 0;
    program(PLAIN_VERTEX, PLAIN_FRAGMENT);
    for (int round = 0; round < rounds; round++) {
        unsigned char got[4], want = (unsigned char)(40 * number + round % 20);
        glClearColor(0, 0, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glUniform4f(uniform("tint"), (float)want / 255, 1, (float)number / 8, 1);
        rectangle(-0.5f, -0.5f, 0.5f, 0.5f, 0);
        glReadPixels(20, 25, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, got);
        wrong += !near(got[0], want, 1) || got[1] != 255 || !near(got[2], number * 255 / 8, 1);
        if (round == 2 && tell >= 0 && write(tell, "!", 1) != 1)
            die("the pipe is closed");
    }
    eglMakeCurrent(target.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(target.display, target.surface);
    eglDestroyContext(target.display, target.context);
    eglReleaseThread();
    return wrong;
}

static void *thread(void *number)
{
    return (void *)draw((int)(long)number, ROUNDS);
}

static int ended(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
    pid_t children[3];
    int ends[2];
    char byte;
    begin("processes");
    if (pipe(ends) != 0)
        die("no pipe");
    for (int at = 0; at < 3; at++) {
        children[at] = fork();
        if (children[at] == 0) {
            tell = at == 2 ? ends[1] : -1;
            _exit(draw(at, at == 2 ? 1000000 : ROUNDS) != 0);
        }
    }
    check(draw(3, ROUNDS) == 0, "the parent's pixels");
    check(read(ends[0], &byte, 1) == 1, "the third child does not draw");
    kill(children[2], SIGKILL);
    check(ended(children[2]) == 128 + SIGKILL, "the third child was not killed");
    check(ended(children[0]) == 0, "the first child's pixels");
    check(ended(children[1]) == 0, "the second child's pixels");

    begin("threads");
    pthread_t threads[4];
    for (long at = 0; at < 4; at++)
        pthread_create(&threads[at], NULL, thread, (void *)at);
    for (int at = 0; at < 4; at++) {
        void *wrong;
        pthread_join(threads[at], &wrong);
        check(wrong == NULL, "%ld pixels of thread %d", (long)wrong, at);
    }

    begin("a child of a program that has drawn");
    struct target target = open_target(16, 16, 1);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    pixel(3, 3, 255, 0, 0, 255, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    check(ended(child) == 7, "the child");
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    pixel(3, 3, 0, 255, 0, 255, 0);
    close_target(&target);
    return summary();
}
