/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chromium traces: what a browser sends takes the fast reader, which never disagrees with the
 * general decoder about a profile, nor about an error and its place.
 */
#include "../test.h"

#include "collector/format/format.c"
#include "tests/tools/default_limits.h"
#include "tests/tools/general_decoder.h"
#include "tests/unit/profile/chance.h"

#include <dirent.h>
#include <stdio.h>

enum { FILE_MAX = 1024 * 1024, PATH_LEN_MAX = 4096, MUTATION_ROUNDS = 400 };

#define AGENT_BEFORE                                                                               \
    "{\"version\":1,\"id\":\"123e4567-e89b-42d3-a456-426614174000\","                              \
    "\"load\":\"123e4567-e89b-42d3-a456-426614174001\",\"part\":0,"                                \
    "\"agent\":{\"name\":\"fleetprof-agent\",\"version\":\"0.1.0\"},"                              \
    "\"page\":{\"url\":\"https://shop.example/\\\"[{\",\"route\":\"/\"},\"thread\":\"window\","    \
    "\"sampleInterval\":10,\"requestedInterval\":10,\"maxBufferSize\":10000,"                      \
    "\"timeOrigin\":1763797623000.5,\"duration\":8123.4,\"trace\":"
#define AGENT_AFTER                                                                                \
    ",\"marks\":[{\"name\":\"go\",\"entryType\":\"mark\",\"startTime\":230.5,\"duration\":0}],"    \
    "\"measures\":[{\"name\":\"m\",\"entryType\":\"measure\",\"startTime\":226,\"duration\":9.5}]" \
    "}"

#define TRACE                                                                                      \
    "{'frames':[{'column':3,'line':7,'name':'a','resourceId':0},{'name':'b'}],'resources':['u'],"  \
    "'samples':[{'timestamp':1.5},{'marker':'gc','stackId':1,'timestamp':11}],"                    \
    "'stacks':[{'frameId':0},{'frameId':1,'parentId':0}]}"

/* Returns true if the fast reader takes a body. */
static bool takes(struct fp_str body, const struct fp_format_limits *limits)
{
    struct fp_arena arena;
    struct fp_buf content;
    struct fp_profile profile;
    struct fp_upload_error error = no_error;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&content, TEST_ARENA_MAX);
    struct fp_decoder decoder = {limits, &arena, &profile, &error, &content, NULL, 0};
    bool taken = decode_ahead(&decoder, body, NULL);
    fp_buf_release(&content);
    fp_arena_release(&arena);
    return taken;
}

/* Fails if the two decoders disagree about a body. */
static void assert_agreement(struct fp_str body, const struct fp_format_limits *limits)
{
    struct fp_decoding fast;
    struct fp_decoding general;
    fp_decoding_run_general(&general, body, limits, TEST_ARENA_MAX);
    assert_false(takes(general.spaced, limits));
    fp_decoding_run(&fast, body, limits, TEST_ARENA_MAX);
    const char *difference = fp_decoding_difference(&fast, &general);
    if (difference != NULL)
        fail_msg("%s differs for %.*s\n%s\n%s", difference, FP_STR_ARG(body), fast.error.detail,
                 general.error.detail);
    fp_decoding_release(&fast);
    fp_decoding_release(&general);
}

static struct fp_str read_whole(struct fp_arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = fp_arena_alloc(arena, FILE_MAX);
    assert_non_null(bytes);
    size_t len = fread(bytes, 1, FILE_MAX, file);
    assert_true(len < FILE_MAX);
    (void)fclose(file);
    return (struct fp_str){bytes, len};
}

static struct fp_str join(struct fp_arena *arena, const char *before, struct fp_str text,
                          const char *after)
{
    struct fp_buf joined;
    struct fp_str bytes;
    fp_buf_init(&joined, TEST_ARENA_MAX);
    fp_buf_add(&joined, before, strlen(before));
    fp_buf_add(&joined, text.ptr, text.len);
    fp_buf_add(&joined, after, strlen(after));
    assert_true(fp_buf_give(&joined, arena, &bytes));
    return bytes;
}

