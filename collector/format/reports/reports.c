/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: what browsers send by the Reporting API, an array of {type, age, url, user_agent, body}.
 *
 * Crash reports and broken document policies are read; reports of other types, and those that are
 * not as the specification says, are counted and leave the others alone. Reports of one page and
 * browser are one profile. They belong to no page load: nobody says to which.
 */
#include "collector/format/format_decoder.h"
#include "collector/format/reports/call_stack.h"
#include "collector/format/utf8.h"

enum {
    CALLS_MAX = 40,        /* of a stack: their ids fit into one name */
    STACK_MAX = 64 * 1024, /* bytes of its text */
    PAGES_MAX = 64,        /* pages of one body, FP_PROFILE_SESSIONS_MAX */
    PAGE_NONE = PAGES_MAX, /* the report is not kept */
};

_Static_assert((int)PAGES_MAX <= (int)FP_PROFILE_SESSIONS_MAX,
               "the profiles of a body fit into a record");

/* The reports of one document's URL and browser; of the last page, of all that are left. */
struct page {
    struct fp_str url; /* in the document, like the next field */
    struct fp_str user_agent;
    uint32_t count;
    uint32_t first; /* index into the sorted reports */
};

struct report_reading {
    struct fp_decoder *decoder;
    struct fp_profile_report *reports; /* in the order of the body */
    uint8_t *page_of;                  /* of a report */
    uint32_t count;                    /* of the body's elements */
    struct fp_profile_call calls[CALLS_MAX];
    uint32_t call_count; /* of all reports so far */
    struct page pages[PAGES_MAX];
    uint32_t page_count;
};

enum verdict { KEPT, OTHER, BAD, NO_MEMORY };

/* Sets *text to a member's text, unchanged if it is absent. False: it is not a text. */
static bool read_text(yyjson_val *object, const char *name, struct fp_str *text)
{
    yyjson_val *value = fp_json_member(object, fp_str_of(name));
    if (value != NULL && !yyjson_is_str(value))
        return false;
    if (value != NULL)
        *text = fp_json_text(value);
    return true;
}

static bool copy(const struct report_reading *reading, struct fp_str *text)
{
    return fp_utf8_copy(reading->decoder->arena, *text, text);
}

static enum fp_crash crash_of(struct fp_str reason)
{
    if (reason.len == 0)
        return FP_CRASH_UNKNOWN;
    for (enum fp_crash crash = FP_CRASH_OOM; crash < FP_CRASH_OTHER; crash++)
        if (fp_str_equal(reason, fp_str_of(fp_crash_name(crash))))
            return crash;
    return FP_CRASH_OTHER;
}

/* Cuts a text that is too long after its last whole line. */
static struct fp_str cut_stack(struct fp_str stack)
{
    if (stack.len <= STACK_MAX)
        return stack;
    const char *end = memrchr(stack.ptr, '\n', STACK_MAX);
    return (struct fp_str){stack.ptr, end != NULL ? (size_t)(end - stack.ptr) : 0};
}

static enum verdict read_stack(struct report_reading *reading, struct fp_str stack,
                               struct fp_profile_report *report)
{
    stack = cut_stack(stack);
    if (stack.len == 0)
        return KEPT;
    if (!copy(reading, &stack))
        return NO_MEMORY;
    const uint32_t count = fp_call_stack_read(stack, reading->calls, CALLS_MAX);
    report->calls = fp_arena_array(reading->decoder->arena, count, sizeof(*report->calls));
    if (report->calls == NULL)
        return NO_MEMORY;
    if (count > 0)
        memcpy(report->calls, reading->calls, count * sizeof(*report->calls));
    report->call_count = count;
    reading->call_count += count;
    return KEPT;
}

