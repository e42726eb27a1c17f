/* The kernel interface for the programs here without a driver, and their checks. */
#ifndef DRM_H
#define DRM_H
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

static int checks, failures;

static inline void check(int good, int line, const char *what)
{
    checks++;
    if (good)
        return;
    failures++;
    printf("FAIL line %d: %s (errno %d)\n", line, what, errno);
}

#define CHECK(what) check((what), __LINE__, #what)
/* The request fails with this errno. */
#define FAILS(what, wanted) (errno = 0, check((what) == -1 && errno == (wanted), __LINE__, #what " fails with " #wanted))

struct param { uint32_t param, pad; uint64_t value; };
struct create { uint32_t size, flags, handle, pad; };
struct info { uint32_t handle, address; uint64_t offset; };
struct submit { uint32_t context, pipe, objects, frame_size; uint64_t object_list, frame; uint32_t flags, out, in[2]; };
struct waiting { uint32_t handle, op; int64_t time; };
struct context { uint32_t id, pad; };
struct capability { uint64_t number, value; };
struct close_handle { uint32_t handle, pad; };
struct flink { uint32_t handle, name; };
struct open_name { uint32_t name, handle; uint64_t size; };
struct prime { uint32_t handle, flags; int32_t fd; };
struct fence { uint32_t handle, flags; };
struct fence_fd { uint32_t handle, flags; int32_t fd; uint32_t pad; };
struct fence_wait { uint64_t handles; int64_t time; uint32_t count, flags, first, pad; };
struct fence_array { uint64_t handles; uint32_t count, pad; };
struct object { uint32_t handle, flags; };

#define GET_CAP _IOWR('d', 0x0c, struct capability)
#define GEM_CLOSE _IOW('d', 0x09, struct close_handle)
#define GEM_FLINK _IOWR('d', 0x0a, struct flink)
#define GEM_OPEN _IOWR('d', 0x0b, struct open_name)
#define PRIME_TO_FD _IOWR('d', 0x2d, struct prime)
#define PRIME_TO_HANDLE _IOWR('d', 0x2e, struct prime)
#define GET_PARAM _IOWR('d', 0x40, struct param)
#define GEM_CREATE _IOWR('d', 0x41, struct create)
#define GEM_INFO _IOWR('d', 0x42, struct info)
#define GEM_SUBMIT _IOW('d', 0x43, struct submit)
#define GEM_WAIT _IOW('d', 0x44, struct waiting)
#define CTX_CREATE _IOR('d', 0x45, struct context)
#define CTX_FREE _IOW('d', 0x46, struct context)
#define FENCE_CREATE _IOWR('d', 0xbf, struct fence)
#define FENCE_DESTROY _IOWR('d', 0xc0, struct fence)
#define FENCE_TO_FD _IOWR('d', 0xc1, struct fence_fd)
#define FD_TO_FENCE _IOWR('d', 0xc2, struct fence_fd)
#define FENCE_WAIT _IOWR('d', 0xc3, struct fence_wait)
#define FENCE_RESET _IOWR('d', 0xc4, struct fence_array)
#define FENCE_SIGNAL _IOWR('d', 0xc5, struct fence_array)

#endif