/* Calls a function for each recorded trace. Returns how many there are. */
static size_t for_each_trace(void (*test)(struct fp_arena *arena, struct fp_str trace))
{
    size_t count = 0;
    DIR *files = opendir(FP_TEST_DATA);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;) {
        if (strstr(file->d_name, ".json") == NULL || strstr(file->d_name, "-tojson.") != NULL)
            continue;
        char path[PATH_LEN_MAX];
        struct fp_arena arena;
        snprintf(path, sizeof(path), "%s/%s", FP_TEST_DATA, file->d_name);
        print_message("# %s\n", file->d_name);
        fp_arena_init(&arena, TEST_ARENA_MAX);
        test(&arena, read_whole(&arena, path));
        fp_arena_release(&arena);
        count++;
    }
    (void)closedir(files);
    return count;
}

static size_t traces_with_escapes;

static void assert_taken(struct fp_arena *arena, struct fp_str trace)
{
    bool taken = memchr(trace.ptr, '\\', trace.len) == NULL;
    traces_with_escapes += !taken;
    const struct fp_str envelope = join(arena, AGENT_BEFORE, trace, AGENT_AFTER);
    struct fp_format_limits kept = default_limits;
    kept.keep_ppm = 1000000;
    assert_true(takes(trace, &default_limits) == taken);
    assert_true(takes(envelope, &default_limits) == taken);
    assert_true(takes(envelope, &kept) == taken);
    assert_agreement(trace, &default_limits);
    assert_agreement(trace, &kept);
    assert_agreement(envelope, &default_limits);
    assert_agreement(envelope, &kept);
}

static void takes_every_recorded_trace_bare_and_in_the_agents_envelope(void **state)
{
    (void)state;
    assert_true(for_each_trace(assert_taken) >= 30);
    assert_int_equal(traces_with_escapes, 1); /* a page with names made up for the purpose */
}

/* Text that a mutation inserts: valid JSON that Chromium does not write, and invalid text. */
static const char *const pieces[] = {
    "\"",
    "\\",
    "\\u0041",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "-",
    ".",
    "e1",
    "E-3",
    "0",
    "00",
    "9",
    "4",
    "5",
    "45",
    "1e400",
    "0.5",
    "-0",
    "null",
    "true",
    "\x80",
    "\xC3",
    "\xC3\xA9",
    "\x7F",
    "\x1F",
    "\xED\xA0\x80",
    "99999999",
    "999999999",
    "4294967295",
    "{}",
    "[]",
    "\"name\":\"x\",",
    "\"marker\":\"gc\",",
    "\"stackId\":0,",
    ",\"parentId\":0",
    "\"trace\":",
    ",\"x\":1",
    "{\"frames\":[",
    ",\"trace\":{\"frames\":[],\"resources\":[],\"samples\":[],\"stacks\":[]}",
};

static size_t replace(char *bytes, size_t len, size_t at, size_t cut_len, const char *piece)
{
    const size_t piece_len = strlen(piece);
    cut_len = cut_len < len - at ? cut_len : len - at;
    memmove(bytes + at + piece_len, bytes + at + cut_len, len - at - cut_len);
    memcpy(bytes + at, piece, piece_len);
    return len - cut_len + piece_len;
}

/* Changes one place: a digit often, for most traces with another digit are valid. */
static size_t mutate(char *bytes, size_t len)
{
    size_t at = below((uint32_t)len);
    switch (below(6)) {
    case 0:
        return replace(bytes, len, at, below(4), pieces[below(FP_COUNT(pieces))]);
    case 1:
        return replace(bytes, len, at, 1 + below(30), "");
    case 2:
        bytes[at] = (char)below(256);
        return len;
    default:
        while (at < len && !fp_is_digit(bytes[at]))
            at++;
        if (at < len)
            bytes[at] = (char)('0' + below(10));
        return len;
    }
}

static size_t mutants_taken;

static void assert_mutants_agree(struct fp_arena *arena, struct fp_str trace)
{
    enum { LONGEST = 8192, MORE = 4096 };
    if (trace.len > LONGEST) /* the short ones have all the forms */
        return;
    struct fp_str bodies[] = {trace, join(arena, AGENT_BEFORE, trace, AGENT_AFTER)};
    struct fp_format_limits limits = default_limits;
    limits.stack_depth = 40;
    for (size_t round = 0; round < MUTATION_ROUNDS; round++) {
        const struct fp_str body = bodies[round % FP_COUNT(bodies)];
        char *bytes = malloc(body.len + MORE);
        assert_non_null(bytes);
        memcpy(bytes, body.ptr, body.len);
        size_t len = body.len;
        for (uint32_t i = 0; i <= below(4); i++)
            len = mutate(bytes, len);
        limits.keep_ppm = round % 3 == 0 ? 1000000 : 0;
        assert_agreement((struct fp_str){bytes, len}, &limits);
        mutants_taken += takes((struct fp_str){bytes, len}, &limits);
        free(bytes);
    }
}

