/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 profiles: the engine's log becomes stacks and samples.
 */
#include "dump_test.h"

#include "collector/format/carry.h"
#include "collector/format/speed_tracer/v8.h"
#include "collector/format/speed_tracer/v8_code.h"
#include "collector/format/speed_tracer/v8_lines.h"
#include "collector/format/speed_tracer/v8_table.h"

/* A dump of one profile. The log is written with ' for each "; its lines end with |. */
static void decode_log(struct decoded *decoded, const char *log)
{
    char dump[2048];
    size_t len = (size_t)snprintf(dump, sizeof(dump),
                                  "{'type':15,'time':5,'data':{'format':'v8','profileData':'");
    for (; *log != '\0'; log++) {
        const char plain[] = {*log, '\0'};
        const char *written = *log == '|' ? "\\n" : *log == '\'' ? "\\'" : plain;
        len += (size_t)snprintf(dump + len, sizeof(dump) - len, "%s", written);
    }
    snprintf(dump + len, sizeof(dump) - len, "'}}");
    decode_dump(decoded, dump);
}

/* Returns a sample's stack, outermost first, as `outer;inner`; the marker in parentheses if it has
 * no stack. */
static void write_stack(const struct decoded *decoded, uint32_t sample, struct fp_buf *text)
{
    const struct fp_profile *profile = &decoded->profile;
    const struct fp_profile_sample *from = &profile->samples[sample];
    uint32_t frames[16];
    size_t depth = 0;
    for (uint32_t at = from->stack; at != FP_INDEX_NONE; at = profile->stacks[at].parent) {
        assert_true(depth < 16);
        frames[depth++] = profile->stacks[at].frame;
    }
    fp_buf_clear(text);
    if (depth == 0)
        fp_buf_addf(text, "%s", fp_marker_name(from->marker));
    while (depth > 0) {
        const struct fp_str function = profile->frames[frames[--depth]].function;
        fp_buf_addf(text, "%.*s%s", FP_STR_ARG(function), depth > 0 ? ";" : "");
    }
}

static void assert_stacks(const struct decoded *decoded, const char *const *stacks, uint32_t count)
{
    assert_int_equal(decoded->verdict, FP_VERDICT_OK);
    assert_int_equal(decoded->profile.sample_count, count);
    struct fp_buf text;
    fp_buf_init(&text, 1024);
    for (uint32_t i = 0; i < count; i++) {
        write_stack(decoded, i, &text);
        assert_text((struct fp_str){(const char *)text.data, text.len}, stacks[i]);
    }
    fp_buf_release(&text);
}

static void a_compressed_log_over_several_records_gives_the_stacks_worked_out_by_hand(void **state)
{
    (void)state;
    static const char *const stacks[] = {
        ";outer;inner", ";outer;inner", "outer;inner",     "outer;inner", "outer;inner",
        "outer;inner",  "gc",           ";LoadIC: length", "(none)",      "gc",
    };
    struct decoded decoded;
    decode_file(&decoded, "v8.ndjson");
    assert_stacks(&decoded, stacks, 10);
    const struct fp_profile *profile = &decoded.profile;
    assert_true(profile->has_trace);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(profile->weights_us[i], 2000);
        assert_int_equal(profile->samples[i].time_us, i == 0 ? 10000 : 30000);
    }
    assert_int_equal(profile->frame_count, 4);
    assert_int_equal(note_count(&decoded, "a line of a V8"), 0);
    assert_int_equal(profile->event_count, 3);
    release(&decoded);
}

