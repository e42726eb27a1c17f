/* Starting programs: programs for ARM run in qemu, and all children have the front preloaded, whatever the program did to
 * their environment. glibc's own calls of execve bypass this library, so the whole family is replaced.
 *
 * A child of vfork shares its parent's memory: nothing here allocates or changes state beyond the call. */
#include "front.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARM64, NATIVE };

/* The architecture of this library. */
#ifdef __aarch64__
#define OURS ARM64
#else
#define OURS NATIVE
#endif

/* The kind of a program's file. */
enum kind { KIND_OTHER = -1, KIND_ARM64 = ARM64, KIND_NATIVE = NATIVE, KIND_SCRIPT };

#define MAX_SCRIPTS 5     /* nesting of scripts, as in the kernel */
#define EXTRA_ARGUMENTS 24 /* limit of arguments before the program's own */
#define EXTRA_VARIABLES 8
#define LINE 256

/* How a program is started. */
struct plan {
    char file[PATH_MAX]; /* the requested program, resolved */
    char interpreter[MAX_SCRIPTS][PATH_MAX];
    char line[MAX_SCRIPTS][LINE]; /* scripts' first lines, cut into words */
    char preload[3 * PATH_MAX];
    char variable[5][PATH_MAX + 32];
    const char *path;
};

static size_t count(char *const *list)
{
    size_t length = 0;
    while (list && list[length])
        length++;
    return length;
}

/* Whether this process runs in qemu. */
static int in_qemu(void)
{
    return OURS == ARM64 && configuration.qemu[0] != 0;
}

/* Resolves a path: programs in qemu find the files of their root folder first. */
static void locate(const char *path, char to[PATH_MAX])
{
    char self[40];
    snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
    if (strcmp(path, "/proc/self/exe") == 0 || strcmp(path, self) == 0) {
        ssize_t length = readlink("/proc/self/exe", to, PATH_MAX - 1);
        if (length > 0) {
            to[length] = 0;
            return;
        }
    }
    if (in_qemu() && path[0] == '/' && strlen(configuration.prefix) + strlen(path) < PATH_MAX) {
        strcpy(to, configuration.prefix);
        strcat(to, path);
        if (access(to, F_OK) == 0)
            return;
    }
    strncpy(to, path, PATH_MAX - 1);
    to[PATH_MAX - 1] = 0;
}

