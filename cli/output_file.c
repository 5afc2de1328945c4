/*
 * Output file: writes beside the file, then renames.
 */
#include "cli/output_file.h"

#include "cli/memory.h"
#include "cli/message.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void complain(const struct fp_output_file *file)
{
    fp_message_error("could not write %s: %s", file->name, strerror(errno));
}

bool fp_output_file_open(struct fp_output_file *file, const char *name)
{
    *file = (struct fp_output_file){.name = name, .stream = stdout};
    if (name == NULL)
        return true;
    file->part = fp_memory_print("%s.part", name);
    file->stream = fopen(file->part, "wbe");
    if (file->stream != NULL)
        return true;
    complain(file);
    free(file->part);
    return false;
}

bool fp_output_file_close(struct fp_output_file *file, bool is_whole)
{
    if (file->name == NULL)
        return true;
    bool fine = ferror(file->stream) == 0;
    fine = fclose(file->stream) == 0 && fine;
    if (is_whole) {
        fine = fine && rename(file->part, file->name) == 0;
        if (!fine)
            complain(file);
    }
    if (!fine || !is_whole)
        (void)unlink(file->part);
    free(file->part);
    return fine || !is_whole;
}
