/* The display's node, without a driver: resources, dumb buffers, flips with their events, and rejected requests. */
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

struct cursor { uint32_t flags, crtc; int32_t x, y; uint32_t width, height, handle; };
struct planes { uint64_t ids; uint32_t count; };
struct properties { uint64_t ids, values; uint32_t count, object, type; };
struct property { uint64_t values, names; uint32_t id, flags; char name[32]; uint32_t count_values, count_names; };
struct set_property { uint64_t value; uint32_t id, object, type; };
struct blob { uint32_t id, length; uint64_t data; };
struct new_blob { uint64_t data; uint32_t length, id; };
struct atomic { uint32_t flags, count; uint64_t objects, counts, properties, values, reserved, user; };

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
#define SET_CLIENT_CAP _IOW('d', 0x0d, struct capability)
#define WAIT_VBLANK _IOWR('d', 0x3a, uint64_t[3])
#define CURSOR _IOWR('d', 0xa3, struct cursor)
#define GETPROPERTY _IOWR('d', 0xaa, struct property)
#define GETPROPBLOB _IOWR('d', 0xac, struct blob)
#define GETPLANERESOURCES _IOWR('d', 0xb5, struct planes)
#define OBJ_GETPROPERTIES _IOWR('d', 0xb9, struct properties)
#define OBJ_SETPROPERTY _IOWR('d', 0xba, struct set_property)
#define ATOMIC _IOWR('d', 0xbc, struct atomic)
#define CREATEPROPBLOB _IOWR('d', 0xbd, struct new_blob)
#define DESTROYPROPBLOB _IOWR('d', 0xbe, uint32_t)

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

static void expect_flip_event(uint64_t user)
{
    struct pollfd one = { fd, POLLIN, 0 };
    struct event event;
    CHECK(poll(&one, 1, 5000) == 1 && read(fd, &event, sizeof event) == sizeof event);
    CHECK(event.type == 2 && event.length == sizeof event && event.user == user);
    /* The last vertical blank is not before the event's. */
    uint64_t last[3] = { 1, 0, 0 };
    CHECK(ioctl(fd, WAIT_VBLANK, last) == 0 && (int32_t)((uint32_t)(last[0] >> 32) - event.sequence) >= 0);
    CHECK((int64_t)(last[1] - event.seconds) * 1000000 + (int64_t)last[2] - (int64_t)event.micros >= 0);
}

/* The id of an object's property, and its value. */
static uint32_t property_of(uint32_t object, const char *name, uint64_t *value)
{
    uint32_t ids[32];
    uint64_t values[32];
    struct properties all = { (uintptr_t)ids, (uintptr_t)values, 32, object, 0 };
    if (ioctl(fd, OBJ_GETPROPERTIES, &all) != 0 || all.count > 32)
        return 0;
    for (uint32_t at = 0; at < all.count; at++) {
        struct property one = { .id = ids[at] };
        if (ioctl(fd, GETPROPERTY, &one) == 0 && strcmp(one.name, name) == 0) {
            if (value)
                *value = values[at];
            return ids[at];
        }
    }
    return 0;
}

/* An atomic commit under construction. */
static struct { uint32_t objects[32], counts[32], ids[32]; uint64_t values[32]; uint32_t count; } change;

static void add(uint32_t object, const char *name, uint64_t value)
{
    change.objects[change.count] = object;
    change.counts[change.count] = 1;
    change.ids[change.count] = property_of(object, name, NULL);
    change.values[change.count++] = value;
}

static int commit(uint32_t flags, uint64_t user)
{
    struct atomic atomic = { flags, change.count, (uintptr_t)change.objects, (uintptr_t)change.counts, (uintptr_t)change.ids,
                             (uintptr_t)change.values, 0, user };
    return ioctl(fd, ATOMIC, &atomic);
}

enum { EVENT = 1, TEST_ONLY = 0x100, NONBLOCK = 0x200, ALLOW_MODESET = 0x400 };

/* A whole picture of a buffer. */
static void whole(uint32_t crtc, uint32_t plane, uint32_t buffer, const struct mode *mode)
{
    change.count = 0;
    add(plane, "FB_ID", buffer);
    add(plane, "CRTC_ID", crtc);
    add(plane, "SRC_X", 0);
    add(plane, "SRC_Y", 0);
    add(plane, "SRC_W", (uint64_t)mode->width << 16);
    add(plane, "SRC_H", (uint64_t)mode->height << 16);
    add(plane, "CRTC_X", 0);
    add(plane, "CRTC_Y", 0);
    add(plane, "CRTC_W", mode->width);
    add(plane, "CRTC_H", mode->height);
}

