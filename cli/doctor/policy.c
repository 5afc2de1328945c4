/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy: header_policy reads the dictionary; the rest is what browsers make of it.
 */
#include "cli/doctor/policy.h"

#include "header_policy/sf_dict.h"

#include <stdlib.h>

static struct fleetprof_slice slice(const char *text)
{
    return (struct fleetprof_slice){text, strlen(text)};
}

/* ---- Document-Policy ---- */

/* True if a member has our key among its parameters. */
static bool has_our_parameter(const struct fleetprof_sf_member *member)
{
    static const char key[] = ";js-profiling";
    const char *found = memmem(member->text.data, member->text.len, key, sizeof(key) - 1);
    return found != NULL;
}

static enum fp_policy_state state_of(const char *value, bool has_parameter)
{
    struct fleetprof_sf_member member;
    if (fleetprof_sf_find(slice(value), slice("js-profiling"), &member)) {
        if (member.type != FLEETPROF_SF_BOOLEAN)
            return FP_POLICY_TYPE;
        return fleetprof_slice_equal(member.value, slice("?0")) ? FP_POLICY_NO : FP_POLICY_YES;
    }
    if (fleetprof_sf_find(slice(value), slice("js-profiling-mode"), &member))
        return FP_POLICY_MODE_ONLY;
    return has_parameter ? FP_POLICY_PARAMETER : FP_POLICY_ABSENT;
}

struct fp_policy fp_policy_judge(const char *value)
{
    if (value == NULL)
        return (struct fp_policy){FP_POLICY_ABSENT, 0};
    struct fleetprof_sf_reader reader = fleetprof_sf_read(slice(value));
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;
    bool has_parameter = false;
    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER)
        has_parameter = has_parameter || has_our_parameter(&member);
    if (step == FLEETPROF_SF_ERROR)
        return (struct fp_policy){FP_POLICY_BROKEN, (size_t)(reader.at - value)};
    return (struct fp_policy){state_of(value, has_parameter), 0};
}

/* ---- Server-Timing ---- */

/* Takes the text up to a separator outside double quotes off the front of `rest`. */
static bool take(struct fp_str *rest, char separator, struct fp_str *part)
{
    if (rest->ptr == NULL)
        return false;
    bool quoted = false;
    size_t len = 0;
    for (; len < rest->len && (quoted || rest->ptr[len] != separator); len++)
        if (rest->ptr[len] == '"')
            quoted = !quoted;
    *part = (struct fp_str){rest->ptr, len};
    while (part->len > 0 && (part->ptr[0] == ' ' || part->ptr[0] == '\t'))
        *part = fp_str_skip(*part, 1);
    while (part->len > 0 && (part->ptr[part->len - 1] == ' ' || part->ptr[part->len - 1] == '\t'))
        part->len--;
    *rest = len < rest->len ? fp_str_skip(*rest, len + 1) : (struct fp_str){NULL, 0};
    return true;
}

/* Returns the description of a metric named fleetprof; its ptr is NULL for another metric. */
static struct fp_str description_of(struct fp_str metric)
{
    struct fp_str part, found = {NULL, 0};
    if (!take(&metric, ';', &part) || !fp_str_equal(part, FP_STR("fleetprof")))
        return found;
    found = FP_STR("");
    while (take(&metric, ';', &part)) {
        if (!fp_str_has_prefix(part, FP_STR("desc=")))
            continue;
        found = fp_str_skip(part, 5);
        if (found.len >= 2 && found.ptr[0] == '"')
            found = (struct fp_str){found.ptr + 1, found.len - 2};
    }
    return found;
}

/* Takes the text after the last dot off the end. */
static bool take_last(struct fp_str *text, struct fp_str *field)
{
    size_t start = text->len;
    while (start > 0 && text->ptr[start - 1] != '.')
        start--;
    if (start == 0)
        return false;
    *field = fp_str_skip(*text, start);
    text->len = start - 1;
    return true;
}

static bool read_number(struct fp_str text, size_t digits_max, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *number = *number * 10 + (text.ptr[i] - '0');
        if (i >= digits_max)
            return false;
    }
    return text.len > 0;
}

/* Reads what is left of "v1.KEYID.SITE.PPM" or "v2.KEYID.SITE.ARMS.PPM" in front of the time. */
static bool read_token(struct fp_str text, struct fp_decision *decision)
{
    struct fp_str ppm, arms;
    int64_t number;
    const bool has_arms = fp_str_has_prefix(text, FP_STR("v2."));
    if (!take_last(&text, &ppm) || !read_number(ppm, 7, &number) ||
        (has_arms && !take_last(&text, &arms)) || text.len < 13)
        return false;
    decision->ppm = (uint32_t)number;
    decision->site = fp_str_skip(text, 12); /* "v1." and eight digits and "." */
    return text.ptr[11] == '.' && number >= (has_arms ? 0 : 1) && number <= 1000000;
}

static enum fp_decision_state read_yes(struct fp_decision *decision)
{
    struct fp_str text = decision->text, time;
    const bool is_signed =
        fp_str_has_prefix(text, FP_STR("v1.")) || fp_str_has_prefix(text, FP_STR("v2."));
    struct fp_str mac;
    if (is_signed && (!take_last(&text, &mac) || mac.len != 43))
        return FP_DECISION_UNKNOWN;
    if (!take_last(&text, &decision->nonce) || decision->nonce.len != 16 ||
        !take_last(&text, &time) || !read_number(time, 11, &decision->time_s))
        return FP_DECISION_UNKNOWN;
    if (!is_signed)
        return fp_str_equal(text, FP_STR("1")) ? FP_DECISION_YES : FP_DECISION_UNKNOWN;
    return read_token(text, decision) ? FP_DECISION_SIGNED : FP_DECISION_UNKNOWN;
}

struct fp_decision fp_decision_judge(const char *value)
{
    struct fp_decision decision = {0};
    struct fp_str rest = value != NULL ? fp_str_of(value) : (struct fp_str){NULL, 0}, metric;
    while (decision.text.ptr == NULL && take(&rest, ',', &metric))
        decision.text = description_of(metric);
    if (decision.text.ptr == NULL)
        decision.state = FP_DECISION_ABSENT;
    else if (fp_str_equal(decision.text, FP_STR("0")) ||
             fp_str_has_prefix(decision.text, FP_STR("0.v2.")))
        decision.state = FP_DECISION_NO;
    else
        decision.state = read_yes(&decision);
    return decision;
}

bool fp_decision_is_yes(const struct fp_decision *decision)
{
    return decision->state == FP_DECISION_YES || decision->state == FP_DECISION_SIGNED;
}
