/* The open device: a socket to the server. Every ioctl is one message with its own socket for the reply. */
#include "front.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct configuration configuration;

static void take(char to[PATH_MAX], const char *name)
{
    const char *value = getenv(name);
    if (value && strlen(value) < PATH_MAX / 2)
        strcpy(to, value);
}

__attribute__((constructor)) static void configure(void)
{
    const char *server = getenv("SKRYMIR_SERVER");
    struct sockaddr_un address;
    if (configuration.server[0] || !server || strlen(server) + 16 > sizeof address.sun_path)
        return;
    take(configuration.prefix, "SKRYMIR_PREFIX");
    take(configuration.qemu, "SKRYMIR_QEMU");
    take(configuration.fronts[0], "SKRYMIR_FRONT_ARM64");
    take(configuration.fronts[1], "SKRYMIR_FRONT_NATIVE");
    strcpy(configuration.server, server);
}

/* Other libraries' constructors may run before ours. */
int active(void)
{
    if (!configuration.server[0])
        configure();
    return configuration.server[0] != 0;
}

static const struct node nodes[] = {
    { "/dev/dri/renderD128", "renderD128", DRM_MAJOR, 128 },
    { "/dev/dri/card0", "card0", DRM_MAJOR, 0 },
    { "/dev/input/event0", "event0", INPUT_MAJOR, 64 },
    { "/dev/input/event1", "event1", INPUT_MAJOR, 65 },
};

#define NODES (sizeof nodes / sizeof nodes[0])

const struct node *node_of(const char *path)
{
    for (size_t at = 0; path && active() && at < NODES; at++)
        if (strcmp(path, nodes[at].path) == 0)
            return &nodes[at];
    return NULL;
}

const struct node *device_of(int fd)
{
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    const struct node *found = NULL;
    int saved = errno;
    if (fd < 0 || !active())
        return NULL;
    memset(&peer, 0, sizeof peer);
    size_t folder = strlen(configuration.server);
    if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sun_family == AF_UNIX
        && strncmp(peer.sun_path, configuration.server, folder) == 0 && peer.sun_path[folder] == '/')
        for (size_t at = 0; at < NODES; at++)
            if (strcmp(peer.sun_path + folder + 1, nodes[at].socket) == 0)
                found = &nodes[at];
    errno = saved;
    return found;
}

int open_device(const struct node *node, int flags)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    /* configure() checked the length of the folder's name. */
    strcpy(address.sun_path, configuration.server);
    strcat(address.sun_path, "/");
    strcat(address.sun_path, node->socket);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
    if (fd < 0)
        return -1;
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR || errno == EAGAIN)
            continue;
        close(fd);
        errno = ENXIO;
        return -1;
    }
    if (flags & O_NONBLOCK)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

enum { OP_IOCTL = 0, OP_MAP = 1, OP_MERGE = 2 };

/* Both have the server's layout. */
struct question {
    uint32_t op;
    uint32_t request; /* ioctl's word */
    uint32_t size;    /* bytes of the ioctl's struct, which follow */
    uint32_t pad; /* in a reply: bytes returned */
    uint64_t offset; /* for mmap */
    uint64_t length;
};

struct answer {
    int32_t error; /* errno, or 0 */
    uint32_t size; /* bytes of the ioctl's struct, which follow */
};

#define MAX_STRUCT 256

/* Size of an input device's reply: keys take 96 bytes, a name may take more. */
#define MAX_ANSWER 1024

enum { EVIOC_CLOCK = 0xa0 };

/* Size of a reply's lists after the struct. */
#define MAX_TAIL 4096

/* Sends a request; the reply's struct and lists are written to the data's buffer. Returns 0 or an errno; *got is a descriptor
 * that came with the reply, or -1. */
