/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes header_policy. The input is a selector byte, then one field line per line of text; each is
 * checked.
 */
#include "header_policy/document_policy.h"
#include "header_policy/origin_trial.h"
#include "header_policy/reporting_endpoints.h"
#include "header_policy/response.h"
#include "header_policy/sampling.h"
#include "header_policy/server_timing.h"
#include "header_policy/sf_dict.h"
#include "header_policy/timing_allow_origin.h"
#include "tests/fuzz/check.h"

#define LINES_MAX 8

/* Reads to the end. Writing the result member by member and reading that must give the same. */
static bool is_dictionary(struct fleetprof_slice text)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(text);
    struct fleetprof_sf_reader again;
    struct fleetprof_sf_member member;
    struct fleetprof_sf_member copy;
    enum fleetprof_sf_step step;

    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
        again = fleetprof_sf_read(member.text);
        check(fleetprof_sf_next(&again, &copy) == FLEETPROF_SF_MEMBER);
        check(copy.type == member.type && fleetprof_slice_equal(copy.text, member.text) &&
              fleetprof_slice_equal(copy.key, member.key) &&
              fleetprof_slice_equal(copy.value, member.value));
        check(fleetprof_sf_next(&again, &copy) == FLEETPROF_SF_END);
    }
    return step == FLEETPROF_SF_END;
}

static void fuzz_policy(struct fleetprof_lines upstream, unsigned selector)
{
    static char merged_memory[FLEETPROF_FIELD_MAX];
    static char again_memory[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = {merged_memory, 0, sizeof(merged_memory)};
    struct fleetprof_buffer again = {again_memory, 0, sizeof(again_memory)};
    struct fleetprof_policy_request request = {upstream, FLEETPROF_SLICE(FLEETPROF_POLICY_YES),
                                               FLEETPROF_CONFLICT_UPSTREAM};
    struct fleetprof_slice once;

    if (selector & 1) {
        request.members = FLEETPROF_SLICE(FLEETPROF_POLICY_NO);
    }
    if (selector & 4) {
        request.members = FLEETPROF_SLICE("");
    }
    if (selector & 2) {
        request.conflict = FLEETPROF_CONFLICT_LOCAL;
    }
    if (fleetprof_document_policy_merge(&request, &merged).outcome != FLEETPROF_CHANGED) {
        return;
    }
    once = fleetprof_buffer_text(&merged);
    check(is_dictionary(once));
    request.upstream = (struct fleetprof_lines){&once, 1};
    check(fleetprof_document_policy_merge(&request, &again).outcome == FLEETPROF_UNCHANGED);
}

static void fuzz_endpoints(struct fleetprof_lines upstream, unsigned selector)
{
    static char merged_memory[FLEETPROF_FIELD_MAX];
    static char again_memory[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = {merged_memory, 0, sizeof(merged_memory)};
    struct fleetprof_buffer again = {again_memory, 0, sizeof(again_memory)};
    struct fleetprof_endpoint_request request = {upstream, FLEETPROF_SLICE("/v1/reports/pk"),
                                                 FLEETPROF_CONFLICT_UPSTREAM};
    struct fleetprof_slice once;

    if (selector & 2) {
        request.conflict = FLEETPROF_CONFLICT_LOCAL;
    }
    if (fleetprof_reporting_endpoints_merge(&request, &merged).outcome != FLEETPROF_CHANGED) {
        return;
    }
    once = fleetprof_buffer_text(&merged);
    check(is_dictionary(once));
    request.upstream = (struct fleetprof_lines){&once, 1};
    check(fleetprof_reporting_endpoints_merge(&request, &again).outcome == FLEETPROF_UNCHANGED);
}

static void fuzz_origins(struct fleetprof_lines upstream)
{
    static char merged_memory[FLEETPROF_FIELD_MAX];
    static char again_memory[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = {merged_memory, 0, sizeof(merged_memory)};
    struct fleetprof_buffer again = {again_memory, 0, sizeof(again_memory)};
    struct fleetprof_slice ours = FLEETPROF_SLICE("https://a.example, null");
    struct fleetprof_slice once;

    if (fleetprof_timing_allow_origin_merge(upstream, ours, &merged) != FLEETPROF_CHANGED) {
        return;
    }
    once = fleetprof_buffer_text(&merged);
    upstream = (struct fleetprof_lines){&once, 1};
    check(fleetprof_timing_allow_origin_merge(upstream, ours, &again) == FLEETPROF_UNCHANGED);
}

static void fuzz_timing(struct fleetprof_slice line)
{
    static char memory[FLEETPROF_FIELD_MAX];
    struct fleetprof_slice others = {memory, 0};

    if (line.len <= sizeof(memory)) {
        others.len = fleetprof_server_timing_others(line, memory);
        check(others.len <= line.len);
        check(!fleetprof_server_timing_names_us(others));
    }
}

static void fuzz_line(struct fleetprof_slice line)
{
    static char memory[FLEETPROF_FIELD_MAX / 2];
    struct fleetprof_buffer members = {memory, 0, sizeof(memory)};
    struct fleetprof_exchange exchange = {line, line, line, line, true};
    struct fleetprof_cache_control control = {0};
    uint32_t ppm;

    if (is_dictionary(line) &&
        fleetprof_document_policy_add(&members, line) == FLEETPROF_POLICY_OK) {
        check(is_dictionary(fleetprof_buffer_text(&members)));
    }
    if (fleetprof_rate_parse(line, &ppm) == FLEETPROF_RATE_OK) {
        char text[FLEETPROF_RATE_TEXT_MAX];

        check(ppm <= FLEETPROF_RATE_ONE);
        check(fleetprof_rate_format(ppm, text) <= sizeof(text));
    }
    if (fleetprof_endpoint_check(line) == FLEETPROF_ENDPOINT_OK) {
        const struct fleetprof_endpoint_request request = {
            {NULL, 0}, line, FLEETPROF_CONFLICT_LOCAL};
        static char field[FLEETPROF_FIELD_MAX];
        struct fleetprof_buffer merged = {field, 0, sizeof(field)};

        check(fleetprof_reporting_endpoints_merge(&request, &merged).outcome == FLEETPROF_CHANGED);
        check(is_dictionary(fleetprof_buffer_text(&merged)));
    }
    check(fleetprof_origin_error_text(fleetprof_origin_check(line)) != NULL);
    members.len = 0;
    check(fleetprof_trial_add(&members, line) != FLEETPROF_TRIAL_OK ||
          fleetprof_slice_equal(fleetprof_buffer_text(&members), line));
    (void)fleetprof_has_policy(&fleetprof_default_types, &exchange);
    check(fleetprof_type_error_text(fleetprof_type_check(line)) != NULL);
    (void)fleetprof_document_policy_says_yes(line);
    fleetprof_cache_control_add(&control, FLEETPROF_SLICE("Cache-Control"), line);
    fleetprof_cache_control_add(&control, line, line);
    (void)fleetprof_key_number(line);
    fuzz_timing(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fleetprof_slice lines[LINES_MAX];
    struct fleetprof_lines upstream = {lines, 0};
    struct fleetprof_slice rest;

    if (size == 0) {
        return 0;
    }
    rest = (struct fleetprof_slice){(const char *)data + 1, size - 1};
    while (upstream.count < LINES_MAX &&
           fleetprof_slice_split(&rest, '\n', &lines[upstream.count])) {
        fuzz_line(lines[upstream.count]);
        upstream.count++;
    }
    fuzz_policy(upstream, data[0]);
    fuzz_endpoints(upstream, data[0]);
    fuzz_origins(upstream);
    return 0;
}