static enum verdict read_crash(struct report_reading *reading, yyjson_val *body,
                               struct fp_profile_report *report)
{
    struct fp_str reason = FP_STR("");
    struct fp_str stack = FP_STR("");
    struct fp_str visibility = FP_STR("");
    if (!yyjson_is_obj(body) || !read_text(body, "reason", &reason) ||
        !read_text(body, "stack", &stack) || !read_text(body, "visibility_state", &visibility))
        return BAD;
    report->crash = crash_of(reason);
    report->is_hidden = fp_str_equal(visibility, FP_STR("hidden"));
    report->is_in_frame = yyjson_is_false(fp_json_member(body, FP_STR("is_top_level")));
    return read_stack(reading, stack, report);
}

static enum verdict read_violation(const struct report_reading *reading, yyjson_val *body,
                                   struct fp_profile_report *report)
{
    report->policy = FP_STR("");
    if (!yyjson_is_obj(body) || !read_text(body, "policyId", &report->policy) ||
        report->policy.len == 0)
        return BAD;
    return copy(reading, &report->policy) ? KEPT : NO_MEMORY;
}

/* Finds the page of a report, or adds it. */
static uint32_t find_page(struct report_reading *reading, struct fp_str url,
                          struct fp_str user_agent)
{
    uint32_t i = 0;
    while (i < reading->page_count && !(fp_str_equal(reading->pages[i].url, url) &&
                                        fp_str_equal(reading->pages[i].user_agent, user_agent)))
        i++;
    if (i < reading->page_count)
        return i;
    if (i < PAGES_MAX - 1)
        reading->pages[reading->page_count++] = (struct page){.url = url, .user_agent = user_agent};
    else if (i < PAGES_MAX)
        reading->pages[reading->page_count++] =
            (struct page){.url = FP_STR(""), .user_agent = FP_STR("")};
    return reading->page_count - 1;
}

static enum verdict read_report(struct report_reading *reading, yyjson_val *value, uint32_t *page,
                                struct fp_profile_report *report)
{
    struct fp_str type = FP_STR("");
    struct fp_str url = FP_STR("");
    struct fp_str user_agent = FP_STR("");
    yyjson_val *body = fp_json_member(value, FP_STR("body"));
    if (!yyjson_is_obj(value) || !read_text(value, "type", &type) || type.len == 0 ||
        !read_text(value, "url", &url) || !read_text(value, "user_agent", &user_agent))
        return BAD;
    enum verdict verdict = OTHER;
    if (fp_str_equal(type, FP_STR("crash")))
        verdict = read_crash(reading, body, report);
    else if (fp_str_equal(type, FP_STR("document-policy-violation")))
        verdict = read_violation(reading, body, report);
    if (verdict == KEPT)
        *page = find_page(reading, url, user_agent);
    return verdict;
}

static void note(uint32_t *count, size_t *first, size_t index)
{
    *first = *count == 0 ? index : *first;
    ++*count;
}

static bool read_all(struct report_reading *reading, yyjson_val *root)
{
    struct fp_profile *profile = reading->decoder->profile;
    yyjson_arr_iter elements = yyjson_arr_iter_with(root);
    yyjson_val *value;
    for (uint32_t i = 0; (value = yyjson_arr_iter_next(&elements)) != NULL; i++) {
        uint32_t page = PAGE_NONE;
        reading->reports[i] = (struct fp_profile_report){.policy = {NULL, 0}};
        switch (read_report(reading, value, &page, &reading->reports[i])) {
        case KEPT:
            reading->pages[page].count++;
            break;
        case OTHER:
            note(&profile->other_reports, &profile->first_other, i);
            break;
        case BAD:
            note(&profile->bad_reports, &profile->first_bad, i);
            break;
        case NO_MEMORY:
            return fp_fail_memory(reading->decoder);
        }
        reading->page_of[i] = (uint8_t)page;
        if (reading->call_count > reading->decoder->limits->frames)
            return fp_fail_at(reading->decoder, FP_VERDICT_TOO_LARGE, NULL,
                              "the stacks of these reports have more than %u calls (limits.frames)",
                              reading->decoder->limits->frames);
    }
    return true;
}