/* Properties, blobs and atomic commits. Red is shown with an out-fence, then green with an in-fence. */
static void atomic_changes(uint32_t crtc, uint32_t connector, const struct mode *mode, uint32_t red, uint32_t green)
{
    struct capability atomic = { 3, 1 }, universal = { 2, 1 };
    uint32_t plane = 0;
    uint64_t value = 9;
    struct planes planes = { (uintptr_t)&plane, 1 };
    CHECK(ioctl(fd, GETPLANERESOURCES, &planes) == 0 && planes.count == 0);
    CHECK(ioctl(fd, SET_CLIENT_CAP, &universal) == 0);
    planes.count = 1;
    CHECK(ioctl(fd, GETPLANERESOURCES, &planes) == 0 && planes.count == 1 && plane);
    CHECK(property_of(plane, "type", &value) && value == 1);
    CHECK(!property_of(plane, "FB_ID", NULL));
    whole(crtc, plane, red, mode);
    FAILS(commit(0, 0), EINVAL);
    CHECK(ioctl(fd, SET_CLIENT_CAP, &atomic) == 0);
    CHECK(property_of(plane, "FB_ID", &value) && value == green);
    struct property type = { .id = property_of(plane, "type", NULL) };
    struct { uint64_t value; char name[32]; } names[3];
    type.names = (uintptr_t)names;
    type.count_names = 3;
    CHECK(ioctl(fd, GETPROPERTY, &type) == 0 && type.flags == 0xc && type.count_names == 3 && strcmp(names[1].name, "Primary") == 0);

    /* A mode of our own, and back. */
    struct new_blob new_blob = { (uintptr_t)mode, sizeof *mode, 0 };
    CHECK(ioctl(fd, CREATEPROPBLOB, &new_blob) == 0 && new_blob.id);
    struct mode back = { 0 };
    struct blob blob = { new_blob.id, sizeof back, (uintptr_t)&back };
    CHECK(ioctl(fd, GETPROPBLOB, &blob) == 0 && memcmp(&back, mode, sizeof back) == 0);
    new_blob.data = 16;
    FAILS(ioctl(fd, CREATEPROPBLOB, &new_blob), EFAULT);

    whole(crtc, plane, red, mode);
    add(crtc, "MODE_ID", blob.id);
    add(crtc, "ACTIVE", 1);
    add(connector, "CRTC_ID", crtc);
    FAILS(commit(0, 0), EINVAL);
    FAILS(commit(ALLOW_MODESET | TEST_ONLY | EVENT, 0), EINVAL);
    CHECK(commit(ALLOW_MODESET | TEST_ONLY, 0) == 0);
    CHECK(property_of(plane, "FB_ID", &value) && value == green);
    CHECK(commit(ALLOW_MODESET, 0) == 0);
    CHECK(property_of(plane, "FB_ID", &value) && value == red);
    CHECK(ioctl(fd, DESTROYPROPBLOB, &blob.id) == 0);
    FAILS(ioctl(fd, DESTROYPROPBLOB, &blob.id), ENOENT);

    /* Unsupported: another size, another position, a missing part, a framebuffer without a CRTC. */
    whole(crtc, plane, red, mode);
    change.values[8] /= 2;
    FAILS(commit(TEST_ONLY, 0), EINVAL);
    whole(crtc, plane, red, mode);
    change.values[2] = 0x10000;
    FAILS(commit(TEST_ONLY, 0), ENOSPC);
    change.objects[0] = 7;
    FAILS(commit(TEST_ONLY, 0), ENOENT);
    whole(crtc, plane, 9999, mode);
    FAILS(commit(TEST_ONLY, 0), ENOENT);
    whole(crtc, plane, red, mode);
    change.values[1] = 0;
    FAILS(commit(TEST_ONLY, 0), EINVAL);

    /* An out-fence is the in-fence of the next commit. */
    int32_t fence = -1;
    whole(crtc, plane, green, mode);
    add(crtc, "OUT_FENCE_PTR", (uintptr_t)&fence);
    CHECK(commit(NONBLOCK | EVENT, 11) == 0 && fence >= 0);
    whole(crtc, plane, red, mode);
    add(plane, "IN_FENCE_FD", (uint64_t)fence);
    /* Rejected while another commit is pending, which may just have ended. */
    int early = commit(NONBLOCK | EVENT, 12);
    CHECK(early == 0 || errno == EBUSY);
    struct pollfd one = { fence, POLLIN, 0 };
    CHECK(poll(&one, 1, 5000) == 1);
    expect_flip_event(11);
    CHECK(early == 0 || commit(NONBLOCK | EVENT, 12) == 0);
    expect_flip_event(12);
    close(fence);

    struct set_property power = { 3, property_of(connector, "DPMS", NULL), connector, 0 };
    CHECK(ioctl(fd, OBJ_SETPROPERTY, &power) == 0 && property_of(connector, "DPMS", &value) && value == 3);
    power.value = 4;
    FAILS(ioctl(fd, OBJ_SETPROPERTY, &power), EINVAL);
}

