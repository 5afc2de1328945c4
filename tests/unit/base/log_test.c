/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines: one line each, in logfmt, whatever the values contain.
 */
#include "test.h"

#include "collector/base/log.c"

#include <inttypes.h>

/* Runs one fp_log with standard error redirected to a file, and copies what it wrote, without its
 * time, to `written`. */
static char written[4096];

#define CAPTURE(...)                                                                               \
    do {                                                                                           \
        FILE *file = tmpfile();                                                                    \
        int old = dup(STDERR_FILENO);                                                              \
        dup2(fileno(file), STDERR_FILENO);                                                         \
        fp_log(__VA_ARGS__);                                                                       \
        dup2(old, STDERR_FILENO);                                                                  \
        close(old);                                                                                \
        read_written(file);                                                                        \
    } while (0)

static void read_written(FILE *file)
{
    rewind(file);
    size_t len = fread(written, 1, sizeof(written) - 1, file);
    written[len] = '\0';
    fclose(file);
    char *level = strstr(written, "level=");
    if (level != NULL)
        memmove(written, level, strlen(level) + 1);
}

static void writes_level_message_and_fields(void **state)
{
    (void)state;
    CAPTURE(FP_LOG_WARN, "segment kept", "path=%s bytes=%" PRIu64 " error=%d", "/spool/1",
            UINT64_MAX, -5);
    assert_string_equal(
        written,
        "level=warn msg=\"segment kept\" path=/spool/1 bytes=18446744073709551615 error=-5\n");
    CAPTURE(FP_LOG_INFO, "started", "");
    assert_string_equal(written, "level=info msg=started\n");
}

static void quotes_and_escapes_values(void **state)
{
    (void)state;
    CAPTURE(FP_LOG_ERROR, "a", "b=%s c=%s d=%s e=%.*s", "two words", "line\nlevel=error \"x\\\"",
            "", 2, "xyz");
    assert_string_equal(written, "level=error msg=a b=\"two words\" "
                                 "c=\"line\\nlevel=error \\\"x\\\\\\\"\" d=\"\" e=xy\n");
    CAPTURE(FP_LOG_INFO, "a", "b=%s", "\x1b[1m\x7f");
    assert_string_equal(written, "level=info msg=a b=\"\\x1b[1m\\x7f\"\n");
}

static void knows_the_conversions_of_every_width(void **state)
{
    (void)state;
    CAPTURE(FP_LOG_INFO, "a", "i=%i l=%ld ll=%lld z=%zu x=%x f=%f n=%d", -1, -2L, -3LL, (size_t)4,
            255U, 1.5, 6);
    assert_string_equal(written, "level=info msg=a i=-1 l=-2 ll=-3 z=4 x=ff f=1.5 n=6\n");
}

static void cuts_a_line_at_its_maximum(void **state)
{
    (void)state;
    char huge[5000];
    memset(huge, 'h', sizeof(huge));
    CAPTURE(FP_LOG_INFO, "a", "b=%.*s", (int)sizeof(huge), huge);
    assert_in_range(strlen(written), 1900, 2048);
    assert_int_equal(written[strlen(written) - 1], '\n');
}

static void leaves_the_time_to_the_journal(void **state)
{
    (void)state;
    char path[] = "/tmp/fleetprof-log-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    char stream[64];
    snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    int old = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    setenv("JOURNAL_STREAM", stream, 1);
    fp_log(FP_LOG_INFO, "a", "");
    setenv("JOURNAL_STREAM", "1:2", 1);
    fp_log(FP_LOG_INFO, "b", "");
    unsetenv("JOURNAL_STREAM");
    dup2(old, STDERR_FILENO);
    char text[256] = "";
    assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
    assert_memory_equal(text, "level=info msg=a\ntime=2", 23);
    close(old);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_level_message_and_fields),
        cmocka_unit_test(quotes_and_escapes_values),
        cmocka_unit_test(knows_the_conversions_of_every_width),
        cmocka_unit_test(cuts_a_line_at_its_maximum),
        cmocka_unit_test(leaves_the_time_to_the_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
