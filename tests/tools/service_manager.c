/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service manager: the part of systemd that a collector uses: listening sockets that outlive it,
 * notifications, a watchdog.
 *
 *   service_manager WATCHDOG_MS NAME=PORT … -- COMMAND …
 *
 * Prints "started PID", each notification as "told LINE", "ended STATUS" (the exit code, or 128 and
 * the signal). SIGUSR1 restarts the command, SIGTERM stops it and this process.
 */
#include "collector/base/base.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FD = 3, SOCKETS_MAX = 8 };

struct manager {
    const char *watchdog_ms;
    int sockets[SOCKETS_MAX];
    int socket_count;
    char names[256];
    char **command;
    char notify_path[64]; /* abstract: behind an @ */
    int notify;
    pid_t pid;
    bool restarts;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void open_socket(struct manager *manager, const char *argument)
{
    const char *equals = strchr(argument, '=');
    struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sin.sin_port = htons((uint16_t)strtoul(equals + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&sin, sizeof(sin)) != 0 || listen(fd, 1024) != 0)
        die(argument);
    size_t len = strlen(manager->names);
    snprintf(manager->names + len, sizeof(manager->names) - len, "%s%.*s", len > 0 ? ":" : "",
             (int)(equals - argument), argument);
    manager->sockets[manager->socket_count++] = fd;
}

static void open_notify(struct manager *manager)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    int len = snprintf(manager->notify_path, sizeof(manager->notify_path), "@fleetprof-test-%d",
                       (int)getpid());
    memcpy(sun.sun_path + 1, manager->notify_path + 1, (size_t)len - 1);
    manager->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t sun_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len);
    if (manager->notify < 0 || bind(manager->notify, (struct sockaddr *)&sun, sun_len) != 0)
        die("notify socket");
}

static void set_number(const char *name, long number)
{
    char text[32];
    snprintf(text, sizeof(text), "%ld", number);
    setenv(name, text, 1);
}

/* Runs in the child: sets up what systemd would. */
static void become_command(const struct manager *manager)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Moves all descriptors up first, so that none is overwritten before it is moved down. */
    int moved[SOCKETS_MAX];
    for (int i = 0; i < manager->socket_count; i++)
        moved[i] = fcntl(manager->sockets[i], F_DUPFD_CLOEXEC, FIRST_FD + SOCKETS_MAX);
    for (int i = 0; i < manager->socket_count; i++)
        dup2(moved[i], FIRST_FD + i);
    set_number("LISTEN_PID", getpid());
    set_number("LISTEN_FDS", manager->socket_count);
    setenv("LISTEN_FDNAMES", manager->names, 1);
    setenv("NOTIFY_SOCKET", manager->notify_path, 1);
    set_number("WATCHDOG_PID", getpid());
    set_number("WATCHDOG_USEC", strtol(manager->watchdog_ms, NULL, 10) * 1000);
    execvp(manager->command[0], manager->command);
    die(manager->command[0]);
}

static void start_command(struct manager *manager)
{
    manager->pid = fork();
    if (manager->pid < 0)
        die("fork");
    if (manager->pid == 0)
        become_command(manager);
    printf("started %d\n", (int)manager->pid);
}

/* Prints all that have come: those of a command that has ended stand before its end. */
static void print_notifications(const struct manager *manager)
{
    char text[1024];
    ssize_t len;
    while ((len = recv(manager->notify, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
        text[len] = '\0';
        for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
            printf("told %s\n", line);
    }
}

/* False when all is over. */
static bool handle_signal(struct manager *manager, uint32_t number)
{
    if (number != SIGCHLD) {
        manager->restarts = number == SIGUSR1;
        kill(manager->pid, SIGTERM);
        return true;
    }
    int status;
    if (waitpid(manager->pid, &status, WNOHANG) != manager->pid)
        return true;
    printf("ended %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    if (manager->restarts)
        start_command(manager);
    return manager->restarts;
}

static void serve(struct manager *manager, int signals)
{
    bool more = true;
    while (more) {
        struct pollfd ready[] = {{.fd = manager->notify, .events = POLLIN},
                                 {.fd = signals, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0)
            die("poll");
        print_notifications(manager);
        struct signalfd_siginfo info;
        if (ready[1].revents != 0 && read(signals, &info, sizeof(info)) == sizeof(info))
            more = handle_signal(manager, info.ssi_signo);
    }
    print_notifications(manager);
}

int main(int argc, char **argv)
{
    struct manager manager = {.watchdog_ms = argc > 1 ? argv[1] : "0"};
    int at = 2;
    while (at < argc && strcmp(argv[at], "--") != 0 && manager.socket_count < SOCKETS_MAX)
        open_socket(&manager, argv[at++]);
    if (at + 1 >= argc)
        return 2;
    manager.command = argv + at + 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    open_notify(&manager);
    start_command(&manager);
    serve(&manager, signals);
    return 0;
}
