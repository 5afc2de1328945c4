/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer's records: types, versions, details and places of docs/formats.md.
 */
#include "dump_test.h"

/* Types. */

static void every_type_has_its_schemas_name(void **state)
{
    (void)state;
    static const struct {
        int32_t number;
        const char *name;
    } types[] = {
        {0, "DOM_EVENT"},
        {1, "LAYOUT"},
        {2, "RECALC_STYLE"},
        {3, "PAINT"},
        {4, "PARSE_HTML"},
        {5, "TIMER_INSTALLED"},
        {6, "TIMER_CLEARED"},
        {7, "TIMER_FIRED"},
        {8, "XHR_READY_STATE_CHANGE"},
        {9, "XHR_LOAD"},
        {10, "EVAL_SCRIPT"},
        {11, "LOG_MESSAGE"},
        {12, "NETWORK_RESOURCE_START"},
        {13, "NETWORK_RESOURCE_RESPONSE"},
        {14, "NETWORK_RESOURCE_FINISH"},
        {15, "JAVASCRIPT_CALLBACK"},
        {16, "RESOURCE_DATA_RECEIVED"},
        {17, "GC_EVENT"},
        {18, "MARK_DOM_CONTENT"},
        {19, "MARK_LOAD_EVENT"},
        {20, "SCHEDULE_RESOURCE_REQUEST"},
        {21, "PROGRAM"},
        {0x7FFFFFFF, "AGGREGATED_EVENTS"},
        {0x7FFFFFFE, "TAB_CHANGED"},
        {0x7FFFFFFD, "NETWORK_RESOURCE_UPDATE"},
        {0x7FFFFFFC, "PROFILE_DATA"},
        {0x7FFFFFFB, "SERVER_EVENT"},
        {0x7FFFFFFA, "NETWORK_REQUEST_WILL_BE_SENT"},
        {0x7FFFFFF9, "NETWORK_RESPONSE_RECEIVED"},
        {0x7FFFFFF8, "NETWORK_DATA_RECEIVED"},
        {0x7FFFFFF7, "NETWORK_LOADING_FINISHED"},
        {22, "TYPE_22"},
        {0x7FFFFFF6, "TYPE_2147483638"},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char record[64];
        snprintf(record, sizeof(record), "{'type':%d,'time':0}", (int)types[i].number);
        struct decoded decoded;
        take_dump(&decoded, record);
        assert_type(&decoded, 0, types[i].name, types[i].number);
        release(&decoded);
    }
}

static void custom_types_are_known_by_their_names_alone(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "gwt-page.html");
    assert_type(&decoded, 0, "RemoteServiceServlet", -2);
    assert_type(&decoded, 1, "Overhead", -3);
    assert_type(&decoded, 3, "GarbageCollection", -4);
    assert_type(&decoded, 4, "RemoteServiceServlet", -2);
    assert_detail(&decoded, 0,
                  "{'baseTime':'81234567.5','identifier':'a','note':'<div>1</div>',"
                  "'color':'LightSkyBlue'}");
    release(&decoded);
    take_dump(&decoded, "{'type':-9,'time':0}");
    assert_type(&decoded, 0, "CUSTOM_EVENT", -9);
    assert_int_equal(note_count(&decoded, "a custom type without"), 1);
    release(&decoded);
}

/* Eras. */

static void early_numbers_become_todays(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int32_t number;
    } expected[] = {
        {"RECALC_STYLE", 2},
        {"NETWORK_RESOURCE_START", 12},
        {"TAB_CHANGED", 0x7FFFFFFE},
        {"NETWORK_RESOURCE_RESPONSE", 13},
        {"PARSE_HTML", 4},
        {"LOG_MESSAGE", 11},
        {"PROFILE_DATA", 0x7FFFFFFC},
        {"AGGREGATED_EVENTS", 0x7FFFFFFF},
        {"DOM_BINDING", 18},
        {"JAVASCRIPT_COMPILE", 19},
        {"WINDOW_EVENT", 20},
        {"GC_EVENT", 17},
        {"MOUSE_HOVER_STYLE", 26},
        {"EVENT_DISPATCH", 27},
        {"NETWORK_RESOURCE_FINISH", 14},
        {"NETWORK_RESOURCE_FINISH", 14},
    };
    struct decoded decoded;
    decode_file(&decoded, "early.ndjson");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_text(decoded.profile.session.version, "0.8");
    assert_int_equal(note_count(&decoded, "a type that is not known"), 0);
    for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_type(&decoded, i, expected[i].type, expected[i].number);
    assert_detail(&decoded, 14, "{'requestId':'5','didFail':true,'sequence':13}");
    assert_detail(&decoded, 15, "{'requestId':'4','didFail':false,'sequence':14}");
    release(&decoded);
}

