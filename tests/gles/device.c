/* The device node itself, without a driver: every ioctl, its errors, and effects between processes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <pthread.h>
#include <unistd.h>
#include "drm.h"

#define NODE "/dev/dri/renderD128"

static int open_node(void)
{
    int fd = open(NODE, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        printf("cannot open %s: %d\n", NODE, errno);
        exit(2);
    }
    return fd;
}

static uint32_t object(int fd, uint32_t size)
{
    struct create create = { size, 0, 0, 0 };
    CHECK(ioctl(fd, GEM_CREATE, &create) == 0);
    return create.handle;
}

static struct info info(int fd, uint32_t handle)
{
    struct info info = { handle, 0, 0 };
    CHECK(ioctl(fd, GEM_INFO, &info) == 0);
    return info;
}

static uint32_t *map(int fd, uint32_t handle, size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)info(fd, handle).offset);
    CHECK(bytes != MAP_FAILED);
    return bytes;
}

static void files(void)
{
    char text[100] = "";
    struct stat status;
    int found = 0;
    CHECK(stat(NODE, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 128));
    int fd = open_node();
    CHECK(fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 128));
    CHECK(stat("/sys/dev/char/226:128/device/drm", &status) == 0 && S_ISDIR(status.st_mode));
    CHECK(access(NODE, R_OK | W_OK) == 0);
    ssize_t length = readlink("/sys/dev/char/226:128/device/subsystem", text, sizeof text - 1);
    CHECK(length > 9 && strcmp(text + length - 9, "/platform") == 0);
    FILE *uevent = fopen("/sys/dev/char/226:128/device/uevent", "r");
    CHECK(uevent && fgets(text, sizeof text, uevent) && strcmp(text, "DRIVER=lima\n") == 0);
    if (uevent)
        fclose(uevent);
    DIR *folder = opendir("/dev/dri");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        found += strcmp(entry->d_name, "renderD128") == 0 ? 1 : entry->d_name[0] == '.' ? 0 : 100;
    CHECK(found == 1);
    if (folder)
        closedir(folder);
    FAILS(open("/dev/dri/card7", O_RDWR), ENOENT);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    close(fd);
}

static void objects(void)
{
    int fd = open_node();
    struct param param = { 1, 0, 0 };
    CHECK(ioctl(fd, GET_PARAM, &param) == 0 && param.value >= 1 && param.value <= 8);
    param.param = 9;
    FAILS(ioctl(fd, GET_PARAM, &param), EINVAL);
    param = (struct param) { 0, 1, 0 };
    FAILS(ioctl(fd, GET_PARAM, &param), EINVAL);
    struct capability prime = { 5, 0 };
    CHECK(ioctl(fd, GET_CAP, &prime) == 0 && prime.value == 3);
    FAILS(ioctl(fd, GET_CAP, NULL), EFAULT);
    FAILS(ioctl(fd, _IO('d', 0xef), &param), EINVAL);

    struct create create = { 0, 0, 0, 0 };
    FAILS(ioctl(fd, GEM_CREATE, &create), EINVAL);
    create = (struct create) { 4096, 2, 0, 0 };
    FAILS(ioctl(fd, GEM_CREATE, &create), EINVAL);
    create = (struct create) { 4096, 0, 0, 1 };
    FAILS(ioctl(fd, GEM_CREATE, &create), EINVAL);
    create = (struct create) { 0xffffffff, 0, 0, 0 };
    FAILS(ioctl(fd, GEM_CREATE, &create), ENOMEM);
    uint32_t one = object(fd, 5000), two = object(fd, 4096);
    CHECK(one != 0 && two != 0 && one != two);
    struct info first = info(fd, one), second = info(fd, two);
    CHECK(first.address && first.address % 4096 == 0 && second.address >= first.address + 8192);
    struct info none = { 77, 0, 0 };
    FAILS(ioctl(fd, GEM_INFO, &none), ENOENT);
    uint32_t *bytes = map(fd, one, 8192), *again = map(fd, one, 8192);
    CHECK(bytes[2047] == 0);
    bytes[2047] = 0x12345678;
    CHECK(again[2047] == 0x12345678);
    FAILS((long)mmap(NULL, 12288, PROT_READ, MAP_SHARED, fd, (off_t)first.offset), EINVAL);
    FAILS((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
    create = (struct create) { 16 << 20, 1, 0, 0 };
    CHECK(ioctl(fd, GEM_CREATE, &create) == 0);
    FAILS((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)info(fd, create.handle).offset), EINVAL);
    struct close_handle close_one = { one, 0 };
    CHECK(ioctl(fd, GEM_CLOSE, &close_one) == 0);
    FAILS(ioctl(fd, GEM_CLOSE, &close_one), EINVAL);
    again[3] = 7;
    CHECK(bytes[3] == 7);
    CHECK(object(fd, 4096) == one);

    struct waiting waiting = { two, 3, 0 };
    CHECK(ioctl(fd, GEM_WAIT, &waiting) == 0);
    waiting.op = 4;
    FAILS(ioctl(fd, GEM_WAIT, &waiting), EINVAL);
    waiting = (struct waiting) { 99, 1, 0 };
    FAILS(ioctl(fd, GEM_WAIT, &waiting), ENOENT);

    /* A duplicate is the same open device, another open is not. */
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), other = open_node();
    close(fd);
    CHECK(info(copy, two).address == second.address);
    none.handle = two;
    FAILS(ioctl(other, GEM_INFO, &none), ENOENT);
    munmap(bytes, 8192);
    munmap(again, 8192);
    close(copy);
    close(other);
}