static void names_give_function_script_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *creation;
        const char *function;
        const char *resource; /* NULL: none */
        int32_t line;
    } names[] = {
        {"LazyCompile,1000,16,'draw http://a/x.js:7'", "draw", "http://a/x.js", 7},
        {"Function,1000,16,'draw http://a:8080/x.js:7'", "draw", "http://a:8080/x.js", 7},
        {"LazyCompile,1000,16,' native date.js:408'", "", "native date.js", 408},
        {"LazyCompile,1000,16,'getTime native date.js:733'", "getTime", "native date.js", 733},
        {"LazyCompile,1000,16,'get size http://a/x.js:2'", "get size", "http://a/x.js", 2},
        {"LazyCompile,1000,16,'createStub'", "createStub", NULL, -1},
        {"LazyCompile,1000,16,'evaluated :3'", "evaluated", NULL, 3},
        {"LazyCompile,1000,16,' '", "", NULL, -1},
        {"LazyCompile,1000,16,'f http://a/x.js:99999999999'", "f", "http://a/x.js:99999999999", -1},
        {"Script,1000,16,'http://a:8080'", "", "http://a:8080", -1},
        {"Script,1000,16,''", "", NULL, -1},
        {"Eval,1000,16,''", "", NULL, -1},
        {"LoadIC,1000,16,'length'", "LoadIC: length", NULL, -1},
        {"RegExp,1000,16,'[#,]'", "RegExp: [#,]", NULL, -1},
        {"Stub,1000,16,''", "Stub", NULL, -1},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char log[256];
        snprintf(log, sizeof(log), "code-creation,%s|tick,0x100f,0,0|", names[i].creation);
        struct decoded decoded;
        decode_log(&decoded, log);
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        assert_int_equal(decoded.profile.frame_count, 1);
        const struct fp_profile_frame *frame = &decoded.profile.frames[0];
        assert_text(frame->function, names[i].function);
        assert_int_equal(frame->line, names[i].line);
        if (names[i].resource != NULL)
            assert_resource(&decoded, frame->resource, names[i].resource);
        else
            assert_int_equal(frame->resource, FP_INDEX_NONE);
        release(&decoded);
    }
}

static void each_kind_of_code_that_the_engine_logs_is_known(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "Builtin",     "CallDebugBreak", "CallDebugPrepareStepIn",
        "CallIC",      "CallInitialize", "CallMegamorphic",
        "CallMiss",    "CallNormal",     "CallPreMonomorphic",
        "Callback",    "Eval",           "Function",
        "KeyedCallIC", "KeyedLoadIC",    "KeyedStoreIC",
        "LazyCompile", "LoadIC",         "RegExp",
        "Script",      "StoreIC",        "Stub",
    };
    for (size_t i = 0; i < FP_COUNT(kinds); i++) {
        char log[256];
        snprintf(log, sizeof(log),
                 "code-creation,%s,1000,16,'f'|code-creation,x%s,2000,16,'g'|tick,1000,0,0|",
                 kinds[i], kinds[i]);
        struct decoded decoded;
        decode_log(&decoded, log);
        if (note_count(&decoded, "code of an unknown kind") != 1)
            print_error("%s\n", kinds[i]);
        assert_int_equal(note_count(&decoded, "code of an unknown kind"), 1);
        release(&decoded);
    }
}

static void each_hexadecimal_digit_has_its_value(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdefABCDEF";
    for (size_t i = 0; i < sizeof(digits) - 1; i++) {
        char log[256];
        snprintf(log, sizeof(log), "code-creation,Eval,%zx,16,'f'|tick,1%c00,0,0|",
                 0x1000 + ((i < 16 ? i : i - 6) << 8), digits[i]);
        static const char *const stacks[] = {"f"};
        struct decoded decoded;
        decode_log(&decoded, log);
        assert_stacks(&decoded, stacks, 1);
        release(&decoded);
    }
}

