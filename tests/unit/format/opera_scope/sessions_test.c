/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, recordings of several sessions: each frame goes to its session, and each session's
 * content decodes to the same session.
 */
#include "opera_scope_test.h"

enum { TEXT_SIZE = 8192 };

/* Joins pieces of a recording, up to NULL, into one text. */
static const char *join(char text[TEXT_SIZE], const char *const *pieces)
{
    size_t len = 0;
    for (; *pieces != NULL; pieces++)
        len += (size_t)snprintf(text + len, TEXT_SIZE - len, "%s", *pieces);
    assert_true(len < TEXT_SIZE);
    return text;
}

static void decode_text(struct decoded *decoded, const char *text)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_scope_bytes(decoded, fp_str_of(text));
}

static void decode_pieces(struct decoded *decoded, const char *const *pieces)
{
    char text[TEXT_SIZE];
    struct fp_str body;
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    assert_true(fp_arena_copy(&decoded->arena, fp_str_of(join(text, pieces)), &body));
    decode_scope_bytes(decoded, body);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s: %s", text, decoded->error.detail);
}

static void assert_pieces(struct fp_str actual, const char *const *pieces)
{
    char text[TEXT_SIZE];
    assert_text(actual, join(text, pieces));
}

#define PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define decode_good(decoded, ...) decode_pieces(decoded, PIECES(__VA_ARGS__))

#define START_OF(tag, window, id)                                                                  \
    "[\"profiler\",1,0," tag ",[1," window "]]\n[\"profiler\",1,0," tag ",[" id "]]\n"
#define STOP_OF(tag, id)                                                                           \
    "[\"profiler\",2,0," tag ",[" id "]]\n[\"profiler\",2,0," tag ",[" id ",null,[[1,3]]]]\n"
#define ASK_OF(tag, id) "[\"profiler\",3,0," tag ",[" id ",1]]\n"
#define ANSWER_OF(tag, time) "[\"profiler\",3,0," tag ",[null,[[7," time ",0,1]]]]\n"
#define RELEASE_OF(tag, id) "[\"profiler\",4,0," tag ",[" id "]]\n[\"profiler\",4,0," tag ",[]]\n"

static uint32_t count_sessions(const struct fp_profile *profile)
{
    uint32_t count = 0;
    for (; profile != NULL; profile = profile->next)
        count++;
    return count;
}

/* Comparing. */

static bool is_same_timeline(const struct fp_profile *a, const struct fp_profile *b, uint32_t at)
{
    const struct fp_profile_timeline *one = &a->timelines[at];
    const struct fp_profile_timeline *other = &b->timelines[at];
    if (one->id != other->id || one->frame_id != other->frame_id || one->mode != other->mode ||
        one->event_count != other->event_count || one->first_event != other->first_event)
        return false;
    for (uint32_t i = one->first_event; i < one->first_event + one->event_count; i++)
        if (a->events[i].self_us != b->events[i].self_us || a->events[i].id != b->events[i].id ||
            a->events[i].parent != b->events[i].parent)
            return false;
    return true;
}

static bool is_same_session(const struct fp_profile *a, const struct fp_profile *b)
{
    bool same = a->session.id == b->session.id && a->session.window_id == b->session.window_id &&
                a->timeline_count == b->timeline_count && a->event_count == b->event_count;
    for (uint32_t i = 0; same && i < a->timeline_count; i++)
        same = is_same_timeline(a, b, i);
    return same;
}

/* Checks that a text decodes to this one session. */
static void assert_reads_as(struct fp_str text, const struct fp_profile *profile,
                            struct fp_str recording)
{
    struct decoded again;
    fp_arena_init(&again.arena, TEST_ARENA_MAX);
    decode_scope_bytes(&again, text);
    if (again.verdict != FP_VERDICT_OK || again.profile.next != NULL ||
        !is_same_session(profile, &again.profile))
        fail_msg("session %u (%s) of\n%.*s\nis not that of\n%.*s", (unsigned)profile->session.id,
                 again.verdict == FP_VERDICT_OK ? "read" : again.error.detail, (int)recording.len,
                 recording.ptr, (int)text.len, text.ptr);
    release(&again);
}

