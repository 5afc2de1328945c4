/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: /dev/null, opened for the wrong direction.
 */
#include "collector/base/streams.h"

#include <fcntl.h>
#include <unistd.h>

bool fp_streams_hold(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        /* open() returns the lowest free number, which is the stream's. */
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", mode) < 0)
            return false;
    }
    return true;
}
