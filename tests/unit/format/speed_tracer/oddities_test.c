/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer's oddities: each oddity of the real dumps in a small dump of its own.
 * tests/behaviour/speed_tracer.test.mjs reads the real ones.
 */
#include "dump_test.h"

#include <time.h>

/* Does the same as decode_dump for long texts with real quotes. */
static void decode_text(struct decoded *decoded, struct fp_str text)
{
    struct fp_format_limits limits = dump_limits;
    limits.entries = 1000;
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_limited(decoded, text, "", &limits);
    assert_int_equal(decoded->verdict, FP_VERDICT_OK);
}

static void a_closing_div_after_the_last_record_is_skipped(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'time':0}\n{'type':2,'time':1}</DIV>\n");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(note_count(&decoded, "something between"), 1);
    assert_false(decoded.profile.truncated);
    release(&decoded);
    take_dump(&decoded, "<div id=traceData version='0.26'>{'type':1,'time':0}</DIV>{'type':2}");
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void a_line_of_484_kilobytes_is_one_record(void **state)
{
    (void)state;
    enum { LEN = 484 * 1024 };
    static char line[LEN + 128];
    size_t at =
        (size_t)snprintf(line, 128, "{\"type\":11,\"time\":0,\"data\":{\"message\":\"{ long }");
    memset(line + at, 'm', LEN - at);
    at = LEN + (size_t)snprintf(line + LEN, 128, "\"}}\n{\"type\":1,\"time\":1}\n");
    struct decoded decoded;
    decode_text(&decoded, (struct fp_str){line, at});
    assert_int_equal(decoded.profile.event_count, 2);
    assert_true(event_at(&decoded, 0)->detail.len > 480 * 1024);
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void records_fifteen_deep_are_all_there(void **state)
{
    (void)state;
    enum { DEPTH = 15 };
    char text[1024];
    size_t at = 0;
    for (int i = 0; i < DEPTH; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "{'type':%d,'time':%d,'duration':%d,'children':[", i % 4, i,
                               2 * (DEPTH - i));
    for (int i = 0; i < DEPTH; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "]}");
    struct decoded decoded;
    take_dump(&decoded, text);
    assert_int_equal(decoded.profile.event_count, DEPTH);
    for (uint32_t i = 0; i < DEPTH; i++) {
        assert_int_equal(event_at(&decoded, i)->parent, i == 0 ? FP_INDEX_NONE : i - 1);
        assert_int_equal(event_at(&decoded, i)->self_us, 2000);
    }
    release(&decoded);
}

static void times_below_zero_are_kept(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':12,'time':-3.25,'data':{'identifier':1}}"
                        "{'type':1,'time':-0.0004,'duration':1}");
    assert_int_equal(event_at(&decoded, 0)->start_us, -3250);
    assert_int_equal(event_at(&decoded, 1)->start_us, 0);
    assert_int_equal(note_count(&decoded, "a time below zero"), 1);
    release(&decoded);
}

static void steps_back_in_time_are_counted_and_the_order_is_kept(void **state)
{
    (void)state;
    enum { STEPS = 191 };
    static char text[STEPS * 64];
    size_t at = 0;
    for (int i = 0; i <= STEPS; i++)
        at +=
            (size_t)snprintf(text + at, sizeof(text) - at, "{\"type\":1,\"time\":%d}\n", 1000 - i);
    struct decoded decoded;
    decode_text(&decoded, (struct fp_str){text, at});
    assert_int_equal(note_count(&decoded, "a record that begins before"), STEPS);
    for (uint32_t i = 0; i <= STEPS; i++)
        assert_int_equal(event_at(&decoded, i)->start_us, (1000 - (int64_t)i) * 1000);
    release(&decoded);
}

static void a_sequence_that_is_used_twice_is_no_identity(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'time':0,'sequence':7}{'type':2,'time':1,'sequence':7}");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(event_at(&decoded, 0)->id, 1);
    assert_int_equal(event_at(&decoded, 1)->id, 2);
    assert_detail(&decoded, 1, "{'sequence':7}");
    release(&decoded);
}

