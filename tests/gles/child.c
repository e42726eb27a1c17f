/* Starting programs in every way; each child finds the device, its arguments, its environment and its descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int checks, failures;

static void check(int good, const char *what, const char *how)
{
    checks++;
    if (good)
        return;
    failures++;
    printf("FAIL %s: %s (errno %d)\n", how, what, errno);
}

static char self[PATH_MAX], folder[] = "/tmp/skrymir-child-XXXXXX", script[PATH_MAX], second[PATH_MAX];

/* The child: checks the device and its arguments, and exits with the result. */
static int probe(int argc, char **argv)
{
    struct { uint32_t param, pad; uint64_t value; } param = { 0, 0, 0 };
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x40, sizeof param), &param) != 0 || !param.value)
        return 1;
    if (argc != 4 || strcmp(argv[2], "two words") != 0 || strcmp(argv[3], "") != 0)
        return 2;
    const char *color = getenv("CHILD_COLOR");
    return color && strcmp(color, "blue") == 0 ? 42 : color ? 3 : 41;
}

static int code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int ended(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return code(status);
}

#define WORDS "probe", "two words", ""

static char *words[] = { "child", WORDS, NULL };
static char *blue[] = { "CHILD_COLOR=blue", NULL };
static char *bare[] = { NULL };

/* One function of the exec family in a child of fork or vfork; returns the child's result. */
#define EXEC(how, wanted, call) \
    do { \
        pid_t child = fork(); \
        if (child == 0) { \
            call; \
            _exit(100 + (errno < 100 ? errno : 99)); \
        } \
        int got = ended(child); \
        check(got == (wanted), how, got == (wanted) ? "" : "fork"); \
        if (got != (wanted)) \
            printf("  %d instead of %d\n", got, wanted); \
        child = vfork(); \
        if (child == 0) { \
            call; \
            _exit(100); \
        } \
        check(ended(child) == (wanted), how, "vfork"); \
    } while (0)

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, mode) != 0)
        exit(2);
}

static void family(void)
{
    int fd = open(self, O_RDONLY | O_CLOEXEC), kept = open(self, O_RDONLY), place = open(folder, O_RDONLY | O_DIRECTORY);
    const char *base = strrchr(script, '/') + 1;
    EXEC("execve", 42, execve(self, words, blue));
    EXEC("execve with nothing in the environment", 41, execve(self, words, bare));
    EXEC("execv", 42, execv(self, words));
    EXEC("execvp by its path", 42, execvp(self, words));
    EXEC("execvp by PATH", 42, execvp(base, words));
    EXEC("execvpe", 41, execvpe(base, words, bare));
    EXEC("execl", 42, execl(self, "child", WORDS, NULL));
    EXEC("execlp", 42, execlp(base, "child", WORDS, NULL));
    EXEC("execle", 41, execle(self, "child", WORDS, NULL, bare));
    EXEC("fexecve", 42, fexecve(kept, words, blue));
    EXEC("fexecve of a descriptor that closes", 42, fexecve(fd, words, blue));
    EXEC("execveat a folder", 42, execveat(place, base, words, blue, 0));
    EXEC("execveat a descriptor", 42, execveat(fd, "", words, blue, AT_EMPTY_PATH));
    EXEC("/proc/self/exe", 42, execve("/proc/self/exe", words, blue));
    EXEC("a script", 42, execve(script, words, blue));
    EXEC("a script's script", 42, execve(second, words, blue));
    EXEC("what is not there", 100 + ENOENT, if (execv("/nowhere/at/all", words)) { _exit(100 + ENOENT); });
    close(fd);
    close(kept);
    close(place);
}

static int spawned(int (*spawn)(pid_t *restrict, const char *restrict, const posix_spawn_file_actions_t *,
                                const posix_spawnattr_t *restrict, char *const[restrict], char *const[restrict]),
                   const char *path, char **environment)
{
    pid_t child;
    int error = spawn(&child, path, NULL, NULL, words, environment);
    return error ? 100 + error : ended(child);
}

static void others(void)
{
    char command[2 * PATH_MAX], line[200] = "";
    const char *base = strrchr(script, '/') + 1;
    check(spawned(posix_spawn, self, blue) == 42, "posix_spawn", self);
    check(spawned(posix_spawn, self, bare) == 41, "posix_spawn", "nothing in the environment");
    check(spawned(posix_spawnp, base, environ) == 42, "posix_spawnp", "by PATH");
    check(spawned(posix_spawnp, "no-such-program", environ) == 100 + ENOENT, "posix_spawnp", "what is not there");

    snprintf(command, sizeof command, "'%s' probe 'two words' ''", self);
    check(code(system(command)) == 42, "system", command);
    snprintf(command, sizeof command, "CHILD_COLOR=blue '%s' probe 'two words' '' && echo bad; echo code $?", self);
    FILE *stream = popen(command, "r");
    check(stream && fgets(line, sizeof line, stream) && strcmp(line, "code 42\n") == 0, "popen", line);
    check(stream && pclose(stream) == 0, "pclose", "");
    snprintf(command, sizeof command, "read line; test \"$line\" = hello && '%s' probe 'two words' ''", self);
    stream = popen(command, "w");
    check(stream && fputs("hello\n", stream) >= 0, "popen", "to write");
    check(stream && code(pclose(stream)) == 42, "pclose", "a code");
    check(system(NULL) != 0, "system", "is there a shell");
    check(code(system("kill -9 $$")) == 128 + 9, "system", "a signal");

    /* An open device is the same in the child: a shell in between keeps descriptors. */
    int device = open("/dev/dri/renderD128", O_RDWR);
    snprintf(command, sizeof command, "'%s' inherited %d", self, device);
    struct { uint32_t size, flags, handle, pad; } create = { 4096, 0, 0, 0 };
    check(ioctl(device, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x41, sizeof create), &create) == 0, "an object", "");
    check(code(system(command)) == 7, "a device by its descriptor", command);
    close(device);
}

/* The second object of an inherited device. */
static int inherited(const char *number)
{
    struct { uint32_t size, flags, handle, pad; } create = { 4096, 0, 0, 0 };
    int good = ioctl(atoi(number), _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x41, sizeof create), &create) == 0;
    return good && create.handle == 2 ? 7 : 8;
}

int main(int argc, char **argv)
{
    char text[2 * PATH_MAX], path[2 * PATH_MAX];
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return probe(argc, argv);
    if (argc > 2 && strcmp(argv[1], "inherited") == 0)
        return inherited(argv[2]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0 || !mkdtemp(folder))
        return 2;
    snprintf(script, sizeof script, "%s/script", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    snprintf(text, sizeof text, "#! %s\n", script);
    write_file(second, text, 0755);
    /* A script's interpreter gets the script's name first. */
    write_file(script, "#!/bin/sh\ncase \"$1\" in */second) shift;; esac\n", 0755);
    FILE *file = fopen(script, "a");
    fprintf(file, "exec '%s' \"$@\"\n", self);
    fclose(file);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("CHILD_COLOR", "blue", 1);
    fflush(stdout);
    family();
    others();
    unlink(script);
    unlink(second);
    rmdir(folder);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
