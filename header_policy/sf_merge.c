/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges dictionaries in the caller's one buffer: joins the lines, removes members by closing the
 * gaps, appends missing members.
 */
#include "sf_merge.h"

#include "sf_dict.h"

#include <string.h>

static const struct fleetprof_slice separator = {", ", 2};

static bool has_key(struct fleetprof_slice dictionary, struct fleetprof_slice key)
{
    struct fleetprof_sf_member member;

    return fleetprof_sf_find(dictionary, key, &member);
}

static bool is_of_matter(struct fleetprof_keys matter, struct fleetprof_slice key)
{
    size_t i = 0;

    while (i < matter.count && !fleetprof_slice_equal(matter.key[i], key)) {
        i++;
    }
    return i < matter.count;
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
static bool scan(struct fleetprof_slice dictionary, struct fleetprof_keys matter, bool *is_named)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(dictionary);
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;

    *is_named = false;
    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
        *is_named = *is_named || is_of_matter(matter, member.key);
    }
    return step == FLEETPROF_SF_END;
}

/*
 * Removes the members that ours replace. The rest moves to the front with its separators, so the
 * text never grows and can be compacted while it is read. False: none were removed.
 */
static bool remove_replaced(struct fleetprof_buffer *out,
                            const struct fleetprof_merge_request *request)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(fleetprof_buffer_text(out));
    struct fleetprof_sf_member member;
    const char *from = out->data;
    size_t kept = 0;
    bool removed = false;

    while (fleetprof_sf_next(&reader, &member) == FLEETPROF_SF_MEMBER) {
        if (!is_of_matter(request->matter, member.key) && !has_key(request->members, member.key)) {
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
static bool append_missing(struct fleetprof_buffer *out,
                           const struct fleetprof_merge_request *request, bool without_matter)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(request->members);
    struct fleetprof_slice present = fleetprof_buffer_text(out);
    struct fleetprof_sf_member member;

    while (fleetprof_sf_next(&reader, &member) == FLEETPROF_SF_MEMBER) {
        if ((without_matter && is_of_matter(request->matter, member.key)) ||
            has_key(present, member.key)) {
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

struct fleetprof_merge_result fleetprof_sf_merge(const struct fleetprof_merge_request *request,
                                                 struct fleetprof_buffer *out)
{
    struct fleetprof_merge_result result = {FLEETPROF_TOO_LONG, false};
    bool is_named;
    size_t len_before;
    bool removed = false;
    bool unchanged;

    out->len = 0;
    if (!join(request->upstream, out)) {
        return result;
    }
    if (!scan(fleetprof_buffer_text(out), request->matter, &is_named)) {
        result.outcome = FLEETPROF_UNPARSABLE;
        return result;
    }
    if (request->conflict == FLEETPROF_CONFLICT_LOCAL) {
        removed = remove_replaced(out, request);
    } else {
        result.upstream_decides = is_named;
    }
    len_before = out->len;
    if (!append_missing(out, request, result.upstream_decides)) {
        return result;
    }
    /* Several lines that need no other change are not joined into one. */
    unchanged = removed ? is_what_was_sent(request->upstream, out) : out->len == len_before;
    result.outcome = unchanged ? FLEETPROF_UNCHANGED : FLEETPROF_CHANGED;
    return result;
}