static void an_update_without_a_time_has_time_0_and_its_own_times_in_its_data(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':2147483645,'data':{'didTimingChange':true,'startTime':12.5,"
                        "'identifier':3}}");
    assert_int_equal(event_at(&decoded, 0)->start_us, 0);
    assert_int_equal(note_count(&decoded, "a record without a time"), 1);
    assert_detail(&decoded, 0, "{'didTimingChange':true,'startTime':12.5,'requestId':'3'}");
    release(&decoded);
}

static void own_time_may_be_two_milliseconds_below_zero(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':15,'time':5,'duration':3,'children':[{'type':1,'time':5,"
                        "'duration':3},{'type':2,'time':8,'duration':2}]}");
    assert_int_equal(event_at(&decoded, 0)->self_us, -2000);
    assert_int_equal(note_count(&decoded, "children that take longer"), 1);
    release(&decoded);
}

static void a_custom_record_may_have_a_custom_child(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':-2,'typeName':'outer','color':'rgb(1, 2, 3)','time':0,"
                        "'duration':5,'data':{},'children':[{'type':-2,'typeName':'inner',"
                        "'time':1,'duration':2,'data':{}}]}");
    assert_type(&decoded, 0, "outer", -2);
    assert_type(&decoded, 1, "inner", -3);
    assert_int_equal(event_at(&decoded, 1)->parent, 0);
    assert_int_equal(event_at(&decoded, 0)->self_us, 3000);
    assert_detail(&decoded, 0, "{'color':'rgb(1, 2, 3)'}");
    release(&decoded);
}

static void entities_stay_in_details_and_are_decoded_in_resources(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded,
              "{'type':10,'time':0,'data':{'url':'http://a/?b=1&amp;c=&lt;d&gt;&quot;&amp'}}"
              "{'type':11,'time':1,'data':{'message':'1 &lt; 2 &amp;&amp; 3'}}");
    assert_resource(&decoded, event_at(&decoded, 0)->resource, "http://a/?b=1&c=<d>\"&amp");
    assert_detail(&decoded, 0, "{'url':'http://a/?b=1&amp;c=&lt;d&gt;&quot;&amp'}");
    assert_detail(&decoded, 1, "{'message':'1 &lt; 2 &amp;&amp; 3'}");
    assert_int_equal(note_count(&decoded, "HTML entities"), 1);
    release(&decoded);
}

static void a_time_that_ends_with_its_dot_costs_that_record_only(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'time':0}\n{'type':2,'time':1.}\n{'type':3,'time':2}");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(decoded.profile.session.records_read, 3);
    assert_int_equal(note_count(&decoded, "a record that is not JSON"), 1);
    assert_int_equal(decoded.profile.session.notes[0].first_offset, 20);
    release(&decoded);
}

static void headers_of_a_server_trace_and_lines_of_25_kilobytes_are_kept(void **state)
{
    (void)state;
    enum { LEN = 25 * 1024 };
    static char line[LEN + 128];
    size_t at =
        (size_t)snprintf(line, 256,
                         "{\"type\":2147483645,\"time\":1,\"data\":{\"identifier\":4,"
                         "\"responseHeaders\":{\"X-TraceUrl\":\"/insight/1\",\"X-Long\":\"");
    memset(line + at, 'h', LEN - at);
    at = LEN + (size_t)snprintf(line + LEN, 128, "\"}}}\n");
    struct decoded decoded;
    decode_text(&decoded, (struct fp_str){line, at});
    const struct fp_str detail = event_at(&decoded, 0)->detail;
    assert_true(detail.len > LEN - 256);
    const char header[] = "\"X-TraceUrl\":\"/insight/1\"";
    assert_non_null(memmem(detail.ptr, detail.len, header, strlen(header)));
    release(&decoded);
}

/* tests/data/speed-tracer/stream.ndjson in another container. */
static void wrap(char *text, size_t size, const char *begin, const char *separator, const char *end)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/speed-tracer/stream.ndjson", FP_TEST_DATA);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char line[4096];
    size_t at = (size_t)snprintf(text, size, "%s", begin);
    for (bool is_first = true; fgets(line, sizeof(line), file) != NULL; is_first = false) {
        line[strcspn(line, "\n")] = '\0';
        at += (size_t)snprintf(text + at, size - at, "%s%s", is_first ? "" : separator, line);
    }
    snprintf(text + at, size - at, "%s", end);
    fclose(file);
}

