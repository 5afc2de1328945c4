/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges Document-Policy in the caller's one buffer: joins the lines, removes members by closing
 * the gaps, appends missing members.
 */
#include "document_policy.h"

#include "sf_dict.h"

#include <string.h>

static const struct fleetprof_slice separator = {", ", 2};
static const struct fleetprof_slice key_profiling = {"js-profiling", 12};
static const struct fleetprof_slice key_mode = {"js-profiling-mode", 17};

static bool names_profiling(struct fleetprof_slice key)
{
    return fleetprof_slice_equal(key, key_profiling) || fleetprof_slice_equal(key, key_mode);
}

static bool has_key(struct fleetprof_slice dictionary, struct fleetprof_slice key)
{
    struct fleetprof_sf_member member;

    return fleetprof_sf_find(dictionary, key, &member);
}

static enum fleetprof_policy_error check_member(const struct fleetprof_sf_member *member)
{
    if (fleetprof_slice_equal(member->key, key_profiling) && member->type != FLEETPROF_SF_BOOLEAN) {
        return FLEETPROF_POLICY_PROFILING_TYPE;
    }
    if (fleetprof_slice_equal(member->key, key_mode) && member->type != FLEETPROF_SF_TOKEN) {
        return FLEETPROF_POLICY_MODE_TYPE;
    }
    return FLEETPROF_POLICY_OK;
}

static enum fleetprof_policy_error add_member(struct fleetprof_buffer *dictionary,
                                              const struct fleetprof_sf_member *member)
{
    enum fleetprof_policy_error error = check_member(member);

    if (error != FLEETPROF_POLICY_OK) {
        return error;
    }
    if (has_key(fleetprof_buffer_text(dictionary), member->key)) {
        return FLEETPROF_POLICY_DUPLICATE;
    }
    if (dictionary->len > 0 && !fleetprof_buffer_put(dictionary, separator)) {
        return FLEETPROF_POLICY_LONG;
    }
    return fleetprof_buffer_put(dictionary, member->text) ? FLEETPROF_POLICY_OK
                                                          : FLEETPROF_POLICY_LONG;
}

enum fleetprof_policy_error fleetprof_document_policy_add(struct fleetprof_buffer *dictionary,
                                                          struct fleetprof_slice members)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(members);
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;
    enum fleetprof_policy_error error = FLEETPROF_POLICY_EMPTY;
    size_t len_before = dictionary->len;

    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
        error = add_member(dictionary, &member);
        if (error != FLEETPROF_POLICY_OK) {
            break;
        }
    }
    if (step == FLEETPROF_SF_ERROR) {
        error = FLEETPROF_POLICY_SYNTAX;
    }
    if (error != FLEETPROF_POLICY_OK) {
        dictionary->len = len_before;
    }
    return error;
}

const char *fleetprof_policy_error_text(enum fleetprof_policy_error error)
{
    switch (error) {
    case FLEETPROF_POLICY_EMPTY:
        return "it is empty; name a member such as \"js-profiling\"";
    case FLEETPROF_POLICY_SYNTAX:
        return "it is not a structured-field dictionary member (RFC 9651); write a lower-case key, "
               "alone or with a value such as \"?1\", \"lazy\", \"2.5\" or \"(a b)\"";
    case FLEETPROF_POLICY_DUPLICATE:
        return "its key is named twice; keep one";
    case FLEETPROF_POLICY_PROFILING_TYPE:
        return "\"js-profiling\" is a Boolean; write \"js-profiling\" or \"js-profiling=?0\"";
    case FLEETPROF_POLICY_MODE_TYPE:
        return "\"js-profiling-mode\" is a token; write \"js-profiling-mode=lazy\" or "
               "\"js-profiling-mode=eager\"";
    case FLEETPROF_POLICY_LONG:
        return "the members are longer than 2048 bytes; name fewer";
    case FLEETPROF_POLICY_OK:
    default:
        return "it is fine";
    }
}

