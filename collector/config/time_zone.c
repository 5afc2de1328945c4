/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zone: checks a name's characters, then looks for its file (RFC 9636).
 */
#include "collector/config/time_zone.h"

#include "collector/base/ascii.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 64 };

/* True for parts with a slash between them, each of letters, digits, '_', '+' and '-'. All names of
 * the database begin with a capital; posix/, right/ and localtime differ between machines. */
static bool has_valid_form(struct fp_str name)
{
    if (name.len == 0 || name.len > NAME_MAX_LEN || name.ptr[0] < 'A' || name.ptr[0] > 'Z')
        return false;
    char before = '/';
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '/' ? before == '/' : !fp_is_alnum(c) && c != '_' && c != '+' && c != '-')
            return false;
        before = c;
    }
    return before != '/';
}

/* True if the directory has a file of this name that begins as those of time zones do. */
static bool is_in(const char *directory, struct fp_str name)
{
    char path[512];
    int len = snprintf(path, sizeof(path), "%s/%.*s", directory, FP_STR_ARG(name));
    if (len < 0 || (size_t)len >= sizeof(path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    char start[4] = "";
    bool is_zone = read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
                   memcmp(start, "TZif", sizeof(start)) == 0;
    (void)close(fd);
    return is_zone;
}

const char *fp_time_zone_check(struct fp_str name, const char *directory)
{
    if (!has_valid_form(name))
        return "is not a time zone; write a name such as Australia/Sydney, or UTC";
    if (!fp_str_equal(name, FP_STR("UTC")) && is_in(directory, FP_STR("UTC")) &&
        !is_in(directory, name))
        return "is not a time zone that " FP_TIME_ZONE_DIRECTORY
               " has; write a name such as Australia/Sydney";
    return NULL;
}
