#include "device_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "device_protocol.h"

static cuzk_status cannot_start(const char *program, int error, struct cuzk_error *err) {
    return error_set(err, CUZK_DEVICE_LOST, program,
                     "check that the program is installed and may be run",
                     "the device's process cannot be started: %s", strerror(error));
}

/* 0, or an errno. */
static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int socket) {
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGCHLD);
    sigaddset(&defaults, SIGPIPE);
    int e = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (e == 0) e = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    if (e == 0) e = posix_spawn_file_actions_adddup2(actions, socket, DEVICE_SOCKET_FD);
    if (e == 0) e = posix_spawn_file_actions_addclosefrom_np(actions, DEVICE_SOCKET_FD + 1);
    if (e == 0) e = posix_spawnattr_setsigmask(attributes, &none);
    if (e == 0) e = posix_spawnattr_setsigdefault(attributes, &defaults);
    if (e == 0) e = posix_spawnattr_setpgroup(attributes, 0);
    if (e == 0)
        e = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETPGROUP);
    return e;
}

static int spawn(const char *program, const char *backend, int socket, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int e = posix_spawn_file_actions_init(&actions);
    if (e != 0) return e;
    e = posix_spawnattr_init(&attributes);
    if (e == 0) {
        char *const argv[] = {(char *)(uintptr_t)program, (char[]){"--serve"},
                              (char *)(uintptr_t)backend, NULL};
        e = prepare(&actions, &attributes, socket);
        if (e == 0) e = posix_spawn(pid, program, &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

cuzk_status device_spawn(const char *program, const char *backend, int *socket, pid_t *pid,
                         struct cuzk_error *err) {
    int pair[2];
    *socket = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return cannot_start(program, errno, err);
    const int e = spawn(program, backend, pair[1], pid);
    close(pair[1]);
    if (e != 0) {
        close(pair[0]);
        return cannot_start(program, e, err);
    }
    *socket = pair[0];
    return CUZK_OK;
}

bool device_reap(pid_t pid, uint64_t timeout_ns, int *status) {
    const uint64_t end_ns = clock_ns() + timeout_ns;
    struct timespec pause = {.tv_nsec = 250000};
    *status = -1;
    for (;;) {
        const pid_t p = waitpid(pid, status, WNOHANG);
        if (p == pid || (p < 0 && errno == ECHILD)) return true;
        if (clock_ns() >= end_ns) return false;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000) pause.tv_nsec *= 2;
    }
}
