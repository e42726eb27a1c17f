/* The user that a backend of displays sees, and that everything else sees. Compiled with -DBACKEND it is the backend, a library. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#ifdef BACKEND
int backend_user(void)
{
    /* Not in tail position: the call must return into this library. */
    volatile int user = (int)geteuid();
    return user;
}
#else
int main(int count, char **arguments)
{
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    int (*backend)(void) = library ? (int (*)(void))dlsym(library, "backend_user") : NULL;
    if (!backend)
        return 1;
    printf("backend %d, program %d, real %d\n", backend(), (int)geteuid(), (int)getuid());
    return 0;
}
#endif
