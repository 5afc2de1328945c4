/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, one event at a time: an invalid event is skipped and noted, and no valid one with
 * it; an event that does not add up is noted and kept.
 */
#include "opera_scope_test.h"

#define GOOD_BEFORE "[7,1,0,1,null,1000]"
#define GOOD_AFTER "[10,2,0,1,null,1001,1000]"
#define DETAIL_1 "null,null,null,null,null,null,"
#define DETAIL_6 DETAIL_1 "null,null,null,null,null,"

struct event_case {
    const char *title;
    const char *event; /* ' stands for " */
    const char *note;  /* words of it */
};

static const struct event_case refused_events[] = {
    {"a number", "5", "neither a list nor an object"},
    {"a string", "'event'", "neither a list nor an object"},
    {"null", "null", "neither a list nor an object"},
    {"true", "true", "neither a list nor an object"},
    {"an empty list", "[]", "type"},
    {"an empty object", "{}", "type"},
    {"a list of one", "[7]", "whose time"},
    {"a list of two", "[7,1]", "whose overhead"},
    {"a list of three", "[7,1,0]", "hits"},
    {"null for the type", "[null,1,0,1]", "type"},
    {"null for the time", "[7,null,0,1]", "whose time"},
    {"null for the overhead", "[7,1,null,1]", "whose overhead"},
    {"null for the hits", "[7,1,0,null]", "hits"},
    {"an object without a time", "{'type':7,'overhead':0,'hits':1}", "whose time"},
    {"a type below 0", "[-1,1,0,1]", "type"},
    {"a type with a fraction", "[7.5,1,0,1]", "type"},
    {"a type that is a text", "['LAYOUT',1,0,1]", "type"},
    {"a type beyond an enumeration", "[2147483648,1,0,1]", "type"},
    {"a type that is a list", "[[7],1,0,1]", "type"},
    {"a time below 0", "[7,-0.5,0,1]", "whose time"},
    {"a time that is a text", "[7,'1',0,1]", "whose time"},
    {"a time that is true", "[7,true,0,1]", "whose time"},
    {"a time beyond 2^53 microseconds", "[7,1e300,0,1]", "whose time"},
    {"a time longer than an upload may be", "[7,60001,0,1]", "limits.max_span"},
    {"an overhead below 0", "[7,1,-1,1]", "whose overhead"},
    {"an overhead that is a list", "[7,1,[],1]", "whose overhead"},
    {"an overhead longer than an upload may be", "[7,1,60001,1]", "limits.max_span"},
    {"hits below 0", "[7,1,0,-1]", "hits"},
    {"hits with a fraction", "[7,1,0,1.5]", "hits"},
    {"hits beyond 32 bits", "[7,1,0,4294967296]", "hits"},
    {"hits that are a text", "[7,1,0,'1']", "hits"},
    {"an interval that ends before it starts", "[7,1,0,1,[3,2]]", "ends before it starts"},
    {"an interval that ends a fraction before it starts", "[7,1,0,1,[3,2.9999999]]",
     "ends before it starts"},
    {"an interval that is a number", "[7,1,0,1,3]", "interval"},
    {"an interval of texts", "[7,1,0,1,['a','b']]", "interval"},
    {"an interval beyond 2^53 microseconds", "[7,1,0,1,[0,1e18]]", "interval"},
    {"an interval from beyond 2^53 microseconds", "[7,1,0,1,[-1e18]]", "interval"},
    {"an interval longer than 2^53 microseconds", "[7,1,0,1,[-9e12,9e12]]", "interval"},
    {"an eventID below 0", "[7,1,0,1,null,-5]", "an id"},
    {"an eventID that is a text", "[7,1,0,1,null,'5']", "an id"},
    {"an eventID beyond 32 bits", "[7,1,0,1,null,4294967296]", "an id"},
    {"a parentEventID with a fraction", "[7,1,0,1,null,5,1.5]", "an id"},
    {"a childCount below 0", "[7,1,0,1,null,5,null,-1]", "childCount"},
    {"a childCount with a fraction, by name",
     "{'type':7,'time':1,'overhead':0,'hits':1,'childCount':1.5}", "childCount"},
    {"a childCount with a fraction in a list too long for a draft",
     "[7,1,0,1,null,5,null,1.5,null,null,null,null,null,null,null,null]", "childCount"},
    {"an aggregatedTime below 0", "[7,1,0,1,null,5,null,0,-1]", "aggregate"},
    {"an aggregatedTime that is a text", "[7,1,0,1,null,5,null,0,'1']", "aggregate"},
    {"an aggregatedOverhead that is a list", "[7,1,0,1,null,5,null,0,1,[1]]", "aggregate"},
    {"an aggregatedOverhead too large", "[7,1,0,1,null,5,null,0,1,1e300]", "aggregate"},
    {"the eventID of one before it", "[7,1,0,1,null,1000]", "eventID of one before it"},
    {"its own parent", "[7,1,0,1,null,5,5]", "its own ancestor"},
};

