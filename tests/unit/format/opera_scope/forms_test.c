/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope sessions are the same in every form: messages as lists or as objects by field name,
 * in an envelope or as recorded frames of either form, and as kept content.
 */
#include "drawn.h"

#include "collector/base/buf.h"

enum { SESSIONS = 200, TEXT_MAX = 1 << 18 };

static const struct fp_format_limits forms_limits = {
    .max_inflated = TEXT_MAX,
    .samples = 1,
    .stacks = 1,
    .frames = 1,
    .resources = 1000,
    .entries = 1000,
    .stack_depth = 100,
    .json_depth = 16,
    .max_span_us = 60 * INT64_C(1000000),
};

/* Writing. */

enum form { BY_POSITION, BY_NAME, MIXED };

struct writer {
    struct fp_buf text;
    enum form form;
};

static void put(struct writer *writer, const char *text)
{
    fp_buf_add(&writer->text, text, strlen(text));
}

/* Writes a message field by field; an absent field is null or omitted. */
struct fields {
    bool by_name;
    bool is_first;
};

static struct fields begin(struct writer *writer)
{
    bool by_name = writer->form == BY_NAME || (writer->form == MIXED && draw(2) == 0);
    put(writer, by_name ? "{" : "[");
    return (struct fields){by_name, true};
}

/* Begins a field. False if it is absent and needs no value. */
static bool put_field(struct writer *writer, struct fields *fields, const char *name, bool is_there)
{
    if (fields->by_name && !is_there)
        return false;
    put(writer, fields->is_first ? "" : ",");
    fields->is_first = false;
    if (fields->by_name) {
        put(writer, "\"");
        put(writer, name);
        put(writer, "\":");
    }
    if (!is_there)
        put(writer, "null");
    return is_there;
}

static void put_number(struct writer *writer, struct fields *fields, const char *name,
                       double number)
{
    char text[32];
    snprintf(text, sizeof(text), "%.10g", number);
    if (put_field(writer, fields, name, number >= 0))
        put(writer, text);
}

static void put_text(struct writer *writer, struct fields *fields, const char *name,
                     const char *before, uint32_t number)
{
    char text[64];
    snprintf(text, sizeof(text), "\"%s%u\"", before, (unsigned)number);
    if (put_field(writer, fields, name, true))
        put(writer, text);
}

static void end(struct writer *writer, const struct fields *fields)
{
    put(writer, fields->by_name ? "}" : "]");
}

static void put_interval(struct writer *writer, struct fields *around, double from, double to)
{
    if (!put_field(writer, around, "interval", from >= 0 || to >= 0))
        return;
    struct fields interval = begin(writer);
    put_number(writer, &interval, "start", from);
    put_number(writer, &interval, "end", to);
    end(writer, &interval);
}

static void put_area(struct writer *writer, const struct event *event)
{
    static const char *const names[] = {"x", "y", "w", "h", "ox", "oy"};
    struct fields paint = begin(writer);
    if (put_field(writer, &paint, "area", true)) {
        struct fields area = begin(writer);
        for (size_t i = 0; i < 6; i++)
            put_number(writer, &area, names[i], event->detail[i]);
        end(writer, &area);
    }
    end(writer, &paint);
}

/* Writes the detail that belongs to an event's type. */
static void put_detail(struct writer *writer, uint32_t type, const struct event *event)
{
    if (type == 11) {
        put_area(writer, event);
        return;
    }
    struct fields fields = begin(writer);
    if (type == 9)
        put_text(writer, &fields, "selector", "div > #a", event->text);
    if (type == 6 || type == 5)
        put_number(writer, &fields, type == 6 ? "scriptThreadType" : "scriptType",
                   event->detail[0]);
    if (type == 6)
        put_text(writer, &fields, "eventName", "on", event->text);
    if (type == 3 || type == 4 || (type == 5 && event->text > 0))
        put_text(writer, &fields, "url", "https://shop.example/", event->text);
    end(writer, &fields);
}

static void put_event(struct writer *writer, const struct event *event)
{
    static const char *const names[] = {
        "type",    "time",          "overhead",   "hits",           "interval",
        "eventID", "parentEventID", "childCount", "aggregatedTime", "aggregatedOverhead"};
    static const struct {
        const char *name;
        uint32_t type;
    } details[] = {{"cssSelectorMatching", 9}, {"scriptThreadEvaluation", 6},
                   {"documentParsing", 3},     {"cssParsing", 4},
                   {"scriptCompilation", 5},   {"paint", 11}};
    struct fields fields = begin(writer);
    uint32_t type = (uint32_t)event->numbers[0];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (i == 4)
            put_interval(writer, &fields, event->numbers[i], event->end);
        else
            put_number(writer, &fields, names[i], event->numbers[i]);
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
        if (put_field(writer, &fields, details[i].name, type == details[i].type))
            put_detail(writer, type, event);
    end(writer, &fields);
}