static void an_early_tab_change_begins_with_its_request(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "early.ndjson");
    assert_type(&decoded, 2, "TAB_CHANGED", 0x7FFFFFFE);
    assert_int_equal(event_at(&decoded, 2)->start_us, -1000);
    assert_int_equal(decoded.profile.timing_count, 1);
    assert_text(decoded.profile.timings[0].name, "early");
    assert_int_equal(decoded.profile.timings[0].value_us, 47000);
    release(&decoded);
}

static void a_16_with_a_duration_is_what_it_is_today(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':24,'data':{'resourceId':'4'}}"
                        "{'type':16,'time':1,'duration':2,'data':{'url':'a'}}");
    assert_type(&decoded, 1, "RESOURCE_DATA_RECEIVED", 16);
    release(&decoded);
}

static void todays_version_is_not_renumbered_whatever_the_data_look_like(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "<div id=\"traceData\" version=\"0.9\">"
                        "{'type':24,'time':0,'data':{'resourceId':'4'}}"
                        "{'type':16,'time':0,'data':{'url':'a'}}{'type':18,'time':1}</div>");
    assert_type(&decoded, 0, "TYPE_24", 24);
    assert_type(&decoded, 1, "RESOURCE_DATA_RECEIVED", 16);
    assert_type(&decoded, 2, "MARK_DOM_CONTENT", 18);
    release(&decoded);
}

static void a_page_without_a_version_is_an_early_one(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "<div id=traceData>{'type':18,'time':0,'duration':1}{'type':15,'time':2,"
                        "'duration':1,'data':{'scriptName':'a.js','scriptLine':3}}");
    assert_text(decoded.profile.session.version, "0.8");
    assert_type(&decoded, 0, "DOM_BINDING", 18);
    assert_type(&decoded, 1, "JAVASCRIPT_CALLBACK", 15);
    assert_int_equal(decoded.profile.timing_count, 0);
    release(&decoded);
}

static void an_early_record_of_a_resource_need_not_name_it(void **state)
{
    (void)state;
    static const char *const dumps[] = {
        "<div id=traceData version=0.8>{'type':24,'time':0}{'type':23,'time':1}{'type':22,'time':2}"
        "{'type':21,'time':3}",
        "{'type':24,'time':0}{'type':23,'time':1}{'type':22,'time':2}{'type':21,'time':3}"
        "{'type':24,'time':4,'data':{'resourceId':'1'}}",
    };
    for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, dumps[i]);
        assert_type(&decoded, 0, "NETWORK_RESOURCE_START", 12);
        assert_type(&decoded, 1, "NETWORK_RESOURCE_RESPONSE", 13);
        assert_type(&decoded, 2, "NETWORK_RESOURCE_FINISH", 14);
        assert_type(&decoded, 3, "NETWORK_RESOURCE_FINISH", 14);
        assert_int_equal(note_count(&decoded, "a type that is not known"), 0);
        release(&decoded);
    }
}

static void the_numbers_of_the_unreleased_trunk_are_told_by_the_resource_id(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':2147483641,'time':0,'data':{'resourceId':'1','url':'a'}}"
                        "{'type':2147483642,'time':0,'data':{'resourceId':'1'}}"
                        "{'type':2147483643,'time':0,'data':{'resourceId':'1'}}"
                        "{'type':2147483644,'time':0,'data':{'resourceId':'2'}}"
                        "{'type':17,'time':0,'duration':1}");
    assert_type(&decoded, 0, "NETWORK_RESOURCE_START", 12);
    assert_type(&decoded, 1, "NETWORK_RESOURCE_RESPONSE", 13);
    assert_type(&decoded, 2, "NETWORK_RESOURCE_FINISH", 14);
    assert_detail(&decoded, 2, "{'requestId':'1','didFail':false}");
    assert_detail(&decoded, 3, "{'requestId':'2','didFail':true}");
    assert_type(&decoded, 4, "GC_EVENT", 17);
    release(&decoded);
}