/* The kind of a file, and a script's first line. */
static enum kind kind_of(const char *path, char line[LINE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return KIND_OTHER;
    ssize_t length = read(fd, line, LINE - 1);
    close(fd);
    if (length < 2)
        return KIND_OTHER;
    line[length] = 0;
    if (line[0] == '#' && line[1] == '!')
        return KIND_SCRIPT;
    if (length < 20 || memcmp(line, "\177ELF", 4) != 0)
        return KIND_OTHER;
    /* 64 bits, little-endian, AArch64. */
    if (line[4] == 2 && line[5] == 1 && (unsigned char)line[18] == 183 && line[19] == 0)
        return KIND_ARM64;
    return KIND_NATIVE;
}

/* An interpreter and at most one argument, as the kernel reads them. */
static int cut(char line[LINE], char *words[2])
{
    char *end = strchr(line, '\n'), *at = line + 2;
    if (end)
        *end = 0;
    while (*at == ' ' || *at == '\t')
        at++;
    words[0] = at;
    words[1] = NULL;
    while (*at && *at != ' ' && *at != '\t')
        at++;
    if (*at) {
        *at++ = 0;
        while (*at == ' ' || *at == '\t')
            at++;
        size_t length = strlen(at);
        while (length && (at[length - 1] == ' ' || at[length - 1] == '\t' || at[length - 1] == '\r'))
            at[--length] = 0;
        if (length)
            words[1] = at;
    }
    return words[0][0] != 0;
}

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The libraries to preload: the front for that architecture, and existing ones. */
static void set_preload(struct plan *plan, int machine, const char *others)
{
    char *to = plan->preload, *end = plan->preload + sizeof plan->preload - 1;
    to += snprintf(to, (size_t)(end - to), "LD_PRELOAD=%s", configuration.fronts[machine]);
    while (others && *others) {
        size_t length = strcspn(others, ": ");
        int ours = 0;
        for (int at = 0; at < 2; at++)
            ours |= strlen(configuration.fronts[at]) == length && strncmp(others, configuration.fronts[at], length) == 0;
        if (length && !ours && to + length + 1 < end) {
            *to++ = ':';
            memcpy(to, others, length);
            to += length;
        }
        others += length;
        others += *others != 0;
    }
    *to = 0;
}

static const struct {
    const char *name;
    const char *value;
} variables[] = {
    { "SKRYMIR_SERVER=", configuration.server },
    { "SKRYMIR_PREFIX=", configuration.prefix },
    { "SKRYMIR_QEMU=", configuration.qemu },
    { "SKRYMIR_FRONT_ARM64=", configuration.fronts[0] },
    { "SKRYMIR_FRONT_NATIVE=", configuration.fronts[1] },
};

#define VARIABLES (sizeof variables / sizeof variables[0])

/* The environment, with the variables that children need. */
static void set_environment(struct plan *plan, int machine, char *const from[], char **to)
{
    const char *others = NULL;
    for (; from && *from; from++) {
        int ours = 0;
        for (size_t at = 0; at < VARIABLES; at++)
            ours |= starts(*from, variables[at].name);
        if (starts(*from, "LD_PRELOAD="))
            others = *from + strlen("LD_PRELOAD=");
        else if (!ours)
            *to++ = *from;
    }
    for (size_t at = 0; at < VARIABLES; at++) {
        if (!variables[at].value[0])
            continue;
        snprintf(plan->variable[at], sizeof plan->variable[at], "%s%s", variables[at].name, variables[at].value);
        *to++ = plan->variable[at];
    }
    set_preload(plan, machine, others);
    if (configuration.fronts[machine][0] || others)
        *to++ = plan->preload;
    *to = NULL;
}

/* Makes a plan; args and env have room for the given ones and the extras. Returns 0 or an errno. */
static int make_plan(struct plan *plan, const char *path, char *const argv[], char *const envp[], char **args, char **env)
{
    /* From the end: a script's interpreter comes before its name, and so on. */
    char *head[EXTRA_ARGUMENTS];
    size_t heads = 0;
    struct stat status;
    locate(path, plan->file);
    plan->path = plan->file;
    enum kind kind = KIND_OTHER;
    const char *name = argv && argv[0] ? argv[0] : plan->file;
    for (int script = 0;; script++) {
        char line[LINE];
        if (stat(plan->path, &status) != 0)
            return errno;
        if (!S_ISREG(status.st_mode) || access(plan->path, X_OK) != 0)
            return EACCES;
        kind = kind_of(plan->path, script < MAX_SCRIPTS ? plan->line[script] : line);
        if (kind != KIND_SCRIPT)
            break;
        char *words[2];
        if (script == MAX_SCRIPTS)
            return ELOOP;
        if (!cut(plan->line[script], words))
            return ENOEXEC;
        head[heads++] = (char *)plan->path;
        if (words[1])
            head[heads++] = words[1];
        locate(words[0], plan->interpreter[script]);
        plan->path = plan->interpreter[script];
        name = words[0];
    }
    char **to = args;
    if (kind == KIND_ARM64 && OURS == NATIVE && !configuration.qemu[0] && configuration.fronts[NATIVE][0])
        return ENOEXEC;
    if (kind == KIND_ARM64 && configuration.qemu[0]) {
        *to++ = configuration.qemu;
        *to++ = "-L";
        *to++ = configuration.prefix;
        *to++ = "-0";
        *to++ = (char *)name;
        *to++ = (char *)plan->path;
        plan->path = configuration.qemu;
    } else {
        *to++ = (char *)name;
    }
    while (heads)
        *to++ = head[--heads];
    for (size_t at = 1; argv && argv[0] && argv[at]; at++)
        *to++ = argv[at];
    *to = NULL;
    int machine = kind == KIND_ARM64 ? ARM64 : kind == KIND_NATIVE ? NATIVE : OURS;
    set_environment(plan, machine, envp, env);
    return 0;
}

#define PLAN(argv, envp) \
    struct plan plan; \
    char *args[count(argv) + EXTRA_ARGUMENTS]; \
    char *env[count(envp) + EXTRA_VARIABLES]

static int run(const char *path, char *const argv[], char *const envp[])
{
    NEXT(execve);
    if (!active() || !path)
        return next(path, argv, envp);
    PLAN(argv, envp);
    int error = make_plan(&plan, path, argv, envp, args, env);
    if (error == 0)
        return next(plan.path, args, env);
    errno = error;
    return -1;
}

__attribute__((constructor)) static void prepare(void)
{
    /* Resolved now, so that a child of vfork need not. */
    char *none[] = { NULL };
    run("", none, none);
}

PUBLIC int execve(const char *path, char *const argv[], char *const envp[])
{
    return run(path, argv, envp);
}

PUBLIC int execv(const char *path, char *const argv[])
{
    return run(path, argv, environ);
}

/* A file of unknown kind is a script for the shell. */
static int run_or_shell(const char *path, char *const argv[], char *const envp[])
{
    run(path, argv, envp);
    if (errno != ENOEXEC)
        return -1;
    size_t length = count(argv);
    char *args[length + 3];
    args[0] = "/bin/sh";
    args[1] = (char *)path;
    for (size_t at = 1; at <= length; at++)
        args[at + 1] = argv[at];
    args[length + 1 + (length == 0)] = NULL;
    return run("/bin/sh", args, envp);
}

/* The next path of a name in PATH; 0 at the end. */
static int next_place(const char **folders, const char *name, char to[PATH_MAX])
{
    while (*folders) {
        size_t length = strcspn(*folders, ":");
        const char *folder = *folders;
        *folders = folder[length] ? folder + length + 1 : NULL;
        if (length + strlen(name) + 2 > PATH_MAX)
            continue;
        memcpy(to, folder, length);
        to[length] = 0;
        if (length)
            strcat(to, "/");
        strcat(to, name);
        return 1;
    }
    return 0;
}

static const char *search_path(void)
{
    const char *folders = getenv("PATH");
    return folders ? folders : "/bin:/usr/bin";
}

PUBLIC int execvpe(const char *name, char *const argv[], char *const envp[])
{
    char place[PATH_MAX];
    const char *folders = search_path();
    int denied = 0;
    if (strchr(name, '/'))
        return run_or_shell(name, argv, envp);
    errno = ENOENT;
    while (name[0] && next_place(&folders, name, place)) {
        run_or_shell(place, argv, envp);
        denied |= errno == EACCES;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT)
            return -1;
    }
    errno = denied ? EACCES : ENOENT;
    return -1;
}