static void put_request(struct writer *writer, const struct list *list)
{
    static const char *const names[] = {"sessionID", "timelineID", "mode", "eventID", "maxDepth"};
    struct fields fields = begin(writer);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put_number(writer, &fields, names[i], list->request[i]);
    if (put_field(writer, &fields, "eventTypeList", true)) {
        put(writer, "[");
        for (uint32_t i = 0; i < list->type_count; i++) {
            char type[16];
            snprintf(type, sizeof(type), "%s%u", i > 0 ? "," : "", (unsigned)list->types[i]);
            put(writer, type);
        }
        put(writer, "]");
    }
    put_interval(writer, &fields, list->start, list->end);
    end(writer, &fields);
}

static void put_reply(struct writer *writer, const struct list *list)
{
    struct fields fields = begin(writer);
    put_field(writer, &fields, "interval", false);
    if (put_field(writer, &fields, "eventList", true)) {
        put(writer, "[");
        for (uint32_t i = 0; i < list->event_count; i++) {
            put(writer, i > 0 ? "," : "");
            put_event(writer, &list->events[i]);
        }
        put(writer, "]");
    }
    end(writer, &fields);
}

static void put_session(struct writer *writer)
{
    struct fields fields = begin(writer);
    put_number(writer, &fields, "sessionID", 7);
    put_number(writer, &fields, "windowID", 2);
    if (put_field(writer, &fields, "timelineList", true)) {
        put(writer, "[");
        for (uint32_t id = 1; id <= 3; id++) {
            put(writer, id > 1 ? "," : "");
            struct fields timeline = begin(writer);
            put_number(writer, &timeline, "timelineID", id);
            put_number(writer, &timeline, "frameID", id * 10);
            end(writer, &timeline);
        }
        put(writer, "]");
    }
    end(writer, &fields);
}

static void put_envelope(struct writer *writer, const struct session *session)
{
    put(writer, "{\"opera-scope\":{\"version\":\"1.1\",\"session\":");
    put_session(writer);
    put(writer, ",\"timelines\":[");
    for (uint32_t i = 0; i < session->list_count; i++) {
        put(writer, i > 0 ? ",{\"request\":" : "{\"request\":");
        put_request(writer, &session->lists[i]);
        put(writer, ",\"reply\":");
        put_reply(writer, &session->lists[i]);
        put(writer, "}");
    }
    put(writer, "]}}\n");
}

/* Frames. The caller writes a frame's message between its two halves. */

static void begin_frame(struct writer *writer, bool is_stp, uint32_t command, uint32_t kind,
                        uint32_t tag)
{
    char list[64];
    char head[96];
    if (is_stp) {
        snprintf(list, sizeof(list), "[\"profiler\",%u,%u,1,%u,0]", (unsigned)kind,
                 (unsigned)command, (unsigned)tag);
        snprintf(head, sizeof(head), "STP/1 %zu %s", strlen(list), list);
    } else {
        snprintf(head, sizeof(head), "[\"profiler\",%u,0,%u,", (unsigned)command, (unsigned)tag);
    }
    put(writer, head);
}

static void end_frame(struct writer *writer, bool is_stp)
{
    put(writer, is_stp ? "\n" : "]\n");
}

/* Writes requests first, in another order than their replies; some earlier ones have no reply. */
static void put_recording(struct writer *writer, const struct session *session, bool is_stp)
{
    /* Frames that say which way they went may also repeat a request like this. */
    for (int times = is_stp ? 2 : 1; times > 0; times--) {
        begin_frame(writer, is_stp, 2, 1, 2);
        put(writer, "[7]");
        end_frame(writer, is_stp);
    }
    begin_frame(writer, is_stp, 2, 2, 2);
    put_session(writer);
    end_frame(writer, is_stp);
    for (uint32_t i = session->list_count; i-- > 0;) {
        for (uint32_t times = draw(2); times <= 1; times++) {
            begin_frame(writer, is_stp, 3, 1, i);
            put_request(writer, &session->lists[i]);
            end_frame(writer, is_stp);
        }
    }
    for (uint32_t i = 0; i < session->list_count; i++) {
        begin_frame(writer, is_stp, 3, 2, i);
        put_reply(writer, &session->lists[i]);
        end_frame(writer, is_stp);
    }
    /* Requests with the tags of the last one and of an early one, without a reply. */
    for (uint32_t tag = 0; tag < session->list_count; tag += 2) {
        begin_frame(writer, is_stp, 3, 1, tag);
        put(writer, "[7,3,1]");
        end_frame(writer, is_stp);
    }
}