/* Checks each session against its raw lines and its content. */
static void assert_lines_are_the_sessions(const struct fp_profile *first, struct fp_str recording)
{
    for (const struct fp_profile *profile = first; profile != NULL; profile = profile->next) {
        assert_reads_as(profile->session.content, profile, recording);
        assert_int_equal(profile->session.raw.ptr != NULL, first->next != NULL);
        if (first->next != NULL)
            assert_reads_as(profile->session.raw, profile, recording);
    }
}

/* The session of each record. */

static void interleaved_sessions_are_told_apart(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "recording-two.txt");
    const struct fp_profile *first = &decoded.profile;
    const struct fp_profile *second = first->next;
    assert_int_equal(count_sessions(first), 2);
    assert_int_equal(first->session.id, 5);
    assert_int_equal(first->session.window_id, 2);
    assert_int_equal(first->timeline_count, 1);
    assert_int_equal(first->timelines[0].frame_id, 3);
    assert_int_equal(first->event_count, 2);
    assert_int_equal(first->session.records_kept, 2);
    assert_note(first, "another service", 2);
    assert_int_equal(second->format, FP_UPLOAD_OPERA_SCOPE);
    assert_true(second->has_session);
    assert_int_equal(second->session.id, 6);
    assert_int_equal(second->session.window_id, 3);
    assert_int_equal(second->timeline_count, 2);
    assert_int_equal(second->timelines[0].frame_id, 4);
    assert_int_equal(second->timelines[1].mode, FP_REDUCE_UNIQUE_TYPES);
    assert_int_equal(second->events[0].self_us, 2250);
    assert_int_equal(second->session.note_count, 0);
    release(&decoded);
}

/* Which session each line belongs to, and its content. */
static const struct {
    int session; /* 0: none's */
    const char *line, *kept;
} own_lines[] = {
    {5, "[\"exec\",1,0,1,[]]\r\n", ""}, /* before one is named: the first's */
    {5, "[\"profiler\", 1,0,2,[1,2]]\n", "[\"profiler\",1,0,2,[1,2]]\n"},
    {6, "[\"profiler\",1,0,3,[1,3,\"more\"]]\n", "[\"profiler\",1,0,3,[1,3]]\n"},
    {6, "\n", ""}, /* whose the line before is */
    {5, "[\"profiler\",1,0,2,[5]]\n", "[\"profiler\",1,0,2,[5]]\n"},
    {6, "[\"profiler\",1,0,3,[6]]\n", "[\"profiler\",1,0,3,[6]]\n"},
    {5, ASK_OF("2", "5"), ASK_OF("2", "5")},
    {6, ASK_OF("8", "6"), ASK_OF("8", "6")},
    {6, "[\"exec\",2,0,1,[]]\n", ""}, /* 6 was named last */
    {5, ANSWER_OF("2", "1"), ANSWER_OF("2", "1")},
    {0, ANSWER_OF("9", "3"), ""}, /* nobody asked */
    {6, ANSWER_OF("8", "2"), ANSWER_OF("8", "2")},
    {5, "[\"profiler\",4,0,2,[5]]\n", "[\"profiler\",4,0,2,[5]]\n"},
    {5, "[\"profiler\",4,0,2,[]]\n", "[\"profiler\",4,0,2,null]\n"},
    {0, "STP/1 20 [\"profiler\",1,3,1,7][6,1]\n", ""}, /* its tag is used again */
    {5, "STP/1 20 [\"profiler\",1,3,1,7][5,7]\n", "STP/1 22 [\"profiler\",1,3,1,7,0][5,7]\n"},
    {5, ANSWER_OF("7", "4"), ANSWER_OF("7", "4")},
    {0, "[\"profiler\",1,0,5,[1,4]]\n", ""}, /* nothing was started */
    {6, "[\"profiler\",4,0,4,[6]]", "[\"profiler\",4,0,4,[6]]\n"},
};