static void agrees_about_mutated_traces(void **state)
{
    (void)state;
    random_state = 1;
    size_t traces = for_each_trace(assert_mutants_agree);
    print_message("# took %zu mutants\n", mutants_taken);
    assert_true(mutants_taken > traces * MUTATION_ROUNDS / 10);
}

/* Decodes a body with ' for ", which the fast reader must take or leave. */
static void assert_taken_is(bool taken, const char *text, const struct fp_format_limits *limits)
{
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    const struct fp_str body = json_of(&arena, text);
    if (takes(body, limits) != taken)
        fail_msg("%s: %s", taken ? "was not taken" : "was taken", text);
    assert_agreement(body, limits);
    fp_arena_release(&arena);
}

/* A trace with one sample of this time. */
static void assert_time_is_taken(bool taken, const char *time)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{'frames':[],'resources':[],'samples':[{'timestamp':%s}],'stacks':[]}", time);
    assert_taken_is(taken, text, &default_limits);
}

static void rounds_times_as_the_general_decoder_does(void **state)
{
    (void)state;
    static const char *const usual[] = {"0",
                                        "7",
                                        "0.1",
                                        "226.29999999981374",
                                        "99999999.9999999999999999",
                                        "1.0003",
                                        "1.0006",
                                        "1.00039999",
                                        "1.00060000000001",
                                        "1.999999999999999999999999",
                                        "10.12385678901",
                                        "0.0",
                                        "12345678"};
    static const char *const doubtful[] = {
        "1.0004", "1.0005", "1.00050000001", "1.0004999999", "10.12345678", "123456789",
        "-1.5",   "1e3",    "1.5E2",         "01",           "1.",          ".5",
        "+1",     "1.5.5",  "- 1",           "1_0",          "0x10",        "NaN",
        "''"};
    for (size_t i = 0; i < FP_COUNT(usual); i++)
        assert_time_is_taken(true, usual[i]);
    for (size_t i = 0; i < FP_COUNT(doubtful); i++)
        assert_time_is_taken(false, doubtful[i]);
    random_state = 2;
    for (size_t i = 0; i < 20000; i++) {
        char time[64];
        snprintf(time, sizeof(time), "%.*f", (int)below(17),
                 below(100000000) / (1.0 + below(3000)));
        char text[256];
        snprintf(text, sizeof(text),
                 "{\"frames\":[],\"resources\":[],\"samples\":[{\"timestamp\":%s}],\"stacks\":[]}",
                 time);
        assert_agreement(fp_str_of(text), &default_limits);
    }
}

static void leaves_a_byte_order_mark_to_the_general_decoder(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    const struct fp_str body = json_of(&arena, "\xEF\xBB\xBF" TRACE);
    struct fp_decoding decoding;
    fp_decoding_run(&decoding, body, &default_limits, TEST_ARENA_MAX);
    assert_int_equal(decoding.verdict, FP_VERDICT_OK);
    assert_false(takes(body, &default_limits));
    fp_decoding_release(&decoding);
    fp_arena_release(&arena);
}