/* Details and places. */

static void the_many_spellings_of_a_member_become_one(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        const char *detail;
    } spellings[] = {
        {"{'type':12,'time':0,'data':{'identifier':3}}", "{'requestId':'3'}"},
        {"{'type':12,'time':0,'data':{'identifier':'3'}}", "{'requestId':'3'}"},
        {"{'type':12,'time':0,'data':{'requestId':3}}", "{'requestId':'3'}"},
        {"{'type':12,'time':0,'data':{'requestId':'1.3','identifier':4}}", "{'requestId':'4'}"},
        {"{'type':12,'time':0,'data':{'resourceId':'r','requestId':'1.3'}}", "{'requestId':'1.3'}"},
        {"{'type':12,'time':0,'data':{'resourceId':'r','identifier':0}}", "{'requestId':'0'}"},
        {"{'type':2147483645,'time':0,'data':{'contentLength':9}}", "{'resourceSize':9}"},
        {"{'type':2147483640,'time':0,'data':{'lengthReceived':9}}", "{'dataLength':9}"},
        {"{'type':2147483645,'time':0,'data':{'connectionID':9,'cached':true}}",
         "{'connectionId':9,'fromDiskCache':true}"},
        {"{'type':2147483641,'time':0,'data':{'response':{'wasCached':false,'httpStatusCode':304,"
         "'connectionID':2,'httpHeaderFields':{'connectionID':'x'}}}}",
         "{'response':{'fromDiskCache':false,'status':304,'connectionId':2,"
         "'headers':{'connectionID':'x'}}}"},
        {"{'type':2147483642,'time':0,'data':{'redirectResponse':{'fromDiskCache':true}}}",
         "{'redirectResponse':{'fromDiskCache':true}}"},
        {"{'type':2147483644,'time':0,'data':{'format':'x','orphan':true}}",
         "{'format':'x','isOrphaned':true}"},
        {"{'type':13,'time':0,'data':{'requestId':'1','isCached':true,'responseCode':200}}",
         "{'requestId':'1','fromDiskCache':true,'statusCode':200}"},
        {"{'type':12,'time':0,'data':{'requestId':'1','httpMethod':'GET'}}",
         "{'requestId':'1','requestMethod':'GET'}"},
        {"{'type':2147483642,'time':0,'data':{'request':{'httpHeaderFields':{'cached':1}},"
         "'redirectResponse':{'wasCached':true},'other':{'wasCached':true}}}",
         "{'request':{'headers':{'cached':1}},'redirectResponse':{'fromDiskCache':true},"
         "'other':{'wasCached':true}}"},
        {"{'type':5,'time':0,'duration':2,'children':[],'hints':[],'overhead':1,"
         "'typeName':'x','data':{'timerId':1}}",
         "{'timerId':1}"},
        {"{'type':5,'time':0,'data':{'timerId':'31'}}", "{'timerId':31}"},
        {"{'type':5,'time':0,'data':{'timerId':'07'}}", "{'timerId':'07'}"},
        {"{'type':5,'time':0,'data':{'timerId':'0TimerEvent28'}}", "{'timerId':'0TimerEvent28'}"},
        {"{'type':5,'time':0,'stackTrace':[{'scriptName':'a','column':3},{'url':'b',"
         "'columnNumber':4,'functionName':'f','lineNumber':5}]}",
         "{'stackTrace':[{'url':'a','columnNumber':3},{'url':'b','columnNumber':4,"
         "'functionName':'f','lineNumber':5}]}"},
        {"{'type':-2,'typeName':'x','time':0,'data':{'identifier':3,'cached':1}}",
         "{'identifier':3,'cached':1}"},
    };
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, spellings[i].record);
        assert_detail(&decoded, 0, spellings[i].detail);
        release(&decoded);
    }
}