/* Comparing. */

static void decode_form(struct decoded *decoded, struct fp_str text)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decoded->error = (struct fp_upload_error){.offset = -1};
    decoded->verdict = fp_format_decode(text, FP_STR(""), &forms_limits, &decoded->arena,
                                        &decoded->profile, &decoded->error);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s %s in %.*s", decoded->error.pointer, decoded->error.detail, (int)text.len,
                 text.ptr);
}

static void assert_same_text(struct fp_str a, struct fp_str b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.len > 0 ? a.ptr : "", b.len > 0 ? b.ptr : "", a.len);
}

static struct fp_str resource_of(const struct fp_profile *profile, uint32_t at)
{
    return at != FP_INDEX_NONE ? profile->resources[at] : FP_STR("");
}

static void assert_same_event(const struct fp_profile *a, const struct fp_profile *b, uint32_t at)
{
    const struct fp_profile_event *left = &a->events[at];
    const struct fp_profile_event *right = &b->events[at];
    assert_same_text(left->type, right->type);
    assert_same_text(left->detail, right->detail);
    assert_same_text(resource_of(a, left->resource), resource_of(b, right->resource));
    assert_int_equal(left->id, right->id);
    assert_int_equal(left->parent, right->parent);
    assert_int_equal(left->type_number, right->type_number);
    assert_int_equal(left->start_us, right->start_us);
    assert_int_equal(left->duration_us, right->duration_us);
    assert_int_equal(left->self_us, right->self_us);
    assert_int_equal(left->overhead_us, right->overhead_us);
    assert_int_equal(left->hits, right->hits);
    assert_int_equal(left->child_count, right->child_count);
    assert_int_equal(left->is_process, right->is_process);
}

static void assert_same(const struct fp_profile *a, const struct fp_profile *b)
{
    assert_int_equal(a->session.id, b->session.id);
    assert_int_equal(a->session.window_id, b->session.window_id);
    assert_int_equal(a->session.records_read, b->session.records_read);
    assert_int_equal(a->session.records_kept, b->session.records_kept);
    assert_int_equal(a->timeline_count, b->timeline_count);
    for (uint32_t i = 0; i < a->timeline_count; i++)
        assert_memory_equal(&a->timelines[i], &b->timelines[i], sizeof(a->timelines[i]));
    assert_int_equal(a->event_count, b->event_count);
    for (uint32_t i = 0; i < a->event_count; i++)
        assert_same_event(a, b, i);
}

/* The content of an upload decodes to the same upload, and has itself as its content. */
static void assert_kept_as_itself(const struct decoded *decoded)
{
    struct decoded again;
    decode_form(&again, decoded->profile.session.content);
    assert_same(&decoded->profile, &again.profile);
    assert_same_text(decoded->profile.session.content, again.profile.session.content);
    release(&again);
}

static void check_form(struct writer *writer, const struct decoded *expected)
{
    struct decoded decoded;
    assert_false(writer->text.failed);
    decode_form(&decoded, (struct fp_str){(const char *)writer->text.data, writer->text.len});
    assert_same(&expected->profile, &decoded.profile);
    assert_kept_as_itself(&decoded);
    release(&decoded);
}

static void each_form_gives_the_same_session(void **state)
{
    (void)state;
    struct writer writer = {.form = BY_POSITION};
    struct session session;
    fp_buf_init(&writer.text, TEXT_MAX);
    for (int i = 0; i < SESSIONS; i++) {
        struct decoded expected;
        make_session(&session);
        fp_buf_clear(&writer.text);
        writer.form = BY_POSITION;
        put_envelope(&writer, &session);
        decode_form(&expected, (struct fp_str){(const char *)writer.text.data, writer.text.len});
        check_form(&writer, &expected);
        for (int form = BY_POSITION; form <= MIXED; form++) {
            writer.form = (enum form)form;
            fp_buf_clear(&writer.text);
            put_envelope(&writer, &session);
            check_form(&writer, &expected);
            for (int is_stp = 0; is_stp <= 1; is_stp++) {
                fp_buf_clear(&writer.text);
                put_recording(&writer, &session, is_stp != 0);
                check_form(&writer, &expected);
            }
        }
        release(&expected);
    }
    fp_buf_release(&writer.text);
}

