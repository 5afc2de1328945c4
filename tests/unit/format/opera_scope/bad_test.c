/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope uploads that are refused as a whole, with their place and a sentence.
 */
#include "opera_scope_test.h"

#define DRAFT_EVENT "[7,1,0,1,[0,1],5,null,1.25,0.5]"
#define TIMELINES(timelines)                                                                       \
    "{'opera-scope':{'version':'1.0','session':[1],'timelines':" timelines "}}"

struct bad_scope {
    const char *title;
    const char *body; /* ' stands for " */
    enum fp_verdict verdict;
    const char *pointer; /* of FP_VERDICT_INVALID and FP_VERDICT_TOO_LARGE; NULL: none */
    const char *words;   /* of the sentence */
};

static const struct bad_scope bad_scopes[] = {
    {"no object", "{'opera-scope':[]}", FP_VERDICT_INVALID, "/opera-scope", "an object"},
    {"null", "{'opera-scope':null}", FP_VERDICT_INVALID, "", "opera-scope is missing"},
    {"no version", "{'opera-scope':{'session':[1],'timelines':[]}}", FP_VERDICT_INVALID,
     "/opera-scope", "version is missing"},
    {"another major version", "{'opera-scope':{'version':'2.0'}}", FP_VERDICT_INVALID,
     "/opera-scope/version", "\"1.0\" or \"1.1\""},
    {"a draft's version", "{'opera-scope':{'version':'1.0-draft'}}", FP_VERDICT_INVALID,
     "/opera-scope/version", "drafts are not supported"},
    {"a version that is a number", "{'opera-scope':{'version':1.0}}", FP_VERDICT_INVALID,
     "/opera-scope/version", "a string"},
    {"a start that is a text", "{'opera-scope':{'version':'1.0','startedAt':'2012'}}",
     FP_VERDICT_INVALID, "/opera-scope/startedAt", "milliseconds"},
    {"a start before 1970", "{'opera-scope':{'version':'1.0','startedAt':-1}}", FP_VERDICT_INVALID,
     "/opera-scope/startedAt", "1970"},
    {"a URL that is a number", "{'opera-scope':{'version':'1.0','url':1}}", FP_VERDICT_INVALID,
     "/opera-scope/url", "a string"},
    {"a trace next to it", "{'trace':{},'opera-scope':{'version':'1.0'}}", FP_VERDICT_INVALID,
     "/trace", "cannot be in one upload"},
    {"marks next to it", "{'marks':{},'opera-scope':{'version':'1.0'}}", FP_VERDICT_INVALID,
     "/marks", "cannot be in one upload"},
    {"a wrong member of the ordinary envelope", "{'part':-1,'opera-scope':{'version':'1.0'}}",
     FP_VERDICT_INVALID, "/part", "whole number"},
    {"a session that is a number", ENVELOPE_OF("5", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session", "a message"},
    {"a session without an id", ENVELOPE_OF("[]", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session", "sessionID is missing"},
    {"session 0", ENVELOPE_OF("[0]", "[1,1]", "[]"), FP_VERDICT_INVALID, "/opera-scope/session",
     "sessionID is missing"},
    {"a sessionID that is a text", ENVELOPE_OF("['1']", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session/0", "sessionID must be"},
    {"a windowID below 0, by name", ENVELOPE_OF("{'sessionID':1,'windowID':-1}", "[1,1]", "[]"),
     FP_VERDICT_INVALID, "/opera-scope/session/windowID", "windowID must be"},
    {"a timelineList that is an object", ENVELOPE_OF("[1,2,{}]", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session/2", "timelineList must be a list"},
    {"a timeline that is a number", ENVELOPE_OF("[1,2,[1]]", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session/2/0", "a message"},
    {"a timeline without an id", ENVELOPE_OF("[1,2,[[1],[null,3]]]", "[1,1]", "[]"),
     FP_VERDICT_INVALID, "/opera-scope/session/2/1", "timelineID is missing"},
    {"a frameID that is a text", ENVELOPE_OF("[1,2,[[1,'top']]]", "[1,1]", "[]"),
     FP_VERDICT_INVALID, "/opera-scope/session/2/0/1", "frameID must be"},
    {"no timelines", "{'opera-scope':{'version':'1.0','session':[1]}}", FP_VERDICT_INVALID,
     "/opera-scope", "timelines is missing"},
    {"timelines that are an object", TIMELINES("{}"), FP_VERDICT_INVALID, "/opera-scope/timelines",
     "an array"},
    {"a pair that is a list", TIMELINES("[[[1,1],[]]]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0", "an object"},
    {"a reply without its request", TIMELINES("[{'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0", "request is missing"},
    {"a request without its reply", TIMELINES("[{'request':[1,1]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0", "reply is missing"},
    {"a request that is a number", TIMELINES("[{'request':1,'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request", "a message"},
    {"a request without a timeline", TIMELINES("[{'request':[1],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request", "timelineID is missing"},
    {"timeline 0", TIMELINES("[{'request':[1,0],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request", "timelineID is missing"},
    {"mode 0", TIMELINES("[{'request':[1,1,0],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request/2", "mode is 0"},
    {"mode 5", TIMELINES("[{'request':{'timelineID':1,'mode':5},'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request/mode", "mode is 5"},
    {"a mode that is a text", TIMELINES("[{'request':[1,1,'ALL'],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request/2", "mode must be"},
    {"a root that is a text", TIMELINES("[{'request':[1,1,1,'x'],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request/3", "eventID must be"},
    {"a depth below 0", TIMELINES("[{'request':[1,1,1,1,-1],'reply':[]}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/request/4", "maxDepth must be"},
    {"types that are a number", TIMELINES("[{'request':[1,1,1,1,1,9],'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/5", "eventTypeList must be a list"},
    {"a type that is a text", TIMELINES("[{'request':[1,1,1,1,1,[9,'PAINT']],'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/5/1", "a type of event must be"},
    {"a type below 0", TIMELINES("[{'request':{'timelineID':1,'eventTypeList':[-1]},'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/eventTypeList/0", "a type of event"},
    {"an interval that is a number", TIMELINES("[{'request':[1,1,1,1,1,[],5],'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/6", "interval must be"},
    {"an interval of texts", TIMELINES("[{'request':[1,1,1,1,1,[],[0,'5']],'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/6", "interval must be"},
    {"an interval beyond all clocks",
     TIMELINES("[{'request':{'timelineID':1,'interval':{'start':-1e300}},'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request/interval", "interval must be"},
    {"a request of another session", TIMELINES("[{'request':[2,1],'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request", "one session"},
    {"no session anywhere",
     "{'opera-scope':{'version':'1.0','timelines':[{'request':[null,1],'reply':[]}]}}",
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request", "whose events"},
    {"neither session nor timelines", "{'opera-scope':{'version':'1.0','timelines':[]}}",
     FP_VERDICT_INVALID, "", "there is no session"},
    {"a reply that is a number", TIMELINES("[{'request':[1,1],'reply':5}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/reply", "an Events message"},
    {"events that are an object", TIMELINES("[{'request':[1,1],'reply':[null,{}]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/reply/1", "eventList must be a list"},
    {"events that are a text, by name",
     TIMELINES("[{'request':[1,1],'reply':{'eventList':'all'}}]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/reply/eventList", "eventList must be a list"},
    {"a draft's event among good ones", EVENTS("[7,1,0,1]," DRAFT_EVENT), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/reply/1/1/7", "a draft"},
    {"a draft's session", ENVELOPE_OF("{'profileID':1}", "[1,1]", "[]"), FP_VERDICT_INVALID,
     "/opera-scope/session", "a draft"},
    {"a draft's request", TIMELINES("[{'request':{'profileID':1,'timelineID':1},'reply':[]}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/0/request", "a draft"},
    {"no valid event", EVENTS("5,[7,-1,0,1]"), FP_VERDICT_INVALID,
     "/opera-scope/timelines/0/reply/1/0",
     "none of the 2 events is valid; the first: an event that is neither"},
    {"nothing but a circle, in the second list",
     TIMELINES("[{'request':[1,1],'reply':[]},"
               "{'request':[1,2],'reply':{'eventList':[[7,1,0,1,null,1,2],[7,1,0,1,null,2,1]]}}]"),
     FP_VERDICT_INVALID, "/opera-scope/timelines/1/reply/eventList/0",
     "none of the 2 events is valid; the first: an event that is its own ancestor"},
    {"events nested too deep", EVENTS("[7,1,0,1,[[[[[[[[[[[[[[]]]]]]]]]]]]]]]"),
     FP_VERDICT_TOO_LARGE, NULL, "json_depth"},
    {"parents nested too deep",
     EVENTS("[7,1,0,1,null,7,6],[7,1,0,1,null,6,5],[7,1,0,1,null,5,4],[7,1,0,1,null,4,3],"
            "[7,1,0,1,null,3,2],[7,1,0,1,null,2,1],[7,1,0,1,null,1]"),
     FP_VERDICT_TOO_LARGE, "/opera-scope/timelines/0/reply/1", "limits.stack_depth"},
    {"too many URLs",
     EVENTS("{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['a']},"
            "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['b']},"
            "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['c']},"
            "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['d']},"
            "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['e']}"),
     FP_VERDICT_TOO_LARGE, "", "limits.resources"},
    {"invalid UTF-8", EVENTS("[9,1,0,1,null,null,null,null,null,null,['\xff']]"),
     FP_VERDICT_MALFORMED, NULL, "UTF-8"},
    {"a time beyond a double", EVENTS("[7,1e999,0,1]"), FP_VERDICT_MALFORMED, NULL, "number"},
};

static void assert_bad(const struct decoded *decoded, const struct bad_scope *bad)
{
    const struct fp_upload_error *error = &decoded->error;
    bool at = bad->pointer == NULL
                  ? !error->has_pointer
                  : error->has_pointer && strcmp(error->pointer, bad->pointer) == 0;
    if (decoded->verdict != bad->verdict || error->verdict != bad->verdict || !at ||
        strstr(error->detail, bad->words) == NULL)
        fail_msg("%s: verdict %d at %s: %s", bad->title, (int)decoded->verdict,
                 error->has_pointer ? error->pointer : "none", error->detail);
}

static void each_bad_session_is_refused_with_its_place_and_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_scopes) / sizeof(bad_scopes[0]); i++) {
        struct decoded decoded;
        decode_scope(&decoded, bad_scopes[i].body);
        assert_bad(&decoded, &bad_scopes[i]);
        release(&decoded);
    }
}

/* Makes a session with a number of lists, each with a number of events. */
static void decode_many(struct decoded *decoded, uint32_t list_count, uint32_t event_count)
{
    char text[4096] = "{'opera-scope':{'version':'1.0','session':[1],'timelines':[";
    size_t len = strlen(text);
    for (uint32_t i = 0; i < list_count; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s{'request':[1,%u],'reply':[[],[",
                                i > 0 ? "," : "", (unsigned)i + 1);
        for (uint32_t k = 0; k < event_count; k++)
            len +=
                (size_t)snprintf(text + len, sizeof(text) - len, "%s[7,1,0,1]", k > 0 ? "," : "");
        len += (size_t)snprintf(text + len, sizeof(text) - len, "]]}");
    }
    snprintf(text + len, sizeof(text) - len, "]}}");
    decode_scope(decoded, text);
}

static void the_limit_of_entries_holds_for_all_lists_together(void **state)
{
    (void)state;
    static const struct {
        uint32_t lists, events;
        bool is_taken;
    } cases[] = {{1, 40, true}, {1, 41, false}, {2, 20, true}, {2, 21, false},
                 {4, 10, true}, {40, 1, true},  {40, 0, true}, {41, 0, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        decode_many(&decoded, cases[i].lists, cases[i].events);
        assert_int_equal(decoded.verdict, cases[i].is_taken ? FP_VERDICT_OK : FP_VERDICT_TOO_LARGE);
        if (cases[i].is_taken)
            assert_int_equal(decoded.profile.event_count, cases[i].lists * cases[i].events);
        release(&decoded);
    }
}

static void ten_thousand_levels_are_refused(void **state)
{
    (void)state;
    enum { LEVELS = 10000 };
    static const char begin[] = "{\"opera-scope\":";
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    char *bytes = fp_arena_alloc(&decoded.arena, sizeof(begin) + 2 * LEVELS + 1);
    assert_non_null(bytes);
    memcpy(bytes, begin, sizeof(begin) - 1);
    memset(bytes + sizeof(begin) - 1, '[', LEVELS);
    memset(bytes + sizeof(begin) - 1 + LEVELS, ']', LEVELS);
    bytes[sizeof(begin) - 1 + 2 * LEVELS] = '}';
    decode_scope_bytes(&decoded, (struct fp_str){bytes, sizeof(begin) + 2 * LEVELS});
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    release(&decoded);
}

/* No other format may decode the truncated body either. */
static void a_session_truncated_anywhere_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"page-load.json", "by-name.json"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct decoded texts;
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        struct fp_str body = read_fixture(&texts.arena, names[i]);
        while (body.len > 0 && body.ptr[body.len - 1] == '\n')
            body.len--;
        for (size_t len = 0; len < body.len; len++) {
            struct decoded decoded;
            fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
            decode_scope_bytes(&decoded, (struct fp_str){body.ptr, len});
            if (decoded.verdict != FP_VERDICT_MALFORMED)
                fail_msg("%s, truncated at %zu: verdict %d: %s", names[i], len,
                         (int)decoded.verdict, decoded.error.detail);
            release(&decoded);
        }
        release(&texts);
    }
}

static void the_address_may_insist(void **state)
{
    (void)state;
    static const struct {
        const char *body, *hint;
        enum fp_verdict verdict;
    } cases[] = {
        {TIMELINES("[]"), "opera-scope", FP_VERDICT_OK},
        {TIMELINES("[]"), "user-timing", FP_VERDICT_INVALID},
        {"['profiler',2,0,2,[1]]\n['profiler',2,0,2,[1]]", "opera-scope", FP_VERDICT_OK},
        {"['profiler',2,0,2,[1]]\n['profiler',2,0,2,[1]]", "self-profile", FP_VERDICT_INVALID},
        {"{'coverage':'quota'}", "opera-scope", FP_VERDICT_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        decode(&decoded, cases[i].body, cases[i].hint);
        assert_int_equal(decoded.verdict, cases[i].verdict);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bad_session_is_refused_with_its_place_and_a_sentence),
        cmocka_unit_test(the_limit_of_entries_holds_for_all_lists_together),
        cmocka_unit_test(ten_thousand_levels_are_refused),
        cmocka_unit_test(a_session_truncated_anywhere_is_refused),
        cmocka_unit_test(the_address_may_insist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