/* Sorts the kept reports by page. NULL: no memory. */
static struct fp_profile_report *sort(struct report_reading *reading)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reading->page_count; i++) {
        reading->pages[i].first = kept;
        kept += reading->pages[i].count;
        reading->pages[i].count = 0;
    }
    struct fp_profile_report *sorted =
        fp_arena_array(reading->decoder->arena, kept, sizeof(*sorted));
    for (uint32_t i = 0; sorted != NULL && i < reading->count; i++) {
        if (reading->page_of[i] == PAGE_NONE)
            continue;
        struct page *page = &reading->pages[reading->page_of[i]];
        sorted[page->first + page->count++] = reading->reports[i];
    }
    return sorted;
}

/* Makes a profile of a page's reports. body: all bytes of the body count for the last profile. */
static bool fill(const struct report_reading *reading, struct fp_str body, const struct page *page,
                 struct fp_profile *profile)
{
    profile->format = FP_UPLOAD_REPORTS;
    profile->said.thread = FP_STR("window");
    profile->session.raw = (struct fp_str){body.ptr, 0};
    profile->page_url = page->url;
    profile->user_agent = page->user_agent;
    profile->report_count = page->count;
    return copy(reading, &profile->page_url) && copy(reading, &profile->user_agent);
}

static bool make_profiles(struct report_reading *reading, struct fp_str body)
{
    static const struct page none = {.url = {"", 0}, .user_agent = {"", 0}};
    struct fp_profile *profile = reading->decoder->profile;
    struct fp_profile_report *sorted = sort(reading);
    if (sorted == NULL || !fill(reading, body, &none, profile))
        return fp_fail_memory(reading->decoder);
    for (uint32_t i = 0; i < reading->page_count; i++) {
        if (i > 0) {
            profile->next = fp_arena_array(reading->decoder->arena, 1, sizeof(*profile));
            if (profile->next == NULL)
                return fp_fail_memory(reading->decoder);
            profile = profile->next;
            *profile = (struct fp_profile){0};
        }
        profile->reports = sorted + reading->pages[i].first;
        if (!fill(reading, body, &reading->pages[i], profile))
            return fp_fail_memory(reading->decoder);
    }
    return true;
}

static bool decode_array(struct fp_decoder *decoder, struct fp_str body, yyjson_val *root)
{
    struct report_reading reading = {.decoder = decoder};
    const struct fp_field field = {.object = NULL, .name = FP_STR("reports"), .value = root};
    if (!yyjson_is_arr(root) || yyjson_arr_size(root) == 0)
        return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                          "reports are an array of at least one object with type and body, as the "
                          "Reporting API says");
    if (!fp_read_array(decoder, &field, decoder->limits->entries, "entries", &reading.count))
        return false;
    reading.reports = fp_arena_array(decoder->arena, reading.count, sizeof(*reading.reports));
    reading.page_of = fp_arena_array(decoder->arena, reading.count, sizeof(*reading.page_of));
    if (reading.reports == NULL || reading.page_of == NULL)
        return fp_fail_memory(decoder);
    return read_all(&reading, root) && make_profiles(&reading, body);
}

static bool decode(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json)
{
    *decoder->profile = (struct fp_profile){0};
    return decode_array(decoder, body, json->root);
}

/* True for an array with a report, behind bad ones or not. Performance entries have an entryType;
 * their type, if they have one, says how a page was reached. */
static bool has_shape(yyjson_val *root)
{
    yyjson_arr_iter elements = yyjson_arr_iter_with(root);
    yyjson_val *value;
    while ((value = yyjson_arr_iter_next(&elements)) != NULL) {
        if (fp_json_member(value, FP_STR("entryType")) != NULL)
            return false;
        if (yyjson_is_str(fp_json_member(value, FP_STR("type"))) &&
            fp_json_member(value, FP_STR("body")) != NULL)
            return true;
    }
    return false;
}

const struct fp_format_decoder fp_format_reports = {
    .format = FP_UPLOAD_REPORTS,
    .has_shape = has_shape,
    .decode = decode,
    .what_else = "not an array of a browser's reports",
};
