/* The display's node, without a driver: resources, dumb buffers, flips with their events, and what is refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "drm.h"

#define NODE "/dev/dri/card0"

struct version { int major, minor, patch; size_t name_length; char *name; size_t date_length; char *date; size_t text_length; char *text; };
struct resources { uint64_t buffers, crtcs, connectors, encoders; uint32_t counts[4], min_width, max_width, min_height, max_height; };
struct mode { uint32_t clock; uint16_t width, h[4], height, v[4]; uint32_t rate, flags, type; char name[32]; };
struct connector {
    uint64_t encoders, modes, props, values;
    uint32_t count_modes, count_props, count_encoders, encoder, id, type, type_id, connection, mm_width, mm_height, subpixel, pad;
};
struct crtc { uint64_t connectors; uint32_t count, id, buffer, x, y, gamma, valid; struct mode mode; };
struct dumb { uint32_t height, width, bits, flags, handle, pitch; uint64_t size; };
struct map_dumb { uint32_t handle, pad; uint64_t offset; };
struct buffer { uint32_t id, width, height, format, flags, handles[4], pitches[4], offsets[4], pad; uint64_t modifiers[4]; };
struct flip { uint32_t crtc, buffer, flags, reserved; uint64_t user; };
struct event { uint32_t type, length; uint64_t user; uint32_t seconds, micros, sequence, crtc; };

#define VERSION _IOWR('d', 0x00, struct version)
#define SET_MASTER _IO('d', 0x1e)
#define GETRESOURCES _IOWR('d', 0xa0, struct resources)
#define GETCRTC _IOWR('d', 0xa1, struct crtc)
#define SETCRTC _IOWR('d', 0xa2, struct crtc)
#define GETCONNECTOR _IOWR('d', 0xa7, struct connector)
#define RMFB _IOWR('d', 0xaf, uint32_t)
#define PAGE_FLIP _IOWR('d', 0xb0, struct flip)
#define CREATE_DUMB _IOWR('d', 0xb2, struct dumb)
#define MAP_DUMB _IOWR('d', 0xb3, struct map_dumb)
#define ADDFB2 _IOWR('d', 0xb8, struct buffer)
#define ATOMIC _IOWR('d', 0xbc, uint64_t[7])

static int fd;

/* A buffer in one colour; its number. */
static uint32_t filled(const struct mode *mode, uint32_t color)
{
    struct dumb dumb = { mode->height, mode->width, 32, 0, 0, 0, 0 };
    CHECK(ioctl(fd, CREATE_DUMB, &dumb) == 0 && dumb.pitch >= 4u * mode->width && dumb.size >= dumb.pitch * mode->height);
    struct map_dumb place = { dumb.handle, 0, 0 };
    CHECK(ioctl(fd, MAP_DUMB, &place) == 0);
    uint32_t *pixels = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place.offset);
    CHECK(pixels != MAP_FAILED);
    for (uint64_t at = 0; at < dumb.size / 4; at++)
        pixels[at] = color;
    munmap(pixels, dumb.size);
    struct buffer buffer = { 0, mode->width, mode->height, 0x34325258, 0, { dumb.handle }, { dumb.pitch }, { 0 }, 0, { 0 } };
    CHECK(ioctl(fd, ADDFB2, &buffer) == 0 && buffer.id);
    struct buffer bad = buffer;
    bad.height *= 2;
    FAILS(ioctl(fd, ADDFB2, &bad), EINVAL);
    bad = buffer;
    bad.format = 0x20202020;
    FAILS(ioctl(fd, ADDFB2, &bad), EINVAL);
    bad = buffer;
    bad.handles[0] = 99;
    FAILS(ioctl(fd, ADDFB2, &bad), ENOENT);
    return buffer.id;
}

