/* The display's ioctls: the data that their structs point to, and waits that happen here instead of in the server. */
#include "front.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_VBLANK = 0x3a,
    SETCRTC = 0xa2,
    ATOMIC = 0xbc,
    CREATEPROPBLOB = 0xbd,
};

/* Ids of properties that are descriptors; src/properties.rs has the same. */
enum {
    OUT_FENCE_PTR = 64,
    IN_FENCE_FD = 76,
};

/* Flags of an atomic commit. */
enum { TEST_ONLY = 0x100, NONBLOCK = 0x200 };

/* Limits of objects and of properties in a commit. */
enum { MOST_OBJECTS = 64, MOST_PROPERTIES = 1024 };

/* Lists of a reply: the struct's offsets of their address and count, and an element's size. */
static const struct list {
    unsigned number, address, count, size;
} lists[] = {
    { 0xa0, 0, 32, 4 },  { 0xa0, 8, 36, 4 }, { 0xa0, 16, 40, 4 }, { 0xa0, 24, 44, 4 }, /* resources */
    { 0xa7, 0, 40, 4 },  { 0xa7, 8, 32, 68 }, /* a connector's encoders and modes */
    { 0xb5, 0, 8, 4 },   /* planes */
    { 0xb6, 24, 20, 4 }, /* a plane's formats */
    { 0xb9, 0, 16, 4 },  { 0xb9, 8, 16, 8 }, /* an object's properties and their values */
    { 0xaa, 0, 56, 8 },  { 0xaa, 8, 60, 40 }, /* a property's values and their names */
    { 0xac, 8, 4, 1 },   /* a blob's bytes */
};

#define LISTS (sizeof lists / sizeof lists[0])

/* Copies the lists to the program's buffers, each only if it fits whole. */
static void give_lists(unsigned number, const unsigned char *asked, const unsigned char *data, const unsigned char *tail)
{
    for (size_t at = 0; at < LISTS; at++) {
        const struct list *list = &lists[at];
        if (list->number != number)
            continue;
        uint32_t length = word(data, (int)list->count);
        void *to = (void *)(uintptr_t)pointer(asked, (int)list->address);
        if (to && length && word(asked, (int)list->count) >= length)
            memcpy(to, tail, (size_t)length * list->size);
        tail += (size_t)length * list->size;
    }
}

/* Copies data that the program points to, by a system call that checks the address. Returns 0 or an errno. */
static int fetch(unsigned char *to, const void *from, size_t length)
{
    int ends[2], error = 0;
    if (!length)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    if (send(ends[0], from, length, MSG_NOSIGNAL) != (ssize_t)length)
        error = errno;
    else if (recv(ends[1], to, length, 0) != (ssize_t)length)
        error = EIO;
    close(ends[0]);
    close(ends[1]);
    return error;
}

/* struct drm_mode_atomic */
static int change_question(const unsigned char *data, struct extra *extra, struct change *change)
{
    uint32_t objects = word(data, 4), counts[MOST_OBJECTS];
    size_t properties = 0, at = 0;
    int error;
    if (objects > MOST_OBJECTS)
        return EINVAL;
    if ((error = fetch((unsigned char *)counts, pointer(data, 16), 4 * objects)) != 0)
        return error;
    for (uint32_t object = 0; object < objects; object++) {
        properties += counts[object];
        if (counts[object] > MOST_PROPERTIES || properties > MOST_PROPERTIES)
            return EINVAL;
    }
    memcpy(change->lists, counts, 4 * objects);
    at = 4 * objects;
    const struct { int from; size_t length; } lists[] = { { 8, 4 * objects }, { 24, 4 * properties }, { 32, 8 * properties } };
    for (int list = 0; list < 3; list++) {
        if ((error = fetch(change->lists + at, pointer(data, lists[list].from), lists[list].length)) != 0)
            return error;
        at += lists[list].length;
    }
    const unsigned char *ids = change->lists + 8 * objects, *values = ids + 4 * properties;
    for (size_t property = 0; property < properties; property++) {
        uint32_t id = word(ids, (int)(4 * property));
        const void *value = pointer(values, (int)(8 * property));
        if (id == OUT_FENCE_PTR && value)
            change->fence = (int32_t *)(uintptr_t)value;
        if (id == IN_FENCE_FD && (int64_t)(intptr_t)value >= 0)
            extra->fds[0] = (int)(intptr_t)value;
    }
    change->waits = !(word(data, 0) & (TEST_ONLY | NONBLOCK));
    extra->bytes[0] = change->lists;
    extra->length[0] = at;
    return 0;
}

int display_question(unsigned number, const unsigned char *data, struct extra *extra, struct change *change)
{
    change->fence = NULL;
    change->waits = 0;
    switch (number) {
    case SETCRTC:
        if (word(data, 8) > 16)
            return EINVAL;
        extra->bytes[0] = pointer(data, 0);
        extra->length[0] = (size_t)word(data, 8) * 4;
        change->waits = 1;
        return 0;
    case CREATEPROPBLOB:
        extra->bytes[0] = pointer(data, 0);
        extra->length[0] = word(data, 8) > 4096 ? 0 : word(data, 8);
        return 0;
    case ATOMIC:
        return change_question(data, extra, change);
    default:
        return 0;
    }
}

/* Waits for the vertical blank that a reply names. */
static int wait_for_refresh(const unsigned char *data)
{
    int64_t seconds, micros;
    memcpy(&seconds, data + 8, sizeof seconds);
    memcpy(&micros, data + 16, sizeof micros);
    struct timespec time = { (time_t)seconds, (long)micros * 1000 };
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

int display_answer(unsigned number, const unsigned char *asked, const unsigned char *data, const unsigned char *tail,
                   const struct change *change, int got)
{
    int error = 0;
    if (number == WAIT_VBLANK)
        error = wait_for_refresh(data);
    if (change->waits && got >= 0)
        wait_until(got, INT64_MAX);
    if (change->fence) {
        *change->fence = got;
        got = -1;
    }
    give_lists(number, asked, data, tail);
    if (got >= 0)
        close(got);
    return error;
}