PUBLIC int execvp(const char *name, char *const argv[])
{
    return execvpe(name, argv, environ);
}

/* Arguments up to NULL, then the following parameters. */
#define LIST(first) \
    va_list list; \
    size_t length = 1; \
    va_start(list, first); \
    while (va_arg(list, char *)) \
        length++; \
    va_end(list); \
    char *argv[length + 1]; \
    argv[0] = (char *)first; \
    va_start(list, first); \
    for (size_t at = 1; at <= length; at++) \
        argv[at] = va_arg(list, char *)

PUBLIC int execl(const char *path, const char *first, ...)
{
    LIST(first);
    va_end(list);
    return run(path, argv, environ);
}

PUBLIC int execlp(const char *name, const char *first, ...)
{
    LIST(first);
    va_end(list);
    return execvpe(name, argv, environ);
}

PUBLIC int execle(const char *path, const char *first, ...)
{
    LIST(first);
    char **envp = va_arg(list, char **);
    va_end(list);
    return run(path, argv, envp);
}

/* A descriptor's program: by name if the file still has one, else by the descriptor, which then must stay open. */
static int run_fd(int fd, char *const argv[], char *const envp[])
{
    char place[40], name[PATH_MAX];
    struct stat there, here;
    snprintf(place, sizeof place, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(place, name, sizeof name - 1);
    if (length < 0 || fstat(fd, &here) != 0) {
        errno = EBADF;
        return -1;
    }
    name[length] = 0;
    if (stat(name, &there) == 0 && there.st_ino == here.st_ino && there.st_dev == here.st_dev)
        return run(name, argv, envp);
    int copy = dup(fd);
    if (copy < 0)
        return -1;
    snprintf(place, sizeof place, "/proc/self/fd/%d", copy);
    run(place, argv, envp);
    int error = errno;
    close(copy);
    errno = error;
    return -1;
}

PUBLIC int fexecve(int fd, char *const argv[], char *const envp[])
{
    return run_fd(fd, argv, envp);
}

PUBLIC int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    char place[PATH_MAX];
    struct stat status;
    if (!path[0] && flags & AT_EMPTY_PATH)
        return run_fd(folder, argv, envp);
    if (flags & AT_SYMLINK_NOFOLLOW && fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
        errno = ELOOP;
        return -1;
    }
    if (path[0] == '/' || folder == AT_FDCWD)
        return run(path, argv, envp);
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t end = readlink(link, place, sizeof place - 1);
    if (end < 0 || (size_t)end + strlen(path) + 2 > sizeof place) {
        errno = EBADF;
        return -1;
    }
    place[end] = '/';
    strcpy(place + end + 1, path);
    return run(place, argv, envp);
}

