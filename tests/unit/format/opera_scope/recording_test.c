/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, recordings: replies find their requests by command and tag, irrelevant frames are
 * skipped, errors name their line.
 */
#include "opera_scope_test.h"

#define ASK "[\"profiler\",3,0,2,[1,1]]\n"
#define ANSWER "[\"profiler\",3,0,2,[null,[[7,1,0,1]]]]\n"

static void decode_lines(struct decoded *decoded, const char *text)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_scope_bytes(decoded, fp_str_of(text));
}

static void decode_good_lines(struct decoded *decoded, const char *text)
{
    decode_lines(decoded, text);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s: %s", text, decoded->error.detail);
}

static void pairs_replies_with_their_requests_and_reuses_tags(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "recording.jsonl");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->format, FP_UPLOAD_OPERA_SCOPE);
    assert_int_equal(profile->session.id, 5);
    assert_int_equal(profile->session.window_id, 2); /* StartProfiler said so */
    assert_text(profile->session.version, "");
    assert_int_equal(profile->timeline_count, 3);
    assert_int_equal(profile->timelines[0].id, 2);
    assert_int_equal(profile->timelines[0].frame_id, 4);
    assert_int_equal(profile->timelines[1].id, 1);
    assert_int_equal(profile->timelines[1].event_count, 2);
    assert_int_equal(profile->timelines[2].id, 1);
    assert_int_equal(profile->timelines[2].mode, FP_REDUCE_UNIQUE_EVENTS);
    assert_int_equal(profile->session.records_kept, 5);
    assert_int_equal(profile->session.note_count, 2);
    assert_note(profile, "another service", 4);
    assert_note(profile, "not OK", 1);
    release(&decoded);
}

static void reads_frames_that_name_their_kind(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "recording-stp.txt");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->session.id, 6);
    assert_int_equal(profile->session.window_id, 2);
    assert_int_equal(profile->timeline_count, 1);
    assert_int_equal(profile->event_count, 1);
    assert_text(profile->resources[0], "https://shop.example/");
    assert_note(profile, "another service", 1);
    assert_note(profile, "not OK", 1);
    release(&decoded);
}

static void takes_lines_of_either_form_and_any_end(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded, "STP/1 20 [\"profiler\",1,3,1,2][1,1]\r\n\r\n \n"
                                "[\"profiler\",3,0,2,[null,[[7,1,0,1]]]] \t\r\n"
                                "STP/1 18 [\"profiler\",1,3,1]{\"sessionID\":1,\"timelineID\":2}\n"
                                "[\"profiler\",3,null,null,{\"eventList\":[[7,1,0,1]]}]");
    assert_int_equal(decoded.profile.timeline_count, 2);
    assert_int_equal(decoded.profile.timelines[1].id, 2);
    assert_int_equal(decoded.profile.event_count, 2);
    release(&decoded);
}

static void a_byte_order_mark_and_blank_lines_may_stand_before_it(void **state)
{
    (void)state;
    static const char *const begins[] = {"\xEF\xBB\xBF", "\r\n \n", "\xEF\xBB\xBF\n\t", " "};
    static const char *const frames[] = {ASK ANSWER,
                                         "STP/1 20 [\"profiler\",1,3,1,2][1,1]\n" ANSWER};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        for (size_t k = 0; k < sizeof(frames) / sizeof(frames[0]); k++) {
            char text[200];
            snprintf(text, sizeof(text), "%s%s", begins[i], frames[k]);
            struct decoded decoded;
            decode_good_lines(&decoded, text);
            assert_int_equal(decoded.profile.event_count, 1);
            release(&decoded);
        }
    }
}

static void an_error_ends_its_request(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded,
                      "[\"profiler\",3,0,2,[1,9]]\n[\"profiler\",3,3,2,[\"?\"]]\n" ASK ANSWER);
    assert_int_equal(decoded.profile.timelines[0].id, 1);
    assert_int_equal(decoded.profile.event_count, 1);
    release(&decoded);
    /* The reply to a bad request. */
    decode_good_lines(&decoded, "[\"profiler\",3,0,2,[]]\n[\"profiler\",3,3,2]\n" ASK ANSWER);
    assert_int_equal(decoded.profile.event_count, 1);
    release(&decoded);
}

