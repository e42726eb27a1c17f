/* Jobs at addresses where nothing is, by the kernel's interface: the MMU's fault is the kernel's to tell. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define IOCTL(number, type) _IOWR('d', 0x40 + (number), type)

struct create { uint32_t size, flags, handle, pad; };
struct submit { uint32_t context, pipe, objects, frame_size; uint64_t list, frame; uint32_t flags, out, in[2]; };
struct wait { uint32_t handle, op; int64_t timeout; };
struct context { uint32_t id, pad; };

int main(void)
{
    struct create object = { .size = 4096 };
    uint32_t list[2], frame[68] = { 0 };
    int device = open("/dev/dri/renderD128", O_RDWR);

    if (device < 0 || ioctl(device, IOCTL(1, struct create), &object)) {
        perror("renderD128");
        return 1;
    }
    list[0] = object.handle;
    list[1] = 2;
    for (int pipe = 0; pipe < 2; pipe++) {
        struct submit submit = { .pipe = pipe, .objects = 1, .frame_size = pipe ? 272 : 24,
                                 .list = (uintptr_t)list, .frame = (uintptr_t)frame };
        struct wait wait = { object.handle, 2, INT64_MAX };

        /* The driver refuses further jobs of a context after a fault. */
        struct context context = { 0 };
        if (ioctl(device, IOCTL(5, struct context), &context)) {
            perror("context");
            return 1;
        }
        submit.context = context.id;
        memset(frame, 0, sizeof frame);
        if (pipe) {
            frame[23] = 1;          /* one pixel processor */
            frame[60] = 0x0bad0000; /* its list of tiles */
        } else {
            frame[0] = 0x0bad0000;
            frame[1] = 0x0bad0040;
        }
        if (ioctl(device, IOCTL(3, struct submit), &submit)) {
            perror("submit");
            return 1;
        }
        ioctl(device, IOCTL(4, struct wait), &wait);
        printf("the %s job has ended\n", pipe ? "pixel" : "geometry");
    }
    close(device);
    return 0;
}
