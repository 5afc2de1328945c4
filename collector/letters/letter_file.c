/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letter, as a file: writes and parses its line with yyjson.
 */
#include "collector/letters/letter_file.h"

#include "collector/base/uuid.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yyjson.h>

enum { VERSION = 1, TEXT_MAX = 1024, BLOCK_LEN = 4096, ID_DIGITS = 16 };

static const char suffix[] = ".letter";
static const char unfinished[] = ".tmp";

/* ---- names ---- */

static void name_file(uint64_t id, const char *end, char name[FP_LETTER_NAME_SIZE])
{
    (void)snprintf(name, FP_LETTER_NAME_SIZE, "%0*" PRIx64 "%s", ID_DIGITS, id, end);
}

static bool ends_in(const char *name, const char *end)
{
    return strspn(name, "0123456789abcdef") == ID_DIGITS && strcmp(name + ID_DIGITS, end) == 0;
}

void fp_letter_name(uint64_t id, char name[FP_LETTER_NAME_SIZE])
{
    name_file(id, suffix, name);
}

/* Parses the id in a file's name. False if it is not a letter's name. */
static bool parse_name(const char *name, uint64_t *id)
{
    if (!ends_in(name, suffix))
        return false;
    *id = strtoull(name, NULL, 16);
    return true;
}

/* ---- the line ---- */

/* Truncates a text to at most `max` bytes, at a code-point boundary: half a code point would become
 * U+FFFD and change the text on each rewrite. */
static struct fp_str cut(struct fp_str text, size_t max)
{
    if (text.len <= max)
        return text;
    size_t len = max;
    while (len > 0 && max - len < 3 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return (struct fp_str){text.ptr, len};
}

static bool add_text(yyjson_mut_doc *doc, const char *name, struct fp_str text)
{
    struct fp_str kept = cut(text, TEXT_MAX);
    return kept.len == 0 ||
           yyjson_mut_obj_add_strn(doc, yyjson_mut_doc_get_root(doc), name, kept.ptr, kept.len);
}

static bool add_key(yyjson_mut_doc *doc, const struct fp_letter *letter)
{
    char text[FP_UUID_TEXT_LEN + 1];
    if (!letter->has_key)
        return true;
    fp_uuid_format(&letter->key, text);
    return yyjson_mut_obj_add_strcpy(doc, yyjson_mut_doc_get_root(doc), "idempotency_key", text);
}

static bool add_members(yyjson_mut_doc *doc, const struct fp_letter *letter, size_t body_len)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    const struct fp_problem *problem = &letter->problem;
    bool good = yyjson_mut_obj_add_uint(doc, root, "version", VERSION) &&
                yyjson_mut_obj_add_sint(doc, root, "received_us", letter->received_us) &&
                add_text(doc, "site", letter->site) &&
                yyjson_mut_obj_add_uint(doc, root, "status", problem->status) &&
                add_text(doc, "detail", fp_str_of(problem->detail));
    /* The pointer "" means the whole document. */
    if (good && problem->has_pointer)
        good = yyjson_mut_obj_add_str(doc, root, "pointer", problem->pointer);
    if (good && problem->offset >= 0)
        good = yyjson_mut_obj_add_sint(doc, root, "offset", problem->offset);
    return good && add_text(doc, "origin", letter->origin) &&
           add_text(doc, "content_type", letter->content_type) &&
           add_text(doc, "content_encoding", letter->encoding) &&
           add_text(doc, "format", letter->format) && add_key(doc, letter) &&
           yyjson_mut_obj_add_uint(doc, root, "body_bytes", body_len);
}