static void without_a_word_of_the_interval_a_tick_is_a_millisecond(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        int64_t weight_us;
    } intervals[] = {
        {"tick,1000,0,0|", 1000},
        {"profiler,'begin'|tick,1000,0,0|", 1000},
        {"profiler,'begin',0|tick,1000,0,0|", 1000},
        {"profiler,'begin',5|profiler,'pause'|tick,1000,0,0|", 5000},
        {"profiler,'begin',10001|tick,1000,0,0|", 1000},
    };
    for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        struct decoded decoded;
        decode_log(&decoded, intervals[i].log);
        assert_int_equal(decoded.profile.sample_count, 1);
        assert_int_equal(decoded.profile.weights_us[0], intervals[i].weight_us);
        assert_int_equal(decoded.profile.samples[0].stack, FP_INDEX_NONE);
        release(&decoded);
    }
}

static void code_that_went_is_not_found_and_code_that_came_again_is_the_same_frame(void **state)
{
    (void)state;
    static const char *const stacks[] = {"f", "(none)", "f", "(none)", "g"};
    struct decoded decoded;
    decode_log(&decoded, "code-creation,LazyCompile,1000,16,'f a.js:1'|tick,1000,0,0|"
                         "code-delete,1000|tick,1000,0,0|"
                         "code-creation,LazyCompile,2000,16,'f a.js:1'|tick,200f,0,0|"
                         "tick,2010,0,0|"
                         "code-creation,LazyCompile,2000,32,'g a.js:2'|tick,2010,0,0|");
    assert_stacks(&decoded, stacks, 5);
    assert_int_equal(decoded.profile.frame_count, 2);
    release(&decoded);
}

static void a_profiler_that_begins_forgets_what_was_before(void **state)
{
    (void)state;
    static const char *const stacks[] = {"f", "(none)"};
    struct decoded decoded;
    decode_log(&decoded,
               "profiler,'begin',1|alias,t,tick|code-creation,Eval,1000,16,'f'|t,1000,0,0|"
               "profiler,'begin',1|t,1000,0,0|tick,1000,0,0|");
    assert_stacks(&decoded, stacks, 2);
    release(&decoded);
}

static void lines_around_the_compressor_are_not_counted_by_back_references(void **state)
{
    (void)state;
    static const char *const stacks[] = {"f", "f"};
    struct decoded decoded;
    decode_log(&decoded, "profiler,'compression',4|code-creation,Eval,1000,16,'f'|tick,1000,0,0|"
                         "profiler,'pause'|alias,t,tick|profiler,'resume'|tick,+0#1:9|");
    assert_stacks(&decoded, stacks, 2);
    release(&decoded);
}

static void a_line_that_cannot_be_read_is_told_of_and_the_next_one_read(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "tick,xyz,0,0",
        "tick,1000,0",
        "tick,1000,0,js",
        "tick,10000000000000000,0,0",
        "code-creation,LazyCompile,1000,16",
        "code-creation,LazyCompile,1000,sixteen,'f'",
        "code-delete",
        "code-delete,-",
        "code-move,1000",
        "alias,t",
        "repeat,many,tick,1000,0,0",
        "repeat,3",
        "profiler,'begin',x",
        "tick,1000,0,0#9",
        "tick,1000,0,0#1:5000",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char log[256];
        snprintf(log, sizeof(log), "profiler,'compression',4|unknown,1|%s|tick,1000,0,0|",
                 lines[i]);
        struct decoded decoded;
        decode_log(&decoded, log);
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        if (note_count(&decoded, "a line of a V8") != 1)
            print_error("%s\n", lines[i]);
        assert_int_equal(note_count(&decoded, "a line of a V8"), 1);
        assert_int_equal(decoded.profile.sample_count, 1);
        release(&decoded);
    }
}

static void unknown_commands_and_lost_aliases_are_noted(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_log(&decoded, "t,1000,0,0|heap-sample,1|alias,x,nothing-known|x,1|"
                         "code-creation,lc,1000,16,'f'|code-creation,LazyCompile,2000,16,'g'|"
                         "tick,1000,0,0|");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(note_count(&decoded, "an unknown command or a lost alias"), 3);
    assert_int_equal(note_count(&decoded, "code of an unknown kind"), 1);
    assert_int_equal(decoded.profile.sample_count, 1);
    release(&decoded);
}