static void sharing(void)
{
    int one = open_node(), two = open_node();
    uint32_t handle = object(one, 8192);
    map(one, handle, 8192)[5] = 55;
    struct prime out = { handle, O_CLOEXEC, -1 };
    CHECK(ioctl(one, PRIME_TO_FD, &out) == 0 && out.fd >= 0);
    CHECK(lseek(out.fd, 0, SEEK_END) == 8192);
    uint32_t *direct = mmap(NULL, 8192, PROT_READ, MAP_SHARED, out.fd, 0);
    CHECK(direct != MAP_FAILED && direct[5] == 55);
    CHECK(ftruncate(out.fd, 0) == -1);
    CHECK(ioctl(out.fd, _IOW('b', 0, uint64_t), &(uint64_t) { 0 }) == 0);
    struct prime in = { 0, 0, out.fd };
    CHECK(ioctl(one, PRIME_TO_HANDLE, &in) == 0 && in.handle == handle);
    object(two, 4096);
    CHECK(ioctl(two, PRIME_TO_HANDLE, &in) == 0 && in.handle == 2);
    uint32_t *theirs = map(two, in.handle, 8192);
    CHECK(theirs[5] == 55);
    in.fd = open("/dev/null", O_RDWR);
    FAILS(ioctl(two, PRIME_TO_HANDLE, &in), EINVAL);
    close(in.fd);
    in.fd = 999;
    FAILS(ioctl(two, PRIME_TO_HANDLE, &in), EBADF);
    out.handle = 99;
    FAILS(ioctl(one, PRIME_TO_FD, &out), ENOENT);
    struct flink name = { handle, 0 };
    /* A render node has no global names, which could be guessed. */
    FAILS(ioctl(one, GEM_FLINK, &name), EACCES);
    close(one);
    theirs[5] = 66;
    CHECK(direct[5] == 66);
    struct open_name by_name = { 1, 0, 0 };
    FAILS(ioctl(two, GEM_OPEN, &by_name), EACCES);
    by_name.name = 12345;
    FAILS(ioctl(two, GEM_OPEN, &by_name), EACCES);
    close(out.fd);

    /* A descriptor keeps its object alive after its exporter's handle is closed or its exporter ended. */
    one = open_node();
    handle = object(one, 4096);
    map(one, handle, 4096)[1] = 77;
    out = (struct prime) { handle, O_CLOEXEC, -1 };
    CHECK(ioctl(one, PRIME_TO_FD, &out) == 0);
    struct close_handle gone = { handle, 0 };
    CHECK(ioctl(one, GEM_CLOSE, &gone) == 0);
    in = (struct prime) { 0, 0, out.fd };
    CHECK(ioctl(two, PRIME_TO_HANDLE, &in) == 0);
    CHECK(map(two, in.handle, 4096)[1] == 77);
    struct prime again = { 0, 0, out.fd };
    CHECK(ioctl(two, PRIME_TO_HANDLE, &again) == 0 && again.handle == in.handle);
    gone.handle = in.handle;
    CHECK(ioctl(two, GEM_CLOSE, &gone) == 0);
    close(one);
    CHECK(ioctl(two, PRIME_TO_HANDLE, &in) == 0 && map(two, in.handle, 4096)[1] == 77);
    close(out.fd);
    close(two);
}

