/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, notes: a session for each, with its words, and the reason if it refuses something;
 * and each field of an event's detail, needed or not.
 */
#include "opera_scope_test.h"

#include "collector/format/opera_scope/notes.c"

#define GOOD "[7,1,0,1,null,9]"
#define ASK "[\"profiler\",3,0,2,[1,1]]\n"
#define ANSWER "[\"profiler\",3,0,2,[null,[[7,1,0,1]]]]\n"
#define REFUSED(reason) FP_RECORD_REFUSAL_##reason
#define KEPT FP_RECORD_REFUSAL_NONE

/* One per note, in the order of enum fp_scope_note. */
static const struct {
    const char *session; /* a list of events, ' for "; or the lines of a recording or an envelope */
    const char *words;
    enum fp_record_refusal reason;
} cases[] = {
    {GOOD ",5", "neither a list nor an object", REFUSED(NO_MESSAGE)},
    {GOOD ",[-1,1,0,1]", "whose type is not", REFUSED(NO_TYPE)},
    {GOOD ",[7,-1,0,1]", "whose time is not", REFUSED(NO_TIME)},
    {GOOD ",[7,1,-1,1]", "whose overhead is not", REFUSED(NO_OVERHEAD)},
    {GOOD ",[7,1,0,-1]", "whose hits are not", REFUSED(NO_HITS)},
    {GOOD ",[7,60001,0,1]", "above limits.max_span", REFUSED(LONG_TIME)},
    {GOOD ",[7,1,0,1,3]", "whose bounds are not times", REFUSED(BAD_INTERVAL)},
    {GOOD ",[7,1,0,1,[3,2]]", "ends before it starts", REFUSED(BACKWARD_INTERVAL)},
    {GOOD ",[7,1,0,1,null,-5]", "an id, childCount or aggregate", REFUSED(BAD_OPTION)},
    {GOOD "," GOOD, "the eventID of one before it", REFUSED(DUPLICATE_ID)},
    {"{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
     "{'request':[1,1],'reply':[null,[" GOOD "]]},"
     "{'request':[1,1,1,9],'reply':[null,[" GOOD ",[7,1,0,1,null,10,9]]]}]}}",
     "in an earlier list of the timeline", REFUSED(KNOWN_EVENT)},
    {GOOD ",[7,1,0,1,null,5,5]", "its own ancestor", REFUSED(CYCLE)},
    {"{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
     "{'request':[1,1],'reply':[null,[[7,1,0,1]]]},{'request':[1,1],'reply':[null,[[7,1,0,1]]]}]}}",
     "a list that was already read", REFUSED(KNOWN_LIST)},
    {"[10,1,0,1,null,null,null,null,null,null,['p']]", "of another kind than its event",
     REFUSED(OTHER_DETAIL)},
    {"[9,1,0,1,null,null,null,null,null,null,[]]", "a field missing or of a wrong type",
     REFUSED(BAD_DETAIL)},
    {ASK ANSWER "[\"exec\",1,0,1,[]]\n", "a frame of another service", REFUSED(OTHER_SERVICE)},
    {"[\"profiler\",3,0,7,[1,9]]\n[\"profiler\",3,4,7,[\"Unknown timeline\"]]\n" ASK ANSWER,
     "a status that is not OK", REFUSED(BAD_STATUS)},
    {ASK ANSWER "STP/1 20 [\"profiler\",3,7,1,0]null\n", "which has none", REFUSED(SERVICE_EVENT)},
    {ANSWER ASK ANSWER, "a reply without a valid request", REFUSED(ORPHAN)},
    {ASK ANSWER "[\"profiler\",3,0", "a truncated last line", REFUSED(TRUNCATED)},
    {ASK ANSWER "[\"profiler\",3,0,9,[1,2]]\n", "a request without a reply", KEPT},
    {"{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
     "{'request':[1,1,2],'reply':[null,[" GOOD "," GOOD "]]}]}}",
     "a reduced event with the eventID", KEPT},
    {"{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
     "{'request':[1,2],'reply':[null,[" GOOD "]]}]}}",
     "the session does not list", KEPT},
    {"[7,2,0,1,null,1,null,0,1]", "below the event's own time", KEPT},
    {"[7,2,0,1,null,1,null,1,9],[10,1,0,1,null,2,1,0,1]", "not the sum of its parts", KEPT},
    {"[7,1,0,1,[5,6]],[7,1,0,1,[3,4]]", "not sorted by start", KEPT},
    {"{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
     "{'request':[1,1],'reply':[[1,8],[[7,1,0,1,[1,5]]]]}]}}",
     "not the span of its events", KEPT},
};