static int ask(int device, struct question *question, void *data, size_t room, const struct extra *extra, int *got)
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
    int fds[3] = { ends[1], extra->fds[0], extra->fds[1] };
    size_t fd_bytes = sizeof fds[0] * (extra->fds[0] < 0 ? 1 : extra->fds[1] < 0 ? 2 : 3);
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
    do {
        /* A device opened with O_NONBLOCK still accepts every request. */
        struct pollfd room = { device, POLLOUT, 0 };
        sent = sendmsg(device, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            poll(&room, 1, -1);
            errno = EINTR;
        } else if (sent < 0 && errno == ETOOMANYREFS) {
            /* Too many descriptors of this user are in flight: wait until the server has received some. */
            poll(NULL, 0, 1);
            errno = EINTR;
        }
    } while (sent < 0 && errno == EINTR);
    int error = errno;
    close(ends[1]);
    if (sent < 0) {
        close(ends[0]);
        return error == EFAULT || error == ENOMEM || error == EBADF ? error : error == EMSGSIZE ? EINVAL : EIO;
    }

    struct iovec in[2] = { { &answer, sizeof answer }, { data, room } };
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
    question->pad = answer.size;
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

static int give_version(struct version *version, const struct node *node)
{
    version->major = 1;
    version->minor = 1;
    version->patch = 0;
    give_text(version->name, &version->name_length, node->minor ? "lima" : "sun4i-drm");
    give_text(version->date, &version->date_length, "20191231");
    give_text(version->description, &version->description_length, "lima DRM");
    return 0;
}

uint32_t word(const unsigned char *data, int at)
{
    uint32_t value;
    memcpy(&value, data + at, sizeof value);
    return value;
}

const void *pointer(const unsigned char *data, int at)
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
    LIMA_GEM_WAIT = 0x44,
};

int wait_until(int fd, int64_t end)
{
    for (;;) {
        struct pollfd one = { fd, POLLIN, 0 };
        struct timespec now, left;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t rest = end - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
        if (rest < 0)
            rest = 0;
        left.tv_sec = (time_t)(rest / 1000000000);
        left.tv_nsec = (long)(rest % 1000000000);
        int ready = ppoll(&one, 1, &left, NULL);
        if (ready > 0)
            return 0;
        if (ready == 0)
            return ETIME;
        if (errno != EINTR)
            return errno;
    }
}

/* An input device's ioctls: they return bytes and their number. Returns the result, or a negative errno. */
static int input_ioctl(int fd, unsigned long request, void *argument)
{
    unsigned size = _IOC_SIZE(request);
    unsigned char data[MAX_ANSWER] = { 0 };
    struct extra extra = NO_EXTRA;
    struct question question = { OP_IOCTL, (uint32_t)request, size < MAX_ANSWER ? size : MAX_ANSWER, 0, 0, 0 };
    int got;
    if (request & ((unsigned long)_IOC_WRITE << _IOC_DIRSHIFT)) {
        /* Grabs and revocations take a number, a clock a pointer to one. */
        intptr_t value = (intptr_t)argument;
        if (_IOC_NR(request) == EVIOC_CLOCK || value >= 4096)
            memcpy(data, argument, question.size);
        else
            memcpy(data, &value, sizeof(int));
    }
    int error = ask(fd, &question, data, sizeof data, &extra, &got);
    if (got >= 0)
        close(got);
    if (error)
        return -error;
    if (request & ((unsigned long)_IOC_READ << _IOC_DIRSHIFT))
        memcpy(argument, data, question.pad < size ? question.pad : size);
    /* Strings and sets return their length, fixed-size structs return 0. */
    unsigned number = _IOC_NR(request);
    int has_length = (number >= 0x06 && number <= 0x09) || (number >= 0x18 && number < 0x40);
    return has_length ? (int)question.pad : 0;
}