static void a_detail_is_all_of_a_record_that_is_no_field_of_an_event(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(
        &decoded,
        "{ 'type' : 3, 'time' : 0, 'duration' : 1, 'sequence' : 5, 'hints' : [ { } ],\n"
        "  'data' : { 'x' : -1, 'ok' : true, 'none' : null, 'list' : [ 1, [ ], { } ],\n"
        "             'text' : 'a\\n\\u0001\\\\\\u00e9\\u0000', 'real' : 0.1, 'big' : 1e300 },\n"
        "  'x' : 'not that of the data', 'children' : [ ] }");
    assert_detail(&decoded, 0,
                  "{'x':-1,'ok':true,'list':[1,[],{}],"
                  "'text':'a\\n\\u0001\\\\\xC3\xA9\xEF\xBF\xBD','real':0.1,'big':1e300,"
                  "'sequence':5}");
    release(&decoded);
    take_dump(&decoded, "{'type':3,'data':{}}");
    assert_int_equal(event_at(&decoded, 0)->detail.len, 0);
    release(&decoded);
}

static void null_is_absent_and_the_last_of_equal_names_counts(void **state)
{
    (void)state;
    static const struct {
        const char *record, *resource, *detail;
    } cases[] = {
        {"{'type':10,'time':0,'data':{'url':'a','url':'b'}}", "b", NULL},
        {"{'type':15,'time':0,'data':{'url':null,'scriptName':'c'}}", "c", "{'scriptName':'c'}"},
        {"{'type':10,'time':0,'data':{'url':'d','url':null},'callerScriptName':'e'}", "e", NULL},
        {"{'type':12,'time':0,'data':{'identifier':null,'requestId':5,'url':'f'},'sequence':null}",
         "f", "{'requestId':'5','url':'f'}"},
        {"{'type':2147483645,'time':0,'data':{'contentLength':4,'resourceSize':null,'url':'g'}}",
         "g", "{'resourceSize':4,'url':'g'}"},
        {"{'type':2147483641,'time':0,'data':{'response':{'wasCached':true,'fromDiskCache':null,"
         "'url':'h'}}}",
         "h", "{'response':{'fromDiskCache':true,'url':'h'}}"},
        {"{'type':1,'time':0,'data':{'x':null,'url':'i'},'x':1}", "i", "{'url':'i','x':1}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, cases[i].record);
        assert_resource(&decoded, event_at(&decoded, 0)->resource, cases[i].resource);
        if (cases[i].detail != NULL)
            assert_detail(&decoded, 0, cases[i].detail);
        release(&decoded);
    }
    struct decoded decoded;
    take_dump(&decoded, "{'type':5,'time':0,'data':{'timerId':1,'timerId':2,'timeout':3}}"
                        "{'type':7,'time':1,'data':{'timerId':2,'timeout':null}}"
                        "{'type':11,'time':2,'data':{'message':'a','message':'b'}}");
    assert_detail(&decoded, 1, "{'timerId':2,'timeout':3}");
    assert_text(decoded.profile.timings[0].name, "b");
    release(&decoded);
}

static void lone_surrogates_cost_a_character_not_the_record(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':11,'time':0,'data':{'message':'a\\ud800'}}{'type':1}");
    assert_detail(&decoded, 0, "{'message':'a\xEF\xBF\xBD'}");
    assert_int_equal(decoded.profile.event_count, 2);
    release(&decoded);
}

static void an_event_has_the_place_where_it_worked_or_was_called(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        const char *url; /* NULL: none */
        int32_t line;
    } places[] = {
        {"{'type':10,'data':{'url':'a.js','lineNumber':7},'callerScriptName':'b.js',"
         "'callerScriptLine':8}",
         "a.js", 7},
        {"{'type':15,'data':{'scriptName':'a.js','scriptLine':9}}", "a.js", 9},
        {"{'type':1,'data':{},'callerScriptName':'b.js','callerScriptLine':8}", "b.js", 8},
        {"{'type':5,'data':{'timerId':1},'stackTrace':[{'scriptName':'c.js','lineNumber':4},"
         "{'url':'d.js'}]}",
         "c.js", 4},
        {"{'type':2147483642,'data':{'request':{'url':'e.js'}}}", "e.js", -1},
        {"{'type':2147483641,'data':{'response':{'url':'f.js'}}}", "f.js", -1},
        {"{'type':12,'data':{'url':'http://x/?a=1&amp;b=&lt;2&gt;'}}", "http://x/?a=1&b=<2>", -1},
        {"{'type':10,'data':{'url':'','lineNumber':0}}", NULL, 0},
        {"{'type':10,'data':{'url':5,'lineNumber':-1}}", NULL, -1},
        {"{'type':1}", NULL, -1},
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, places[i].record);
        if (places[i].url != NULL)
            assert_resource(&decoded, event_at(&decoded, 0)->resource, places[i].url);
        else
            assert_int_equal(event_at(&decoded, 0)->resource, FP_INDEX_NONE);
        assert_int_equal(event_at(&decoded, 0)->line, places[i].line);
        release(&decoded);
    }
}

