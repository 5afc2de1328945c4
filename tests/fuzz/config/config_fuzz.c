/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a configuration. It loads, or each error line has a place.
 */
#include "collector/config/config.h"
#include "tests/fuzz/check.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ERRORS_MAX = 64 * 1024, BYTES_MAX = 16 * 1024 };

/* Every line must be `file:line:column: text`; the last may instead count the errors not shown. */
static void check_errors(const struct fp_buf *errors, const char *file)
{
    const char *at = (const char *)errors->data;
    const char *end = at + errors->len;
    check(errors->len > 0 && end[-1] == '\n');
    size_t file_len = strlen(file);
    while (at < end) {
        unsigned line;
        unsigned column;
        int read = 0;
        check((size_t)(end - at) > file_len && memcmp(at, file, file_len) == 0);
        char place[64] = "";
        size_t left = (size_t)(end - at) - file_len;
        memcpy(place, at + file_len, left < sizeof(place) ? left : sizeof(place) - 1);
        bool has_place = sscanf(place, ":%u:%u: %n", &line, &column, &read) == 2 && read > 0;
        check(has_place ? line > 0 && column > 0 : sscanf(place, ": and %u errors", &line) == 1);
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static int memory = -1;
    static char file[32];
    if (len > BYTES_MAX)
        return 0;
    if (memory < 0) {
        memory = memfd_create("config", 0);
        snprintf(file, sizeof(file), "/proc/self/fd/%d", memory);
    }
    check(ftruncate(memory, 0) == 0);
    check(pwrite(memory, bytes, len, 0) == (ssize_t)len);

    struct fp_buf errors;
    fp_buf_init(&errors, ERRORS_MAX);
    struct fp_config *config = fp_config_load(file, &errors);
    if (config == NULL)
        check_errors(&errors, file);
    else
        fp_config_free(config);
    fp_buf_release(&errors);
    return 0;
}
