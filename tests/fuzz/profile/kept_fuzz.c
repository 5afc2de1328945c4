/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as texts of a kept session. JSON stays JSON, also if it is sent and scrubbed
 * again, and a name stays valid UTF-8.
 */
#include "collector/base/buf.h"
#include "collector/profile/scrub/json.h"
#include "collector/profile/scrub/name.h"
#include "tests/fuzz/check.h"

#include <yyjson.h>

enum { ARENA_MAX = 64 * 1024 * 1024 };

static const struct fp_scrub_rules rules = {0};

static struct fp_str scrub(struct fp_str json, struct fp_arena *arena)
{
    struct fp_buf out;
    struct fp_str scrubbed = json;
    fp_buf_init(&out, ARENA_MAX);
    check(fp_scrub_json(&rules, json, arena, &out) && !out.failed);
    check(out.len == 0 ||
          fp_arena_copy(arena, (struct fp_str){(const char *)out.data, out.len}, &scrubbed));
    fp_buf_release(&out);
    return scrubbed;
}

static bool is_json(struct fp_str text)
{
    yyjson_doc *document = yyjson_read(text.ptr, text.len, 0);
    yyjson_doc_free(document);
    return document != NULL;
}

static void scrub_document(struct fp_str text, struct fp_arena *arena)
{
    yyjson_doc *document = yyjson_read(text.ptr, text.len, 0);
    size_t len = 0;
    char *written = document != NULL ? yyjson_write(document, 0, &len) : NULL;
    yyjson_doc_free(document);
    if (written == NULL)
        return;
    const struct fp_str once = scrub((struct fp_str){written, len}, arena);
    check(is_json(once));
    check(is_json(scrub(once, arena)));
    free(written);
}

/* yyjson writes valid UTF-8 only. */
static void scrub_name(struct fp_str text, struct fp_arena *arena)
{
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(document, yyjson_mut_strn(document, text.ptr, text.len));
    size_t len = 0;
    char *written = yyjson_mut_write(document, 0, &len);
    struct fp_str scrubbed;
    if (written != NULL && memchr(text.ptr, '\0', text.len) == NULL) {
        check(fp_scrub_name(&rules, text, arena, &scrubbed));
        yyjson_mut_doc_set_root(document, yyjson_mut_strn(document, scrubbed.ptr, scrubbed.len));
        char *again = yyjson_mut_write(document, 0, &len);
        check(again != NULL);
        free(again);
    }
    free(written);
    yyjson_mut_doc_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    const struct fp_str text = {(const char *)bytes, len};
    const struct fp_str any = scrub(text, &arena);
    check(any.len <= ARENA_MAX);
    if (len > 0) {
        scrub_document(text, &arena);
        scrub_name(text, &arena);
    }
    fp_arena_release(&arena);
    return 0;
}
