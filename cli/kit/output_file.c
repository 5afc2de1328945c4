/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output file: writes beside the file, then renames.
 */
#include "cli/kit/output_file.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void complain(const struct fp_output_file *file)
{
    fp_message_error("could not write %s: %s", file->name, strerror(errno));
}

/* Prepares to replace the file: of a symbolic link that leads somewhere, the file there. */
static void set_target(struct fp_output_file *file)
{
    char *real = realpath(file->name, NULL);
    file->target = real != NULL ? real : fp_memory_copy(file->name);
    file->part = fp_memory_print("%s.part", file->target);
}

static void release(struct fp_output_file *file)
{
    free(file->target);
    free(file->part);
}

bool fp_output_file_open(struct fp_output_file *file, const char *name)
{
    struct stat there;
    if (name != NULL && strcmp(name, "-") == 0)
        name = NULL;
    *file = (struct fp_output_file){.name = name, .stream = stdout};
    if (name == NULL)
        return true;
    if (stat(name, &there) != 0 || S_ISREG(there.st_mode))
        set_target(file);
    file->stream = fopen(file->part != NULL ? file->part : name, "wbe");
    if (file->stream != NULL)
        return true;
    complain(file);
    release(file);
    return false;
}

bool fp_output_file_close(struct fp_output_file *file, bool is_whole)
{
    if (file->name == NULL)
        return true;
    bool fine = ferror(file->stream) == 0;
    fine = fclose(file->stream) == 0 && fine;
    if (is_whole) {
        fine = fine && (file->part == NULL || rename(file->part, file->target) == 0);
        if (!fine)
            complain(file);
    }
    if (file->part != NULL && (!fine || !is_whole))
        (void)unlink(file->part);
    release(file);
    return fine || !is_whole;
}
