/*
 * Identify: an id from the content, and the envelope that carries it.
 */
#include "cli/identify.h"

#include "collector/base/uuid.h"

#include <libdeflate.h>
#include <xxhash.h>

enum { GZIP_LEVEL = 6 };

/*
 * Ways to say the id, tried in turn: as the first member of an envelope (`opened`: the text's own
 * brace is left out), around a bare trace, a map of marks, an array of entries.
 */
static const struct {
    char first; /* of the text */
    bool opened;
    const char *member;
    const char *end;
} envelopes[] = {
    {'{', true, "", ""},
    {'{', false, "\"trace\":", "}"},
    {'{', false, "\"marks\":", "}"},
    {'[', false, "\"entries\":", "}"},
};

/* RFC 9562, version 8: 122 bits of the content's hash. */
static struct fp_uuid content_id(struct fp_str text)
{
    struct fp_uuid id;
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(text.ptr, text.len));
    memcpy(id.bytes, hash.digest, sizeof(id.bytes));
    id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x80);
    id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

static bool same_content(const struct fp_profile *a, const struct fp_profile *b)
{
    return a->format == b->format && a->has_trace == b->has_trace &&
           a->sample_count == b->sample_count && a->stack_count == b->stack_count &&
           a->frame_count == b->frame_count && a->timing_count == b->timing_count;
}

/* Writes the text into the envelope; false when memory ran out. */
static bool wrap(struct fp_str text, size_t kind, const char *id, struct fp_arena *arena,
                 struct fp_str *wrapped)
{
    size_t skipped = envelopes[kind].opened ? 1 : 0;
    struct fp_buf buf;
    fp_buf_init(&buf, text.len + 256);
    fp_buf_addf(&buf, "{\"id\":\"%s\",%s", id, envelopes[kind].member);
    fp_buf_add(&buf, text.ptr + skipped, text.len - skipped);
    fp_buf_add(&buf, envelopes[kind].end, strlen(envelopes[kind].end));
    struct fp_str whole = {(const char *)buf.data, buf.len};
    bool fine = !buf.failed && fp_arena_copy(arena, whole, wrapped);
    fp_buf_release(&buf);
    return fine;
}

/* The first envelope in which the decoder finds the id and the same content. */
static bool find_envelope(struct fp_str text, const struct fp_profile *bare,
                          const struct fp_uuid *id, const struct fp_format_limits *limits,
                          struct fp_arena *arena, struct fp_str *wrapped)
{
    char id_text[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(id, id_text);
    for (size_t kind = 0; kind < sizeof(envelopes) / sizeof(envelopes[0]); kind++) {
        struct fp_profile profile;
        struct fp_format_error error;
        if (envelopes[kind].first == text.ptr[0] && wrap(text, kind, id_text, arena, wrapped) &&
            fp_format_decode(*wrapped, FP_STR(""), limits, arena, &profile, &error) ==
                FP_FORMAT_OK &&
            profile.has_id && fp_uuid_equal(&profile.id, id) && same_content(&profile, bare))
            return true;
    }
    return false;
}

static bool compress(struct fp_str text, struct fp_arena *arena, struct fp_str *compressed)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(GZIP_LEVEL);
    if (compressor == NULL)
        return false;
    size_t room = libdeflate_gzip_compress_bound(compressor, text.len);
    char *bytes = fp_arena_alloc(arena, room);
    size_t len =
        bytes != NULL ? libdeflate_gzip_compress(compressor, text.ptr, text.len, bytes, room) : 0;
    libdeflate_free_compressor(compressor);
    *compressed = (struct fp_str){bytes, len};
    return len > 0;
}

/* Leaves out white space and a byte order mark, with which no envelope may begin. */
static struct fp_str trim_start(struct fp_str text)
{
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        text = (struct fp_str){text.ptr + 3, text.len - 3};
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t' || text.ptr[0] == '\r' ||
                            text.ptr[0] == '\n'))
        text = (struct fp_str){text.ptr + 1, text.len - 1};
    return text;
}

struct fp_identified fp_identify(const struct fp_body *body, const struct fp_rules *rules,
                                 struct fp_arena *arena)
{
    struct fp_identified as_is = {
        .body = {(const char *)body->bytes.data, body->bytes.len},
        .encoding = body->encoding,
    };
    struct fp_str text;
    struct fp_profile profile;
    struct fp_format_error error;
    if (fp_body_decode(body, &rules->format, arena, &text, &profile, &error) != FP_FORMAT_OK)
        return as_is;
    if (profile.has_id) {
        as_is.has_id = true;
        as_is.id = profile.id;
        return as_is;
    }
    struct fp_identified identified = {
        .encoding = FP_STR("gzip"), .has_id = true, .id = content_id(text)};
    struct fp_str wrapped;
    if (find_envelope(trim_start(text), &profile, &identified.id, &rules->format, arena,
                      &wrapped) &&
        compress(wrapped, arena, &identified.body))
        return identified;
    return as_is;
}