PUBLIC int posix_spawn(pid_t *restrict child, const char *restrict path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict])
{
    NEXT(posix_spawn);
    if (!active())
        return next(child, path, actions, attributes, argv, envp);
    PLAN(argv, envp);
    int error = make_plan(&plan, path, argv, envp, args, env);
    return error ? error : next(child, plan.path, actions, attributes, args, env);
}

PUBLIC int posix_spawnp(pid_t *restrict child, const char *restrict name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                        char *const envp[restrict])
{
    char place[PATH_MAX];
    const char *folders = search_path();
    int error = ENOENT, denied = 0;
    if (strchr(name, '/'))
        return posix_spawn(child, name, actions, attributes, argv, envp);
    while (name[0] && next_place(&folders, name, place)) {
        error = posix_spawn(child, place, actions, attributes, argv, envp);
        denied |= error == EACCES;
        if (error != EACCES && error != ENOENT && error != ENOTDIR)
            return error;
    }
    return denied ? EACCES : error;
}

/* ---- the shell ---- */

static int shell(pid_t *child, const char *command, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes)
{
    char *argv[] = { "sh", "-c", (char *)command, NULL };
    return posix_spawn(child, "/bin/sh", actions, attributes, argv, environ);
}

PUBLIC int system(const char *command)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    sigset_t mask, old, reset;
    posix_spawnattr_t attributes;
    pid_t child;
    int status = -1;
    if (!command)
        return 1;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, &old);
    sigemptyset(&reset);
    if (interrupt.sa_handler != SIG_IGN)
        sigaddset(&reset, SIGINT);
    if (quit.sa_handler != SIG_IGN)
        sigaddset(&reset, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &old);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = shell(&child, command, NULL, &attributes);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        status = 127 << 8;
    } else {
        while (waitpid(child, &status, 0) < 0) {
            if (errno == EINTR)
                continue;
            status = -1;
            break;
        }
    }
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (error)
        errno = error;
    return status;
}

/* Streams of popen and their children. */
struct stream {
    FILE *file;
    pid_t child;
    struct stream *next;
};

static struct stream *streams;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

PUBLIC FILE *popen(const char *command, const char *mode)
{
    int reads = strchr(mode, 'r') != NULL, ends[2], error = ENOMEM;
    if (reads == (strchr(mode, 'w') != NULL)) {
        errno = EINVAL;
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    int ours = reads ? ends[0] : ends[1], theirs = reads ? ends[1] : ends[0], their_end = reads ? 1 : 0;
    struct stream *stream = malloc(sizeof *stream);
    FILE *file = fdopen(ours, reads ? "r" : "w");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    pthread_mutex_lock(&streams_lock);
    if (stream && file) {
        /* POSIX: the child does not have the earlier streams. */
        for (struct stream *earlier = streams; earlier; earlier = earlier->next)
            if (fileno(earlier->file) != their_end)
                posix_spawn_file_actions_addclose(&actions, fileno(earlier->file));
        /* dup2 onto itself keeps close-on-exec; adddup2 clears it. */
        posix_spawn_file_actions_adddup2(&actions, theirs, their_end);
        error = shell(&stream->child, command, &actions, NULL);
    }
    if (error == 0) {
        stream->file = file;
        stream->next = streams;
        streams = stream;
    }
    pthread_mutex_unlock(&streams_lock);
    posix_spawn_file_actions_destroy(&actions);
    close(theirs);
    if (error == 0) {
        if (!strchr(mode, 'e'))
            fcntl(ours, F_SETFD, 0);
        return file;
    }
    free(stream);
    if (file)
        fclose(file);
    else
        close(ours);
    errno = error;
    return NULL;
}

PUBLIC int pclose(FILE *file)
{
    NEXT(pclose);
    struct stream **at, *found;
    int status;
    pthread_mutex_lock(&streams_lock);
    for (at = &streams; *at && (*at)->file != file; at = &(*at)->next)
        ;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&streams_lock);
    if (!found)
        return next(file);
    fclose(file);
    pid_t child = found->child;
    free(found);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
