/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refused: finds and reads dead letters and refused records.
 */
#include "cli/spool/refused.h"

#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/memory.h"
#include "collector/spool/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_DIRECTORY = FP_OPTION_SHARED + 0x40, ARENA_MAX = 256 * 1024 * 1024 };

static const char record_prefix[] = "refused-";

/* ---- options ---- */

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0,
     "look in dead_letters.path and spool.path of the collector's configuration (" FP_CONFIG_FILE
     ")",
     0},
    {"directory", OPTION_DIRECTORY, "DIR", 0, "look in this directory instead", 0},
    {0},
};

static error_t parse_options(int key, char *arg, struct argp_state *state)
{
    struct fp_refused_options *given = state->input;
    switch (key) {
    case 'c':
        given->config_file = arg;
        return 0;
    case OPTION_DIRECTORY:
        given->directory = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_refused_argp = {.options = options, .parser = parse_options};

/* ---- finding ---- */

/* Opens a directory. It need not exist: then nothing has been kept yet. */
static bool add_place(struct fp_refused_list *list, const char *path, bool must_exist)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && errno == ENOENT && !must_exist)
        return true;
    if (dir < 0) {
        fp_message_error("could not read the directory %s: %s", path, strerror(errno));
        return false;
    }
    list->places[list->place_count].path = path;
    list->places[list->place_count].dir = dir;
    list->place_count++;
    return true;
}

static bool find_places(const struct fp_refused_options *given, struct fp_refused_list *list)
{
    if (given->directory != NULL && given->config_file == NULL)
        return add_place(list, given->directory, true);
    if (!fp_config_file_load(given->config_file, &list->config))
        return false;
    if (given->directory != NULL)
        return add_place(list, given->directory, true);
    if (list->config == NULL) {
        fp_message_error("no directory was named");
        fp_message_hint("Give --config FILE or --directory DIR.");
        return false;
    }
    const char *letters = list->config->dead_letters_path.ptr;
    return (letters[0] == '\0' || add_place(list, letters, false)) &&
           add_place(list, list->config->spool_path.ptr, false);
}

static void add_entry(struct fp_refused_list *list, const struct fp_refused_entry *entry)
{
    list->entries = fp_memory_grow(list->entries, list->count, &list->cap, sizeof(*list->entries));
    list->entries[list->count++] = *entry;
}

static bool add_letters(struct fp_refused_list *list, size_t place)
{
    struct fp_letter_list letters;
    if (!fp_letter_list(list->places[place].dir, &letters))
        return false;
    for (size_t i = 0; i < letters.count; i++) {
        struct fp_refused_entry entry = {.number = letters.entries[i].id, .place = place};
        (void)snprintf(entry.id, sizeof(entry.id), "%016" PRIx64, entry.number);
        add_entry(list, &entry);
    }
    free(letters.entries);
    return true;
}

struct record_search {
    struct fp_refused_list *list;
    size_t place;
};

static bool add_record(void *context, const char *name)
{
    struct record_search *records = context;
    uint64_t sequence;
    if (!fp_spool_aside_parse_refused(name, &sequence))
        return true;
    struct fp_refused_entry entry = {
        .is_record = true, .number = sequence, .place = records->place};
    (void)snprintf(entry.id, sizeof(entry.id), "%s%016" PRIx64, record_prefix, sequence);
    add_entry(records->list, &entry);
    return true;
}

static bool add_records(struct fp_refused_list *list, size_t place)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    struct record_search records = {list, place};
    return ops->list(ops->context, list->places[place].dir, add_record, &records) == 0;
}

static int by_age(const void *a, const void *b)
{
    const struct fp_refused_entry *left = a;
    const struct fp_refused_entry *right = b;
    if (left->is_record != right->is_record)
        return left->is_record - right->is_record;
    return (left->number > right->number) - (left->number < right->number);
}

bool fp_refused_find(const struct fp_refused_options *given, struct fp_refused_list *list)
{
    *list = (struct fp_refused_list){0};
    if (!find_places(given, list))
        return false;
    for (size_t i = 0; i < list->place_count; i++) {
        if (!add_letters(list, i) || !add_records(list, i)) {
            fp_message_error("could not read the directory %s: %s", list->places[i].path,
                             strerror(errno));
            return false;
        }
    }
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof(*list->entries), by_age);
    return true;
}

void fp_refused_release(struct fp_refused_list *list)
{
    for (size_t i = 0; i < list->place_count; i++)
        close(list->places[i].dir);
    free(list->entries);
    fp_config_free(list->config);
}