static void an_error_frame_is_one_whatever_its_status(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded,
                      "STP/1 20 [\"profiler\",1,3,1,2][1,9]\n"
                      "STP/1 20 [\"profiler\",4,3,1,2][\"Unknown timeline\"]\n" ASK ANSWER);
    assert_int_equal(decoded.profile.timeline_count, 1);
    assert_int_equal(decoded.profile.timelines[0].id, 1);
    assert_note(&decoded.profile, "not OK", 1);
    release(&decoded);
    /* In any message format. */
    decode_good_lines(&decoded, "STP/1 22 [\"profiler\",4,3,2,2,3]<error/>\n" ASK ANSWER);
    assert_note(&decoded.profile, "not OK", 1);
    release(&decoded);
}

static void the_last_session_message_says_which_timelines_there_are(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded,
                      "[\"profiler\",2,0,2,[1]]\n[\"profiler\",2,0,2,[1,2,[[5,6],[1,3]]]]\n"
                      "[\"profiler\",2,0,2,[1]]\n[\"profiler\",2,0,2,[1,2,[[1,4]]]]\n" ASK ANSWER);
    assert_int_equal(decoded.profile.timelines[0].frame_id, 4);
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void the_limit_of_entries_holds_for_lists_without_events(void **state)
{
    (void)state;
    char text[4096];
    size_t len = 0;
    for (uint32_t i = 0; i <= scope_limits.entries; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "[\"profiler\",3,0,2,[1,%u]]\n[\"profiler\",3,0,2,[]]\n",
                                (unsigned)i + 1);
        struct decoded decoded;
        decode_lines(&decoded, text);
        assert_int_equal(decoded.verdict,
                         i < scope_limits.entries ? FP_VERDICT_OK : FP_VERDICT_TOO_LARGE);
        release(&decoded);
    }
}

static void the_limit_of_entries_holds_for_requests_at_once(void **state)
{
    (void)state;
    char text[4096];
    size_t len = 0;
    for (uint32_t i = 0; i <= scope_limits.entries; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "[\"profiler\",3,0,%u,[1,1]]\n",
                                (unsigned)i);
    struct decoded decoded;
    decode_lines(&decoded, text);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_non_null(strstr(decoded.error.detail, "line 41: more than 40 different requests"));
    release(&decoded);
}

static void notes_what_was_never_answered_and_events_of_the_service(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded, ASK ANSWER "[\"profiler\",4,0,9,[1]]\n"
                                           "STP/1 20 [\"profiler\",3,7,1,0]null\n");
    assert_note(&decoded.profile, "without a reply", 1);
    assert_int_equal(note_of(&decoded.profile, "without a reply").first_offset, strlen(ASK ANSWER));
    assert_int_equal(note_of(&decoded.profile, "without a reply").reason, FP_RECORD_REFUSAL_NONE);
    assert_note(&decoded.profile, "which has none", 1);
    release(&decoded);
}