static void jobs(void)
{
    int fd = open_node();
    struct context context = { 9, 0 }, second;
    CHECK(ioctl(fd, CTX_CREATE, &context) == 0 && context.id == 0);
    second = (struct context) { 9, 0 };
    CHECK(ioctl(fd, CTX_CREATE, &second) == 0 && second.id == 1);
    CHECK(ioctl(fd, CTX_FREE, &second) == 0);
    FAILS(ioctl(fd, CTX_FREE, &second), EINVAL);
    struct object list = { object(fd, 4096), 3 };
    uint32_t address = info(fd, list.handle).address;
    uint32_t frame[6] = { address, address, address, address + 8, 0, 0 };
    struct submit submit = {
        0, 0, 1, sizeof frame, (uintptr_t)&list, (uintptr_t)frame, 0, 0, { 0, 0 },
    };
    /* A stream that contains its end. */
    uint32_t *stream = map(fd, list.handle, 4096);
    stream[1] = 0x50000000;
    CHECK(ioctl(fd, GEM_SUBMIT, &submit) == 0);
    /* A fault ends only the job. */
    frame[2] = 0xa0000000;
    frame[3] = 0xa0000008;
    CHECK(ioctl(fd, GEM_SUBMIT, &submit) == 0);
    frame[3] = 0x90000000;
    FAILS(ioctl(fd, GEM_SUBMIT, &submit), EINVAL);
    frame[3] = frame[2];
    FAILS(ioctl(fd, GEM_SUBMIT, &submit), EINVAL);
    frame[3] = frame[2] + 8;
    struct submit bad = submit;
    bad.pipe = 2;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), EINVAL);
    bad = submit;
    bad.objects = 0;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), EINVAL);
    bad = submit;
    bad.flags = 2;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), EINVAL);
    bad = submit;
    bad.frame_size = 28;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), EINVAL);
    bad = submit;
    bad.frame = 16;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), EFAULT);
    bad = submit;
    bad.context = 5;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), ENOENT);
    bad = submit;
    bad.out = 5;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), ENOENT);
    bad = submit;
    bad.in[1] = 5;
    FAILS(ioctl(fd, GEM_SUBMIT, &bad), ENOENT);
    list.handle = 99;
    FAILS(ioctl(fd, GEM_SUBMIT, &submit), ENOENT);
    uint32_t pixels[78] = { 0 };
    submit.pipe = 1;
    submit.frame = (uintptr_t)pixels;
    list.handle = 1;
    struct param gpu = { 0, 0, 0 };
    CHECK(ioctl(fd, GET_PARAM, &gpu) == 0);
    submit.frame_size = gpu.value == 2 ? 312 : 272;
    FAILS(ioctl(fd, GEM_SUBMIT, &submit), EINVAL);
    pixels[23] = 9;
    FAILS(ioctl(fd, GEM_SUBMIT, &submit), EINVAL);
    close(fd);
}

static int readable(int fd)
{
    struct pollfd poll_fd = { fd, POLLIN, 0 };
    return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLIN;
}

