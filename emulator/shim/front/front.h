/* The front: an LD_PRELOAD library through which a program and its children see the device node of a Mali-400.
 *
 * It is independent of the GPU. Opening the node connects a socket to the server; the socket is the open device, so dup,
 * fork, exec, close and descriptor passing are the system's own. device.c has the connection, files.c the paths of the
 * node and of its sysfs folder, child.c the start of other programs.
 *
 * Environment: SKRYMIR_SERVER is the server's folder; without it nothing changes. SKRYMIR_PREFIX, SKRYMIR_QEMU,
 * SKRYMIR_FRONT_ARM64 and SKRYMIR_FRONT_NATIVE configure programs for 64-bit ARM on other machines.
 */
#ifndef FRONT_H
#define FRONT_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

#define PUBLIC __attribute__((visibility("default")))

/* The next library's function of the same name. */
#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) \
        next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The environment at the program's start, independent of later changes. */
struct configuration {
    char server[PATH_MAX]; /* the folder with the server's sockets, and with dev/ and sys/ */
    char prefix[PATH_MAX]; /* the root folder of ARM programs */
    char qemu[PATH_MAX];   /* what runs ARM programs; empty on ARM machines */
    char fronts[2][PATH_MAX]; /* this library for ARM, and for this machine */
};

extern struct configuration configuration;

/* Whether there is a server. */
int active(void);

/* Majors of device nodes: what has graphics, and what has keys. */
enum { DRM_MAJOR = 226, INPUT_MAJOR = 13 };

/* A device node. */
struct node {
    const char *path;
    const char *socket; /* its name in the server's folder */
    unsigned major, minor;
};

/* The node of a path, or none. */
const struct node *node_of(const char *path);

/* The node whose open device a descriptor is, or none. */
const struct node *device_of(int fd);

/* A new open device. */
int open_device(const struct node *node, int flags);

/* A word, or an address, in an ioctl's struct. */
uint32_t word(const unsigned char *data, int at);
const void *pointer(const unsigned char *data, int at);

/* The parts of a message after the request, and its descriptors, or -1. */
struct extra {
    const void *bytes[2];
    size_t length[2];
    int fds[2];
};

#define NO_EXTRA { { NULL, NULL }, { 0, 0 }, { -1, -1 } }

/* Waits until a descriptor can be read, or an absolute time on the monotonic clock. Returns 0, ETIME or an errno. */
int wait_until(int fd, int64_t end);

/* Data of an atomic commit besides its request. */
struct change {
    unsigned char lists[1 << 14]; /* what is changed, one list after the other */
    int32_t *fence; /* where a descriptor goes that is asked for */
    int waits; /* whether the program waits for the end */
};

/* Adds the data that an ioctl of the display points to. Returns 0 or an errno. */
int display_question(unsigned number, const unsigned char *data, struct extra *extra, struct change *change);

/* Does what is left when the server has answered: lists, waiting, descriptors. Takes what came with the answer. Gives 0 or an errno. */
int display_answer(unsigned number, const unsigned char *asked, const unsigned char *data, const unsigned char *tail,
                   const struct change *change, int got);

#endif
