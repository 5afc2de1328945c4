/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual: names of files are checked letter by letter, so none leaves the folder.
 */
#include "cli/serve/manual.h"

#include "cli/serve/response.h"
#include "collector/base/ascii.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "/help/";

#ifndef FP_MANUAL
#define FP_MANUAL ""
#endif

static const struct {
    const char *ending;
    const char *content_type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".txt", "text/plain; charset=utf-8"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
};

/* Returns the content type of a file's name; NULL for a file that the manual does not have. */
static const char *content_type_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && i < FP_COUNT(types); i++) {
        if (strcmp(ending, types[i].ending) == 0)
            return types[i].content_type;
    }
    return NULL;
}

/* True for letters, digits, - and _ with single dots within, in the folder or its images/. */
static bool is_name(const char *name)
{
    static const char images[] = "images/";
    const char *c = name;
    if (strncmp(c, images, sizeof(images) - 1) == 0)
        c += sizeof(images) - 1;
    char last = '.';
    for (; *c != '\0'; c++) {
        if (!fp_is_alnum(*c) && *c != '-' && *c != '_' && (*c != '.' || last == '.'))
            return false;
        last = *c;
    }
    return last != '.';
}

/* Opens a regular file of the folder; -1 if there is none. */
static int open_file(const char *folder, const char *name, struct stat *about)
{
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof(path))
        return -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, about) != 0 || !S_ISREG(about->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

bool fp_manual_is_there(const char *folder)
{
    struct stat about;
    const int fd = open_file(folder, "index.html", &about);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

const char *fp_manual_installed(void)
{
    return FP_MANUAL[0] != '\0' && fp_manual_is_there(FP_MANUAL) ? FP_MANUAL : NULL;
}

bool fp_manual_owns(const char *path)
{
    return strncmp(path, prefix, sizeof(prefix) - 1) == 0 &&
           (path[sizeof(prefix) - 1] == '\0' || strchr(path, '.') != NULL);
}

enum MHD_Result fp_manual_answer(struct MHD_Connection *connection, const char *folder,
                                 const char *path)
{
    const char *name = path + sizeof(prefix) - 1;
    if (name[0] == '\0' && folder == NULL)
        return fp_response_nothing(connection);
    if (name[0] == '\0')
        name = "index.html";
    struct stat about;
    const char *type = content_type_of(name);
    const int fd =
        folder != NULL && type != NULL && is_name(name) ? open_file(folder, name, &about) : -1;
    if (fd >= 0)
        return fp_response_manual(connection, fd, (size_t)about.st_size, type);
    struct fp_trouble trouble = {0};
    fp_trouble_set(&trouble, MHD_HTTP_NOT_FOUND, "The manual has no such page.");
    return fp_response_trouble(connection, &trouble);
}