static void the_same_records_are_the_same_events_in_every_container(void **state)
{
    (void)state;
    static const struct {
        const char *begin;
        const char *separator;
        const char *end;
    } containers[] = {
        {"<html isDump=\"true\"><body><div id=\"traceData\" version=\"0.26\">", "\n",
         "</div></body></html>"},
        {"<HTML isdump=\"true\"><body><div style=\"x\" id=\"traceData\" version=\"0.17\">", "\n",
         "\n</div></body></html>"},
        {"\xEF\xBB\xBF\r\n", "\r\n", "\r\n"},
        {"", "", ""},
        {"{\"header\":{\"timeStamp\":1},\"data\":[", ",", "]}"},
        {"{ \"data\" : [ ", " , ", " ] , \"header\" : { } }\n"},
    };
    struct decoded stream;
    decode_file(&stream, "stream.ndjson");
    for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
        static char text[16 * 1024];
        wrap(text, sizeof(text), containers[i].begin, containers[i].separator, containers[i].end);
        struct decoded decoded;
        decode_text(&decoded, fp_str_of(text));
        assert_int_equal(decoded.profile.event_count, stream.profile.event_count);
        for (uint32_t k = 0; k < stream.profile.event_count; k++) {
            const struct fp_profile_event *event = event_at(&decoded, k);
            const struct fp_profile_event *expected = event_at(&stream, k);
            assert_int_equal(event->type_number, expected->type_number);
            assert_int_equal(event->parent, expected->parent);
            assert_int_equal(event->start_us, expected->start_us);
            assert_int_equal(event->self_us, expected->self_us);
            assert_true(fp_str_equal(event->detail, expected->detail));
        }
        assert_int_equal(decoded.profile.session.note_count, 0);
        release(&decoded);
    }
    release(&stream);
}

static void a_start_that_is_no_time_is_noted(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint32_t notes;
    } headers[] = {
        {"{'timeStamp':'1355000000000'}", 1},
        {"{'timeStamp':1e300}", 1},
        {"{'timeStamp':-1}", 1},
        {"1", 1},
        {"{}", 0},
        {"{'timeStamp':null}", 0},
        {"{'timeStamp':0}", 0}, /* as kept contents have it */
        {"{'timeStamp':1355000000000}", 0},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        char text[128];
        struct decoded decoded;
        snprintf(text, sizeof(text), "{'header':%s,'data':[{'type':1,'time':1}]}",
                 headers[i].header);
        take_dump(&decoded, text);
        assert_int_equal(note_count(&decoded, "a header whose timeStamp"), headers[i].notes);
        assert_int_equal(decoded.profile.session.note_count, headers[i].notes);
        release(&decoded);
    }
}

static void a_line_of_bad_records_costs_no_more_than_its_length(void **state)
{
    (void)state;
    enum { BAD = 1000000 };
    static char body[BAD * 3 + 10];
    for (size_t i = 0; i < BAD; i++)
        memcpy(body + i * 3, "{x}", 3);
    memcpy(body + (size_t)BAD * 3, "{\"type\":1}", 10);
    const clock_t begin = clock();
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, (struct fp_str){body, sizeof(body)}, "speed-tracer", &dump_limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(note_count(&decoded, "a record that is not JSON"), BAD);
    release(&decoded);
    /* Far more than is needed; far less than if each record searched for the end of the line. */
    assert_true(clock() - begin < 15 * CLOCKS_PER_SEC);
}

static size_t write_members(char *body, size_t at, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(body + at, 24, ",\"%s%d\":1", name, i);
    return at;
}

static void a_record_of_very_many_members_costs_no_more_than_its_length(void **state)
{
    (void)state;
    enum { MEMBERS = 100000 };
    static char body[2 * MEMBERS * 16];
    size_t at = (size_t)snprintf(body, 64, "{\"type\":12,\"x5\":1,\"data\":{\"identifier\":null");
    at = write_members(body, at, "x", MEMBERS);
    at += (size_t)snprintf(body + at, 64, ",\"requestId\":7,\"resourceId\":8}");
    at = write_members(body, at, "y", MEMBERS);
    body[at++] = '}';
    const clock_t begin = clock();
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, (struct fp_str){body, at}, "", &dump_limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_true(clock() - begin < 15 * CLOCKS_PER_SEC);
    /* Searching a large object gives the same as searching a small one. */
    const char *detail = event_at(&decoded, 0)->detail.ptr; /* the arena ends it */
    assert_non_null(strstr(detail, "\"requestId\":\"7\",\"y0\":1"));
    assert_null(strstr(detail, "\"x5\":1,\"y0\""));
    assert_null(strstr(detail, "\"8\""));
    release(&decoded);
}