static void an_invalid_event_is_noted_and_drops_no_valid_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused_events) / sizeof(refused_events[0]); i++) {
        const struct event_case *refused = &refused_events[i];
        char text[600];
        snprintf(text, sizeof(text), EVENTS(GOOD_BEFORE ",%s," GOOD_AFTER), refused->event);
        struct decoded decoded;
        decode_scope(&decoded, text);
        const struct fp_profile *profile = &decoded.profile;
        if (decoded.verdict != FP_VERDICT_OK || profile->event_count != 2 ||
            profile->session.note_count != 1)
            fail_msg("%s: %s", refused->title, decoded.error.detail);
        assert_int_equal(profile->events[0].id, 1000);
        assert_int_equal(profile->events[1].id, 1001);
        assert_int_equal(profile->events[1].parent, 0);
        assert_int_equal(profile->session.records_read, 3);
        assert_int_equal(profile->session.records_kept, 2);
        assert_note(profile, refused->note, 1);
        assert_int_not_equal(profile->session.notes[0].reason, FP_RECORD_REFUSAL_NONE);
        assert_int_equal(profile->session.notes[0].first_offset, 1);
        assert_text(profile->session.notes[0].first_pointer, "/opera-scope/timelines/0/reply/1/1");
        release(&decoded);
    }
}

static const struct event_case lost_details[] = {
    {"a selector of a layout", "[10,1,0,1," DETAIL_1 "['p']]", "another kind"},
    {"a selector of an unknown type", "[99,1,0,1," DETAIL_1 "['p']]", "another kind"},
    {"a selector of type 0", "[0,1,0,1," DETAIL_1 "['p']]", "another kind"},
    {"a paint of the process", "[2,1,0,1," DETAIL_6 "[[0,0,1,1]]]", "another kind"},
    {"a selector of a thread", "[6,1,0,1," DETAIL_1 "['p']]", "another kind"},
    {"a selector that is a text", "[9,1,0,1," DETAIL_1 "'p']", "a field missing"},
    {"no selector", "[9,1,0,1," DETAIL_1 "[]]", "a field missing"},
    {"a selector that is null", "[9,1,0,1," DETAIL_1 "[null]]", "a field missing"},
    {"a selector that is a number", "[9,1,0,1," DETAIL_1 "[5]]", "a field missing"},
    {"no thread type", "[6,1,0,1," DETAIL_1 "null,[null,'click']]", "a field missing"},
    {"a thread type that is a text", "[6,1,0,1," DETAIL_1 "null,['EVENT']]", "a field missing"},
    {"an event name that is a number", "[6,1,0,1," DETAIL_1 "null,[3,5]]", "a field missing"},
    {"no URL of a document", "[3,1,0,1," DETAIL_1 "null,null,{}]", "a field missing"},
    {"a URL of a document that is a list", "[3,1,0,1," DETAIL_1 "null,null,[['a']]]",
     "a field missing"},
    {"no URL of a style sheet", "[4,1,0,1," DETAIL_1 "null,null,null,[]]", "a field missing"},
    {"a script type of a draft", "[5,1,0,1," DETAIL_1 "null,null,null,null,['linked','a.js']]",
     "a field missing"},
    {"a URL of a script that is a number", "[5,1,0,1," DETAIL_1 "null,null,null,null,[1,5]]",
     "a field missing"},
    {"an area without a height", "[11,1,0,1," DETAIL_6 "[[0,0,5]]]", "a field missing"},
    {"an area with a fraction", "[11,1,0,1," DETAIL_6 "[[0,0,5.5,5]]]", "a field missing"},
    {"an area beyond 32 bits", "[11,1,0,1," DETAIL_6 "[[0,0,2147483648,5]]]", "a field missing"},
    {"a scroll offset that is a text", "[11,1,0,1," DETAIL_6 "[[0,0,5,5,'1',1]]]",
     "a field missing"},
    {"an area that is a number", "[11,1,0,1," DETAIL_6 "[5]]", "a field missing"},
};