static void told(uint64_t user)
{
    struct pollfd one = { fd, POLLIN, 0 };
    struct event event;
    CHECK(poll(&one, 1, 5000) == 1 && read(fd, &event, sizeof event) == sizeof event);
    CHECK(event.type == 2 && event.length == sizeof event && event.user == user);
}

int main(void)
{
    struct stat status;
    char name[20] = "";
    struct version version = { .name_length = sizeof name - 1, .name = name };
    fd = open(NODE, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        printf("cannot open %s: %d\n", NODE, errno);
        return 2;
    }
    CHECK(fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 0));
    CHECK(stat("/sys/dev/char/226:0/device/drm", &status) == 0);
    CHECK(ioctl(fd, VERSION, &version) == 0 && strcmp(name, "sun4i-drm") == 0);
    CHECK(ioctl(fd, SET_MASTER, 0) == 0);
    struct capability dumb = { 1, 0 };
    CHECK(ioctl(fd, GET_CAP, &dumb) == 0 && dumb.value == 1);
    uint64_t atomic[7] = { 0 };
    FAILS(ioctl(fd, ATOMIC, atomic), EINVAL);

    uint32_t crtc_id = 0, connector_id = 0;
    struct resources resources = { 0 };
    CHECK(ioctl(fd, GETRESOURCES, &resources) == 0 && resources.counts[1] == 1 && resources.counts[2] == 1);
    resources.counts[3] = 0;
    resources.crtcs = (uintptr_t)&crtc_id;
    resources.connectors = (uintptr_t)&connector_id;
    CHECK(ioctl(fd, GETRESOURCES, &resources) == 0 && crtc_id && connector_id);
    struct connector connector = { .id = connector_id };
    CHECK(ioctl(fd, GETCONNECTOR, &connector) == 0 && connector.connection == 1 && connector.count_modes == 1);
    struct mode mode = { 0 };
    connector.modes = (uintptr_t)&mode;
    connector.count_encoders = 0;
    CHECK(ioctl(fd, GETCONNECTOR, &connector) == 0 && mode.width && mode.height && mode.rate);
    connector.id = 7;
    FAILS(ioctl(fd, GETCONNECTOR, &connector), ENOENT);

    uint32_t red = filled(&mode, 0xff0000), green = filled(&mode, 0x00ff00);
    struct flip flip = { crtc_id, green, 1, 0, 0x1122334455667788 };
    FAILS(ioctl(fd, PAGE_FLIP, &flip), EBUSY);
    struct crtc crtc = { (uintptr_t)&connector_id, 1, crtc_id, red, 0, 0, 0, 1, mode };
    CHECK(ioctl(fd, SETCRTC, &crtc) == 0);
    CHECK(ioctl(fd, PAGE_FLIP, &flip) == 0);
    told(flip.user);
    crtc = (struct crtc) { .id = crtc_id };
    CHECK(ioctl(fd, GETCRTC, &crtc) == 0 && crtc.buffer == green && crtc.valid && crtc.mode.width == mode.width);
    flip.flags = 4;
    FAILS(ioctl(fd, PAGE_FLIP, &flip), EINVAL);
    flip = (struct flip) { crtc_id, 9999, 1, 0, 0 };
    FAILS(ioctl(fd, PAGE_FLIP, &flip), ENOENT);

    /* The GPU's node and the display's share objects. */
    int gpu = open("/dev/dri/renderD128", O_RDWR);
    struct create create = { 4096, 0, 0, 0 };
    CHECK(ioctl(gpu, GEM_CREATE, &create) == 0);
    struct prime prime = { create.handle, 0, -1 };
    CHECK(ioctl(gpu, PRIME_TO_FD, &prime) == 0);
    prime.handle = 0;
    CHECK(ioctl(fd, PRIME_TO_HANDLE, &prime) == 0 && prime.handle);
    close(prime.fd);
    close(gpu);
    CHECK(ioctl(fd, RMFB, &green) == 0);
    FAILS(ioctl(fd, RMFB, &green), ENOENT);
    close(fd);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