static void after_a_posted_body_places_are_offsets_again(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'header':{},'data':[{'type':1,'time':0},{'type':1}]}\n{'type':'x'}");
    const struct fp_profile_session *session = &decoded.profile.session;
    assert_int_equal(session->note_count, 2);
    assert_int_equal(session->notes[0].first_offset, 54);
    assert_false(session->notes[0].is_index);
    assert_int_equal(session->notes[1].first_offset, 1);
    assert_true(session->notes[1].is_index);
    release(&decoded);
}

static void a_raw_message_is_refused_with_its_place_wherever_it_stands(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *pointer; /* NULL: the offset counts */
        int64_t offset;
    } bodies[] = {
        {"{'method':'Timeline.eventRecorded','record':{'type':'Layout'}}", NULL, 0},
        {" {'method':'Page.frameNavigated','params':{}}\n", NULL, 1},
        {"{'type':1}\n{'method':'Network.dataReceived'}", NULL, 11},
        {"[{'method':'Timeline.eventRecorded','record':{}}]", "/0", -1},
        {"{'header':{},'data':[{'type':1},{'method':'Network.loadingFinished'}]}", "/data/1", -1},
        {"{'header':{},'data':[{'method':'Network.loadingFinished'},3.]}", NULL, 21},
        {"<div id='traceData'>{'type':1}{'method':'Page.x'}</div>", NULL, 30},
    };
    for (size_t i = 0; i < FP_COUNT(bodies); i++) {
        struct decoded decoded;
        decode_dump(&decoded, bodies[i].body);
        assert_int_equal(decoded.verdict, FP_VERDICT_UNSUPPORTED);
        assert_non_null(strstr(decoded.error.detail, "browser's inspector"));
        assert_int_equal(decoded.error.offset, bodies[i].offset);
        if (bodies[i].pointer != NULL)
            assert_string_equal(decoded.error.pointer, bodies[i].pointer);
        release(&decoded);
    }
}

static void a_member_named_method_makes_no_raw_message(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'method':'Timeline.x'}\n{'time':3,'method':'GET'}");
    assert_int_equal(decoded.profile.event_count, 2);
    release(&decoded);
}

static void a_custom_type_with_the_name_of_another_type_stays_apart(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"LAYOUT", "LAYOUT (custom)"},
        {"LAYOUT (custom)", "LAYOUT (custom) (custom)"},
        {"TAB_CHANGED", "TAB_CHANGED (custom)"},
        {"DOM_BINDING", "DOM_BINDING (custom)"},
        {"JAVASCRIPT_COMPILE", "JAVASCRIPT_COMPILE (custom)"},
        {"WINDOW_EVENT", "WINDOW_EVENT (custom)"},
        {"MOUSE_HOVER_STYLE", "MOUSE_HOVER_STYLE (custom)"},
        {"EVENT_DISPATCH", "EVENT_DISPATCH (custom)"},
        {"(available)", "(available) (custom)"},
        {"TYPE_77", "TYPE_77 (custom)"},
        {"INVALID", "INVALID (custom)"},
        {"CUSTOM_EVENT", "CUSTOM_EVENT (custom)"},
        {"(not listed)", "(not listed) (custom)"},
        {"mine (custom)", "mine (custom)"},
        {"Layout", "Layout"},
        {"", ""},
    };
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        char dump[256];
        snprintf(dump, sizeof(dump), "{'type':1}\n{'type':-2,'typeName':'%s'}", names[i][0]);
        struct decoded decoded;
        take_dump(&decoded, dump);
        assert_type(&decoded, 0, "LAYOUT", 1);
        assert_type(&decoded, 1, names[i][1], -2);
        release(&decoded);
    }
}

