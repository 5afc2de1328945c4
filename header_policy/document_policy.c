/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the members of Document-Policy that the configuration names, and merges them. */
#include "document_policy.h"

#include "sf_dict.h"

static const struct fleetprof_slice separator = {", ", 2};
static const struct fleetprof_slice key_profiling = {"js-profiling", 12};
static const struct fleetprof_slice key_mode = {"js-profiling-mode", 17};
static const struct fleetprof_slice profiling_keys[] = {{"js-profiling", 12},
                                                        {"js-profiling-mode", 17}};
static const struct fleetprof_slice key_stacks = {FLEETPROF_POLICY_STACKS,
                                                  sizeof(FLEETPROF_POLICY_STACKS) - 1};

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

bool fleetprof_document_policy_add_stacks(struct fleetprof_buffer *dictionary)
{
    return has_key(fleetprof_buffer_text(dictionary), key_stacks) ||
           fleetprof_document_policy_add(dictionary, key_stacks) == FLEETPROF_POLICY_OK;
}

struct fleetprof_merge_result
fleetprof_document_policy_merge(const struct fleetprof_policy_request *request,
                                struct fleetprof_buffer *out)
{
    const struct fleetprof_merge_request merge = {
        request->upstream,
        request->members,
        request->conflict,
        {profiling_keys, sizeof(profiling_keys) / sizeof(profiling_keys[0])},
    };

    return fleetprof_sf_merge(&merge, out);
}
