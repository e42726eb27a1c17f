/* Files: the nodes and the device's sysfs files. Their paths are redirected into a folder of real files made by the server. */
#include "front.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- paths ---- */

/* Paths of the devices' files. An entry that ends with a colon, or with a prefix of other names, matches longer names. */
static const struct {
    const char *path;
    int begins; /* whether the last component may be longer */
} places[] = {
    { "/dev/dri", 0 },          { "/dev/input", 0 },          { "/sys/class", 0 },          { "/sys/bus/platform", 0 },
    { "/sys/devices/mali", 0 }, { "/sys/devices/display", 0 }, { "/sys/devices/skrymir", 1 }, { "/sys/dev/char/226:", 1 },
    { "/sys/dev/char/13:", 1 }, { "/run/udev/data/c226:", 1 }, { "/run/udev/data/c13:", 1 },
};

#define PLACES (sizeof places / sizeof places[0])

/* Whether the folder has this path: there may be no display. */
static int is_there(size_t at)
{
    static signed char known[PLACES];
    if (!known[at]) {
        NEXT(access);
        char buffer[PATH_MAX];
        strcpy(buffer, configuration.server);
        strcat(buffer, places[at].path);
        known[at] = places[at].begins || next(buffer, F_OK) == 0 ? 1 : -1;
    }
    return known[at] > 0;
}

static int is_ours(const char *path)
{
    /* A quick test excludes most paths. */
    if (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/run/", 5) != 0)
        return 0;
    for (size_t at = 0; at < PLACES; at++) {
        size_t length = strlen(places[at].path);
        if (strncmp(path, places[at].path, length) == 0 && (places[at].begins || path[length] == 0 || path[length] == '/'))
            return is_there(at);
    }
    return 0;
}

/* Redirects a path of the devices' files into the folder. */
static const char *real_path(const char *path, char buffer[PATH_MAX])
{
    if (!path || path[0] != '/' || !active() || !is_ours(path))
        return path;
    if (strlen(path) + strlen(configuration.server) >= PATH_MAX)
        return path;
    strcpy(buffer, configuration.server);
    strcat(buffer, path);
    return buffer;
}

/* The path of an open folder. */
static int folder_name(int folder, char name[PATH_MAX])
{
    NEXT(readlink);
    char link[32];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = next(link, name, PATH_MAX - 1);
    errno = saved;
    name[length < 0 ? 0 : length] = 0;
    return length > 0;
}

/* The same for a path relative to an open folder, for programs that walk by descriptors. In qemu the root folder is that of
 * ARM programs, and files missing there are the host's, as with absolute paths. */
static const char *real_path_at(int folder, const char *path, char buffer[PATH_MAX])
{
    char whole[PATH_MAX];
    if (!path || path[0] == '/' || folder == AT_FDCWD || !active())
        return real_path(path, buffer);
    if (!path[0] || path[0] == '.' || !folder_name(folder, whole))
        return path;
    int is_root = configuration.prefix[0] && strcmp(whole, configuration.prefix) == 0;
    if (is_root)
        strcpy(whole, "/");
    size_t length = strlen(whole);
    if (length + strlen(path) + 2 > PATH_MAX)
        return path;
    if (whole[length - 1] != '/')
        whole[length++] = '/';
    strcpy(whole + length, path);
    const char *real = real_path(whole, buffer);
    if (real == whole && !is_root)
        return path;
    if (real == whole)
        strcpy(buffer, whole);
    return buffer;
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
        const struct node *node = node_of(path); \
        return node ? open_device(node, flags) : next(real_path(path, buffer), flags, mode); \
    }

#define OPENAT(name) \
    PUBLIC int name(int folder, const char *path, int flags, ...) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        MODE_OF(flags); \
        const struct node *node = node_of(path); \
        return node ? open_device(node, flags) : next(folder, real_path_at(folder, path, buffer), flags, mode); \
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

/* ---- stat ---- */

/* Makes a stat result a character device with the node's number. */
#define AS_NODE(node, status) \
    do { \
        (status)->st_mode = S_IFCHR | 0666; \
        (status)->st_rdev = makedev((node)->major, (node)->minor); \
        (status)->st_size = 0; \
    } while (0)

#define STAT(name, type) \
    PUBLIC int name(const char *path, struct type *status) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(real_path(path, buffer), status); \
        const struct node *node = result == 0 ? node_of(path) : NULL; \
        if (node) \
            AS_NODE(node, status); \
        return result; \
    }