static void ticks_are_counted_by_the_state_of_the_engine(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_log(&decoded, "tick,1000,0,0|repeat,3,tick,1000,0,1|tick,1000,0,2|tick,1000,0,3|"
                         "tick,1000,0,4|tick,1000,0,5|tick,1000,0,999|tick,1000,0,x|");
    assert_non_null(strstr(event_at(&decoded, 0)->detail.ptr,
                           "\"vmStates\":{\"js\":1,\"gc\":3,\"compiler\":1,\"other\":1,"
                           "\"external\":1,\"unknown\":2}"));
    release(&decoded);
}

static void a_profile_names_the_event_with_the_sequence_before_its_own(void **state)
{
    (void)state;
#define PROFILE(sequence, more)                                                                    \
    "{'type':2147483644,'data':{'format':'v8','profileData':''" more "}," sequence "'time':9}"
    static const struct {
        const char *dump;
        uint32_t event; /* id, 0: none */
    } dumps[] = {
        {"{'type':15,'duration':3,'sequence':4,'children':[{'type':1}]}\n" PROFILE("'sequence':5,",
                                                                                   ""),
         1},
        {"{'type':15,'duration':3,'sequence':4}\n" PROFILE("'sequence':6,", ""), 0},
        {"{'type':15,'duration':3,'sequence':4}\n" PROFILE("'sequence':5,", ",'orphan':true"), 0},
        {"{'type':15,'duration':3,'sequence':4}\n" PROFILE("'sequence':5,", ",'isOrphaned':false"),
         1},
        {"{'type':11,'sequence':4}\n" PROFILE("'sequence':5,", ""), 0},
        {"{'type':15,'duration':3}\n" PROFILE("'sequence':1,", ""), 0},
        {"{'type':15,'duration':3,'sequence':4}\n" PROFILE("", ""), 0},
        {PROFILE("'sequence':0,", ""), 0},
    };
    for (size_t i = 0; i < FP_COUNT(dumps); i++) {
        struct decoded decoded;
        take_dump(&decoded, dumps[i].dump);
        const struct fp_profile *profile = &decoded.profile;
        const struct fp_str detail = profile->events[profile->event_count - 1].detail;
        const char *named = memmem(detail.ptr, detail.len, "\"profileOf\":", 12);
        assert_int_equal(named != NULL ? strtol(named + 12, NULL, 10) : 0, dumps[i].event);
        release(&decoded);
    }
}

static void the_time_of_a_profile_counts_once(void **state)
{
    (void)state;
    static const struct {
        const char *ticks;
        int64_t sampled_us[3];
    } profiles[] = {{"2", {2000, 0, 0}}, {"5", {3000, 2000, 0}}, {"90", {3000, 4000, 1000}}};
    for (size_t i = 0; i < FP_COUNT(profiles); i++) {
        char dump[512];
        snprintf(dump, sizeof(dump),
                 "{'type':11,'time':1}\n{'type':15,'time':1,'duration':8,'sequence':4,'children':["
                 "{'type':1,'time':1,'duration':4},{'type':3,'time':5,'duration':1}]}\n"
                 "{'type':2147483644,'time':9,'sequence':5,'data':{'format':'v8','profileData':"
                 "'repeat,%s,tick,1000,0,0'}}",
                 profiles[i].ticks);
        struct decoded decoded;
        take_dump(&decoded, dump);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(event_at(&decoded, 1 + k)->sampled_us, profiles[i].sampled_us[k]);
            assert_true(event_at(&decoded, 1 + k)->self_us > 0);
        }
        release(&decoded);
    }
}

