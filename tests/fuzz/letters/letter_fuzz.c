/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a dead letter's file. A letter that can be read can be written, as `replay`
 * does, and then reads the same, except for truncated texts.
 */
#include "collector/letters/letter_file.h"
#include "tests/fuzz/check.h"

enum { ARENA_MAX = 1024 * 1024, TEXT_MAX = 1024, FILE_MAX = 4 * 1024 * 1024 };

static void write_letter(const struct fp_letter *letter, struct fp_str body, struct fp_buf *file)
{
    struct fp_buf head;
    fp_buf_init(&head, FP_LETTER_HEAD_MAX);
    fp_letter_add_head(letter, body.len, &head);
    check(!head.failed);
    check(memchr(head.data, '\n', head.len) == head.data + head.len - 1);
    fp_buf_init(file, FILE_MAX);
    fp_buf_add(file, head.data, head.len);
    fp_buf_add(file, body.ptr, body.len);
    check(!file->failed);
    fp_buf_release(&head);
}

/* Fails unless a text is the whole or its beginning, without half a code point. */
static void check_text(struct fp_str written, struct fp_str read)
{
    check(read.len <= TEXT_MAX && read.len <= written.len);
    check(read.len == written.len || read.len > TEXT_MAX - 4);
    check(memcmp(written.ptr, read.ptr, read.len) == 0);
}

static void check_same(const struct fp_letter *written, const struct fp_letter *read)
{
    check(read->received_us == written->received_us);
    check(read->has_key == written->has_key);
    check(!read->has_key || fp_uuid_equal(&read->key, &written->key));
    check(read->problem.status == written->problem.status);
    check(read->problem.offset == written->problem.offset);
    check(read->problem.has_pointer == written->problem.has_pointer);
    check(strcmp(read->problem.detail, written->problem.detail) == 0);
    check(strcmp(read->problem.pointer, written->problem.pointer) == 0);
    check_text(written->site, read->site);
    check_text(written->origin, read->origin);
    check_text(written->content_type, read->content_type);
    check_text(written->encoding, read->encoding);
    check_text(written->format, read->format);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const struct fp_str file = {(const char *)bytes, len};
    struct fp_arena arena;
    struct fp_letter letter;
    struct fp_str body;
    fp_arena_init(&arena, ARENA_MAX);
    enum fp_letter_error error = fp_letter_read(file, &arena, &letter, &body);
    check(error == FP_LETTER_OK || error == FP_LETTER_BROKEN);
    if (error == FP_LETTER_OK) {
        struct fp_buf again;
        struct fp_letter same;
        struct fp_str same_body;
        check(body.ptr > file.ptr && body.ptr + body.len == file.ptr + len);
        write_letter(&letter, body, &again);
        check(fp_letter_read((struct fp_str){(const char *)again.data, again.len}, &arena, &same,
                             &same_body) == FP_LETTER_OK);
        check(fp_str_equal(same_body, body));
        check_same(&letter, &same);
        fp_buf_release(&again);
    }
    fp_arena_release(&arena);
    return 0;
}