static void members_of_another_type_are_kept_but_are_no_place_name_or_id(void **state)
{
    (void)state;
    static const char *const records[] = {
        "{'type':10,'time':0,'data':{'url':['a'],'lineNumber':{}}}",
        "{'type':10,'time':0,'data':{'scriptName':{'a':1}}}",
        "{'type':1,'time':0,'data':{'request':[1],'response':{'url':{'b':2}}}}",
        "{'type':1,'time':0,'stackTrace':[['a'],{}]}",
        "{'type':1,'time':0,'stackTrace':{'url':'a'}}",
        "{'type':5,'time':0,'data':{'timerId':{'1':1}}}",
        "{'type':12,'time':0,'data':{'requestId':['1'],'isMainResource':[true]}}",
        "{'type':11,'time':0,'data':{'message':{'a':1}}}",
    };
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, records[i]);
        assert_int_equal(event_at(&decoded, 0)->resource, FP_INDEX_NONE);
        assert_int_equal(event_at(&decoded, 0)->line, FP_POSITION_NONE);
        assert_int_equal(decoded.profile.timing_count, 0);
        const char *detail = strchr(records[i] + 1, '{');
        if (strstr(records[i], "'data'") != NULL) {
            char expected[128];
            snprintf(expected, sizeof(expected), "%.*s", (int)strlen(detail) - 1, detail);
            assert_detail(&decoded, 0, expected);
        }
        release(&decoded);
    }
    struct decoded decoded;
    take_dump(&decoded, "{'type':-2,'time':0,'typeName':['a']}"
                        "{'type':15,'time':0,'data':{'format':'v8','profileData':['a']},"
                        "'callerScriptName':['a'],'callerScriptLine':2}");
    assert_type(&decoded, 0, "CUSTOM_EVENT", -2);
    assert_type(&decoded, 1, "JAVASCRIPT_CALLBACK", 15);
    release(&decoded);
}

/* A kept URL has no query, so the detail says whether there was one. */

static void a_change_to_the_page_that_is_shown_is_a_refresh_whatever_its_fragment(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool is_refresh;
    } changes[] = {
        {"http://a/?p=1", false},
        {"http://a/?p=1#top", true},
        {"http://a/?p=1", true},
        {"http://a/?p=2", false},
        {"http://a/?p=1", false},
        {"", false},
        {"", false},
    };
    char dump[1024];
    size_t at = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        at += (size_t)snprintf(dump + at, sizeof(dump) - at,
                               "{'type':2147483646,'time':%zu,'data':{'url':'%s'}}\n", i,
                               changes[i].url);
    struct decoded decoded;
    take_dump(&decoded, dump);
    for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char detail[64];
        snprintf(detail, sizeof(detail), "{'url':'%s'%s}", changes[i].url,
                 changes[i].is_refresh ? ",'isRefresh':true" : "");
        assert_detail(&decoded, i, detail);
    }
    release(&decoded);
}

