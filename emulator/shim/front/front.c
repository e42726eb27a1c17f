/* The front: an LD_PRELOAD library that makes a program see the device node of a Mali-400.
 *
 * It knows nothing about the GPU. Opening the node connects a socket to the server; the socket is the open device, so
 * dup, fork, exec, close and descriptor passing are the system's own. Every ioctl is one message to the server with a
 * socket of its own for the answer, so threads and forked processes never get each other's. Paths of the node and of its
 * sysfs folder lead into a folder of real files, which the server made.
 *
 * Environment: SKRYMIR_SOCKET the server's socket, SKRYMIR_ROOT the folder with dev/ and sys/. Without them, nothing changes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* The next library's function of the same name. */
#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) \
        next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static char root[PATH_MAX];
static struct sockaddr_un server;

__attribute__((constructor)) static void configure(void)
{
    const char *folder = getenv("SKRYMIR_ROOT");
    const char *path = getenv("SKRYMIR_SOCKET");
    if (server.sun_path[0] || !folder || !path || strlen(path) >= sizeof server.sun_path || strlen(folder) > PATH_MAX / 2)
        return;
    strcpy(root, folder);
    server.sun_family = AF_UNIX;
    strcpy(server.sun_path, path);
}

/* Other libraries' constructors may come before ours. */
static int active(void)
{
    if (!server.sun_path[0])
        configure();
    return server.sun_path[0] != 0;
}

/* ---- paths ---- */

static int below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

/* Where a path really is: the device's files are in the folder. */
static const char *real_path(const char *path, char buffer[PATH_MAX])
{
    if (!path || path[0] != '/' || !active())
        return path;
    if (!below(path, "/dev/dri") && !below(path, "/sys/class/drm") && strncmp(path, "/sys/dev/char/226:", 18) != 0)
        return path;
    if (strlen(path) + strlen(root) >= PATH_MAX)
        return path;
    strcpy(buffer, root);
    strcat(buffer, path);
    return buffer;
}

static int is_node(const char *path)
{
    return path && active() && strcmp(path, "/dev/dri/renderD128") == 0;
}

/* ---- the connection ---- */

/* Whether a descriptor is an open device. */
static int is_device(int fd)
{
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    int saved = errno;
    if (fd < 0 || !active())
        return 0;
    memset(&peer, 0, sizeof peer);
    int ours = getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sun_family == AF_UNIX
        && strncmp(peer.sun_path, server.sun_path, sizeof peer.sun_path) == 0;
    errno = saved;
    return ours;
}

static int open_device(int flags)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
    if (fd < 0)
        return -1;
    while (connect(fd, (struct sockaddr *)&server, sizeof server) != 0) {
        if (errno == EINTR || errno == EAGAIN)
            continue;
        close(fd);
        errno = ENXIO;
        return -1;
    }
    return fd;
}

enum { OP_IOCTL = 0, OP_MAP = 1 };

/* Both as the server has them. */
struct question {
    uint32_t op;
    uint32_t request; /* ioctl's word */
    uint32_t size;    /* bytes of the ioctl's struct, which follow */
    uint32_t pad;
    uint64_t offset; /* to map */
    uint64_t length;
};

struct answer {
    int32_t error; /* errno, or 0 */
    uint32_t size; /* bytes of the ioctl's struct, which follow */
};

/* The pieces of a message behind the question, and the descriptor that goes with it. */
struct extra {
    const void *bytes[2];
    size_t length[2];
    int fd; /* or -1 */
};

#define MAX_STRUCT 256