/* Each list but the last is noted, next to the valid list that follows. */
static void an_orphan_reply_drops_no_other(void **state)
{
    (void)state;
    static const struct {
        const char *title, *lines;
        unsigned unasked, unanswered;
    } cases[] = {
        {"the request was before the recording began", ANSWER, 1, 0},
        {"a second reply to one request", ASK ANSWER ANSWER, 1, 0},
        {"by name", "[\"profiler\",3,0,2,{\"eventList\":[[7,1,0,1]]}]\n", 1, 0},
        {"a reply that says so", "STP/1 22 [\"profiler\",2,3,1,2,0][null,[[7,1,0,1]]]\n", 1, 0},
        {"a request without a timeline", "[\"profiler\",3,0,2,[1]]\n" ANSWER, 2, 0},
        {"a mode that there is not", "[\"profiler\",3,0,2,[1,1,9]]\n" ANSWER, 1, 0},
        {"a request that got no reply, and its tag again", ASK, 0, 1},
        {"three of them", ASK ASK ASK, 0, 3},
        {"an invalid one", "[\"profiler\",3,0,2,[1,1,9]]\n", 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct decoded decoded;
        snprintf(text, sizeof(text),
                 "%s[\"profiler\",3,0,2,[1,7]]\n[\"profiler\",3,0,2,[null,[[8,1,0,1]]]]\n",
                 cases[i].lines);
        decode_lines(&decoded, text);
        const struct fp_profile *profile = &decoded.profile;
        if (decoded.verdict != FP_VERDICT_OK)
            fail_msg("%s: %s", cases[i].title, decoded.error.detail);
        const struct fp_profile_timeline *last = &profile->timelines[profile->timeline_count - 1];
        if (last->id != 7 || last->event_count != 1)
            fail_msg("%s: timeline %u", cases[i].title, (unsigned)last->id);
        if (note_of(profile, "a reply without").count != cases[i].unasked ||
            note_of(profile, "a request without").count != cases[i].unanswered)
            fail_msg("%s: %u unasked, %u unanswered", cases[i].title,
                     (unsigned)note_of(profile, "a reply without").count,
                     (unsigned)note_of(profile, "a request without").count);
        release(&decoded);
    }
}

static void says_where_in_the_recording_an_event_was_refused(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_lines(&decoded, ASK "[\"profiler\",3,0,2,[null,[[7,1,0,1],[7,-1,0,1]]]]");
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(note_of(&decoded.profile, "whose time").first_offset, strlen(ASK));
    release(&decoded);
}

static const struct {
    const char *title;
    const char *body;
    enum fp_verdict verdict;
    int64_t offset; /* -1: none */
    const char *words;
} bad_recordings[] = {
    {"no JSON", ASK "[\"profiler\",3,0,2,[null,oops]]\n", FP_VERDICT_MALFORMED, 49,
     "line 2: not JSON"},
    {"a truncated line with a line break", ASK "[\"profiler\",3,0\n", FP_VERDICT_MALFORMED, 40,
     "line 2: not JSON"},
    {"invalid UTF-8", ASK "[\"profiler\xff\"]\n", FP_VERDICT_MALFORMED, 35, "UTF-8"},
    {"a frame over two lines", ASK "[\"profiler\",\n3,0,2,[]]", FP_VERDICT_MALFORMED, 37, "line 2"},
    {"another container", ASK "{\"opera-scope\":{}}", FP_VERDICT_INVALID, 25,
     "line 2: this is not a frame"},
    {"another container's marks", "[\"profiler\",2,0,2,[1]]\n[{\"name\":\"a\"}]",
     FP_VERDICT_INVALID, 23, "line 2: this is not a frame"},
    {"a frame without a command", ASK "[\"profiler\"]\n" ANSWER, FP_VERDICT_INVALID, 25,
     "line 2: this is not a frame: it has no command"},
    {"a frame of kind and nothing else", "STP/1 14 [\"profiler\",1]\n", FP_VERDICT_INVALID, 0,
     "line 1: this is not a frame: it has no command"},
    {"an empty list", ASK "[]", FP_VERDICT_INVALID, 25, "not a frame"},
    {"a command that is a text", "[\"profiler\",\"GetEvents\",0,2,[]]", FP_VERDICT_INVALID, 0,
     "command"},
    {"a status below 0", "[\"profiler\",3,-1,2,[]]", FP_VERDICT_INVALID, 0, "status"},
    {"a tag with a fraction", "[\"profiler\",3,0,2.5,[]]", FP_VERDICT_INVALID, 0, "tag"},
    {"a reply that nobody asked for", "[\"profiler\",2,0,2,[1]]\n[\"profiler\",2,0,2,[1]]\n" ANSWER,
     FP_VERDICT_INVALID, 46, "line 3: this is neither"},
    {"a reply of known kind that nobody asked for", "STP/1 22 [\"profiler\",2,3,1,2,0][null,[]]",
     FP_VERDICT_INVALID, 0, "line 1: this is neither"},
    {"an invalid request with a reply", "[\"profiler\",3,0,2,[1]]\n" ANSWER, FP_VERDICT_INVALID, 0,
     "line 1: this is neither"},
    {"a payload that is not a list", ASK "[\"profiler\",3,0,2,7]", FP_VERDICT_INVALID, 25,
     "line 2, at /4"},
    {"a payload that is missing", ASK "[\"profiler\",3,0,2]", FP_VERDICT_INVALID, 25,
     "line 2, at /4"},
    {"a request of a draft", "[\"profiler\",3,0,2,{\"profileID\":1,\"timelineID\":1}]\n" ANSWER,
     FP_VERDICT_INVALID, 0, "line 1, at /4: profileID is of a draft"},
    {"a session of a draft", "[\"profiler\",2,0,2,[1]]\n[\"profiler\",2,0,2,{\"profileID\":1}]",
     FP_VERDICT_INVALID, 23, "a draft"},
    {"a stop of a draft, answered by a list",
     "[\"profiler\",2,0,2,{\"profileID\":1}]\n[\"profiler\",2,0,2,[1]]", FP_VERDICT_INVALID, 0,
     "line 1, at /4: profileID is of a draft"},
    {"a start of a draft", "[\"profiler\",1,0,2,[1,2]]\n[\"profiler\",1,0,2,{\"profileID\":1}]\n",
     FP_VERDICT_INVALID, 25, "line 2, at /4: profileID is of a draft"},
    {"an event of a draft", ASK "[\"profiler\",3,0,2,[null,[[7,1,0,1,null,1,null,0.5,0]]]]",
     FP_VERDICT_INVALID, 25, "line 2, at /4/1/0/7: childCount has a fraction"},
    {"no valid event, after another service",
     "[\"exec\",3,0,2,[]]\n" ASK "[\"profiler\",3,0,2,[null,[[7,-1,0,1]]]]", FP_VERDICT_INVALID, 43,
     "none of the 1 events is valid; the first: an event whose time"},
    {"nothing but other services", "[\"exec\",3,0,2,[]]\n", FP_VERDICT_INVALID, -1, "no session"},
    {"no length", "STP/1 [\"profiler\",1,3,1,2][1,1]", FP_VERDICT_MALFORMED, 0,
     "length of the header"},
    {"a length without end", "STP/1 99999999999999999999999 []", FP_VERDICT_MALFORMED, 0,
     "length of the header"},
    {"a length beyond the line", "STP/1 99 [\"profiler\",1,3,1,2][1,1]", FP_VERDICT_MALFORMED, 0,
     "length of the header"},
    {"a length that cuts the header", "STP/1 19 [\"profiler\",1,3,1,2][1,1]", FP_VERDICT_MALFORMED,
     28, "not JSON"},
    {"a length and no more", "STP/1 20", FP_VERDICT_MALFORMED, 0, "length of the header"},
    {"no message", "STP/1 20 [\"profiler\",1,3,1,2]", FP_VERDICT_MALFORMED, 29, "empty"},
    {"a kind that is unknown", "STP/1 20 [\"profiler\",5,3,1,2][1,1]", FP_VERDICT_INVALID, 0,
     "kind"},
    {"a protocol buffer", "STP/1 20 [\"profiler\",1,3,0,2]\"CAE=\"", FP_VERDICT_INVALID, 0,
     "UMS/protobuf (format 0)"},
    {"XML", "STP/1 20 [\"profiler\",1,3,2,2]<a/>", FP_VERDICT_INVALID, 0, "XML (format 2)"},
    {"another format", "STP/1 20 [\"profiler\",1,3,3,2]{}", FP_VERDICT_INVALID, 0,
     "unknown format"},
    {"XML as a text", "[\"profiler\",3,0,2,\"<Events/>\"]", FP_VERDICT_INVALID, 0, "is XML"},
    {"base64", "[\"profiler\",3,0,2,\"CAE=\"]", FP_VERDICT_INVALID, 0, "UMS/protobuf in base64"},
    {"frames as they go over the wire", "STP\x01\x10\x02", FP_VERDICT_UNSUPPORTED, 0,
     "UMS/protobuf"},
};

static void each_bad_recording_is_refused_with_its_line_and_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_recordings) / sizeof(bad_recordings[0]); i++) {
        struct decoded decoded;
        decode_lines(&decoded, bad_recordings[i].body);
        if (decoded.verdict != bad_recordings[i].verdict ||
            decoded.error.offset != bad_recordings[i].offset ||
            strstr(decoded.error.detail, bad_recordings[i].words) == NULL)
            fail_msg("%s: verdict %d, offset %lld: %s", bad_recordings[i].title,
                     (int)decoded.verdict, (long long)decoded.error.offset, decoded.error.detail);
        release(&decoded);
    }
}