static void a_request_says_that_its_url_has_a_query(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        const char *detail;
    } requests[] = {
        {"{'type':12,'time':0,'data':{'url':'a?b'}}", "{'url':'a?b','hasQuery':true}"},
        {"{'type':12,'time':0,'data':{'url':'a'}}", "{'url':'a'}"},
        {"{'type':2147483645,'time':0,'data':{'url':'a?'}}", "{'url':'a?','hasQuery':true}"},
        {"{'type':2147483642,'time':0,'data':{'request':{'url':'a?b'}}}",
         "{'request':{'url':'a?b'},'hasQuery':true}"},
        {"{'type':10,'time':0,'data':{'url':'a?b'}}", "{'url':'a?b'}"},
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct decoded decoded;
        take_dump(&decoded, requests[i].record);
        assert_detail(&decoded, 0, requests[i].detail);
        release(&decoded);
    }
}

static void a_timer_that_fires_says_how_it_was_set(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':7,'time':1,'duration':1,'data':{'timerId':3}}\n"
                        "{'type':0,'time':2,'duration':9,'children':["
                        "{'type':5,'time':3,'data':{'timerId':3,'timeout':10.5,'singleShot':true}},"
                        "{'type':5,'time':3,'data':{'timerId':'x','timeout':-1,'singleShot':0}}]}\n"
                        "{'type':7,'time':20,'duration':1,'data':{'timerId':'3'},'children':["
                        "{'type':5,'time':20,'data':{'timerId':'3','timeout':{'a':1}}}]}\n"
                        "{'type':7,'time':30,'duration':1,'data':{'timerId':3}}\n"
                        "{'type':7,'time':40,'duration':1,'data':{'timerId':'x','timeout':7}}\n"
                        "{'type':7,'time':50,'duration':1,'data':{'timerId':'x'},'sequence':5}\n"
                        "{'type':7,'time':60,'duration':1,'data':{'timerId':4}}\n"
                        "{'type':6,'time':70,'data':{'timerId':'x'}}\n"
                        "{'type':7,'time':80,'duration':1}");
    const char *const details[] = {
        [0] = "{'timerId':3}",
        [4] = "{'timerId':3,'timeout':10.5,'singleShot':true}",
        [6] = "{'timerId':3}",
        [7] = "{'timerId':'x','timeout':7}",
        [8] = "{'timerId':'x','sequence':5,'timeout':-1}",
        [9] = "{'timerId':4}",
        [10] = "{'timerId':'x'}",
    };
    for (uint32_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
        if (details[i] != NULL)
            assert_detail(&decoded, i, details[i]);
    assert_int_equal(event_at(&decoded, 11)->detail.len, 0);
    release(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_schemas_name),
        cmocka_unit_test(custom_types_are_known_by_their_names_alone),
        cmocka_unit_test(early_numbers_become_todays),
        cmocka_unit_test(an_early_tab_change_begins_with_its_request),
        cmocka_unit_test(a_16_with_a_duration_is_what_it_is_today),
        cmocka_unit_test(todays_version_is_not_renumbered_whatever_the_data_look_like),
        cmocka_unit_test(a_page_without_a_version_is_an_early_one),
        cmocka_unit_test(an_early_record_of_a_resource_need_not_name_it),
        cmocka_unit_test(the_numbers_of_the_unreleased_trunk_are_told_by_the_resource_id),
        cmocka_unit_test(the_many_spellings_of_a_member_become_one),
        cmocka_unit_test(a_detail_is_all_of_a_record_that_is_no_field_of_an_event),
        cmocka_unit_test(null_is_absent_and_the_last_of_equal_names_counts),
        cmocka_unit_test(lone_surrogates_cost_a_character_not_the_record),
        cmocka_unit_test(an_event_has_the_place_where_it_worked_or_was_called),
        cmocka_unit_test(members_of_another_type_are_kept_but_are_no_place_name_or_id),
        cmocka_unit_test(a_change_to_the_page_that_is_shown_is_a_refresh_whatever_its_fragment),
        cmocka_unit_test(a_request_says_that_its_url_has_a_query),
        cmocka_unit_test(a_timer_that_fires_says_how_it_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