static void an_invalid_detail_is_skipped_and_the_event_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lost_details) / sizeof(lost_details[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text), EVENTS(GOOD_BEFORE ",%s," GOOD_AFTER), lost_details[i].event);
        struct decoded decoded;
        decode_scope(&decoded, text);
        const struct fp_profile *profile = &decoded.profile;
        if (decoded.verdict != FP_VERDICT_OK || profile->event_count != 3 ||
            profile->session.note_count != 1)
            fail_msg("%s: %s", lost_details[i].title, decoded.error.detail);
        assert_text(profile->events[1].detail, "");
        assert_int_equal(profile->events[1].resource, FP_INDEX_NONE);
        assert_int_equal(profile->resource_count, 0);
        assert_note(profile, lost_details[i].note, 1);
        assert_int_not_equal(profile->session.notes[0].reason, FP_RECORD_REFUSAL_NONE);
        release(&decoded);
    }
}

static void the_right_detail_is_kept_next_to_a_wrong_one(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[9,1,0,1,null,null,null,null,2.5,null,['p'],[3]]"));
    assert_text(decoded.profile.events[0].detail, "{\"selector\":\"p\",\"aggregatedTime\":2.5}");
    assert_note(&decoded.profile, "another kind", 1);
    release(&decoded);
}

static void a_paint_need_not_say_where(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[11,1,0,1," DETAIL_6 "[]],[11,1,0,1," DETAIL_6 "{}]"));
    assert_text(decoded.profile.events[0].detail, "");
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

/* Sums, order, span. */

static const struct event_case odd_lists[] = {
    {"an aggregate below the event's own time", "[7,2,0,1,null,1,null,0,1.5]",
     "below the event's own time"},
    {"an aggregate without children above its own time", "[7,2,0,1,null,1,null,0,2.5]",
     "not the sum"},
    {"an aggregate that is not the children's sum",
     "[7,2,0,1,null,1,null,1,4],[10,1,0,1,null,2,1,0,1]", "not the sum"},
    {"a list out of order", "[7,1,0,1,[5,6]],[7,1,0,1],[7,1,0,1,[4,6]],[7,1,0,1,[3,6]]",
     "sorted by start"},
};

static void keeps_and_notes_sums_that_do_not_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(odd_lists) / sizeof(odd_lists[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text), EVENTS("%s"), odd_lists[i].event);
        struct decoded decoded;
        decode_good_scope(&decoded, text);
        assert_int_equal(decoded.profile.session.note_count, 1);
        assert_note(&decoded.profile, odd_lists[i].note, 1);
        assert_int_equal(decoded.profile.session.notes[0].reason, FP_RECORD_REFUSAL_NONE);
        assert_int_equal(decoded.profile.session.records_kept,
                         decoded.profile.session.records_read);
        release(&decoded);
    }
}

static void nothing_is_said_of_sums_whose_parts_are_not_all_there(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "[7,2,0,1,null,1,null,2,9],[10,1,0,1,null,2,1,0,1]",         /* a child is filtered away */
        "[7,2,0,1,null,1,null,1,9],[10,1,0,1,null,2,1]",             /* a child has no aggregate */
        "[7,2,0,1,null,1,null,null,9]",                              /* nobody knows how many */
        "[7,0.1,0,1,null,1,null,1,0.3],[10,0.2,0,1,null,2,1,0,0.2]", /* doubles */
        "[7,1,0,1,[5,5]],[7,1,0,1,[5,9]],[7,1,0,1,[5,6]]",           /* equal starts */
        "[7,1,0,1,[5,6]],[7,1,0,1],[7,1,0,1,[null,2]],[7,1,0,1,[5,6]]", /* no starts */
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text), EVENTS("%s"), lists[i]);
        struct decoded decoded;
        decode_good_scope(&decoded, text);
        assert_int_equal(decoded.profile.session.note_count, 0);
        release(&decoded);
    }
}