static void fences(void)
{
    int fd = open_node();
    struct fence done = { 0, 1 }, open_fence = { 0, 0 };
    CHECK(ioctl(fd, FENCE_CREATE, &done) == 0 && ioctl(fd, FENCE_CREATE, &open_fence) == 0);
    CHECK(done.handle && open_fence.handle && done.handle != open_fence.handle);
    struct fence_fd out = { done.handle, 1, -1, 0 };
    CHECK(ioctl(fd, FENCE_TO_FD, &out) == 0 && readable(out.fd));
    struct { char name[32]; int32_t second, fence; uint32_t flags, pad; } merge = { "both", out.fd, -1, 0, 0 };
    CHECK(ioctl(out.fd, _IOWR('>', 3, merge), &merge) == 0 && readable(merge.fence));
    struct { char name[32]; int32_t status; uint32_t flags, count, pad; uint64_t infos; } about = { 0 };
    CHECK(ioctl(out.fd, _IOWR('>', 4, about), &about) == 0 && about.status == 1);
    struct fence_fd in = { open_fence.handle, 1, out.fd, 0 };
    uint32_t both[2] = { open_fence.handle, done.handle };
    struct fence_wait wait_for = { (uintptr_t)both, 0, 2, 1, 9, 0 };
    FAILS(ioctl(fd, FENCE_WAIT, &wait_for), EINVAL);
    wait_for.flags = 3;
    FAILS(ioctl(fd, FENCE_WAIT, &wait_for), ETIME);
    wait_for.flags = 2;
    CHECK(ioctl(fd, FENCE_WAIT, &wait_for) == 0 && wait_for.first == 1);
    CHECK(ioctl(fd, FD_TO_FENCE, &in) == 0);
    wait_for.flags = 1;
    CHECK(ioctl(fd, FENCE_WAIT, &wait_for) == 0);
    struct fence_array array = { (uintptr_t)both, 1, 0 };
    CHECK(ioctl(fd, FENCE_RESET, &array) == 0);
    wait_for.flags = 3;
    FAILS(ioctl(fd, FENCE_WAIT, &wait_for), ETIME);
    CHECK(ioctl(fd, FENCE_SIGNAL, &array) == 0 && ioctl(fd, FENCE_WAIT, &wait_for) == 0);
    CHECK(ioctl(fd, FENCE_DESTROY, &done) == 0);
    FAILS(ioctl(fd, FENCE_DESTROY, &done), EINVAL);
    FAILS(ioctl(fd, FENCE_TO_FD, &out), ENOENT);
    close(out.fd);
    close(merge.fence);
    close(fd);
}

/* How a child ended: its exit code, or a signal in a shell's numbering. */
static int ended(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void processes(void)
{
    int fd = open_node(), pair[2];
    uint32_t handle = object(fd, 4096), *bytes = map(fd, handle, 4096);
    fflush(stdout);
    /* A child shares the inherited device; a third process receives it over a socket. */
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        map(fd, handle, 4096)[1] = 11;
        uint32_t mine = object(fd, 4096);
        _exit(failures ? 1 : (int)mine);
    }
    CHECK(ended(child) == 2 && bytes[1] == 11);
    CHECK(object(fd, 4096) == 3);

    /* Both send requests all the time; no reply reaches the other. */
    struct info mine = info(fd, handle), other = info(fd, 2);
    child = fork();
    for (int round = 0; round < 300; round++) {
        struct info now = { child ? handle : 2, 0, 0 };
        int good = ioctl(fd, GEM_INFO, &now) == 0 && now.address == (child ? mine : other).address;
        if (!good && child == 0)
            _exit(1);
        if (!good)
            CHECK(!"an answer of one's own");
    }
    if (child == 0)
        _exit(0);
    CHECK(ended(child) == 0);

    /* A child killed meanwhile has no effect on the others. */
    child = fork();
    if (child == 0) {
        int own = open_node();
        for (;;) {
            object(own, 1 << 20);
            struct info now = { handle, 0, 0 };
            ioctl(fd, GEM_INFO, &now);
        }
    }
    usleep(50000);
    kill(child, SIGKILL);
    CHECK(ended(child) == 128 + SIGKILL);
    CHECK(info(fd, handle).address == mine.address && bytes[1] == 11);
    close(fd);
}

static void *ask(void *argument)
{
    int fd = *(int *)argument;
    long wrong = 0;
    for (int round = 0; round < 200; round++) {
        struct create create = { 4096, 0, 0, 0 };
        struct info info = { 0, 0, 0 };
        struct close_handle gone = { 0, 0 };
        wrong += ioctl(fd, GEM_CREATE, &create) != 0;
        info.handle = gone.handle = create.handle;
        wrong += ioctl(fd, GEM_INFO, &info) != 0 || info.address == 0;
        wrong += ioctl(fd, GEM_CLOSE, &gone) != 0;
    }
    return (void *)wrong;
}

static void threads(void)
{
    int fd = open_node();
    pthread_t all[4];
    for (int at = 0; at < 4; at++)
        pthread_create(&all[at], NULL, ask, &fd);
    for (int at = 0; at < 4; at++) {
        void *wrong;
        pthread_join(all[at], &wrong);
        CHECK(wrong == NULL);
    }
    close(fd);
}

int main(void)
{
    files();
    objects();
    sharing();
    jobs();
    fences();
    processes();
    threads();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