const struct fp_refused_entry *fp_refused_by_id(const struct fp_refused_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->entries[i].id, id) == 0)
            return &list->entries[i];
    }
    return NULL;
}

int fp_refused_dir(const struct fp_refused_list *list, const struct fp_refused_entry *entry)
{
    return list->places[entry->place].dir;
}

/* ---- reading ---- */

static void name_file(const struct fp_refused_entry *entry, char name[FP_LETTER_NAME_SIZE])
{
    if (entry->is_record)
        (void)snprintf(name, FP_LETTER_NAME_SIZE, "%s", entry->id);
    else
        fp_letter_name(entry->number, name);
}

static bool read_file(const struct fp_refused_list *list, const struct fp_refused_entry *entry,
                      const char *name, struct fp_input_file *file)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s", list->places[entry->place].path, name);
    if (len < 0 || len >= (int)sizeof(path)) {
        fp_message_error("the path of %s is too long", name);
        return false;
    }
    return fp_input_file_read(path, file);
}

/* Reads why the database refused a record; earlier versions did not write that down. */
static void read_reason(const struct fp_refused_list *list, const struct fp_refused_entry *entry,
                        char *reason, size_t size)
{
    char name[2 * FP_REFUSED_ID_SIZE];
    (void)snprintf(name, sizeof(name), "%s" FP_ASIDE_REASON, entry->id);
    int file = openat(fp_refused_dir(list, entry), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t len = file >= 0 ? read(file, reason, size - 1) : 0;
    reason[len > 0 ? len : 0] = '\0';
    if (file >= 0)
        close(file);
}

static void read_record(const struct fp_refused_list *list, const struct fp_refused_entry *entry,
                        struct fp_refused *refused)
{
    struct fp_str bytes = refused->body;
    enum fp_delta_error error =
        fp_record_decode(bytes.ptr, bytes.len, &refused->arena, &refused->record);
    if (error == FP_DELTA_MEMORY)
        fp_memory_end();
    refused->is_whole = error == FP_DELTA_OK;
    read_reason(list, entry, refused->letter.problem.detail,
                sizeof(refused->letter.problem.detail));
    if (!refused->is_whole)
        return;
    const struct fp_delta *first = &refused->record.deltas[0];
    refused->letter.received_us = first->received_us;
    if (!fp_arena_copy(&refused->arena, first->segment.site, &refused->letter.site))
        fp_memory_end();
}

static void read_letter(struct fp_refused *refused)
{
    enum fp_letter_error error =
        fp_letter_read(refused->body, &refused->arena, &refused->letter, &refused->body);
    refused->is_whole = error == FP_LETTER_OK;
    if (error == FP_LETTER_BROKEN) {
        refused->letter = (struct fp_letter){.problem = {.offset = -1}};
        (void)snprintf(refused->letter.problem.detail, sizeof(refused->letter.problem.detail),
                       "the file is not a whole letter of this version");
    }
    if (error == FP_LETTER_MEMORY)
        fp_memory_end();
}

bool fp_refused_open(const struct fp_refused_list *list, const struct fp_refused_entry *entry,
                     struct fp_refused *refused)
{
    char name[FP_LETTER_NAME_SIZE];
    *refused = (struct fp_refused){.letter = {.problem = {.offset = -1}}};
    name_file(entry, name);
    if (!read_file(list, entry, name, &refused->file))
        return false;
    fp_arena_init(&refused->arena, ARENA_MAX);
    refused->body =
        (struct fp_str){(const char *)refused->file.bytes.data, refused->file.bytes.len};
    if (entry->is_record)
        read_record(list, entry, refused);
    else
        read_letter(refused);
    return true;
}

void fp_refused_close(struct fp_refused *refused)
{
    fp_arena_release(&refused->arena);
    fp_input_file_release(&refused->file);
}

bool fp_refused_remove(const struct fp_refused_list *list, const struct fp_refused_entry *entry)
{
    char name[FP_LETTER_NAME_SIZE];
    char reason[2 * FP_REFUSED_ID_SIZE];
    name_file(entry, name);
    (void)snprintf(reason, sizeof(reason), "%s" FP_ASIDE_REASON, entry->id);
    int dir = fp_refused_dir(list, entry);
    /* The collector may have removed it. */
    bool removed = unlinkat(dir, name, 0) == 0 || errno == ENOENT;
    if (!removed)
        fp_message_error("could not remove %s: %s", name, strerror(errno));
    else if (entry->is_record)
        (void)unlinkat(dir, reason, 0);
    return removed;
}