static void leaves_every_other_form_to_the_general_decoder(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "{",
        " " TRACE,
        "[" TRACE "]",
        TRACE ",",
        "{'page':{'trace':" TRACE "}}",
        "{'trace':" TRACE ",'trace':" TRACE "}",
        "{'trace':" TRACE ",'tr\\u0061ce':{'frames':[],'resources':[],'samples':[],'stacks':[]}}",
        "{'trace':{'frames':[],'resources':[],'samples':[],'stacks':[]},'trace':" TRACE "}",
        "{'trace':" TRACE ",'trace':null}",
        "{'trace':" TRACE ",'trace':7}",
        "{'trace':" TRACE,
        "{'trace':" TRACE "}}",
        "{'trace':" TRACE ",'part':-1}",
        "{'trace':" TRACE ",'release':'\\ud800\x80'}",
        "{'x':'\\','trace':" TRACE "}",
        "{'marks':[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]"
        "]]]]]]]"
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],'trace':" TRACE
        "}", /* members in another order, twice, unknown, null or absent */
        "{'resources':[],'frames':[],'samples':[],'stacks':[]}",
        "{'frames':[],'resources':[],'samples':[],'stacks':[],'frames':[]}",
        "{'frames':[],'resources':[],'samples':[],'stacks':[],'x':1}",
        "{'frames':[],'resources':[],'samples':[]}",
        "{'frames':[],'resources':[],'samples':[],'stacks':null}",
        "{'frames':[{'name':'a','line':1}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'line':1}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'line':null,'name':'a'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a','name':'b'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a','resourceId':0}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'column':1.0,'name':'a'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'column':123456789,'name':'a'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'column':01,'name':'a'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'\\n'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'\n'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'\xC3'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'\xED\xA0\x80'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a'},],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a'} ],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a'}{'name':'b'}],'resources':[],'samples':[],'stacks':[]}",
        "{'frames':[{'name':'a'}],'resources':[1],'samples':[],'stacks':[]}",
        "{'frames':[],'resources':[],'samples':[{'stackId':0,'timestamp':1}],'stacks':[]}",
        "{'frames':[],'resources':[],'samples':[{'stackId':0}],'stacks':[]}",
        "{'frames':[],'resources':[],'samples':[{'marker':7,'timestamp':1}],'stacks':[]}",
        "{'frames':[],'resources':[],'samples':[],'stacks':[{'frameId':0}]}",
        "{'frames':[{'name':'a'}],'resources':[],'samples':[],'stacks':[{'frameId':0,'parentId':0}]"
        "}",
        "{'frames':[{'name':'a'}],'resources':[],'samples':[],'stacks':[{'frameId':0,'parentId':1}]"
        "}",
    };
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_taken_is(false, others[i], &default_limits);
}

static void takes_what_is_around_the_trace_in_any_form(void **state)
{
    (void)state;
    static const char *const envelopes[] = {
        TRACE,
        TRACE " \n",
        "{'trace':" TRACE "}",
        "{ 'release' : 'trace' , 'x':[{'trace':1}], \n'trace':" TRACE
        " , 'environment':'\\u00e9'} ",
        "{'release':'\\ud800','trace':" TRACE "}",
        "{'trace':" TRACE ",'measures':[{'name':'m','entryType':'measure','startTime':1,"
        "'duration':5,'detail':{'status':1e2}}]}",
        "{'variant':'\\\\','trace':" TRACE "}",
        "{'page':{'trace':" TRACE
        "},'trace':{'frames':[],'resources':[],'samples':[],'stacks':[]}}",
    };
    for (size_t i = 0; i < FP_COUNT(envelopes); i++)
        assert_taken_is(true, envelopes[i], &default_limits);
}

static void looks_for_the_trace_only_near_the_beginning(void **state)
{
    (void)state;
    struct fp_arena arena;
    char before[6000];
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (int len = 3000; len < 5500; len += 100) {
        snprintf(before, sizeof(before), "{\"x\":\"%0*d\",\"trace\":", len, 0);
        const struct fp_str body = join(&arena, before, json_of(&arena, TRACE), "}");
        assert_int_equal(takes(body, &default_limits), len < 4050);
        assert_agreement(body, &default_limits);
    }
    fp_arena_release(&arena);
}

#define FRAME "{'name':'f'}"
#define STACK "{'frameId':0}"
#define SAMPLE "{'timestamp':1}"

/* Traces that reach a limit of small_limits (5 frames, 3 resources, 4 samples, 6 stacks, 3 deep, 60
 * s), and one that exceeds it. */