static void the_table_of_a_profile_lists_what_is_new_and_counts_its_ticks(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(
        &decoded,
        "{'type':15,'data':{'format':'v8','profile':'forged','vmStates':7,'profileData':'"
        "code-creation,LazyCompile,1000,16,a https://shop.example/a.js:3\\n"
        "code-creation,Stub,2000,16,\\ntick,2000,0,0,1000,1000\\nrepeat,2,tick,1000,0,1\\n"
        "tick,9,0,3\\n'},'profileOf':5}\n"
        "{'type':15,'data':{'format':'v8','profileData':'tick,1000,0,0\\ntick,2000,0,9\\n'}}");
    assert_text(
        event_at(&decoded, 0)->detail,
        "{\"format\":\"v8\",\"profileDataLength\":150,"
        "\"vmStates\":{\"js\":1,\"gc\":2,\"other\":1},\"profile\":{\"firstFunction\":0,"
        "\"names\":[\"a\",\"Stub\"],\"urls\":[\"https://shop.example/a.js\",\"\"],"
        "\"lines\":\"{3,-1}\",\"firstStack\":0,\"functions\":\"{0,0,1}\",\"parents\":\"{-1,0,1}\","
        "\"recursive\":\"{1}\",\"stacks\":\"{2,0,-1}\",\"states\":\"{0,1,3}\",\"ticks\":\"{1,2,1}"
        "\"}}");
    assert_text(event_at(&decoded, 1)->detail,
                "{\"format\":\"v8\",\"profileDataLength\":28,\"vmStates\":{\"js\":1,\"unknown\":1},"
                "\"profile\":{\"firstFunction\":2,\"names\":[],\"urls\":[],\"lines\":\"{}\","
                "\"firstStack\":3,\"functions\":\"{1}\",\"parents\":\"{-1}\",\"recursive\":\"{}\","
                "\"stacks\":\"{0,3}\",\"states\":\"{0,5}\",\"ticks\":\"{1,1}\"}}");
    release(&decoded);
}

static void tables_of_profiles_are_bounded(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_log(&decoded, "code-creation,Stub,1000,16,a|tick,1000,0,0|");
    struct fp_st_dump dump = {.decoder = &(struct fp_decoder){.profile = &decoded.profile}};
    struct fp_buf detail;
    fp_buf_init(&detail, 1024);
    dump.table_bytes = FP_ST_V8_TABLES_MAX + 1;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    dump.decoder->arena = &arena;
    dump.decoder->limits = &dump_limits;
    assert_true(fp_st_v8_create(&dump));
    assert_true(fp_st_v8_read(&dump, FP_STR("tick,1000,0,0"), 0));
    fp_st_v8_table_write(&dump, &detail);
    assert_text((struct fp_str){(const char *)detail.data, detail.len}, "\"vmStates\":{\"js\":1}");
    assert_int_equal(dump.notes[FP_ST_NOTE_LONG_PROFILE].count, 1);
    fp_buf_release(&detail);
    fp_st_v8_release(dump.v8);
    fp_arena_release(&arena);
    release(&decoded);
}

/* Decodes a part of a long session. Returns what it leaves. */
static struct fp_carry *decode_part(struct decoded *decoded, const char *text,
                                    struct fp_carry *before, bool is_next)
{
    struct fp_continuation part = {.before = before, .is_next = is_next};
    struct fp_format_limits limits = dump_limits;
    limits.continuation = &part;
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_limited(decoded, json_of(&decoded->arena, text), "", &limits);
    assert_int_equal(decoded->verdict, FP_VERDICT_OK);
    fp_carry_unref(before);
    return part.after;
}

