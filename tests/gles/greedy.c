/* Clients that take what they can get, give nothing back, and leave in the middle of things.
 * Usage: greedy CLIENTS; twenty run at a time, and every fifth is killed. A client exits with 1 if the server gives it
 * what it must not have, or refuses it in another way than a kernel does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "drm.h"

enum { AT_ONCE = 20, KINDS = 8 };

static int device(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

static int64_t soon(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 100000;
}

static void memory(int fd)
{
    struct create create = { 1u << 28, 0, 0, 0 };
    int got = 0;
    while (got < 1000 && ioctl(fd, GEM_CREATE, &create) == 0)
        got++;
    CHECK(got < 16 && errno == ENOMEM);
}

static void sync_objects(int fd)
{
    struct fence fence = { 0, 1 };
    for (int at = 0; at < 2000; at++) {
        CHECK(ioctl(fd, FENCE_CREATE, &fence) == 0);
        struct fence_fd out = { fence.handle, 0, -1, 0 };
        if (at < 500)
            CHECK(ioctl(fd, FENCE_TO_FD, &out) == 0);
    }
}

static void contexts(int fd)
{
    struct context context = { 0, 0 };
    int got = 0;
    while (got < 100000 && ioctl(fd, CTX_CREATE, &context) == 0)
        got++;
    CHECK(got == 4096 && errno == ENOMEM);
}

/* Waits for a fence that never comes. */
static void waits(int fd)
{
    struct fence fence = { 0, 0 };
    CHECK(ioctl(fd, FENCE_CREATE, &fence) == 0);
    for (int at = 0; at < 300; at++) {
        struct fence_wait wait = { (uintptr_t)&fence.handle, soon(), 1, 3, 0, 0 };
        FAILS(ioctl(fd, FENCE_WAIT, &wait), ETIME);
    }
}

/* Others' objects by guessing, and a pipe as a fence. */
static void others(int fd)
{
    for (uint32_t at = 0; at < 300; at++) {
        struct open_name name = { at, 0, 0 };
        struct info info = { at, 0, 0 };
        FAILS(ioctl(fd, GEM_OPEN, &name), EACCES);
        FAILS(ioctl(fd, GEM_INFO, &info), ENOENT);
    }
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct fence_fd in = { 0, 0, ends[0], 0 };
    FAILS(ioctl(fd, FD_TO_FENCE, &in), EINVAL);
    struct prime prime = { 0, 0, ends[0] };
    FAILS(ioctl(fd, PRIME_TO_HANDLE, &prime), EINVAL);
}

/* A connection is made by the first request. */
static void devices(int fd)
{
    struct context context = { 0, 0 };
    CHECK(ioctl(fd, CTX_CREATE, &context) == 0);
    int got = 1, other;
    while (got < 1000 && (other = device()) >= 0 && ioctl(other, CTX_CREATE, &context) == 0)
        got++;
    CHECK(got == 256 && errno == EIO);
}

/* Jobs whose words are noise, without a wait for them. */
static void jobs(int fd)
{
    struct context context = { 0, 0 };
    struct create create = { 1 << 16, 0, 0, 0 };
    CHECK(ioctl(fd, CTX_CREATE, &context) == 0 && ioctl(fd, GEM_CREATE, &create) == 0);
    struct info info = { create.handle, 0, 0 };
    CHECK(ioctl(fd, GEM_INFO, &info) == 0);
    for (uint32_t at = 1; at < 200; at++) {
        struct object object = { create.handle, 3 };
        uint32_t frame[6] = { info.address, info.address + 8 * at, info.address, info.address + 8 * at, 0, 0 };
        struct submit submit = { context.id, 0, 1, sizeof frame, (uintptr_t)&object, (uintptr_t)frame, 0, 0, { 0, 0 } };
        CHECK(ioctl(fd, GEM_SUBMIT, &submit) == 0);
    }
}

/* Bytes that are no requests, on a connection of its own. */
static void nonsense(int fd)
{
    (void)fd;
    const char *folder = getenv("SKRYMIR_SERVER");
    struct sockaddr_un address = { AF_UNIX, "" };
    CHECK(folder && (size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/renderD128", folder)
              < sizeof address.sun_path);
    for (int at = 0; at < 20; at++) {
        int other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK(connect(other, (struct sockaddr *)&address, sizeof address) == 0);
        uint32_t words[64];
        for (int word = 0; word < 64; word++)
            words[word] = (uint32_t)(at * 2654435761u) >> (word % 29);
        send(other, words, (size_t)at * 13, MSG_NOSIGNAL);
    }
}

int main(int argc, char **argv)
{
    static void (*const kinds[KINDS])(int) = { memory, sync_objects, contexts, waits, others, devices, jobs, nonsense };
    int clients = argc > 1 ? atoi(argv[1]) : 100, wrong = 0, killed = 0;
    for (int first = 0; first < clients; first += AT_ONCE) {
        pid_t all[AT_ONCE] = { 0 };
        int count = clients - first < AT_ONCE ? clients - first : AT_ONCE;
        for (int at = 0; at < count; at++) {
            all[at] = fork();
            if (all[at] == 0) {
                int fd = device();
                CHECK(fd >= 0);
                kinds[(first + at) % KINDS](fd);
                fflush(stdout);
                _exit(failures != 0);
            }
        }
        usleep((useconds_t)(first * 7919 % 20000));
        for (int at = 0; at < count; at += 5)
            kill(all[at], SIGKILL);
        for (int at = 0; at < count; at++) {
            int status = 0;
            waitpid(all[at], &status, 0);
            killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            wrong += WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGKILL;
        }
    }
    printf("%d clients, %d wrong, %d killed\n", clients, wrong, killed);
    return wrong != 0;
}
