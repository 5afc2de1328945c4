/*
 * Listen: the sockets that the collector listens on.
 */
#ifndef FP_HTTP_LISTEN_H
#define FP_HTTP_LISTEN_H

#include "collector/base/address.h"
#include "collector/base/buf.h"

#include <sys/types.h>

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