static void a_profile_takes_its_time_from_the_last_event_of_the_part_before(void **state)
{
    (void)state;
    static const char first[] =
        "{'type':1,'time':0}\n{'type':15,'time':1,'duration':8,'sequence':4,'children':["
        "{'type':1,'time':1,'duration':5,'data':{'url':'https://shop.example/"
        "'}},{'type':-2,'typeName':'own'}]}";
    static const char second[] =
        "{'type':2147483644,'sequence':5,'data':{'format':'v8','profileData':"
        "'repeat,4,tick,1000,0,0'}}\n{'type':2147483644,'sequence':5,'data':{"
        "'format':'v8','profileData':'tick,1000,0,0'}}";
    struct decoded decoded;
    struct fp_carry *carry = decode_part(&decoded, first, NULL, true);
    release(&decoded);
    carry = decode_part(&decoded, second, carry, true);
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->earlier_event_count, 2);
    assert_text(profile->earlier_events[1].type, "LAYOUT");
    assert_int_equal(profile->earlier_events[0].sampled_us, 3000);
    assert_int_equal(profile->earlier_events[1].sampled_us, 1000);
    assert_text(profile->resources[profile->earlier_events[1].resource], "https://shop.example/");
    /* The second of the four events of the part before is two before the last. */
    assert_non_null(strstr(event_at(&decoded, 0)->detail.ptr, "\"profileOf\":-2,"));
    assert_null(strstr(event_at(&decoded, 1)->detail.ptr, "profileOf"));
    assert_false(profile->session.is_detached);
    release(&decoded);
    fp_carry_unref(carry);
}

static void a_profile_whose_event_may_be_lost_makes_its_part_detached(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        bool is_detached;
    } parts[] = {
        {"{'type':2147483644,'sequence':5,'data':{'format':'v8','profileData':'profiler,begin,1'}}",
         true},
        {"{'type':2147483644,'data':{'format':'v8','profileData':'profiler,begin,1'}}", false},
        {"{'type':2147483644,'sequence':5,'data':{'format':'v8','isOrphaned':true,'profileData':"
         "'profiler,begin,1'}}",
         false},
        {"{'type':1,'sequence':4}\n{'type':2147483644,'sequence':5,'data':{'format':'v8','"
         "profileData':"
         "'profiler,begin,1'}}",
         false},
    };
    for (size_t i = 0; i < FP_COUNT(parts); i++) {
        struct decoded decoded;
        fp_carry_unref(decode_part(&decoded, parts[i].part, NULL, false));
        assert_int_equal(decoded.profile.session.is_detached, parts[i].is_detached);
        release(&decoded);
    }
}

static void one_alias_may_stand_for_a_command_and_for_a_kind_of_code(void **state)
{
    (void)state;
    static const char *const stacks[] = {"CallMiss: f", "Builtin: g"};
    struct decoded decoded;
    decode_log(&decoded, "alias,cc,code-creation|alias,cm,code-move|alias,cm,CallMiss|"
                         "alias,s,Stub|alias,s,Builtin|cc,cm,1000,16,'f'|cm,1000,2000|"
                         "cc,s,3000,16,'g'|tick,2000,0,0|tick,3000,0,0|");
    assert_stacks(&decoded, stacks, 2);
    release(&decoded);
}

static void an_overflow_in_a_stack_is_passed_over(void **state)
{
    (void)state;
    static const char *const stacks[] = {"outer;inner"};
    struct decoded decoded;
    decode_log(&decoded, "code-creation,Eval,1000,16,'outer'|code-creation,Eval,2000,16,'inner'|"
                         "tick,2000,0,0,overflow,1001|");
    assert_stacks(&decoded, stacks, 1);
    release(&decoded);
}

static void repetitions_are_bounded_by_the_limits(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        const char *detail;
    } bombs[] = {
        {"repeat,4000000000,tick,1000,0,0|", "(limits.samples)"},
        {"repeat,4000000000,code-delete,+1|", "lines"},
    };
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        struct decoded decoded;
        decode_log(&decoded, bombs[i].log);
        assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
        assert_non_null(strstr(decoded.error.detail, bombs[i].detail));
        release(&decoded);
    }
}

