/* Keyboard and pointer: prints their properties and their events, a line each, until Escape is released. Also finds them as
 * libudev does: by walking from folder to folder, and by udev's database. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/input.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "drm.h"

static int has(const unsigned char *set, unsigned code)
{
    return set[code / 8] >> code % 8 & 1;
}

/* Follows a link by open folders only; returns the name of the node's object. */
static void walk(void)
{
    char target[PATH_MAX] = "", text[256] = "";
    const char *down[] = { "sys", "class", "input" };
    int folder = open("/", O_PATH | O_DIRECTORY);
    for (int at = 0; at < 3; at++) {
        int next = openat(folder, down[at], O_PATH | O_NOFOLLOW);
        CHECK(next >= 0);
        close(folder);
        folder = next;
    }
    ssize_t length = readlinkat(folder, "event0", target, sizeof target - 1);
    CHECK(length > 0 && strcmp(target, "../../devices/skrymir-event0/input/event0") == 0);
    int object = openat(folder, target, O_PATH);
    struct statfs system;
    CHECK(object >= 0 && fstatfs(object, &system) == 0 && system.f_type == 0x62656572);
    int uevent = openat(object, "uevent", O_RDONLY);
    CHECK(uevent >= 0 && read(uevent, text, sizeof text - 1) > 0);
    CHECK(strstr(text, "MAJOR=13\nMINOR=64\nDEVNAME=input/event0\n") == text);
    close(uevent);
    int known = open("/run/udev/data/c13:64", O_RDONLY);
    memset(text, 0, sizeof text);
    CHECK(known >= 0 && read(known, text, sizeof text - 1) > 0 && strstr(text, "E:ID_INPUT_KEYBOARD=1\n"));
    CHECK(strstr(text, "E:ID_SEAT=seat0\n") != NULL);
    close(known);
    close(object);
    close(folder);
}

int main(void)
{
    int fds[2] = { open("/dev/input/event0", O_RDWR | O_NONBLOCK), open("/dev/input/event1", O_RDWR | O_NONBLOCK) };
    struct stat status;
    char name[64] = "";
    unsigned char keys[KEY_MAX / 8 + 1] = { 0 }, types[4] = { 0 };
    struct input_absinfo place = { 0 };
    int monotonic = 1, version = 0;
    if (fds[0] < 0 || fds[1] < 0) {
        printf("no input devices: %d\n", errno);
        return 2;
    }
    CHECK(fstat(fds[0], &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(13, 64));
    CHECK(ioctl(fds[0], EVIOCGVERSION, &version) == 0 && version == 0x10001);
    CHECK(ioctl(fds[0], EVIOCGNAME(sizeof name), name) == (int)strlen(name) + 1 && strcmp(name, "Skrymir keyboard") == 0);
    FAILS(ioctl(fds[0], EVIOCGPHYS(sizeof name), name), ENOENT);
    CHECK(ioctl(fds[0], EVIOCGBIT(0, sizeof types), types) == sizeof types && has(types, EV_KEY) && !has(types, EV_ABS));
    CHECK(ioctl(fds[0], EVIOCGBIT(EV_KEY, sizeof keys), keys) > 0 && has(keys, KEY_A) && !has(keys, BTN_LEFT));
    CHECK(ioctl(fds[1], EVIOCGBIT(EV_KEY, sizeof keys), keys) > 0 && has(keys, BTN_LEFT) && !has(keys, KEY_A));
    CHECK(ioctl(fds[1], EVIOCGABS(ABS_X), &place) == 0 && place.minimum == 0 && place.maximum == 63);
    CHECK(ioctl(fds[1], EVIOCGABS(ABS_Y), &place) == 0 && place.maximum == 47);
    FAILS(ioctl(fds[0], EVIOCGABS(ABS_X), &place), EINVAL);
    CHECK(ioctl(fds[0], EVIOCGRAB, 1) == 0 && ioctl(fds[0], EVIOCGRAB, 0) == 0);
    CHECK(ioctl(fds[0], EVIOCSCLOCKID, &monotonic) == 0);
    monotonic = 7;
    FAILS(ioctl(fds[0], EVIOCSCLOCKID, &monotonic), EINVAL);
    /* Another device's requests. */
    FAILS(ioctl(fds[0], GEM_CREATE, &version), ENOTTY);
    char nothing;
    CHECK(read(fds[0], &nothing, 1) == -1 && errno == EAGAIN);
    walk();
    printf("ready\n");
    fflush(stdout);

    /* Escape is released, and the events of that time are complete. */
    for (int escape = 0, end = 0; !end;) {
        struct pollfd both[2] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 } };
        if (poll(both, 2, 20000) <= 0)
            break;
        for (int at = 0; at < 2; at++) {
            struct input_event events[8];
            ssize_t length = both[at].revents & POLLIN ? read(fds[at], events, sizeof events) : 0;
            for (ssize_t one = 0; one < length / (ssize_t)sizeof events[0]; one++) {
                const struct input_event *event = &events[one];
                printf("event%d: %d %d %d\n", at, event->type, event->code, event->value);
                if (event->type == EV_KEY && event->code == KEY_A && event->value) {
                    unsigned char held[KEY_MAX / 8 + 1] = { 0 };
                    CHECK(ioctl(fds[at], EVIOCGKEY(sizeof held), held) > 0 && has(held, KEY_A));
                }
                escape |= event->type == EV_KEY && event->code == KEY_ESC && !event->value;
                end |= escape && event->type == EV_SYN;
            }
        }
        fflush(stdout);
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