static void each_session_keeps_its_own_lines_in_their_order(void **state)
{
    (void)state;
    enum { LINES = sizeof(own_lines) / sizeof(own_lines[0]) };
    const char *all[LINES + 1] = {NULL};
    for (int i = 0; i < LINES; i++)
        all[i] = own_lines[i].line;
    struct decoded decoded;
    decode_pieces(&decoded, all);
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(count_sessions(profile), 2);
    for (int session = 5; session <= 6; session++, profile = profile->next) {
        const char *lines[LINES + 1] = {NULL};
        const char *kept[LINES + 1] = {NULL};
        for (int i = 0, count = 0; i < LINES; i++) {
            if (own_lines[i].session != session)
                continue;
            lines[count] = own_lines[i].line;
            kept[count++] = own_lines[i].kept;
        }
        assert_pieces(profile->session.raw, lines);
        assert_pieces(profile->session.content, kept);
    }
    assert_note(&decoded.profile, "a reply without", 1); /* 5 was answered last */
    assert_note(&decoded.profile, "without a reply", 1);
    assert_note(decoded.profile.next, "without a reply", 2);
    release(&decoded);
}

static void a_recording_of_one_session_keeps_all_of_it(void **state)
{
    (void)state;
    static const char *const pieces[] = {START_OF("2", "2", "5"),
                                         ASK_OF("2", "5"),
                                         ANSWER_OF("2", "1"),
                                         ANSWER_OF("9", "3"),
                                         "[\"profiler\",1,0,4,[1,2]]\n",
                                         NULL};
    struct decoded decoded;
    decode_pieces(&decoded, pieces);
    assert_null(decoded.profile.next);
    assert_null(decoded.profile.session.raw.ptr);
    assert_pieces(decoded.profile.session.content, pieces);
    release(&decoded);
}

static void a_session_that_is_only_started_is_none(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, START_OF("2", "2", "4"), "[\"exec\",1,0,1,[]]\n", ASK_OF("2", "5"),
                ANSWER_OF("2", "1"), START_OF("2", "2", "6"), "[\"exec\",1,0,1,[]]\n",
                ASK_OF("3", "6"));
    assert_int_equal(count_sessions(&decoded.profile), 1);
    assert_int_equal(decoded.profile.session.id, 5);
    assert_int_equal(decoded.profile.event_count, 1);
    assert_note(&decoded.profile, "another service", 2);
    assert_int_equal(note_of(&decoded.profile, "another service").first_offset,
                     strlen(START_OF("2", "2", "4")));
    assert_note(&decoded.profile, "without a reply", 1);
    assert_null(decoded.profile.session.raw.ptr);
    release(&decoded);
}

static void a_session_names_its_window_or_else_startprofiler_did(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, START_OF("2", "2", "5"), STOP_OF("2", "5"), START_OF("2", "3", "6"),
                "[\"profiler\",2,0,2,[6]]\n[\"profiler\",2,0,2,[6,4]]\n",
                START_OF("2", "8", "null"), STOP_OF("2", "7"));
    assert_int_equal(count_sessions(&decoded.profile), 3);
    assert_int_equal(decoded.profile.session.window_id, 2);
    assert_int_equal(decoded.profile.next->session.window_id, 4);
    assert_int_equal(decoded.profile.next->next->session.window_id, 0);
    release(&decoded);
    /* A reply without an id does not set the window of session 5. */
    decode_good(&decoded, START_OF("2", "2", "5"), START_OF("2", "8", "null"), STOP_OF("2", "5"));
    assert_int_equal(decoded.profile.session.window_id, 2);
    release(&decoded);
}

static void frames_that_name_no_session_are_of_the_one_named_last(void **state)
{
    (void)state;
    struct decoded decoded;
    /* Session 6 was released: the next request without an id is not for it. */
    decode_good(&decoded, STOP_OF("2", "6"), STOP_OF("2", "5"), RELEASE_OF("2", "6"),
                ASK_OF("2", "null"), ANSWER_OF("2", "1"));
    assert_int_equal(count_sessions(&decoded.profile), 2);
    assert_int_equal(decoded.profile.session.id, 6);
    assert_int_equal(decoded.profile.event_count, 0);
    assert_int_equal(decoded.profile.next->session.id, 5);
    assert_int_equal(decoded.profile.next->event_count, 1);
    release(&decoded);
    /* The request's session is that at its time, not at the reply's. */
    decode_good(&decoded, STOP_OF("2", "6"), ASK_OF("2", "null"), STOP_OF("3", "5"),
                ANSWER_OF("2", "1"));
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(decoded.profile.next->event_count, 0);
    release(&decoded);
    /* StartProfiler's reply names one. */
    decode_good(&decoded, START_OF("2", "2", "5"), ASK_OF("2", "null"), ANSWER_OF("2", "1"));
    assert_int_equal(decoded.profile.session.id, 5);
    release(&decoded);
}