/* The truncated last line is skipped: the result is that of the lines before it. */
static void assert_is_as_without_tail(struct fp_str body, size_t len)
{
    struct decoded cut;
    struct decoded whole;
    const char *last = memrchr(body.ptr, '\n', len);
    const size_t lines_len = last != NULL ? (size_t)(last - body.ptr) + 1 : 0;
    bool has_tail = len > lines_len && body.ptr[len] != '\n';
    fp_arena_init(&cut.arena, TEST_ARENA_MAX);
    fp_arena_init(&whole.arena, TEST_ARENA_MAX);
    decode_scope_bytes(&cut, (struct fp_str){body.ptr, len});
    decode_scope_bytes(&whole, (struct fp_str){body.ptr, has_tail ? lines_len : len});
    if (whole.verdict == FP_VERDICT_OK) {
        assert_int_equal(cut.verdict, FP_VERDICT_OK);
        assert_int_equal(cut.profile.truncated, has_tail);
        assert_int_equal(cut.profile.event_count, whole.profile.event_count);
        assert_int_equal(cut.profile.session.id, whole.profile.session.id);
        assert_true(fp_str_equal(cut.profile.session.content, whole.profile.session.content));
    } else {
        assert_int_not_equal(cut.verdict, FP_VERDICT_OK);
        assert_true(cut.error.detail[0] != '\0');
    }
    if (has_tail && cut.verdict == FP_VERDICT_OK)
        assert_int_equal(note_of(&cut.profile, "last line").first_offset, lines_len);
    release(&cut);
    release(&whole);
}