static const struct {
    const char *reaches;
    const char *exceeds;
} at_limits[] = {
    {"{'frames':[" FRAME "," FRAME "," FRAME "," FRAME "," FRAME
     "],'resources':[],'samples':[],'stacks':[]}",
     "{'frames':[" FRAME "," FRAME "," FRAME "," FRAME "," FRAME "," FRAME
     "],'resources':[],'samples':[],'stacks':[]}"},
    {"{'frames':[],'resources':['a','b','c'],'samples':[],'stacks':[]}",
     "{'frames':[],'resources':['a','b','c','d'],'samples':[],'stacks':[]}"},
    {"{'frames':[],'resources':[],'samples':[" SAMPLE "," SAMPLE "," SAMPLE "," SAMPLE
     "],'stacks':[]}",
     "{'frames':[],'resources':[],'samples':[" SAMPLE "," SAMPLE "," SAMPLE "," SAMPLE "," SAMPLE
     "],'stacks':[]}"},
    {"{'frames':[" FRAME "],'resources':[],'samples':[],'stacks':[" STACK "," STACK "," STACK
     "," STACK "," STACK "," STACK "]}",
     "{'frames':[" FRAME "],'resources':[],'samples':[],'stacks':[" STACK "," STACK "," STACK
     "," STACK "," STACK "," STACK "," STACK "]}"},
    {"{'frames':[" FRAME "],'resources':[],'samples':[],'stacks':[" STACK
     ",{'frameId':0,'parentId':0},{'frameId':0,'parentId':1}]}",
     "{'frames':[" FRAME "],'resources':[],'samples':[],'stacks':[" STACK
     ",{'frameId':0,'parentId':0},{'frameId':0,'parentId':1},{'frameId':0,'parentId':2}]}"},
    {"{'frames':[],'resources':[],'samples':[{'timestamp':1},{'timestamp':60001}],'stacks':[]}",
     "{'frames':[],'resources':[],'samples':[{'timestamp':1},{'timestamp':60001.001}],'stacks':[]"
     "}"},
};

static void holds_each_limit_at_the_same_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(at_limits); i++) {
        assert_taken_is(true, at_limits[i].reaches, &small_limits);
        assert_taken_is(false, at_limits[i].exceeds, &small_limits);
    }
    struct fp_format_limits limits = small_limits;
    for (uint32_t depth = 1; depth < 6; depth++) {
        limits.json_depth = depth;
        assert_taken_is(depth >= 4, "{'trace':" TRACE "}", &limits);
        assert_taken_is(depth >= 4, TRACE, &limits);
    }
}

static void leaves_the_arena_as_it_was_if_it_does_not_take_a_body(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_buf content;
    struct fp_profile profile;
    struct fp_upload_error error = no_error;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&content, TEST_ARENA_MAX);
    struct fp_decoder decoder = {&default_limits, &arena, &profile, &error, &content, NULL, 0};
    const struct fp_str body = json_of(&arena, "{'trace':" TRACE ",'part':-1}");
    const size_t used_bytes = arena.used_bytes;
    assert_false(decode_ahead(&decoder, body, NULL));
    assert_int_equal(arena.used_bytes, used_bytes);
    assert_null(decoder.trace);
    assert_int_equal(error.verdict, FP_VERDICT_OK);
    assert_int_equal(content.len, 0);
    fp_buf_release(&content);
    fp_arena_release(&arena);
}

static void leaves_a_body_for_which_memory_is_too_small(void **state)
{
    (void)state;
    struct fp_arena whole;
    fp_arena_init(&whole, TEST_ARENA_MAX);
    const struct fp_str body = json_of(&whole, "{'release':'1','trace':" TRACE "}");
    size_t taken = 0;
    for (size_t memory = 0; memory < 20000; memory += 64) {
        struct fp_decoding decoding;
        fp_decoding_run(&decoding, body, &default_limits, memory);
        assert_true(decoding.verdict == FP_VERDICT_OK ? decoding.profile.sample_count == 2
                                                      : decoding.verdict == FP_VERDICT_MEMORY);
        taken += decoding.verdict == FP_VERDICT_OK;
        fp_decoding_release(&decoding);
    }
    assert_true(taken > 0);
    fp_arena_release(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_recorded_trace_bare_and_in_the_agents_envelope),
        cmocka_unit_test(agrees_about_mutated_traces),
        cmocka_unit_test(rounds_times_as_the_general_decoder_does),
        cmocka_unit_test(leaves_a_byte_order_mark_to_the_general_decoder),
        cmocka_unit_test(leaves_every_other_form_to_the_general_decoder),
        cmocka_unit_test(takes_what_is_around_the_trace_in_any_form),
        cmocka_unit_test(looks_for_the_trace_only_near_the_beginning),
        cmocka_unit_test(holds_each_limit_at_the_same_place),
        cmocka_unit_test(leaves_the_arena_as_it_was_if_it_does_not_take_a_body),
        cmocka_unit_test(leaves_a_body_for_which_memory_is_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
