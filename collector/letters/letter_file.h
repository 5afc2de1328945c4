/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letter, as a file: one line of JSON that says what the upload was and why it was refused,
 * then the refused body. docs/internals/dead_letters.md describes the bytes.
 *
 * There is one file per letter: a rename puts it in place whole, any tool can read it, and it is
 * dropped or replaced without touching the others. Names are ids in hexadecimal; a larger id is a
 * later letter. No state, no locks: any thread, several processes.
 */
#ifndef FP_LETTERS_LETTER_FILE_H
#define FP_LETTERS_LETTER_FILE_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/base/problem.h"

struct fp_letter {
    int64_t received_us;       /* epoch */
    struct fp_str site;        /* its name */
    struct fp_problem problem; /* status, detail, pointer, offset */
    struct fp_str origin;      /* the admitted one, "" for none */
    struct fp_str content_type;
    struct fp_str encoding; /* Content-Encoding */
    struct fp_str format;   /* `?format=` */
    bool has_key;
    struct fp_uuid key; /* Idempotency-Key */
};

/* The longest line before a body: five texts of 1 KiB, a detail and a pointer, where each byte may
 * become an escape of six bytes. */
#define FP_LETTER_HEAD_MAX ((size_t)40 * 1024)

#define FP_LETTER_NAME_SIZE 32

/* Writes the file's name for a letter's id. */
void fp_letter_name(uint64_t id, char name[FP_LETTER_NAME_SIZE]);

/* Appends the line for a body of that length; check out->failed. Truncates long texts and replaces
 * invalid UTF-8. */
void fp_letter_add_head(const struct fp_letter *letter, size_t body_len, struct fp_buf *out);

enum fp_letter_error {
    FP_LETTER_OK = 0,
    FP_LETTER_BROKEN, /* not a letter's bytes, or truncated */
    FP_LETTER_MEMORY,
};

/* Parses a letter file's bytes: copies texts into the arena, and points *body into the bytes. On
 * failure both are undefined. */
enum fp_letter_error fp_letter_read(struct fp_str bytes, struct fp_arena *arena,
                                    struct fp_letter *letter, struct fp_str *body) FP_MUST_CHECK;

/*
 * Writes a letter into an open directory, with mode 0600, and replaces an earlier one with this id.
 * Returns false with errno; then nothing has changed. Not synced: a letter need not survive a
 * crash.
 */
bool fp_letter_put(int dir, uint64_t id, struct fp_str head, struct fp_str body) FP_MUST_CHECK;

/* Removes unfinished files that an earlier process left in a directory. */
void fp_letter_sweep(int dir);

/* Returns how much of `dead_letters.max_bytes` a file of this length takes: whole blocks. */
uint64_t fp_letter_room(uint64_t len);

struct fp_letter_entry {
    uint64_t id;
    uint64_t room; /* bytes, by fp_letter_room */
};

struct fp_letter_list {
    struct fp_letter_entry *entries; /* oldest first */
    size_t count;
    uint64_t room; /* of all entries */
};

/* Lists the letters in a directory. The caller frees the entries. Returns false with errno. */
bool fp_letter_list(int dir, struct fp_letter_list *list) FP_MUST_CHECK;

#endif