static void a_truncated_recording_has_the_lines_before(void **state)
{
    (void)state;
    static const char *const names[] = {"recording.jsonl", "recording-stp.txt"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct decoded texts;
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        struct fp_str body = read_fixture(&texts.arena, names[i]);
        for (size_t len = 0; len < body.len; len++)
            assert_is_as_without_tail(body, len);
        release(&texts);
    }
}

static void lists_that_are_no_recording_are_left_to_others(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "[\"a b\",1]",       "[\"profiler\"]", "[\"profiler", "[1,2]",
        " [\"profiler\",1]", "STP/1\n",        "STP/0 1 []",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct decoded decoded;
        decode_lines(&decoded, bodies[i]);
        assert_int_not_equal(decoded.verdict, FP_VERDICT_OK);
        assert_null(strstr(decoded.error.detail, "line 1"));
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_replies_with_their_requests_and_reuses_tags),
        cmocka_unit_test(reads_frames_that_name_their_kind),
        cmocka_unit_test(takes_lines_of_either_form_and_any_end),
        cmocka_unit_test(a_byte_order_mark_and_blank_lines_may_stand_before_it),
        cmocka_unit_test(an_error_ends_its_request),
        cmocka_unit_test(an_error_frame_is_one_whatever_its_status),
        cmocka_unit_test(the_last_session_message_says_which_timelines_there_are),
        cmocka_unit_test(the_limit_of_entries_holds_for_lists_without_events),
        cmocka_unit_test(the_limit_of_entries_holds_for_requests_at_once),
        cmocka_unit_test(notes_what_was_never_answered_and_events_of_the_service),
        cmocka_unit_test(an_orphan_reply_drops_no_other),
        cmocka_unit_test(says_where_in_the_recording_an_event_was_refused),
        cmocka_unit_test(each_bad_recording_is_refused_with_its_line_and_offset),
        cmocka_unit_test(a_truncated_recording_has_the_lines_before),
        cmocka_unit_test(lists_that_are_no_recording_are_left_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