/* A white square of 8 x 8 pixels, half of it outside the screen; then it is hidden. */
static void cursors(uint32_t crtc)
{
    struct dumb dumb = { 64, 64, 32, 0, 0, 0, 0 };
    CHECK(ioctl(fd, CREATE_DUMB, &dumb) == 0);
    struct map_dumb place = { dumb.handle, 0, 0 };
    CHECK(ioctl(fd, MAP_DUMB, &place) == 0);
    uint32_t *pixels = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place.offset);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            pixels[64 * y + x] = 0xffffffff;
    munmap(pixels, dumb.size);
    struct cursor cursor = { 3, crtc, -4, 10, 64, 64, dumb.handle };
    CHECK(ioctl(fd, CURSOR, &cursor) == 0);
    struct cursor none = { 1, crtc, 0, 0, 0, 0, 0 };
    CHECK(ioctl(fd, CURSOR, &none) == 0);
    none.flags = 4;
    FAILS(ioctl(fd, CURSOR, &none), EINVAL);
}

/* Two vertical blanks from now take a while. */
static void refreshes(void)
{
    uint64_t now[3] = { 1, 0, 0 }, later[3] = { 1 | 2ull << 32, 0, 0 };
    CHECK(ioctl(fd, WAIT_VBLANK, now) == 0 && ioctl(fd, WAIT_VBLANK, later) == 0);
    uint32_t passed = (uint32_t)(later[0] >> 32) - (uint32_t)(now[0] >> 32);
    int64_t micros = (int64_t)(later[1] - now[1]) * 1000000 + (int64_t)(later[2] - now[2]);
    CHECK(passed >= 2 && micros >= 1000000 / 60 * 2 - 100);
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
    struct atomic nothing = { 0 };
    FAILS(ioctl(fd, ATOMIC, &nothing), EINVAL);

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
    struct crtc crtc = { .id = crtc_id };
    CHECK(ioctl(fd, GETCRTC, &crtc) == 0 && crtc.valid && crtc.buffer && crtc.mode.width == mode.width);
    struct crtc console = crtc, off = { .id = crtc_id };
    CHECK(ioctl(fd, SETCRTC, &off) == 0);
    FAILS(ioctl(fd, PAGE_FLIP, &flip), EBUSY);
    crtc = (struct crtc) { (uintptr_t)&connector_id, 1, crtc_id, red, 0, 0, 0, 1, mode };
    CHECK(ioctl(fd, SETCRTC, &crtc) == 0);
    CHECK(ioctl(fd, PAGE_FLIP, &flip) == 0);
    expect_flip_event(flip.user);
    crtc = (struct crtc) { .id = crtc_id };
    CHECK(ioctl(fd, GETCRTC, &crtc) == 0 && crtc.buffer == green && crtc.valid && crtc.mode.width == mode.width);
    flip.flags = 4;
    FAILS(ioctl(fd, PAGE_FLIP, &flip), EINVAL);
    flip = (struct flip) { crtc_id, 9999, 1, 0, 0 };
    FAILS(ioctl(fd, PAGE_FLIP, &flip), ENOENT);

    atomic_changes(crtc_id, connector_id, &mode, red, green);
    cursors(crtc_id);
    refreshes();
    /* Programs restore the previous state for the next one. */
    console.connectors = (uintptr_t)&connector_id;
    console.count = 1;
    CHECK(ioctl(fd, SETCRTC, &console) == 0);

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