static void frames_and_stacks_have_limits(void **state)
{
    (void)state;
    static const char log[] = "code-creation,Eval,1000,16,'f'|code-creation,Eval,2000,16,'g'|"
                              "tick,1000,0,0|tick,2000,0,0|";
    struct decoded decoded;
    decode_log(&decoded, log);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    struct fp_format_limits limits = dump_limits;
    limits.frames = 1;
    const char body[] = "{\"type\":15,\"data\":{\"format\":\"v8\",\"profileData\":"
                        "\"code-creation,Eval,1000,16,f\\ncode-creation,Eval,2000,16,g\\n"
                        "tick,1000,0,0\\ntick,2000,0,0\"}}";
    decode_limited(&decoded, fp_str_of(body), "", &limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_non_null(strstr(decoded.error.detail, "(limits.frames)"));
    limits = dump_limits;
    limits.stacks = 1;
    decode_limited(&decoded, fp_str_of(body), "", &limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_non_null(strstr(decoded.error.detail, "(limits.stacks)"));
    release(&decoded);
}

/* Back references. */

static struct fp_st_v8_window window_of(uint32_t size, const char *const *lines, size_t count)
{
    struct fp_st_v8_window window = {.size = size};
    for (size_t i = 0; i < count; i++)
        fp_st_v8_window_add(&window, fp_str_of(lines[i]));
    return window;
}

static void a_back_reference_stands_for_the_end_of_a_line_above(void **state)
{
    (void)state;
    static const char *const above[] = {"first,1", "caf\xC3\xA9", "cd,+60,\"x#1\""};
    static const struct {
        const char *line;
        const char *expanded; /* NULL: cannot be */
    } lines[] = {
        {"#1", "cd,+60,\"x#1\""},
        {"#3", "first,1"},
        {"new#3:5", "new,1"},
        {"new#3:7", "new"},
        {"new#3:8", NULL},
        {"#4", NULL},
        {"#0", NULL},
        {"#2:4", NULL}, /* inside of a character */
        {"#2:3", "\xC3\xA9"},
        {"a#b", "a#b"},
        {"a#1:", "a#1:"},
        {"a#1:2x", "a#1:2x"},
        {"re,\"#1\"", "re,\"#1\""},
        {"\"http://a/#top#1:6", "\"http://a/#top,\"x#1\""},
        {"#1234567", "#1234567"},
        {"", ""},
    };
    struct fp_st_v8_window window = window_of(4, above, 3);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct fp_st_v8_line line;
        bool is_expanded = fp_st_v8_window_expand(&window, fp_str_of(lines[i].line), &line);
        assert_int_equal(is_expanded, lines[i].expanded != NULL);
        if (is_expanded)
            assert_text((struct fp_str){line.text, line.len}, lines[i].expanded);
    }
    window.size = 0;
    struct fp_st_v8_line line;
    assert_true(fp_st_v8_window_expand(&window, FP_STR("a#1"), &line));
    assert_text((struct fp_str){line.text, line.len}, "a#1");
}

static void lines_that_grow_by_reference_are_bounded(void **state)
{
    (void)state;
    static char long_text[FP_ST_V8_LINE_MAX + 1];
    memset(long_text, 'a', FP_ST_V8_LINE_MAX);
    const char *const above[] = {long_text};
    struct fp_st_v8_window window = window_of(4, above, 1);
    struct fp_st_v8_line line;
    assert_true(fp_st_v8_window_expand(&window, FP_STR("#1"), &line));
    assert_true(fp_st_v8_window_expand(&window, FP_STR("b#1:1"), &line));
    assert_false(fp_st_v8_window_expand(&window, FP_STR("b#1"), &line));
}

/* The map of code, compared with a linear search in a list. */

enum { CODES = 64, STEPS = 20000 };

static struct fp_st_code *model_find(struct fp_st_code *model, uint64_t address)
{
    struct fp_st_code *floor = NULL;
    for (size_t i = 0; i < CODES; i++)
        if (model[i].len > 0 && model[i].begin <= address &&
            (floor == NULL || model[i].begin > floor->begin))
            floor = &model[i];
    return floor != NULL && address - floor->begin < floor->len ? floor : NULL;
}

static struct fp_st_code *model_at(struct fp_st_code *model, uint64_t begin)
{
    for (size_t i = 0; i < CODES; i++)
        if (model[i].len > 0 && model[i].begin == begin)
            return &model[i];
    return NULL;
}

static void model_put(struct fp_st_code *model, const struct fp_st_code *code)
{
    struct fp_st_code *slot = model_at(model, code->begin);
    for (size_t i = 0; slot == NULL; i++)
        if (model[i].len == 0)
            slot = &model[i];
    *slot = *code;
}

static void the_map_of_code_finds_what_a_list_finds(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_st_code_map map;
    fp_st_code_map_init(&map, &arena);
    static struct fp_st_code model[CODES];
    uint32_t random = 1;
    for (uint32_t step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        const uint64_t address = (random >> 8) % CODES;
        struct fp_st_code *expected = model_at(model, address);
        struct fp_st_code code = {.begin = address, .len = 1 + (random >> 20) % 4, .frame = step};
        if (random >> 30 == 0) {
            assert_int_equal(fp_st_code_map_remove(&map, address, &code), expected != NULL);
            if (expected != NULL) {
                assert_int_equal(code.frame, expected->frame);
                expected->len = 0;
            }
        } else if (random >> 30 == 1) {
            assert_true(fp_st_code_map_add(&map, &code));
            model_put(model, &code);
        } else {
            expected = model_find(model, address);
            const struct fp_st_code *found = fp_st_code_map_find(&map, address);
            assert_int_equal(found != NULL, expected != NULL);
            if (found != NULL)
                assert_int_equal(found->frame, expected->frame);
        }
    }
    assert_true(map.count <= CODES + 2);
    fp_st_code_map_clear(&map);
    assert_null(fp_st_code_map_find(&map, 0));
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compressed_log_over_several_records_gives_the_stacks_worked_out_by_hand),
        cmocka_unit_test(names_give_function_script_and_line),
        cmocka_unit_test(each_kind_of_code_that_the_engine_logs_is_known),
        cmocka_unit_test(each_hexadecimal_digit_has_its_value),
        cmocka_unit_test(without_a_word_of_the_interval_a_tick_is_a_millisecond),
        cmocka_unit_test(code_that_went_is_not_found_and_code_that_came_again_is_the_same_frame),
        cmocka_unit_test(a_profiler_that_begins_forgets_what_was_before),
        cmocka_unit_test(lines_around_the_compressor_are_not_counted_by_back_references),
        cmocka_unit_test(a_line_that_cannot_be_read_is_told_of_and_the_next_one_read),
        cmocka_unit_test(unknown_commands_and_lost_aliases_are_noted),
        cmocka_unit_test(ticks_are_counted_by_the_state_of_the_engine),
        cmocka_unit_test(a_profile_names_the_event_with_the_sequence_before_its_own),
        cmocka_unit_test(the_time_of_a_profile_counts_once),
        cmocka_unit_test(the_table_of_a_profile_lists_what_is_new_and_counts_its_ticks),
        cmocka_unit_test(tables_of_profiles_are_bounded),
        cmocka_unit_test(a_profile_takes_its_time_from_the_last_event_of_the_part_before),
        cmocka_unit_test(a_profile_whose_event_may_be_lost_makes_its_part_detached),
        cmocka_unit_test(one_alias_may_stand_for_a_command_and_for_a_kind_of_code),
        cmocka_unit_test(an_overflow_in_a_stack_is_passed_over),
        cmocka_unit_test(repetitions_are_bounded_by_the_limits),
        cmocka_unit_test(frames_and_stacks_have_limits),
        cmocka_unit_test(a_back_reference_stands_for_the_end_of_a_line_above),
        cmocka_unit_test(lines_that_grow_by_reference_are_bounded),
        cmocka_unit_test(the_map_of_code_finds_what_a_list_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