/* Asks the server. Gives 0 or an errno; *got is a descriptor that came with the answer, or -1. */
static int ask(int device, struct question *question, void *data, const struct extra *extra, int *got)
{
    int ends[2];
    struct answer answer = { EIO, 0 };
    *got = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;

    struct iovec out[4] = {
        { question, sizeof *question },
        { data, question->size },
        { (void *)extra->bytes[0], extra->length[0] },
        { (void *)extra->bytes[1], extra->length[1] },
    };
    int fds[2] = { ends[1], extra->fd };
    size_t fd_bytes = extra->fd >= 0 ? sizeof fds : sizeof fds[0];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fds)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = { 0 };
    message.msg_iov = out;
    message.msg_iovlen = 4;
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fd_bytes);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fd_bytes);
    memcpy(CMSG_DATA(head), fds, fd_bytes);
    ssize_t sent;
    do
        sent = sendmsg(device, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    int error = errno;
    close(ends[1]);
    if (sent < 0) {
        close(ends[0]);
        return error == EFAULT || error == ENOMEM || error == EBADF ? error : error == EMSGSIZE ? EINVAL : EIO;
    }

    struct iovec in[2] = { { &answer, sizeof answer }, { data, question->size } };
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    message.msg_iov = in;
    message.msg_iovlen = 2;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t received;
    do
        received = recvmsg(ends[0], &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    error = errno;
    close(ends[0]);
    if (received < 0)
        return error == EFAULT ? EFAULT : EIO;
    head = received > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(got, CMSG_DATA(head), sizeof *got);
    if (received < (ssize_t)sizeof answer)
        return EIO;
    return answer.error;
}

/* ---- ioctl ---- */

/* struct drm_version */
struct version {
    int major, minor, patch;
    size_t name_length;
    char *name;
    size_t date_length;
    char *date;
    size_t description_length;
    char *description;
};

static void give_text(char *to, size_t *length, const char *text)
{
    size_t whole = strlen(text);
    if (to && *length)
        memcpy(to, text, *length < whole ? *length : whole);
    *length = whole;
}

static int give_version(struct version *version)
{
    version->major = 1;
    version->minor = 1;
    version->patch = 0;
    give_text(version->name, &version->name_length, "lima");
    give_text(version->date, &version->date_length, "20191231");
    give_text(version->description, &version->description_length, "lima DRM");
    return 0;
}

static uint32_t word(const unsigned char *data, int at)
{
    uint32_t value;
    memcpy(&value, data + at, sizeof value);
    return value;
}

static const void *pointer(const unsigned char *data, int at)
{
    uint64_t value;
    memcpy(&value, data + at, sizeof value);
    return (const void *)(uintptr_t)value;
}

enum {
    DRM_VERSION = 0x00,
    DRM_PRIME_HANDLE_TO_FD = 0x2d,
    DRM_PRIME_FD_TO_HANDLE = 0x2e,
    DRM_SYNCOBJ_HANDLE_TO_FD = 0xc1,
    DRM_SYNCOBJ_FD_TO_HANDLE = 0xc2,
    DRM_SYNCOBJ_WAIT = 0xc3,
    DRM_SYNCOBJ_RESET = 0xc4,
    DRM_SYNCOBJ_SIGNAL = 0xc5,
    LIMA_GEM_SUBMIT = 0x43,
};

static int device_ioctl(int fd, unsigned long request, void *argument)
{
    unsigned size = _IOC_SIZE(request), number = _IOC_NR(request);
    unsigned char data[MAX_STRUCT] = { 0 };
    struct extra extra = { { NULL, NULL }, { 0, 0 }, -1 };
    if ((uintptr_t)argument < 4096)
        return EFAULT;
    if (size > MAX_STRUCT)
        return EINVAL;
    if (number == DRM_VERSION)
        return size == sizeof(struct version) ? give_version(argument) : EINVAL;
    memcpy(data, argument, size);

    int wants_fd = 0;
    switch (number) {
    case LIMA_GEM_SUBMIT:
        if (word(data, 8) > 0x3000 || word(data, 12) > 0x1000)
            return EINVAL;
        extra.bytes[0] = pointer(data, 24);
        extra.length[0] = word(data, 12);
        extra.bytes[1] = pointer(data, 16);
        extra.length[1] = (size_t)word(data, 8) * 8;
        break;
    case DRM_SYNCOBJ_WAIT:
    case DRM_SYNCOBJ_RESET:
    case DRM_SYNCOBJ_SIGNAL: {
        uint32_t count = word(data, number == DRM_SYNCOBJ_WAIT ? 16 : 8);
        if (count > 0x3000)
            return EINVAL;
        extra.bytes[0] = pointer(data, 0);
        extra.length[0] = (size_t)count * 4;
        break;
    }
    case DRM_PRIME_FD_TO_HANDLE:
    case DRM_SYNCOBJ_FD_TO_HANDLE:
        extra.fd = (int)word(data, 8);
        if (extra.fd < 0)
            return EBADF;
        break;
    case DRM_PRIME_HANDLE_TO_FD:
    case DRM_SYNCOBJ_HANDLE_TO_FD:
        wants_fd = 1;
        break;
    }

    struct question question = { OP_IOCTL, (uint32_t)request, size, 0, 0, 0 };
    int got;
    int error = ask(fd, &question, data, &extra, &got);
    if (error == 0 && wants_fd) {
        if (got < 0)
            return EIO;
        memcpy(data + 8, &got, sizeof got);
    } else if (got >= 0) {
        close(got);
    }
    if (request & ((unsigned long)_IOC_READ << _IOC_DIRSHIFT))
        memcpy(argument, data, size);
    return error;
}

/* Fences are descriptors that can be read when they are done; these two are what a sync file can besides. */

/* struct sync_merge_data */
struct merge {
    char name[32];
    int32_t second;
    int32_t fence;
    uint32_t flags, pad;
};

/* struct sync_file_info */
struct file_info {
    char name[32];
    int32_t status;
    uint32_t flags, count, pad;
    uint64_t infos;
};

static int fence_ioctl(int fd, unsigned long request, void *argument)
{
    struct pollfd both[2] = { { fd, POLLIN, 0 }, { -1, POLLIN, 0 } };
    if (_IOC_NR(request) == 3 && _IOC_SIZE(request) == sizeof(struct merge)) {
        struct merge *merge = argument;
        both[1].fd = merge->second;
        /* The server's fences are done when the ioctl that makes them returns. */
        if (poll(both, 2, -1) < 0)
            return errno;
        merge->fence = eventfd(1, EFD_CLOEXEC);
        return merge->fence < 0 ? errno : 0;
    }
    if (_IOC_NR(request) == 4 && _IOC_SIZE(request) == sizeof(struct file_info)) {
        struct file_info *info = argument;
        memset(info->name, 0, sizeof info->name);
        strcpy(info->name, "lima");
        info->status = poll(both, 1, 0) == 1;
        info->count = 0;
        return 0;
    }
    return ENOTTY;
}

PUBLIC int ioctl(int fd, unsigned long request, ...)
{
    NEXT(ioctl);
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    int error;
    request = (uint32_t)request;
    if (_IOC_TYPE(request) == 'd' && is_device(fd)) {
        error = device_ioctl(fd, request, argument);
    } else {
        int result = next(fd, request, argument);
        /* qemu says ENOSYS of what it does not know. */
        if (result >= 0 || (errno != ENOTTY && errno != ENOSYS) || !active())
            return result;
        if (_IOC_TYPE(request) == '>')
            error = fence_ioctl(fd, request, argument);
        else if (_IOC_TYPE(request) == 'b' && fcntl(fd, F_GET_SEALS) >= 0)
            error = 0; /* DMA_BUF_IOCTL_SYNC of a buffer object */
        else
            error = ENOTTY;
    }
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* ---- mmap ---- */

static void *map(void *(*next)(void *, size_t, int, int, int, off64_t), void *address, size_t length, int protection,
                 int flags, int fd, off64_t offset)
{
    if (flags & MAP_ANONYMOUS || fd < 0 || !is_device(fd))
        return next(address, length, protection, flags, fd, offset);
    struct question question = { OP_MAP, 0, 0, 0, (uint64_t)offset, length };
    struct extra extra = { { NULL, NULL }, { 0, 0 }, -1 };
    int object;
    int error = ask(fd, &question, NULL, &extra, &object);
    if (error != 0 || object < 0) {
        if (object >= 0)
            close(object);
        errno = error ? error : EIO;
        return MAP_FAILED;
    }
    void *mapping = next(address, length, protection, flags, object, 0);
    error = errno;
    close(object);
    errno = error;
    return mapping;
}

/* off_t is as wide as off64_t on every 64-bit machine, and the front is for those. */
_Static_assert(sizeof(off_t) == sizeof(off64_t), "a 64-bit machine");

PUBLIC void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    return map(next, address, length, protection, flags, fd, offset);
}

PUBLIC void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
    NEXT(mmap64);
    return map(next, address, length, protection, flags, fd, offset);
}