void fp_letter_add_head(const struct fp_letter *letter, size_t body_len, struct fp_buf *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t len = 0;
    char *text = NULL;
    if (doc != NULL && add_members(doc, letter, body_len))
        text = yyjson_mut_write(
            doc, YYJSON_WRITE_ESCAPE_UNICODE | YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    if (text == NULL)
        out->failed = true;
    fp_buf_add(out, text, len);
    fp_buf_add(out, "\n", 1);
    free(text);
    yyjson_mut_doc_free(doc);
}

static struct fp_str text_of(yyjson_val *value)
{
    return (struct fp_str){yyjson_get_str(value), yyjson_get_len(value)};
}

static bool copy_text(yyjson_val *root, const char *name, struct fp_arena *arena,
                      struct fp_str *text)
{
    return fp_arena_copy(arena, text_of(yyjson_obj_get(root, name)), text);
}

static void copy_bounded(yyjson_val *value, char *to, size_t size)
{
    struct fp_str text = cut(text_of(value), size - 1);
    (void)snprintf(to, size, "%.*s", (int)text.len, text.len > 0 ? text.ptr : "");
}

static void read_problem(yyjson_val *root, struct fp_problem *problem)
{
    yyjson_val *pointer = yyjson_obj_get(root, "pointer");
    yyjson_val *at = yyjson_obj_get(root, "offset");
    int64_t offset = yyjson_is_int(at) ? yyjson_get_sint(at) : -1;
    *problem = (struct fp_problem){
        .status = (unsigned)yyjson_get_uint(yyjson_obj_get(root, "status")),
        .has_pointer = yyjson_is_str(pointer),
        .offset = offset >= 0 ? offset : -1,
    };
    copy_bounded(yyjson_obj_get(root, "detail"), problem->detail, sizeof(problem->detail));
    copy_bounded(pointer, problem->pointer, sizeof(problem->pointer));
}

static void read_key(yyjson_val *root, struct fp_letter *letter)
{
    yyjson_val *key = yyjson_obj_get(root, "idempotency_key");
    letter->has_key = yyjson_is_str(key) && fp_uuid_parse(text_of(key), &letter->key);
}

static bool read_members(yyjson_val *root, struct fp_arena *arena, struct fp_letter *letter)
{
    letter->received_us = yyjson_get_sint(yyjson_obj_get(root, "received_us"));
    read_problem(root, &letter->problem);
    read_key(root, letter);
    return copy_text(root, "site", arena, &letter->site) &&
           copy_text(root, "origin", arena, &letter->origin) &&
           copy_text(root, "content_type", arena, &letter->content_type) &&
           copy_text(root, "content_encoding", arena, &letter->encoding) &&
           copy_text(root, "format", arena, &letter->format);
}

enum fp_letter_error fp_letter_read(struct fp_str bytes, struct fp_arena *arena,
                                    struct fp_letter *letter, struct fp_str *body)
{
    size_t head_max = bytes.len < FP_LETTER_HEAD_MAX ? bytes.len : FP_LETTER_HEAD_MAX;
    const char *end = head_max > 0 ? memchr(bytes.ptr, '\n', head_max) : NULL;
    if (end == NULL)
        return FP_LETTER_BROKEN;
    size_t head_len = (size_t)(end - bytes.ptr);
    *body = (struct fp_str){end + 1, bytes.len - head_len - 1};
    yyjson_read_err error;
    /* yyjson does not change the bytes without YYJSON_READ_INSITU. */
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)bytes.ptr, head_len, YYJSON_READ_NOFLAG, NULL, &error);
    if (doc == NULL)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? FP_LETTER_MEMORY
                                                                 : FP_LETTER_BROKEN;
    yyjson_val *root = yyjson_doc_get_root(doc);
    enum fp_letter_error result = FP_LETTER_BROKEN;
    if (yyjson_get_uint(yyjson_obj_get(root, "version")) == VERSION &&
        yyjson_get_uint(yyjson_obj_get(root, "body_bytes")) == body->len)
        result = read_members(root, arena, letter) ? FP_LETTER_OK : FP_LETTER_MEMORY;
    yyjson_doc_free(doc);
    return result;
}

/* ---- files ---- */

static bool write_all(int file, struct fp_str bytes)
{
    for (size_t done = 0; done < bytes.len;) {
        ssize_t now = write(file, bytes.ptr + done, bytes.len - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        done += (size_t)now;
    }
    return true;
}

bool fp_letter_put(int dir, uint64_t id, struct fp_str head, struct fp_str body)
{
    char name[FP_LETTER_NAME_SIZE];
    char new_name[FP_LETTER_NAME_SIZE];
    name_file(id, suffix, name);
    name_file(id, unfinished, new_name);
    int file = openat(dir, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool written = write_all(file, head) && write_all(file, body);
    int error = errno;
    (void)close(file);
    if (written && renameat(dir, new_name, dir, name) == 0)
        return true;
    if (written)
        error = errno;
    (void)unlinkat(dir, new_name, 0);
    errno = error;
    return false;
}

uint64_t fp_letter_room(uint64_t len)
{
    return (len + BLOCK_LEN - 1) / BLOCK_LEN * BLOCK_LEN;
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const struct fp_letter_entry *)a)->id;
    uint64_t right = ((const struct fp_letter_entry *)b)->id;
    return (left > right) - (left < right);
}

static bool add_entry(struct fp_letter_list *list, size_t *cap, const struct fp_letter_entry *entry)
{
    if (list->count == *cap) {
        size_t more = *cap > 0 ? *cap * 2 : 64;
        struct fp_letter_entry *entries = reallocarray(list->entries, more, sizeof(*list->entries));
        if (entries == NULL)
            return false;
        list->entries = entries;
        *cap = more;
    }
    list->entries[list->count++] = *entry;
    list->room += entry->room;
    return true;
}

/* Opens a stream over an open directory; closing the stream leaves the directory open. Returns NULL
 * with errno. */
static DIR *open_stream(int dir)
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0)
        return NULL;
    DIR *stream = fdopendir(again);
    if (stream == NULL)
        close(again);
    return stream;
}

void fp_letter_sweep(int dir)
{
    DIR *stream = open_stream(dir);
    if (stream == NULL)
        return;
    for (const struct dirent *found; (found = readdir(stream)) != NULL;) {
        if (ends_in(found->d_name, unfinished))
            (void)unlinkat(dir, found->d_name, 0);
    }
    closedir(stream);
}

static bool read_entries(int dir, DIR *stream, struct fp_letter_list *list)
{
    size_t cap = 0;
    for (;;) {
        errno = 0;
        const struct dirent *found = readdir(stream);
        if (found == NULL)
            return errno == 0;
        struct fp_letter_entry entry;
        struct stat about;
        if (!parse_name(found->d_name, &entry.id) ||
            fstatat(dir, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        entry.room = fp_letter_room((uint64_t)about.st_size);
        if (!add_entry(list, &cap, &entry))
            return false;
    }
}

bool fp_letter_list(int dir, struct fp_letter_list *list)
{
    *list = (struct fp_letter_list){0};
    DIR *stream = open_stream(dir);
    if (stream == NULL)
        return false;
    bool read = read_entries(dir, stream, list);
    int error = errno;
    closedir(stream);
    if (!read) {
        free(list->entries);
        *list = (struct fp_letter_list){0};
        errno = error;
        return false;
    }
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof(*list->entries), by_id);
    return true;
}