static void a_list_says_its_span_rightly_or_is_noted(void **state)
{
    (void)state;
    static const struct {
        const char *interval, *list;
        uint32_t notes;
    } spans[] = {
        {"[1,9]", "[7,1,0,1,[1,5]],[7,1,0,1,[2,9]]", 0},
        {"[1,8]", "[7,1,0,1,[1,5]],[7,1,0,1,[2,9]]", 1},
        {"[0,9]", "[7,1,0,1,[1,5]],[7,1,0,1,[2,9]]", 1},
        {"[1]", "[7,1,0,1,[1,5]]", 1},
        {"'all'", "[7,1,0,1,[1,5]]", 1},
        {"[1,8]", "[7,1,0,1,[1,5]],[7,1,0,1]", 0},
        {"[1,9]", "[7,1,0,1,[1,5]],[7,1,0,-1,[2,9]]", 0}, /* what is left out had its part in it */
        {"null", "[7,1,0,1,[1,5]]", 0},
        {"[0,9]", "", 1},
        {"[]", "", 0},
    };
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text), ENVELOPE_OF("[1,2,[[1]]]", "[1,1]", "[%s,[%s]]"),
                 spans[i].interval, spans[i].list);
        struct decoded decoded;
        decode_good_scope(&decoded, text);
        assert_note(&decoded.profile, "span of its events", spans[i].notes);
        release(&decoded);
    }
}

/* Identity. */

static void a_cycle_of_parents_is_skipped_and_its_descendants_are_kept(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[7,1,0,1,null,4,3],[7,1,0,1,null,1,3],[7,1,0,1,null,2,1],"
                                       "[7,1,0,1,null,3,2],[7,1,0,1,null,5,4],[7,1,0,1,null,6,2]"));
    const struct fp_profile *profile = &decoded.profile;
    assert_note(profile, "its own ancestor", 3);
    assert_int_equal(note_of(profile, "its own ancestor").first_offset, 1);
    assert_int_equal(profile->event_count, 3);
    assert_int_equal(profile->events[0].id, 4);
    assert_int_equal(profile->events[0].parent, FP_INDEX_NONE);
    assert_int_equal(profile->events[1].id, 5);
    assert_int_equal(profile->events[1].parent, 0);
    assert_int_equal(profile->events[2].id, 6);
    assert_int_equal(profile->events[2].parent, FP_INDEX_NONE);
    release(&decoded);
}

static void children_of_a_refused_event_stand_at_the_top(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[7,-1,0,1,null,1],[10,1,0,1,null,2,1]"));
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(decoded.profile.events[0].parent, FP_INDEX_NONE);
    release(&decoded);
}

static void reduced_events_may_repeat_an_id_but_lose_it(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, ENVELOPE_OF("[1,2,[[1]]]", "[1,1,3]",
                                            "[null,[[7,1,0,1,null,5],[8,1,0,1,null,5]]]"));
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(decoded.profile.events[0].id, 5);
    assert_int_equal(decoded.profile.events[1].id, 0);
    assert_note(&decoded.profile, "a reduced event", 1);
    release(&decoded);
}

#define PAIR(request, list) "{'request':" request ",'reply':[null,[" list "]]}"
#define PAIRS(pairs)                                                                               \
    "{'opera-scope':{'version':'1.0','session':[1,2,[[1],[2]]],'timelines':[" pairs "]}}"

static void an_event_of_two_lists_of_a_timeline_counts_once(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, PAIRS(PAIR("[1,1,1,null,null,[7]]", "[7,1,0,1,null,1]") ","    //
                                      PAIR("[1,1]", "[7,1,0,1,null,1],[8,1,0,1,null,2,1]") "," //
                                      PAIR("[1,2]", "[7,1,0,1,null,1]") ","                    //
                                      PAIR("[1,1,3]", "[7,1,0,1,null,1]")));
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->timeline_count, 4);
    assert_int_equal(profile->timelines[0].event_count, 1);
    assert_int_equal(profile->timelines[1].event_count, 1);
    assert_int_equal(profile->events[1].id, 2);
    assert_int_equal(profile->events[1].parent, 0); /* the first list has it */
    assert_int_equal(profile->timelines[2].event_count, 1);
    assert_int_equal(profile->timelines[3].event_count, 1);
    assert_note(profile, "an earlier list of the timeline", 1);
    release(&decoded);
}