static void a_page_is_read_in_the_charset_that_it_declares(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        const char *message; /* in its bytes, and as it is read; NULL: refused */
        const char *read;
    } pages[] = {
        {"<meta charset='ISO-8859-1'>", "caf\xE9", "caf\xC3\xA9"},
        {"<META http-equiv=Content-Type content='text/html; charset=iso-8859-1'>", "\x80\x81\xFF",
         "\xE2\x82\xAC\xC2\x81\xC3\xBF"},
        {"<meta charset=windows-1252>", "caf\xC3\xA9", "caf\xC3\x83\xC2\xA9"},
        {"<meta name=viewport content=width><meta charset=' Latin1 '><meta charset=utf-8>", "\xE9",
         "\xC3\xA9"},
        {"<meta charset=utf-8>", "caf\xC3\xA9", "caf\xC3\xA9"},
        {"", "caf\xC3\xA9", "caf\xC3\xA9"},
        {"<meta charset=Shift_JIS>", "plain", "plain"},
        {"<meta charset=Shift_JIS>", "\x83\x41", NULL},
    };
    for (size_t i = 0; i < FP_COUNT(pages); i++) {
        char body[512];
        snprintf(body, sizeof(body),
                 "<html><head>%s</head><div id='traceData'>\n{'type':11,'data':{'message':'%s'}}\n"
                 "{'type':'x'}</div></html>",
                 pages[i].head, pages[i].message);
        struct decoded decoded;
        decode_dump(&decoded, body);
        if (pages[i].read == NULL) {
            assert_int_equal(decoded.verdict, FP_VERDICT_UNSUPPORTED);
            assert_int_equal(decoded.error.offset, 26);
        } else {
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_text(decoded.profile.timings[0].name, pages[i].read);
            assert_int_equal(decoded.profile.session.notes[0].first_offset,
                             strstr(body, "{'type':'x'") - body);
        }
        release(&decoded);
    }
}

/* Each name of both charsets; a byte of ISO 8859-1 is not UTF-8. */
static void each_name_of_a_charset_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_latin1;
    } charsets[] = {
        {"iso-8859-1", true}, {"iso8859-1", true}, {"iso_8859-1", true}, {"latin1", true},
        {"l1", true},         {"us-ascii", true},  {"ascii", true},      {"windows-1252", true},
        {"cp1252", true},     {"x-cp1252", true},  {"utf-8", false},     {"utf8", false},
    };
    for (size_t i = 0; i < FP_COUNT(charsets); i++) {
        char body[512];
        snprintf(body, sizeof(body),
                 "<html><head><meta charset=%s></head><div id='traceData'>\n"
                 "{'type':11,'data':{'message':'caf%s'}}\n</div></html>",
                 charsets[i].name, charsets[i].is_latin1 ? "\xE9" : "\xC3\xA9");
        struct decoded decoded;
        decode_dump(&decoded, body);
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        assert_text(decoded.profile.timings[0].name, "caf\xC3\xA9");
        release(&decoded);
    }
}

static void unreadable_lines_at_the_top_do_not_hide_the_rest(void **state)
{
    (void)state;
    enum { LINES_MAX = 1000 };
    struct fp_buf body;
    fp_buf_init(&body, 64 * 1024);
    for (size_t lines = 8; lines <= LINES_MAX + 1; lines += LINES_MAX - 8) {
        fp_buf_clear(&body);
        for (size_t i = 0; i < lines; i++)
            fp_buf_addf(&body, "{'type':1,'time':1.}\n");
        fp_buf_addf(&body, "{'type':1,'time':2}%c", '\0');
        struct decoded decoded;
        decode_dump(&decoded, (const char *)body.data);
        if (lines < LINES_MAX) {
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_int_equal(note_count(&decoded, "a record that is not JSON"), lines);
            assert_int_equal(decoded.profile.event_count, 1);
        } else {
            assert_int_equal(decoded.verdict, FP_VERDICT_MALFORMED);
            assert_non_null(strstr(decoded.error.detail, "?format=speed-tracer"));
        }
        release(&decoded);
    }
    fp_buf_release(&body);
}

static bool says(const struct decoded *decoded, uint32_t index, const char *member)
{
    const struct fp_str detail = event_at(decoded, index)->detail;
    return detail.len > 0 && memmem(detail.ptr, detail.len, member, strlen(member)) != NULL;
}

/* Copies a text without its queries, as scrubbing does. */
static struct fp_str without_queries(struct fp_arena *arena, struct fp_str text)
{
    char *bytes = fp_arena_alloc(arena, text.len);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        while (text.ptr[i] == '?' || text.ptr[i] == '=')
            i += 2;
        bytes[len++] = text.ptr[i];
    }
    return (struct fp_str){bytes, len};
}