static void an_error_ends_the_request_of_its_own_session(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, STOP_OF("2", "5"), STOP_OF("2", "6"), ASK_OF("2", "5"),
                "[\"profiler\",3,3,2,[\"?\"]]\n", ASK_OF("2", "6"), ANSWER_OF("2", "1"),
                "[\"profiler\",9,1,2,[]]\n");
    assert_note(&decoded.profile, "not OK", 1);
    assert_note(decoded.profile.next, "not OK", 1); /* of no request: the session named last */
    assert_int_equal(decoded.profile.event_count, 0);
    assert_int_equal(decoded.profile.next->event_count, 1);
    release(&decoded);
}

/* The reply to the first StopProfiler is missing; the second reply is another's. */
static void a_request_to_stop_is_no_reply_to_one_of_another_session(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, ASK_OF("2", "5"), ANSWER_OF("2", "1"), "[\"profiler\",2,0,2,[5]]\n",
                STOP_OF("2", "6"));
    assert_int_equal(count_sessions(&decoded.profile), 2);
    assert_note(&decoded.profile, "without a reply", 1);
    assert_int_equal(decoded.profile.next->session.id, 6);
    assert_text(decoded.profile.next->session.content, STOP_OF("2", "6"));
    release(&decoded);
}

static void a_session_that_comes_again_is_the_same(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, START_OF("2", "7", "5"), STOP_OF("2", "5"), STOP_OF("2", "6"),
                "[\"profiler\",3,0,2,[5,2]]\n", ANSWER_OF("2", "1"));
    assert_int_equal(count_sessions(&decoded.profile), 2);
    assert_int_equal(decoded.profile.session.id, 5);
    assert_int_equal(decoded.profile.session.window_id, 7);
    assert_int_equal(decoded.profile.event_count, 1);
    release(&decoded);
}

/* A restarted browser counts from 1 again. */
static void a_session_that_is_started_again_is_another(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, START_OF("2", "7", "1"), STOP_OF("2", "1"), ASK_OF("2", "1"),
                ANSWER_OF("2", "1"), START_OF("2", "8", "1"), STOP_OF("2", "1"), ASK_OF("2", "1"),
                ANSWER_OF("2", "2"));
    assert_int_equal(count_sessions(&decoded.profile), 2);
    const struct fp_profile *second = decoded.profile.next;
    assert_int_equal(decoded.profile.session.window_id, 7);
    assert_int_equal(decoded.profile.events[0].self_us, 1000);
    assert_int_equal(second->session.id, 1);
    assert_int_equal(second->session.window_id, 8);
    assert_int_equal(second->events[0].self_us, 2000);
    assert_text(second->session.content,
                START_OF("2", "8", "1") STOP_OF("2", "1") ASK_OF("2", "1") ANSWER_OF("2", "2"));
    release(&decoded);
}

/* Limits and errors. */

static struct fp_str write_sessions(char *text, size_t size, uint32_t count)
{
    size_t len = 0;
    for (uint32_t i = 1; i <= count; i++)
        len += (size_t)snprintf(text + len, size - len,
                                "[\"profiler\",3,0,2,[%u,1]]\n[\"profiler\",3,0,2,[null,["
                                "[7,1,0,1]]]]\n",
                                (unsigned)i);
    return (struct fp_str){text, len};
}

static void sixty_four_sessions_are_taken_and_one_more_is_not(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    for (uint32_t count = 64; count <= 65; count++) {
        struct fp_str body = write_sessions(text, TEXT_SIZE, count);
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_scope_bytes(&decoded, body);
        if (count == 64) {
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_int_equal(count_sessions(&decoded.profile), 64);
            assert_lines_are_the_sessions(&decoded.profile, body);
        } else {
            assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
            assert_string_equal(decoded.error.detail,
                                "line 130: session 65 is one too many: a recording can have 64 "
                                "sessions at most");
        }
        release(&decoded);
    }
}