bool fleetprof_document_policy_says_yes(struct fleetprof_slice dictionary)
{
    struct fleetprof_sf_member member;

    if (fleetprof_sf_find(dictionary, key_mode, &member) && member.type == FLEETPROF_SF_TOKEN) {
        return true;
    }
    return fleetprof_sf_find(dictionary, key_profiling, &member) &&
           member.type == FLEETPROF_SF_BOOLEAN &&
           !fleetprof_slice_equal(member.value, (struct fleetprof_slice){"?0", 2});
}

/* Joins all lines into one value (RFC 9651 §4.2). False: too long. */
static bool join(struct fleetprof_lines lines, struct fleetprof_buffer *out)
{
    size_t i;

    for (i = 0; i < lines.count; i++) {
        if (i > 0 && !fleetprof_buffer_put(out, separator)) {
            return false;
        }
        if (!fleetprof_buffer_put(out, fleetprof_slice_trim(lines.line[i]))) {
            return false;
        }
    }
    return true;
}

/* Reads the whole dictionary. False: not a dictionary. */
static bool scan(struct fleetprof_slice dictionary, bool *profiling_is_named)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(dictionary);
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;

    *profiling_is_named = false;
    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
        *profiling_is_named = *profiling_is_named || names_profiling(member.key);
    }
    return step == FLEETPROF_SF_END;
}

/*
 * Removes the members that ours replace. The rest moves to the front with its separators, so the
 * text never grows and can be compacted while it is read. False: none were removed.
 */
static bool remove_replaced(struct fleetprof_buffer *out, struct fleetprof_slice ours)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(fleetprof_buffer_text(out));
    struct fleetprof_sf_member member;
    const char *from = out->data;
    size_t kept = 0;
    bool removed = false;

    while (fleetprof_sf_next(&reader, &member) == FLEETPROF_SF_MEMBER) {
        if (!names_profiling(member.key) && !has_key(ours, member.key)) {
            const char *start = kept == 0 ? member.text.data : from;
            size_t len = (size_t)(reader.at - start);

            memmove(out->data + kept, start, len);
            kept += len;
        } else {
            removed = true;
        }
        from = reader.at;
    }
    out->len = kept;
    return removed;
}

/* Appends our members, except those that the text already names. False: too long. */
static bool append_missing(struct fleetprof_buffer *out, struct fleetprof_slice ours,
                           bool without_profiling)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(ours);
    struct fleetprof_slice present = fleetprof_buffer_text(out);
    struct fleetprof_sf_member member;

    while (fleetprof_sf_next(&reader, &member) == FLEETPROF_SF_MEMBER) {
        if ((without_profiling && names_profiling(member.key)) || has_key(present, member.key)) {
            continue;
        }
        if (out->len > 0 && !fleetprof_buffer_put(out, separator)) {
            return false;
        }
        if (!fleetprof_buffer_put(out, member.text)) {
            return false;
        }
    }
    return true;
}

static bool is_what_was_sent(struct fleetprof_lines lines, const struct fleetprof_buffer *out)
{
    return lines.count == 1 &&
           fleetprof_slice_equal(fleetprof_slice_trim(lines.line[0]), fleetprof_buffer_text(out));
}

struct fleetprof_policy_result
fleetprof_document_policy_merge(const struct fleetprof_policy_request *request,
                                struct fleetprof_buffer *out)
{
    struct fleetprof_policy_result result = {FLEETPROF_TOO_LONG, false};
    bool profiling_is_named;
    size_t len_before;
    bool removed = false;
    bool unchanged;

    out->len = 0;
    if (!join(request->upstream, out)) {
        return result;
    }
    if (!scan(fleetprof_buffer_text(out), &profiling_is_named)) {
        result.outcome = FLEETPROF_UNPARSABLE;
        return result;
    }
    if (request->conflict == FLEETPROF_CONFLICT_LOCAL) {
        removed = remove_replaced(out, request->members);
    } else {
        result.upstream_decides = profiling_is_named;
    }
    len_before = out->len;
    if (!append_missing(out, request->members, result.upstream_decides)) {
        return result;
    }
    /* Several lines that need no other change are not joined into one. */
    unchanged = removed ? is_what_was_sent(request->upstream, out) : out->len == len_before;
    result.outcome = unchanged ? FLEETPROF_UNCHANGED : FLEETPROF_CHANGED;
    return result;
}
