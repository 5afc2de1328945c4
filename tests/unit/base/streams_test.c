/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed standard descriptors, in every combination.
 */
#include "collector/base/streams.c"
#include "tests/unit/base/test.h"

#include <errno.h>
#include <sys/wait.h>

enum { STREAMS = 3 };

/* In a process of its own: 0 if no file opened next becomes a standard stream, and the closed ones
 * are unusable. */
static int hold(unsigned closed)
{
    for (int stream = 0; stream < STREAMS; stream++)
        if (closed >> stream & 1)
            close(stream);
    if (!fp_streams_hold())
        return 1;
    int file = open("/dev/null", O_RDWR);
    char byte = 'x';
    for (int stream = 0; stream < STREAMS; stream++) {
        if (!(closed >> stream & 1))
            continue;
        errno = 0;
        ssize_t done = stream == 0 ? read(stream, &byte, 1) : write(stream, &byte, 1);
        if (done >= 0 || errno != EBADF)
            return 2;
    }
    return file >= STREAMS ? 0 : 3;
}

static void closed_streams_are_never_what_is_opened_next(void **state)
{
    (void)state;
    for (unsigned closed = 0; closed < 1U << STREAMS; closed++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(hold(closed));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_streams_are_never_what_is_opened_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