static void one_bad_session_refuses_all(void **state)
{
    (void)state;
    static const struct {
        const char *title, *lines;
        enum fp_verdict verdict;
        const char *words;
    } cases[] = {
        {"no JSON", "[\"profiler\",3,0,2,[6,\n", FP_VERDICT_MALFORMED, "line 3: not JSON"},
        {"no event left", ASK_OF("2", "6") ANSWER_OF("2", "-1"), FP_VERDICT_INVALID,
         "session 6: none of the 1 events is valid; the first: an event whose time"},
        {"a draft", ASK_OF("2", "6") "[\"profiler\",3,0,2,[null,[[7,1,0,1,null,1,null,0.5,0]]]]\n",
         FP_VERDICT_INVALID, "line 4, at /4/1/0/7: childCount has a fraction"},
        {"a Session without an id",
         STOP_OF("2", "6") "[\"profiler\",2,0,2,[6]]\n"
                           "[\"profiler\",2,0,2,[null,2]]\n",
         FP_VERDICT_INVALID, "line 6, at /4: sessionID is missing"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct decoded decoded;
        snprintf(text, sizeof(text), "%s%s", ASK_OF("2", "5") ANSWER_OF("2", "1"), cases[i].lines);
        decode_text(&decoded, text);
        if (decoded.verdict != cases[i].verdict ||
            strstr(decoded.error.detail, cases[i].words) == NULL)
            fail_msg("%s: verdict %d: %s", cases[i].title, (int)decoded.verdict,
                     decoded.error.detail);
        release(&decoded);
    }
}

#define LONG "[7,140737488355,0,1]" /* a little below 2^47 us: a delta holds two */
#define LONG_ANSWER(events) "[\"profiler\",3,0,2,[null,[" events "]]]\n"

/* A sum that a delta cannot hold must be refused while the client can still get the error. */
static void the_sums_of_each_session_are_checked(void **state)
{
    (void)state;
    struct fp_format_limits limits = scope_limits;
    limits.max_span_us = INT64_C(1) << 53;
    static const struct {
        const char *text;
        enum fp_verdict verdict;
    } cases[] = {
        {ASK_OF("2", "5") LONG_ANSWER(LONG "," LONG) ASK_OF("2", "6") LONG_ANSWER(LONG "," LONG),
         FP_VERDICT_OK},
        {ASK_OF("2", "5") LONG_ANSWER(LONG) ASK_OF("2", "6") LONG_ANSWER(LONG "," LONG "," LONG),
         FP_VERDICT_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        assert_int_equal(fp_format_decode(fp_str_of(cases[i].text), FP_STR(""), &limits,
                                          &decoded.arena, &decoded.profile, &decoded.error),
                         cases[i].verdict);
        release(&decoded);
    }
}

static void truncated_anywhere_it_has_fewer_frames_of_the_same_sessions_or_is_refused(void **state)
{
    (void)state;
    struct decoded texts;
    fp_arena_init(&texts.arena, TEST_ARENA_MAX);
    struct fp_str body = read_fixture(&texts.arena, "recording-two.txt");
    for (size_t len = 0; len < body.len; len++) {
        struct decoded decoded;
        struct fp_str cut = {body.ptr, len};
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_scope_bytes(&decoded, cut);
        bool ends_whole = len > 0 && (body.ptr[len] == '\n' || body.ptr[len - 1] == '\n');
        if (decoded.verdict == FP_VERDICT_OK) {
            for (const struct fp_profile *each = &decoded.profile; each != NULL; each = each->next)
                assert_int_equal(each->truncated, !ends_whole);
            assert_lines_are_the_sessions(&decoded.profile, cut);
        } else {
            assert_true(decoded.error.detail[0] != '\0');
        }
        release(&decoded);
    }
    release(&texts);
}

static void runs_out_of_memory_at_every_point_without_harm(void **state)
{
    (void)state;
    struct decoded texts;
    fp_arena_init(&texts.arena, TEST_ARENA_MAX);
    struct fp_str body = read_fixture(&texts.arena, "recording-two.txt");
    bool decoded_once = false;
    for (size_t max_bytes = 0; max_bytes < 256 * 1024; max_bytes += 509) {
        struct decoded decoded;
        fp_arena_init(&decoded.arena, max_bytes);
        decode_scope_bytes(&decoded, body);
        assert_true(decoded.arena.used_bytes <= max_bytes);
        decoded_once = decoded.verdict == FP_VERDICT_OK;
        if (!decoded_once)
            assert_int_equal(decoded.verdict, FP_VERDICT_MEMORY);
        release(&decoded);
    }
    assert_true(decoded_once);
    release(&texts);
}

/* Random recordings with few tags and sessions, so that these collide. */

enum { DRAWN_LINES = 24, DRAWN_SIZE = 4096, ROUNDS = 20000 };

static uint64_t random_state = 88172645463325252;

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 33) % below);
}

