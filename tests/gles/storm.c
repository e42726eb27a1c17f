/* Many clients that repeat all of a driver's requests, while others are killed.
 * Usage: storm CLIENTS ROUNDS [kill | crowd]; with `kill` every other client is killed during a round, with `crowd`
 * they are threads that share one device, which does not block; a line is printed when its socket is full.
 * A client exits with 0 on success, 3 without a server, 1 after an error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "drm.h"

/* Ends a client after a failed request: the server has ended, or another reason. */
static void need(int good, int line)
{
    if (good)
        return;
    if (errno == EIO || errno == ENXIO)
        _exit(3);
    printf("line %d: errno %d\n", line, errno);
    fflush(stdout);
    _exit(1);
}

#define NEED(what) need((what), __LINE__)

static int64_t in_ten_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec + 10) * 1000000000 + now.tv_nsec;
}

static void client(long rounds)
{
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), other = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    struct context context = { 0, 0 };
    NEED(fd >= 0 && other >= 0);
    NEED(ioctl(fd, CTX_CREATE, &context) == 0);
    for (long round = 0; round < rounds; round++) {
        struct create create = { 8192, 0, 0, 0 };
        NEED(ioctl(fd, GEM_CREATE, &create) == 0);
        struct info info = { create.handle, 0, 0 };
        NEED(ioctl(fd, GEM_INFO, &info) == 0);
        uint32_t *bytes = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)info.offset);
        NEED(bytes != MAP_FAILED);
        bytes[1] = 0x50000000; /* the end of a stream */
        bytes[2000] = (uint32_t)round;
        struct fence fence = { 0, 0 };
        struct object object = { create.handle, 3 };
        NEED(ioctl(fd, FENCE_CREATE, &fence) == 0);
        uint32_t frame[6] = { info.address, info.address, info.address, info.address + 8, 0, 0 };
        struct submit submit = {
            context.id, 0, 1, sizeof frame, (uintptr_t)&object, (uintptr_t)frame, 0, fence.handle, { 0, 0 },
        };
        for (int job = 0; job < 5; job++)
            NEED(ioctl(fd, GEM_SUBMIT, &submit) == 0);
        struct prime prime = { create.handle, O_CLOEXEC, -1 };
        NEED(ioctl(fd, PRIME_TO_FD, &prime) == 0);
        struct fence_fd out = { fence.handle, 1, -1, 0 };
        NEED(ioctl(fd, FENCE_TO_FD, &out) == 0);
        struct pollfd done = { out.fd, POLLIN, 0 };
        NEED(poll(&done, 1, 10000) == 1);
        struct fence_wait all = { (uintptr_t)&fence.handle, in_ten_seconds(), 1, 1, 0, 0 };
        NEED(ioctl(fd, FENCE_WAIT, &all) == 0);
        struct waiting waiting = { create.handle, 2, in_ten_seconds() };
        NEED(ioctl(fd, GEM_WAIT, &waiting) == 0);
        /* The exporter closes its handle; the importer still gets the object. */
        struct close_handle gone = { create.handle, 0 };
        NEED(ioctl(fd, GEM_CLOSE, &gone) == 0);
        NEED(ioctl(other, PRIME_TO_HANDLE, &prime) == 0);
        info.handle = gone.handle = prime.handle;
        NEED(ioctl(other, GEM_INFO, &info) == 0);
        uint32_t *same = mmap(NULL, 8192, PROT_READ, MAP_SHARED, other, (off_t)info.offset);
        NEED(same != MAP_FAILED && same[2000] == (uint32_t)round);
        NEED(ioctl(other, GEM_CLOSE, &gone) == 0);
        NEED(ioctl(fd, FENCE_DESTROY, &fence) == 0);
        munmap(bytes, 8192);
        munmap(same, 8192);
        close(prime.fd);
        close(out.fd);
    }
    _exit(0);
}

struct crowd {
    int fd;
    long rounds;
    pthread_t thread;
};

/* A thread of many that share one device: each has its own objects. */
static void *one_of_a_crowd(void *argument)
{
    struct crowd *own = argument;
    for (long round = 0; round < own->rounds; round++) {
        struct create create = { 4096, 0, 0, 0 };
        NEED(ioctl(own->fd, GEM_CREATE, &create) == 0);
        struct info info = { create.handle, 0, 0 };
        NEED(ioctl(own->fd, GEM_INFO, &info) == 0 && info.address != 0);
        struct close_handle gone = { create.handle, 0 };
        NEED(ioctl(own->fd, GEM_CLOSE, &gone) == 0);
    }
    return NULL;
}

static int crowd(int threads, long rounds)
{
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    NEED(fd >= 0);
    puts("open");
    fflush(stdout);
    getchar();
    struct crowd *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 18);
    for (int at = 0; at < threads; at++) {
        all[at] = (struct crowd){ fd, rounds, 0 };
        NEED((errno = pthread_create(&all[at].thread, &small, one_of_a_crowd, &all[at])) == 0);
    }
    /* Full for a while, not for a moment: the reader has stopped. */
    for (int full = 0, tries = 0; full < 50 && tries < 5000; tries++) {
        struct pollfd room = { fd, POLLOUT, 0 };
        full = poll(&room, 1, 0) == 0 ? full + 1 : 0;
        usleep(1000);
        if (full == 50)
            puts("full");
    }
    fflush(stdout);
    for (int at = 0; at < threads; at++)
        pthread_join(all[at].thread, NULL);
    printf("%d threads right\n", threads);
    return 0;
}

int main(int argc, char **argv)
{
    int clients = argc > 1 ? atoi(argv[1]) : 64, kills = argc > 3 && !strcmp(argv[3], "kill"), count[4] = { 0 };
    long rounds = argc > 2 ? atol(argv[2]) : 20;
    if (argc > 3 && !strcmp(argv[3], "crowd"))
        return crowd(clients, rounds);
    pid_t *all = calloc((size_t)clients, sizeof *all);
    for (int at = 0; at < clients; at++) {
        all[at] = fork();
        if (all[at] == 0)
            client(kills && at % 2 == 1 ? 1000000000 : rounds);
    }
    for (int at = 1; kills && at < clients; at += 2) {
        usleep((useconds_t)(1000 + at * 977 % 9000));
        kill(all[at], SIGKILL);
    }
    for (int at = 0; at < clients; at++) {
        int status = 0;
        waitpid(all[at], &status, 0);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGKILL ? 2 : 1;
        count[code < 4 ? code : 1]++;
    }
    printf("%d right, %d wrong, %d killed, %d without a server\n", count[0], count[1], count[2], count[3]);
    return count[1] ? 1 : count[3] ? 3 : 0;
}