static void a_parent_may_be_in_an_earlier_list_of_the_same_timeline_alone(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      PAIRS(PAIR("[1,1,1,null,1]", "[7,1,0,1,null,1]") ","                      //
                            PAIR("[1,1,1,1,null,[8]]", "[8,1,0,1,null,2,1],[8,1,0,1,null,3,2]") //
                            "," PAIR("[1,2]", "[8,1,0,1,null,2,1]") ","                         //
                            PAIR("[1,1,3]", "[8,1,0,1,null,4,1]") ","                           //
                            PAIR("[1,1]", "[9,1,0,1,null,5,3],[9,1,0,1,null,6,9]")));
    static const uint32_t parents[] = {FP_INDEX_NONE, 0, 1, FP_INDEX_NONE, FP_INDEX_NONE, 2,
                                       FP_INDEX_NONE};
    for (uint32_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++)
        assert_int_equal(decoded.profile.events[i].parent, parents[i]);
    release(&decoded);
}

/* By the request's eventID, even if ancestors in between are filtered out. */
static void a_request_inside_an_event_is_its_child(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, PAIRS(PAIR("[1,1]", "[7,1,0,1,null,1]") ","                     //
                                      PAIR("[1,1,1,1]", "[9,1,0,1,null,2],[9,1,0,1,null,3,99]," //
                                                        "[9,1,0,1,null,4,3]") ","               //
                                      PAIR("[1,1,1,98]", "[9,1,0,1,null,5]") ","                //
                                      PAIR("[1,2,1,1]", "[9,1,0,1,null,2]") ","                 //
                                      PAIR("[1,1,3,1]", "[9,1,0,1,null,6]")));
    static const uint32_t parents[] = {FP_INDEX_NONE, 0, 0, 2, FP_INDEX_NONE, FP_INDEX_NONE,
                                       FP_INDEX_NONE};
    for (uint32_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++)
        assert_int_equal(decoded.profile.events[i].parent, parents[i]);
    release(&decoded);
}

static void lists_together_are_not_nested_deeper_than_one(void **state)
{
    (void)state;
    struct decoded decoded;
    char text[1024] = "{'opera-scope':{'version':'1.0','session':[1],'timelines':[";
    for (unsigned depth = 1; depth <= scope_limits.stack_depth + 1; depth++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s" PAIR("[1,1,1,%u]", "[7,1,0,1,null,%u,%u]"), depth > 1 ? "," : "", depth,
                 depth, depth - 1);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "]}}");
    decode_scope(&decoded, text);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_string_equal(decoded.error.pointer, "/opera-scope/timelines/6/reply/1");
    release(&decoded);
}

static void a_note_says_which_list_it_is_of(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      "{'opera-scope':{'version':'1.0','session':[1,2,[[1]]],'timelines':["
                      "{'request':[1,1],'reply':[null,[[7,1,0,1]]]},"
                      "{'request':[1,2],'reply':{'eventList':[[7,1,0,1],[7,1,0,-1]]}},"
                      "{'request':{'sessionID':1,'timelineID':1},'reply':[null,[[7,1,0,1]]]}]}}");
    const struct fp_profile *profile = &decoded.profile;
    assert_text(note_of(profile, "does not list").first_pointer, "/opera-scope/timelines/1/reply");
    assert_text(note_of(profile, "hits are not").first_pointer,
                "/opera-scope/timelines/1/reply/eventList/1");
    assert_text(note_of(profile, "already read").first_pointer, "/opera-scope/timelines/2/reply");
    release(&decoded);
}

static void the_same_list_twice_counts_once(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      PAIRS(PAIR("[1,1,2,null,null,[7,8],[0,5]]", "[7,1,0,1]") ","       //
                            PAIR("[1,1,2,null,null,[7,8],[0,5]]", "[7,1,0,1],[8,1,0,1]") //
                            "," PAIR("[1,1,2,null,null,[7],[0,5]]", "[7,1,0,1]") ","     //
                            PAIR("[1,1,2,null,null,[7,8],[0,6]]", "[7,1,0,1]") ","       //
                            PAIR("[1,1,2,1,null,[7,8],[0,5]]", "[7,1,0,1]") ","          //
                            PAIR("[1,1,2,null,1,[7,8],[0,5]]", "[7,1,0,1]")));
    assert_int_equal(decoded.profile.timeline_count, 5);
    assert_int_equal(decoded.profile.session.records_read, 7);
    assert_int_equal(decoded.profile.session.records_kept, 5);
    assert_note(&decoded.profile, "a list that was already read", 2);
    release(&decoded);
}

