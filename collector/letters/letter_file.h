/*
 * Dead letter, as a file: a refused upload's body behind one line of JSON that says what it was and
 * why it was refused. docs/dead_letters.md has the bytes.
 *
 * One file a letter: it is put in place whole by a rename, read with any tool, and dropped or
 * replaced without touching the others. Names are ids in hexadecimal; a larger id is a later
 * letter. No state, no locks: any thread, several processes.
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
    struct fp_str origin;      /* the admitted one, "" when there was none */
    struct fp_str content_type;
    struct fp_str encoding; /* Content-Encoding */
    struct fp_str format;   /* `?format=` */
    bool has_key;
    struct fp_uuid key; /* Idempotency-Key */
};

/* The longest line above a body: five texts of 1 KiB, a detail and a pointer, each byte of which
 * may be written as an escape of six. */
#define FP_LETTER_HEAD_MAX ((size_t)40 * 1024)

#define FP_LETTER_NAME_SIZE 32

/* The file's name, from the letter's id. */
void fp_letter_name(uint64_t id, char name[FP_LETTER_NAME_SIZE]);

/* The id in a file's name. False when it is not a letter's. */
bool fp_letter_parse_name(const char *name, uint64_t *id) FP_MUST_CHECK;

/* Appends the line for a body of that length; look at out->failed. Over-long texts are cut, what
 * is not UTF-8 is replaced. */
void fp_letter_add_head(const struct fp_letter *letter, size_t body_len, struct fp_buf *out);

enum fp_letter_error {
    FP_LETTER_OK = 0,
    FP_LETTER_BROKEN, /* these are not a letter's bytes, or not all of them */
    FP_LETTER_MEMORY,
};

/* Reads a letter file's bytes: texts go into the arena, *body points into the bytes. On failure
 * both are undefined. */
enum fp_letter_error fp_letter_read(struct fp_str bytes, struct fp_arena *arena,
                                    struct fp_letter *letter, struct fp_str *body) FP_MUST_CHECK;

/*
 * Puts a letter into a directory (an open one), in the place of an earlier one of this id; mode
 * 0600. False with errno, when nothing has changed. Not synced: a letter is no promise.
 */
bool fp_letter_put(int dir, uint64_t id, struct fp_str head, struct fp_str body) FP_MUST_CHECK;

/* Removes what an earlier process left unfinished in a directory. */
void fp_letter_sweep(int dir);

/* What a file of this length takes of `dead_letters.max_bytes`: whole blocks. */
uint64_t fp_letter_room(uint64_t len);

struct fp_letter_entry {
    uint64_t id;
    uint64_t room; /* bytes by fp_letter_room */
};

struct fp_letter_list {
    struct fp_letter_entry *entries; /* the oldest first */
    size_t count;
    uint64_t room; /* of all of them */
};

/* The letters of a directory. The caller frees the entries. False with errno. */
bool fp_letter_list(int dir, struct fp_letter_list *list) FP_MUST_CHECK;

#endif
