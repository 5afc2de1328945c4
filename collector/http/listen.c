/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listen: opens, takes over and closes listening sockets.
 */
#include "collector/http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *socket_path(const struct fp_listener *listener)
{
    return fp_address_path(&listener->address);
}

/* Removes a socket's file if nobody listens on it. False if the path is not free afterwards. */
static bool remove_stale_socket(const struct fp_listener *listener, struct fp_buf *detail)
{
    const char *path = socket_path(listener);
    struct stat st;
    if (lstat(path, &st) != 0)
        return true;
    if (!S_ISSOCK(st.st_mode)) {
        fp_buf_addf(detail, "%s is there and is not a socket", path);
        return false;
    }
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) {
        fp_buf_addf(detail, "cannot make a socket: %s", strerror(errno));
        return false;
    }
    const struct sockaddr *sa = (const void *)&listener->address.sa;
    /* Only a refused connection proves that nobody listens; a full queue means that somebody
     * does. */
    bool stale = connect(probe, sa, listener->address.len) != 0 && errno == ECONNREFUSED;
    close(probe);
    if (!stale) {
        fp_buf_addf(detail, "%s is in use by a running process", path);
        return false;
    }
    if (unlink(path) != 0) {
        fp_buf_addf(detail, "cannot remove the stale socket %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static void set_options(const struct fp_listener *listener)
{
    int yes = 1;
    sa_family_t family = listener->address.sa.ss_family;
    if (family == AF_UNIX) {
        /* Before bind, so that the file never has other permissions. */
        (void)fchmod(listener->fd, 0660);
        return;
    }
    (void)setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (family == AF_INET6)
        (void)setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
}

/* Restores permissions that the umask removed, and remembers the file, so that only this one is
 * removed later. */
static bool note_socket_file(struct fp_listener *listener)
{
    const char *path = socket_path(listener);
    struct stat st;
    if (path == NULL)
        return true;
    if (chmod(path, 0660) != 0 || lstat(path, &st) != 0)
        return false;
    listener->dev = st.st_dev;
    listener->ino = st.st_ino;
    return true;
}

bool fp_listener_open(const struct fp_address *address, struct fp_listener *listener,
                      struct fp_buf *detail)
{
    *listener = (struct fp_listener){.fd = -1, .address = *address};
    const struct sockaddr *sa = (const void *)&listener->address.sa;
    if (socket_path(listener) != NULL && !remove_stale_socket(listener, detail))
        return false;
    listener->fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0) {
        fp_buf_addf(detail, "cannot make a socket: %s", strerror(errno));
        return false;
    }
    set_options(listener);
    if (bind(listener->fd, sa, address->len) != 0 || !note_socket_file(listener) ||
        listen(listener->fd, SOMAXCONN) != 0) {
        const int error = errno;
        fp_buf_addf(detail, "cannot listen on ");
        fp_address_write(&listener->address, detail);
        fp_buf_addf(detail, ": %s", strerror(error));
        fp_listener_close(listener);
        return false;
    }
    return true;
}

void fp_listener_take(int fd, struct fp_listener *listener)
{
    *listener = (struct fp_listener){.fd = fd, .is_shared = true};
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Removes the socket's file, so that a client finds nobody and another process can listen. */
static void remove_socket_file(struct fp_listener *listener)
{
    const char *path = socket_path(listener);
    struct stat st;
    if (path != NULL && listener->ino != 0 && lstat(path, &st) == 0 && st.st_dev == listener->dev &&
        st.st_ino == listener->ino)
        unlink(path);
    listener->ino = 0;
}

void fp_listener_shut(struct fp_listener *listener)
{
    remove_socket_file(listener);
    if (!listener->is_shared)
        (void)shutdown(listener->fd, SHUT_RDWR);
}

void fp_listener_close(struct fp_listener *listener)
{
    remove_socket_file(listener);
    if (listener->fd >= 0)
        close(listener->fd);
    *listener = (struct fp_listener){.fd = -1};
}
