/*
 * Listen: reads addresses by hand (no resolver: nothing is looked up before the collector runs) and
 * opens sockets.
 */
#include "collector/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char unix_prefix[] = "unix:";

static const char *parse_unix(struct fp_str path, struct fp_address *address)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    if (path.len == 0 || path.ptr[0] != '/')
        return "has no absolute path; write unix:/path";
    if (path.len >= sizeof(sun.sun_path))
        return "has a path longer than the 107 bytes of a unix socket";
    if (memchr(path.ptr, '\0', path.len) != NULL)
        return "has a U+0000 in its path";
    memcpy(sun.sun_path, path.ptr, path.len);
    *address = (struct fp_address){.len = sizeof(sun)};
    memcpy(&address->sa, &sun, sizeof(sun));
    return NULL;
}

static bool parse_port(struct fp_str text, in_port_t *port)
{
    unsigned value = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *port = htons((in_port_t)value);
    return value > 0 && value <= UINT16_MAX;
}

/* host: with the brackets of IPv6 already taken off. */
static bool parse_ip(const char *host, bool is_v6, in_port_t port, struct fp_address *address)
{
    if (is_v6) {
        struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6, .sin6_port = port};
        if (inet_pton(AF_INET6, host, &sin6.sin6_addr) != 1)
            return false;
        *address = (struct fp_address){.len = sizeof(sin6)};
        memcpy(&address->sa, &sin6, sizeof(sin6));
        return true;
    }
    struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = port};
    if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
        return false;
    *address = (struct fp_address){.len = sizeof(sin)};
    memcpy(&address->sa, &sin, sizeof(sin));
    return true;
}

const char *fp_address_parse(struct fp_str text, struct fp_address *address)
{
    size_t prefix_len = sizeof(unix_prefix) - 1;
    if (text.len >= prefix_len && memcmp(text.ptr, unix_prefix, prefix_len) == 0)
        return parse_unix((struct fp_str){text.ptr + prefix_len, text.len - prefix_len}, address);

    const char *colon = text.len > 0 ? memrchr(text.ptr, ':', text.len) : NULL;
    if (colon == NULL)
        return "is not an address; write host:port, [IPv6]:port or unix:/path";
    size_t host_len = (size_t)(colon - text.ptr);
    in_port_t port;
    if (!parse_port((struct fp_str){colon + 1, text.len - host_len - 1}, &port))
        return "has a port that is not a number from 1 to 65535";

    bool is_v6 = host_len >= 2 && text.ptr[0] == '[' && colon[-1] == ']';
    struct fp_str host = {text.ptr + is_v6, host_len - (is_v6 ? 2 : 0)};
    if (!is_v6 && fp_str_equal(host, FP_STR("localhost")))
        host = FP_STR("127.0.0.1");
    char host_text[INET6_ADDRSTRLEN] = "";
    if (host.len < sizeof(host_text))
        memcpy(host_text, host.ptr, host.len);
    if (!parse_ip(host_text, is_v6, port, address))
        return "has a host that is no IPv4 address, no IPv6 address in brackets and not localhost";
    return NULL;
}

static const char *socket_path(const struct fp_listener *listener)
{
    const struct sockaddr_un *sun = (const void *)&listener->address.sa;
    return listener->address.sa.ss_family == AF_UNIX ? sun->sun_path : NULL;
}

/* Removes a socket's file on which nobody listens. False when the path is not free afterwards. */
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
    /* Only a refused connection says that nobody is there; a full queue says somebody is. */
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
        /* Before bind: the file is never there with other rights than these. */
        (void)fchmod(listener->fd, 0660);
        return;
    }
    (void)setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (family == AF_INET6)
        (void)setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
}

/* The umask may have taken rights away; and the file is noted down, to remove no other later. */
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

/* As the configuration writes it. */
static void add_address(const struct fp_listener *listener, struct fp_buf *text)
{
    const struct fp_address *address = &listener->address;
    const bool is_v6 = address->sa.ss_family == AF_INET6;
    char host[INET6_ADDRSTRLEN];
    char port[8];
    if (socket_path(listener) != NULL)
        fp_buf_addf(text, "%s%s", unix_prefix, socket_path(listener));
    else if (getnameinfo((const void *)&address->sa, address->len, host, sizeof(host), port,
                         sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        fp_buf_addf(text, "%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
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
        add_address(listener, detail);
        fp_buf_addf(detail, ": %s", strerror(error));
        fp_listener_close(listener);
        return false;
    }
    return true;
}

void fp_listener_take(int fd, struct fp_listener *listener)
{
    *listener = (struct fp_listener){.fd = fd};
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void fp_listener_close(struct fp_listener *listener)
{
    const char *path = socket_path(listener);
    struct stat st;
    if (path != NULL && listener->ino != 0 && lstat(path, &st) == 0 && st.st_dev == listener->dev &&
        st.st_ino == listener->ino)
        unlink(path);
    if (listener->fd >= 0)
        close(listener->fd);
    *listener = (struct fp_listener){.fd = -1};
}