static int device_ioctl(int fd, const struct node *node, unsigned long request, void *argument)
{
    unsigned size = _IOC_SIZE(request), number = _IOC_NR(request);
    unsigned char data[MAX_STRUCT + MAX_TAIL] = { 0 }, asked[MAX_STRUCT];
    struct extra extra = NO_EXTRA;
    struct change change;
    if (size && (uintptr_t)argument < 4096)
        return EFAULT;
    if (size > MAX_STRUCT)
        return EINVAL;
    if (number == DRM_VERSION)
        return size == sizeof(struct version) ? give_version(argument, node) : EINVAL;
    memcpy(data, argument, size);
    memcpy(asked, data, sizeof asked);

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
        extra.fds[0] = (int)word(data, 8);
        if (extra.fds[0] < 0)
            return EBADF;
        break;
    case DRM_PRIME_HANDLE_TO_FD:
    case DRM_SYNCOBJ_HANDLE_TO_FD:
        wants_fd = 1;
        break;
    default:
        if (node->minor == 0) {
            int error = display_question(number, data, &extra, &change);
            if (error)
                return error;
        }
    }

    struct question question = { OP_IOCTL, (uint32_t)request, size, 0, 0, 0 };
    int got;
    int error = ask(fd, &question, data, sizeof data, &extra, &got);
    /* A pending wait returns a descriptor to wait for: wait here, then repeat the request for the result. */
    while (error == 0 && got >= 0 && (number == LIMA_GEM_WAIT || number == DRM_SYNCOBJ_WAIT)) {
        int64_t end;
        memcpy(&end, data + 8, sizeof end);
        error = wait_until(got, end);
        close(got);
        got = -1;
        if (error == ETIME && number == LIMA_GEM_WAIT)
            error = ETIMEDOUT;
        if (error == 0 && number == DRM_SYNCOBJ_WAIT)
            error = ask(fd, &question, data, sizeof data, &extra, &got);
    }
    if (error == 0 && wants_fd) {
        if (got < 0)
            return EIO;
        memcpy(data + 8, &got, sizeof got);
    } else if (error == 0 && node->minor == 0) {
        error = display_answer(number, asked, data, data + size, &change, got);
    } else if (got >= 0) {
        close(got);
    }
    if (request & ((unsigned long)_IOC_READ << _IOC_DIRSHIFT))
        memcpy(argument, data, size);
    return error;
}

/* Fences are sockets that become readable when signalled; a sync file has these two ioctls besides. */

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

/* The server's socket for merging fences. */
static const struct node fences = { NULL, "fences", 0, 0 };

/* Merges two fences: the server creates the result without waiting. */
static int merge_fences(struct merge *merge, int fd)
{
    struct question question = { OP_MERGE, 0, 0, 0, 0, 0 };
    struct extra extra = { { NULL, NULL }, { 0, 0 }, { fd, merge->second } };
    int device = open_device(&fences, O_CLOEXEC);
    int error = device < 0 ? errno : ask(device, &question, NULL, 0, &extra, &merge->fence);
    if (device >= 0)
        close(device);
    return error == 0 && merge->fence < 0 ? EIO : error;
}

static int fence_ioctl(int fd, unsigned long request, void *argument)
{
    struct pollfd one = { fd, POLLIN, 0 };
    if (_IOC_NR(request) == 3 && _IOC_SIZE(request) == sizeof(struct merge))
        return merge_fences(argument, fd);
    if (_IOC_NR(request) == 4 && _IOC_SIZE(request) == sizeof(struct file_info)) {
        struct file_info *info = argument;
        memset(info->name, 0, sizeof info->name);
        strcpy(info->name, "lima");
        info->status = poll(&one, 1, 0) == 1;
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
    /* Looked up once: another thread may close the descriptor meanwhile. */
    const struct node *node = _IOC_TYPE(request) == 'd' || _IOC_TYPE(request) == 'E' ? device_of(fd) : NULL;
    if (node && node->major == INPUT_MAJOR) {
        int result = _IOC_TYPE(request) == 'E' ? input_ioctl(fd, request, argument) : -ENOTTY;
        if (result >= 0)
            return result;
        error = -result;
    } else if (node && _IOC_TYPE(request) == 'd') {
        error = device_ioctl(fd, node, request, argument);
    } else {
        int result = next(fd, request, argument);
        /* qemu returns ENOSYS for unknown ioctls. */
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
    const struct node *node = flags & MAP_ANONYMOUS || fd < 0 ? NULL : device_of(fd);
    if (!node || node->major == INPUT_MAJOR)
        return next(address, length, protection, flags, fd, offset);
    struct question question = { OP_MAP, 0, 0, 0, (uint64_t)offset, length };
    struct extra extra = NO_EXTRA;
    int object;
    int error = ask(fd, &question, NULL, 0, &extra, &object);
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

/* off_t is as wide as off64_t on every 64-bit machine, which the front requires. */
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