#define FSTAT(name, type) \
    PUBLIC int name(int fd, struct type *status) \
    { \
        NEXT(name); \
        int result = next(fd, status); \
        const struct node *node = result == 0 && S_ISSOCK(status->st_mode) ? device_of(fd) : NULL; \
        if (node) \
            AS_NODE(node, status); \
        return result; \
    }

#define FSTATAT(name, type) \
    PUBLIC int name(int folder, const char *path, struct type *status, int flags) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(folder, real_path_at(folder, path, buffer), status, flags); \
        const struct node *node = result == 0 ? node_of(path) : NULL; \
        if (result == 0 && S_ISSOCK(status->st_mode) && !path[0]) \
            node = device_of(folder); \
        if (node) \
            AS_NODE(node, status); \
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

/* Their names before glibc 2.33. */
#define XSTAT(name, type) \
    int name(int, const char *, struct type *); \
    PUBLIC int name(int version, const char *path, struct type *status) \
    { \
        NEXT(name); \
        char buffer[PATH_MAX]; \
        int result = next(version, real_path(path, buffer), status); \
        const struct node *node = result == 0 ? node_of(path) : NULL; \
        if (node) \
            AS_NODE(node, status); \
        return result; \
    }

#define FXSTAT(name, type) \
    int name(int, int, struct type *); \
    PUBLIC int name(int version, int fd, struct type *status) \
    { \
        NEXT(name); \
        int result = next(version, fd, status); \
        const struct node *node = result == 0 && S_ISSOCK(status->st_mode) ? device_of(fd) : NULL; \
        if (node) \
            AS_NODE(node, status); \
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
    int result = next(folder, real_path_at(folder, path, buffer), flags, mask, status);
    const struct node *node = result == 0 ? node_of(path) : NULL;
    if (result == 0 && S_ISSOCK(status->stx_mode) && !path[0])
        node = device_of(folder);
    if (node) {
        status->stx_mode = S_IFCHR | 0666;
        status->stx_rdev_major = node->major;
        status->stx_rdev_minor = node->minor;
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
    return next(folder, real_path_at(folder, path, buffer), mode, flags);
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
    return next(folder, real_path_at(folder, path, buffer), to, size);
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
    /* A path found in the folder is reported by its outside name. */
    size_t length = strlen(configuration.server);
    if (result && real != path && strncmp(result, configuration.server, length) == 0)
        memmove(result, result + length, strlen(result + length) + 1);
    return result;
}

char *__realpath_chk(const char *, char *, size_t);

PUBLIC char *__realpath_chk(const char *path, char *to, size_t room)
{
    (void)room;
    return realpath(path, to);
}

PUBLIC char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}

/* ---- file systems ---- */

enum { SYSFS = 0x62656572 };

/* Reports the devices' folders as sysfs. */
#define STATFS(name, type) \
    PUBLIC int name(int fd, struct type *status) \
    { \
        NEXT(name); \
        char path[PATH_MAX]; \
        int result = next(fd, status); \
        if (result == 0 && active() && folder_name(fd, path)) { \
            size_t length = strlen(configuration.server); \
            if (strncmp(path, configuration.server, length) == 0 && strncmp(path + length, "/sys", 4) == 0) \
                status->f_type = SYSFS; \
        } \
        return result; \
    }

STATFS(fstatfs, statfs)
STATFS(fstatfs64, statfs64)

/* ---- users ---- */

/* Debian's compositor takes a display as root only. This one is its user's, so weston's backend of displays, and nothing else,
 * sees root as its user. */
PUBLIC uid_t geteuid(void)
{
    NEXT(geteuid);
    Dl_info caller;
    int takes = active() && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname;
    return takes && strstr(caller.dli_fname, "/drm-backend.so") ? 0 : next();
}