static void a_query_is_the_same_however_it_is_written(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      PAIRS(PAIR("[1,1,2,null,null,[7,8],[0,5]]", "[7,1,0,1]") ","   //
                            PAIR("{'timelineID':1,'mode':2,'eventTypeList':[8,7,8]," //
                                 "'interval':{'end':5.0,'start':0}}",
                                 "[7,1,0,1]") ","                                          //
                            PAIR("[null,1.0,2e0,0,null,[8.0,7],[0,5,9]]", "[7,1,0,1]") "," //
                            PAIR("[1,1,2]", "[7,1,0,1]") ","                               //
                            PAIR("{'timelineID':1,'mode':2,'interval':{}}", "[7,1,0,1]")));
    assert_int_equal(decoded.profile.timeline_count, 2);
    assert_note(&decoded.profile, "a list that was already read", 3);
    release(&decoded);
}

static void an_empty_filter_is_the_same_as_none(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, PAIRS(PAIR("[1,1,2]", "[7,1,0,1]") "," //
                                      PAIR("[1,1,2,null,null,[],[]]", "[7,1,0,1]")));
    assert_int_equal(decoded.profile.timeline_count, 1);
    assert_note(&decoded.profile, "a list that was already read", 1);
    release(&decoded);
}

/* Events as `id<parent's id`, in their order. */
static void write_tree(const struct fp_profile *profile, char *text, size_t size)
{
    size_t len = 0;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        const struct fp_profile_event *event = &profile->events[i];
        const bool is_top = event->parent == FP_INDEX_NONE;
        assert_true(is_top || event->parent < i);
        len += (size_t)snprintf(text + len, size - len, "%s%u<%u", i > 0 ? " " : "",
                                (unsigned)event->id,
                                is_top ? 0 : (unsigned)profile->events[event->parent].id);
    }
}

static void a_parent_in_a_later_list_of_the_timeline_is_linked(void **state)
{
    (void)state;
    static const struct {
        const char *pairs;
        const char *tree;
    } recordings[] = {
        {PAIRS(PAIR("[1,1]", "[8,1,0,1,null,2,1]") "," PAIR("[1,1,1,null,1]", "[7,1,0,1,null,1]")),
         "1<0 2<1"},
        /* Over three lists, the innermost first; another timeline stays apart. */
        {PAIRS(PAIR("[1,1]", "[9,1,0,1,null,3,2],[9,1,0,1,null,4,3]") "," PAIR(
             "[1,2]", "[7,1,0,1,null,2]") "," PAIR("[1,1,1,null,1]", "[8,1,0,1,null,2,1]") "," //
               PAIR("[1,1,1,null,2]", "[7,1,0,1,null,1]")),
         "2<0 1<0 2<1 3<2 4<3"},
        /* Below the requested event until the parent comes. */
        {PAIRS(PAIR("[1,1]", "[7,1,0,1,null,1]") "," PAIR("[1,1,1,1]", "[9,1,0,1,null,3,2]") "," //
               PAIR("[1,1,1,1,1]", "[8,1,0,1,null,2,1]")),
         "1<0 2<1 3<2"},
        /* Lists that would each have to come before the other one. */
        {PAIRS(PAIR("[1,1]", "[7,1,0,1,null,1,4],[7,1,0,1,null,2]") "," PAIR(
             "[1,1,1,null,1]", "[7,1,0,1,null,3,2],[7,1,0,1,null,4]")),
         "1<0 2<0 3<2 4<0"},
        {PAIRS(PAIR("[1,1]", "[7,1,0,1,null,1,9]")), "1<0"},
        /* A reduced list has no parents for others. */
        {PAIRS(PAIR("[1,1]", "[7,1,0,1,null,1,2]") "," PAIR("[1,1,2]", "[7,1,0,1,null,2]")),
         "1<0 2<0"},
    };
    for (size_t i = 0; i < FP_COUNT(recordings); i++) {
        char tree[256] = "";
        struct decoded decoded;
        decode_good_scope(&decoded, recordings[i].pairs);
        write_tree(&decoded.profile, tree, sizeof(tree));
        assert_string_equal(tree, recordings[i].tree);
        uint32_t next = 0;
        for (uint32_t k = 0; k < decoded.profile.timeline_count; k++) {
            assert_int_equal(decoded.profile.timelines[k].first_event, next);
            next += decoded.profile.timelines[k].event_count;
        }
        assert_int_equal(next, decoded.profile.event_count);
        release(&decoded);
    }
}