/* Unknown members and elements in all places, and repeated members. */
static const char *const with_unknown[] = {
    "{'opera-scope':{'version':'1.2','secret':'secret','session':{'sessionID':7,'secret':['secret']"
    ","
    "'timelineList':[[1,3,'secret'],{'timelineID':2,'secret':1}]},'timelines':[{'secret':'secret',"
    "'request':[7,1,1,null,null,[3,6],[0,9,'secret'],'secret'],'reply':{'secret':{},'interval':[0,"
    "1,"
    "'secret'],'eventList':[[3,1,0,1,[0,1,'secret'],1,null,0,1,0,null,null,['u','secret'],null,"
    "null,"
    "null,'secret'],{'type':6,'time':1,'overhead':0,'hits':1,'threadEvaluation':{'threadType':2,"
    "'secret':'secret'},'secret':'secret'},[11,1,0,1,null,null,null,null,null,null,null,null,null,"
    "null,null,[[1,2,3,4,5,6,'secret'],'secret']],{'time':['secret'],'type':6,'type':6,'hits':1,"
    "'overhead':0}]}}]}}",
    "['profiler',1,0,2,[1,2,'secret']]\n['profiler',1,0,2,[7,'secret']]\n"
    "['profiler',2,0,2,[7,'secret']]\n['profiler',2,0,2,[7,2,[[1,3,'secret']],'secret']]\n"
    "['profiler',3,3,4,['secret',1,1,1]]\n['profiler',9,0,4,['secret']]\n"
    "['other',3,0,2,['secret']]\n['profiler',3,0,2,[7,1,1,null,null,null,null,'secret'],'secret']\n"
    "['profiler',3,0,2,[[0,1],[[7,1,0,1,null,1,null,0,1,0,null,null,null,null,null,null,'secret']]]"
    "]\n"
    "['profiler',4,0,2,[7,'secret']]\n['profiler',4,0,2,['secret']]\n",
};

/* Each has one good event and one that is not. */
static void refuses_the_same_records_again(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "5",
        "'secret'",
        "[7,1,0,1,0]",
        "[7,1,0,1,'secret']",
        "[7,1,0,1,null,[]]",
        "[7,1,0,1,null,null,'secret']",
        "[7,1,0,1,null,null,null,{}]",
        "{'type':7,'time':1,'overhead':0,'hits':1,'aggregatedTime':[2]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct decoded texts;
        struct decoded decoded;
        char text[256];
        snprintf(text, sizeof(text), EVENTS("[7,1,0,1],%s"), bad[i]);
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        decode_form(&decoded, json_of(&texts.arena, text));
        assert_int_equal(decoded.profile.event_count, 1);
        assert_kept_as_itself(&decoded);
        release(&decoded);
        release(&texts);
    }
}

static void keeps_no_member_that_its_message_does_not_have(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(with_unknown) / sizeof(with_unknown[0]); i++) {
        struct decoded texts;
        struct decoded decoded;
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        decode_form(&decoded, json_of(&texts.arena, with_unknown[i]));
        const struct fp_str kept = decoded.profile.session.content;
        assert_true(decoded.profile.event_count > 0 && kept.len > 0);
        if (memmem(kept.ptr, kept.len, "secret", 6) != NULL)
            fail_msg("%.*s", (int)kept.len, kept.ptr);
        assert_kept_as_itself(&decoded);
        release(&decoded);
        release(&texts);
    }
}

static void keeps_the_last_of_equal_members(void **state)
{
    (void)state;
    struct decoded texts;
    struct decoded decoded;
    fp_arena_init(&texts.arena, TEST_ARENA_MAX);
    decode_form(&decoded,
                json_of(&texts.arena,
                        "{'opera-scope':{'first':1},'opera-scope':{'version':'1.0','session':[1],"
                        "'timelines':[{'request':[1,1],'reply':[null,[[1,3.5,0,1]]]}]}}"));
    assert_int_equal(decoded.profile.event_count, 1);
    assert_kept_as_itself(&decoded);
    release(&decoded);
    release(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_gives_the_same_session),
        cmocka_unit_test(refuses_the_same_records_again),
        cmocka_unit_test(keeps_no_member_that_its_message_does_not_have),
        cmocka_unit_test(keeps_the_last_of_equal_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