static void decode_case(struct decoded *decoded, const char *session)
{
    char text[1024];
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    if (strchr(session, '\n') != NULL) {
        decode_scope_bytes(decoded, fp_str_of(session));
        return;
    }
    (void)snprintf(text, sizeof(text), session[0] == '{' ? "%s" : EVENTS("%s"), session);
    decode_scope_bytes(decoded, json_of(&decoded->arena, text));
}

static void each_has_a_session_with_its_words_and_reason(void **state)
{
    (void)state;
    /* There is no note 0. */
    assert_int_equal(FP_COUNT(cases) + 1, FP_SCOPE_NOTE_COUNT);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const char *text = fp_scope_note_text((enum fp_scope_note)(i + 1));
        if (strstr(text, cases[i].words) == NULL)
            fail_msg("%s says: %s", cases[i].words, text);
        struct decoded decoded;
        decode_case(&decoded, cases[i].session);
        if (decoded.verdict != FP_VERDICT_OK)
            fail_msg("%s: %s", cases[i].session, decoded.error.detail);
        const struct fp_profile_note note = note_of(&decoded.profile, cases[i].words);
        if (note.count != 1)
            fail_msg("%s: %u notes: %s", cases[i].session, (unsigned)note.count, cases[i].words);
        assert_int_equal(note.reason, cases[i].reason);
        release(&decoded);
    }
}

/* Details by name, with all fields; the first ones are needed. */
struct detail_case {
    const char *type, *name;
    const char *fields[8]; /* up to NULL */
    size_t needed;
};

static const struct detail_case details[] = {
    {"9", "cssSelectorMatching", {"'selector':'p'"}, 1},
    {"6", "scriptThreadEvaluation", {"'scriptThreadType':3", "'eventName':'click'"}, 1},
    {"3", "documentParsing", {"'url':'http://a/'"}, 1},
    {"4", "cssParsing", {"'url':'http://a/'"}, 1},
    {"5", "scriptCompilation", {"'scriptType':1", "'url':'http://a/'"}, 1},
    {"11", "paint", {"'area':[0,0,1,1]"}, 0},
};

static const struct detail_case area = {
    "11", "paint", {"'x':1", "'y':2", "'w':3", "'h':4", "'ox':5", "'oy':6"}, 4};

/* Decodes an event whose detail, or the area in it, lacks one of its fields. */
static uint32_t count_bad(const struct detail_case *detail, size_t without, bool in_area)
{
    char fields[256] = "";
    char text[512];
    struct decoded decoded;
    for (size_t i = 0; detail->fields[i] != NULL; i++)
        if (i != without)
            (void)snprintf(fields + strlen(fields), sizeof(fields) - strlen(fields), "%s%s",
                           fields[0] != '\0' ? "," : "", detail->fields[i]);
    (void)snprintf(text, sizeof(text),
                   EVENTS("{'type':%s,'time':1,'overhead':0,'hits':1,'%s':{%s%s%s}}"), detail->type,
                   detail->name, in_area ? "'area':{" : "", fields, in_area ? "}" : "");
    decode_good_scope(&decoded, text);
    const uint32_t count = note_of(&decoded.profile, "a field missing").count;
    release(&decoded);
    return count;
}

static void check_detail(const struct detail_case *detail, bool in_area)
{
    size_t count = 0;
    while (detail->fields[count] != NULL)
        count++;
    assert_int_equal(count_bad(detail, SIZE_MAX, in_area), 0);
    for (size_t i = 0; i < count; i++)
        if (count_bad(detail, i, in_area) != (i < detail->needed))
            fail_msg("%s without %s", detail->name, detail->fields[i]);
}

static void each_field_of_a_detail_is_needed_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(details); i++)
        check_detail(&details[i], false);
    check_detail(&area, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_a_session_with_its_words_and_reason),
        cmocka_unit_test(each_field_of_a_detail_is_needed_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
