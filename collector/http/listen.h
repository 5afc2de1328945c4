/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listen: the sockets that the collector listens on.
 */
#ifndef FP_HTTP_LISTEN_H
#define FP_HTTP_LISTEN_H

#include "collector/base/address.h"
#include "collector/base/buf.h"

#include <sys/types.h>

/* A listening socket and, for a unix socket, its file. */
struct fp_listener {
    int fd;         /* owned; -1 when closed */
    bool is_shared; /* with the service manager, which goes on listening */
    struct fp_address address;
    dev_t dev; /* identifies the socket's file, so that no other is removed */
    ino_t ino;
};

/*
 * Binds and listens, in non-blocking mode. A unix socket gets mode 0660; a stale file left by a
 * dead process is replaced, a file in use is not. On failure `detail` gets a sentence and the
 * listener is closed.
 */
bool fp_listener_open(const struct fp_address *address, struct fp_listener *listener,
                      struct fp_buf *detail) FP_MUST_CHECK;

/* Takes over `fd`, a socket that already listens, and makes it non-blocking. Its file, if any,
 * stays with its creator. */
void fp_listener_take(int fd, struct fp_listener *listener);

/* Refuses connections from now on, unless the socket is shared. The descriptor stays open, for
 * threads that still use it. */
void fp_listener_shut(struct fp_listener *listener);

/* Closes the socket and removes its file, if that is still the file that fp_listener_open
 * created. */
void fp_listener_close(struct fp_listener *listener);

#endif