static void facts_about_a_query_survive_export_and_import(void **state)
{
    (void)state;
    static const char dump[] =
        "{'type':2147483646,'time':1,'data':{'url':'http://a/?b=c'}}\n"
        "{'type':2147483646,'time':2,'data':{'url':'http://a/?b=c#d','x':{}},'y':1}\n"
        "{'type':2147483646,'time':3,'data':{'url':'http://a/?e'}}\n"
        "{'type':4,'time':4,'children':[3,{'type':12,'time':4,'data':{'url':'http://a/?x'},"
        "'children':[{'type':12,'time':4,'data':{'url':'http://a/?x','hasQuery':5}}]}],'data':{}}\n"
        "{'type':12,'time':5,'data':{'url':'http://a/'}}\n{'type':12,'time':6}";
    static const char *const around[2][2] = {{"", ""}, {"{'header':{},'data':[", "]}"}};
    struct decoded decoded;
    struct decoded again;
    char body[2048];
    for (int is_posted = 0; is_posted <= 1; is_posted++) {
        snprintf(body, sizeof(body), "%s%s%s", around[is_posted][0], dump, around[is_posted][1]);
        for (char *at = body; is_posted && (at = strchr(at, '\n')) != NULL;)
            *at = ',';
        take_dump(&decoded, body);
        fp_arena_init(&again.arena, TEST_ARENA_MAX);
        const struct fp_str content =
            without_queries(&again.arena, decoded.profile.session.content);
        decode_limited(&again, content, "", &dump_limits);
        assert_int_equal(again.verdict, FP_VERDICT_OK);
        assert_int_equal(again.profile.event_count, 8);
        for (uint32_t i = 0; i < 8; i++) {
            assert_int_equal(says(&decoded, i, "\"isRefresh\":true"), i == 1);
            assert_int_equal(says(&again, i, "\"isRefresh\":true"), i == 1);
            assert_int_equal(says(&decoded, i, "\"hasQuery\":true"), i == 4 || i == 5);
            assert_int_equal(says(&again, i, "\"hasQuery\":true"), i == 4 || i == 5);
        }
        release(&again);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_raw_message_is_refused_with_its_place_wherever_it_stands),
        cmocka_unit_test(a_member_named_method_makes_no_raw_message),
        cmocka_unit_test(a_custom_type_with_the_name_of_another_type_stays_apart),
        cmocka_unit_test(a_page_is_read_in_the_charset_that_it_declares),
        cmocka_unit_test(each_name_of_a_charset_is_known),
        cmocka_unit_test(unreadable_lines_at_the_top_do_not_hide_the_rest),
        cmocka_unit_test(facts_about_a_query_survive_export_and_import),
        cmocka_unit_test(a_closing_div_after_the_last_record_is_skipped),
        cmocka_unit_test(a_line_of_484_kilobytes_is_one_record),
        cmocka_unit_test(records_fifteen_deep_are_all_there),
        cmocka_unit_test(times_below_zero_are_kept),
        cmocka_unit_test(steps_back_in_time_are_counted_and_the_order_is_kept),
        cmocka_unit_test(a_sequence_that_is_used_twice_is_no_identity),
        cmocka_unit_test(an_update_without_a_time_has_time_0_and_its_own_times_in_its_data),
        cmocka_unit_test(own_time_may_be_two_milliseconds_below_zero),
        cmocka_unit_test(a_custom_record_may_have_a_custom_child),
        cmocka_unit_test(entities_stay_in_details_and_are_decoded_in_resources),
        cmocka_unit_test(a_start_that_is_no_time_is_noted),
        cmocka_unit_test(a_time_that_ends_with_its_dot_costs_that_record_only),
        cmocka_unit_test(headers_of_a_server_trace_and_lines_of_25_kilobytes_are_kept),
        cmocka_unit_test(the_same_records_are_the_same_events_in_every_container),
        cmocka_unit_test(a_line_of_bad_records_costs_no_more_than_its_length),
        cmocka_unit_test(a_record_of_very_many_members_costs_no_more_than_its_length),
        cmocka_unit_test(after_a_posted_body_places_are_offsets_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
