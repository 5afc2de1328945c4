/*
 * Listen: addresses as the configuration writes them, and the sockets that listen on them.
 */
#ifndef FP_HTTP_LISTEN_H
#define FP_HTTP_LISTEN_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

#include <sys/socket.h>
#include <sys/types.h>

/* Where to listen. All zero: nowhere. */
struct fp_address {
    struct sockaddr_storage sa;
    socklen_t len;
};

/*
 * Reads `IPv4:port`, `[IPv6]:port`, `localhost:port` (127.0.0.1) or `unix:/absolute/path`. No name
 * but localhost is resolved. Returns NULL, or what is wrong, as a phrase for an error message; the
 * address is then unchanged. Any thread.
 */
const char *fp_address_parse(struct fp_str text, struct fp_address *address) FP_MUST_CHECK;

/* A listening socket; its file too when it is a unix socket. */
struct fp_listener {
    int fd; /* owned; -1 when closed */
    struct fp_address address;
    dev_t dev; /* of the socket's file, to remove no other */
    ino_t ino;
};

/*
 * Binds and listens, without blocking mode. A unix socket gets mode 0660; a file left behind by a
 * process that is gone is replaced, one on which somebody listens is not. On failure `detail` gets
 * a sentence and the listener is closed.
 */
bool fp_listener_open(const struct fp_address *address, struct fp_listener *listener,
                      struct fp_buf *detail) FP_MUST_CHECK;

/* Takes over a socket that listens already, `fd`, without blocking mode. Its file, if it has one,
 * is whoever's made it. */
void fp_listener_take(int fd, struct fp_listener *listener);

/* Closes the socket and removes its file, if that is still the one made by fp_listener_open. */
void fp_listener_close(struct fp_listener *listener);

#endif
