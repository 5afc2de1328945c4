/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: three lines of any text as a script's URL, a page's URL and a User-Agent. The kept texts
 * are bounded, contain nothing that privacy removes, and stay the same when scrubbed again.
 */
#include "collector/profile/scrub/scrub.h"
#include "collector/profile/text.h"
#include "tests/fuzz/check.h"

enum { ARENA_MAX = 1024 * 1024, TEXT_MAX = 4096, POINT_MAX = 4 };

static const struct fp_str routes[] = {{"/product/:id", 12}, {"/files/*", 8}, {"/cart", 5}};
static const struct fp_scrub_rules rules = {.routes = routes, .route_count = 3};

static bool begins(struct fp_str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text.len >= len && memcmp(text.ptr, prefix, len) == 0;
}

static bool holds(struct fp_str text, char byte)
{
    return text.len > 0 && memchr(text.ptr, byte, text.len) != NULL;
}

/* True if no code point was cut: each first byte is followed by as many bytes as it announces. */
static bool is_utf8(struct fp_str text)
{
    size_t due = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        bool follows = (byte & 0xc0) == 0x80;
        if (follows != (due > 0))
            return false;
        due = follows ? due - 1 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
    }
    return due == 0;
}

/* For a URL without white space, which would end the host and begin other text. */
static void check_web_url(struct fp_str url, struct fp_str page, struct fp_arena *arena)
{
    struct fp_str again;
    check(!holds(url, '?') && !holds(url, '#'));
    size_t host_at = 3 + (size_t)((const char *)memchr(url.ptr, ':', url.len) - url.ptr);
    struct fp_str rest = {url.ptr + host_at, url.len - host_at};
    size_t host_len = 0;
    while (host_len < rest.len && rest.ptr[host_len] != '/' && rest.ptr[host_len] != '\\')
        host_len++;
    check(!holds((struct fp_str){rest.ptr, host_len}, '@'));
    check(fp_scrub_resource(&rules, url, page, arena, &again) && fp_str_equal(url, again));
}

static void check_user_agent(struct fp_str header)
{
    struct fp_user_agent found = fp_user_agent_parse(header);
    check(found.browser.len < 32 && found.os.len < 32 && found.device.len < 32);
}

static void check_texts(struct fp_str script, struct fp_str page, struct fp_str agent)
{
    struct fp_arena arena;
    struct fp_str kept;
    fp_arena_init(&arena, ARENA_MAX);
    check(fp_scrub_resource(&rules, script, page, &arena, &kept));
    check(is_utf8(kept) && is_utf8(fp_text_cut(kept, FP_TEXT_NAME_MAX)));
    check(is_utf8(fp_text_cut(kept, FP_TEXT_DIMENSION_MAX)));
    if ((begins(kept, "http://") || begins(kept, "https://")) && !holds(kept, ' '))
        check_web_url(kept, page, &arena);
    check(fp_scrub_route(&rules, page, &arena, &kept));
    check(!holds(kept, '?') && !holds(kept, '#') &&
          (kept.len == 0 || kept.ptr[0] == '/' || kept.ptr[0] == '\\'));
    check(is_utf8(kept));
    check_user_agent(agent);
    fp_arena_release(&arena);
}

/* Texts that reach the scrubber are UTF-8 without U+0000: each byte becomes a code point. */
static size_t put_point(uint8_t byte, char *text)
{
    static const struct fp_str points[] = {{"\u00e9", 2}, {"\u20ac", 3}, {"\U0001f600", 4}};
    if (byte < 0x80) {
        *text = (char)(byte <= ' ' ? ' ' : byte);
        return 1;
    }
    const struct fp_str point = points[byte % 3];
    memcpy(text, point.ptr, point.len);
    return point.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char text[TEXT_MAX];
    struct fp_str lines[3] = {{text, 0}, {text, 0}, {text, 0}};
    size_t line = 0;
    size_t at = 0;
    for (size_t i = 0; i < len && at + POINT_MAX <= sizeof(text); i++) {
        if (bytes[i] == '\n' && line < 2) {
            lines[++line] = (struct fp_str){text + at, 0};
            continue;
        }
        size_t point_len = put_point(bytes[i], text + at);
        at += point_len;
        lines[line].len += point_len;
    }
    check_texts(lines[0], lines[1], lines[2]);
    /* A header may contain any byte. */
    check_user_agent((struct fp_str){(const char *)bytes, len});
    return 0;
}