/* ---- opening ---- */

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

#define OPEN(name) \
    PUBLIC int name(const char *path, int flags, ...) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        MODE_OF(flags); \
        return is_node(path) ? open_device(flags) : next(real_path(path, buffer), flags, mode); \
    }

#define OPENAT(name) \
    PUBLIC int name(int folder, const char *path, int flags, ...) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        MODE_OF(flags); \
        return is_node(path) ? open_device(flags) : next(folder, real_path(path, buffer), flags, mode); \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

PUBLIC int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

PUBLIC int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

PUBLIC int __openat_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}

PUBLIC int __openat64_2(int folder, const char *path, int flags)
{
    return openat64(folder, path, flags);
}

#define FOPEN(name) \
    PUBLIC FILE *name(const char *path, const char *mode) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        return next(real_path(path, buffer), mode); \
    }

FOPEN(fopen)
FOPEN(fopen64)

PUBLIC DIR *opendir(const char *path)
{
    NEXT(opendir);
    char buffer[PATH_MAX];
    return next(real_path(path, buffer));
}

#define SCANDIR(name, entry) \
    PUBLIC int name(const char *path, struct entry ***list, int (*filter)(const struct entry *), \
                    int (*compare)(const struct entry **, const struct entry **)) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        return next(real_path(path, buffer), list, filter, compare); \
    }

SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

/* ---- looking ---- */

/* A character device with the node's number, as far as anybody asks. */
#define AS_NODE(status) \
    do { \
        (status)->st_mode = S_IFCHR | 0666; \
        (status)->st_rdev = makedev(226, 128); \
        (status)->st_size = 0; \
    } while (0)

#define STAT(name, type) \
    PUBLIC int name(const char *path, struct type *status) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(real_path(path, buffer), status); \
        if (result == 0 && is_node(path)) \
            AS_NODE(status); \
        return result; \
    }

#define FSTAT(name, type) \
    PUBLIC int name(int fd, struct type *status) \
    { \
        NEXT(name); \
        int result = next(fd, status); \
        if (result == 0 && S_ISSOCK(status->st_mode) && is_device(fd)) \
            AS_NODE(status); \
        return result; \
    }

#define FSTATAT(name, type) \
    PUBLIC int name(int folder, const char *path, struct type *status, int flags) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(folder, real_path(path, buffer), status, flags); \
        if (result == 0 && (is_node(path) || (S_ISSOCK(status->st_mode) && !path[0] && is_device(folder)))) \
            AS_NODE(status); \
        return result; \
    }

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

/* What the same were called before glibc 2.33. */
#define XSTAT(name, type) \
    int name(int, const char *, struct type *); \
    PUBLIC int name(int version, const char *path, struct type *status) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(version, real_path(path, buffer), status); \
        if (result == 0 && is_node(path)) \
            AS_NODE(status); \
        return result; \
    }

#define FXSTAT(name, type) \
    int name(int, int, struct type *); \
    PUBLIC int name(int version, int fd, struct type *status) \
    { \
        NEXT(name); \
        int result = next(version, fd, status); \
        if (result == 0 && S_ISSOCK(status->st_mode) && is_device(fd)) \
            AS_NODE(status); \
        return result; \
    }

XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)
FXSTAT(__fxstat, stat)
FXSTAT(__fxstat64, stat64)

PUBLIC int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict status)
{
    NEXT(statx);
    char buffer[PATH_MAX];
    int result = next(folder, real_path(path, buffer), flags, mask, status);
    if (result == 0 && (is_node(path) || (S_ISSOCK(status->stx_mode) && !path[0] && is_device(folder)))) {
        status->stx_mode = S_IFCHR | 0666;
        status->stx_rdev_major = 226;
        status->stx_rdev_minor = 128;
        status->stx_size = 0;
    }
    return result;
}

PUBLIC int access(const char *path, int mode)
{
    NEXT(access);
    char buffer[PATH_MAX];
    return next(real_path(path, buffer), mode);
}

PUBLIC int faccessat(int folder, const char *path, int mode, int flags)
{
    NEXT(faccessat);
    char buffer[PATH_MAX];
    return next(folder, real_path(path, buffer), mode, flags);
}

PUBLIC ssize_t readlink(const char *path, char *to, size_t size)
{
    NEXT(readlink);
    char buffer[PATH_MAX];
    return next(real_path(path, buffer), to, size);
}

PUBLIC ssize_t readlinkat(int folder, const char *path, char *to, size_t size)
{
    NEXT(readlinkat);
    char buffer[PATH_MAX];
    return next(folder, real_path(path, buffer), to, size);
}

ssize_t __readlink_chk(const char *, char *, size_t, size_t);

PUBLIC ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room)
{
    NEXT(__readlink_chk);
    char buffer[PATH_MAX];
    return next(real_path(path, buffer), to, size, room);
}

PUBLIC char *realpath(const char *restrict path, char *restrict to)
{
    NEXT(realpath);
    char buffer[PATH_MAX];
    const char *real = real_path(path, buffer);
    char *result = next(real, to);
    /* What was found in the folder keeps its name outside. */
    size_t length = strlen(root);
    if (result && real != path && strncmp(result, root, length) == 0)
        memmove(result, result + length, strlen(result + length) + 1);
    return result;
}