static void lists_linked_backwards_are_not_nested_deeper_than_one(void **state)
{
    (void)state;
    struct decoded decoded;
    char text[1024] = "{'opera-scope':{'version':'1.0','session':[1],'timelines':[";
    for (unsigned depth = scope_limits.stack_depth + 1; depth > 0; depth--)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s" PAIR("[1,1,1,null,%u]", "[7,1,0,1,null,%u,%u]"),
                 depth <= scope_limits.stack_depth ? "," : "", depth, depth, depth - 1);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "]}}");
    decode_scope(&decoded, text);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_non_null(strstr(decoded.error.detail, "limits.stack_depth"));
    release(&decoded);
}

/* aggregatedTime less the own time of the event and of those inside. */
static void time_that_no_list_has_is_that_of_the_innermost_event_that_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *events;
        int64_t unlisted_us[3];
    } lists[] = {
        {"[8,23.5,0,1,null,1,null,40,81.3]", {57800}},
        {"[7,1,0,1,null,1,null,2,9],[8,2,0,1,null,2,1,5,6],[9,1,0,1,null,3,2]", {2000, 3000, 0}},
        {"[7,1,0,1,null,1,null,2,3],[8,2,0,1,null,2,1],[9,1,0,1,null,3,2]", {0, 0, 0}},
        {"[7,1,0,1,null,1,null,2,5],[8,2,0,1,null,2,1],[9,1,0,1,null,3,1]", {1000, 0, 0}},
        {"[7,1,0,1,null,1,null,0,1.001]", {0}}, /* rounded */
        {"[7,1,0,1,null,1,null,0,0.5]", {0}},   /* below its own time */
        {"[7,1,0,1,null,1,null,0,60001]", {0}}, /* above limits.max_span */
        {"[2,1,0,1,null,1,null,0,9]", {0}},     /* the process */
        {"[7,1,0,1]", {0}},
    };
    for (size_t i = 0; i < FP_COUNT(lists); i++) {
        char text[600];
        snprintf(text, sizeof(text), EVENTS("%s"), lists[i].events);
        struct decoded decoded;
        decode_good_scope(&decoded, text);
        for (uint32_t k = 0; k < decoded.profile.event_count; k++)
            assert_int_equal(decoded.profile.events[k].unlisted_us, lists[i].unlisted_us[k]);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invalid_event_is_noted_and_drops_no_valid_one),
        cmocka_unit_test(an_invalid_detail_is_skipped_and_the_event_is_kept),
        cmocka_unit_test(the_right_detail_is_kept_next_to_a_wrong_one),
        cmocka_unit_test(a_paint_need_not_say_where),
        cmocka_unit_test(keeps_and_notes_sums_that_do_not_add_up),
        cmocka_unit_test(nothing_is_said_of_sums_whose_parts_are_not_all_there),
        cmocka_unit_test(a_list_says_its_span_rightly_or_is_noted),
        cmocka_unit_test(a_cycle_of_parents_is_skipped_and_its_descendants_are_kept),
        cmocka_unit_test(children_of_a_refused_event_stand_at_the_top),
        cmocka_unit_test(reduced_events_may_repeat_an_id_but_lose_it),
        cmocka_unit_test(an_event_of_two_lists_of_a_timeline_counts_once),
        cmocka_unit_test(a_parent_may_be_in_an_earlier_list_of_the_same_timeline_alone),
        cmocka_unit_test(a_request_inside_an_event_is_its_child),
        cmocka_unit_test(lists_together_are_not_nested_deeper_than_one),
        cmocka_unit_test(a_parent_in_a_later_list_of_the_timeline_is_linked),
        cmocka_unit_test(lists_linked_backwards_are_not_nested_deeper_than_one),
        cmocka_unit_test(time_that_no_list_has_is_that_of_the_innermost_event_that_says_so),
        cmocka_unit_test(a_note_says_which_list_it_is_of),
        cmocka_unit_test(the_same_list_twice_counts_once),
        cmocka_unit_test(a_query_is_the_same_however_it_is_written),
        cmocka_unit_test(an_empty_filter_is_the_same_as_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