/* Mostly frames that the service would send. */
static void draw_message(char *message, size_t size, unsigned command, bool replies, unsigned time)
{
    char id[8];
    snprintf(id, sizeof(id), draw(8) == 0 ? "null" : "%u", 5 + draw(3));
    if (command == 1 && !replies)
        snprintf(message, size, "[1,%u]", 1 + draw(3));
    else if (command == 2 && replies)
        snprintf(message, size, "[%u,null,[[1,%u]]]", 5 + draw(3), 1 + draw(3));
    else if (command == 3 && replies)
        snprintf(message, size, "[null,[[7,%u,0,1]]]", time);
    else if (command == 3)
        snprintf(message, size, "[%s,%u%s]", id, 1 + draw(3), draw(9) == 0 ? ",9" : "");
    else
        snprintf(message, size, "[%s]", id);
}

static size_t draw_line(char *line, size_t size, unsigned number)
{
    char message[64];
    char list[64];
    unsigned command = 1 + draw(4);
    unsigned tag = 1 + draw(2);
    unsigned status = draw(12) == 0 ? 3 : 0;
    bool replies = draw(2) == 0;
    if (draw(16) == 0)
        return (size_t)snprintf(line, size, "%s\n", draw(2) == 0 ? "" : "[\"exec\",1,0,1]");
    draw_message(message, sizeof(message), command, replies, number + 1);
    if (draw(2) == 0)
        return (size_t)snprintf(line, size, "[\"profiler\",%u,%u,%u,%s]\n", command, status, tag,
                                message);
    int len = snprintf(list, sizeof(list), "[\"profiler\",%u,%u,1,%u,%u]", replies ? 2U : 1U,
                       command, tag, status);
    return (size_t)snprintf(line, size, "STP/1 %d %s%s\n", len, list, message);
}

static void keeps_each_session_whole_in_any_order(void **state)
{
    (void)state;
    unsigned several = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char text[DRAWN_SIZE] = "[\"exec\",1,0,1]\n";
        size_t len = strlen(text);
        for (unsigned i = 0; i < 4 + draw(DRAWN_LINES); i++)
            len += draw_line(text + len, sizeof(text) - len, i);
        struct decoded decoded;
        const struct fp_str body = {text, len};
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_scope_bytes(&decoded, body);
        if (decoded.verdict == FP_VERDICT_OK) {
            several += decoded.profile.next != NULL;
            assert_lines_are_the_sessions(&decoded.profile, body);
        }
        release(&decoded);
    }
    assert_true(several > ROUNDS / 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_sessions_are_told_apart),
        cmocka_unit_test(each_session_keeps_its_own_lines_in_their_order),
        cmocka_unit_test(a_recording_of_one_session_keeps_all_of_it),
        cmocka_unit_test(a_session_that_is_only_started_is_none),
        cmocka_unit_test(a_session_names_its_window_or_else_startprofiler_did),
        cmocka_unit_test(frames_that_name_no_session_are_of_the_one_named_last),
        cmocka_unit_test(an_error_ends_the_request_of_its_own_session),
        cmocka_unit_test(a_request_to_stop_is_no_reply_to_one_of_another_session),
        cmocka_unit_test(a_session_that_comes_again_is_the_same),
        cmocka_unit_test(a_session_that_is_started_again_is_another),
        cmocka_unit_test(sixty_four_sessions_are_taken_and_one_more_is_not),
        cmocka_unit_test(one_bad_session_refuses_all),
        cmocka_unit_test(the_sums_of_each_session_are_checked),
        cmocka_unit_test(truncated_anywhere_it_has_fewer_frames_of_the_same_sessions_or_is_refused),
        cmocka_unit_test(runs_out_of_memory_at_every_point_without_harm),
        cmocka_unit_test(keeps_each_session_whole_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
