/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, notes: a dump for each, with its words, and the reason if it refuses a record.
 */
#include "dump_test.h"

#include "collector/format/speed_tracer/notes.c"

#define RECORD "{'type':1,'time':0}\n"
#define LOG(line) "{'type':2147483644,'time':0,'data':{'format':'v8','profileData':'" line "\\n'}}"
#define REFUSED(reason) FP_RECORD_REFUSAL_##reason
#define KEPT FP_RECORD_REFUSAL_NONE

/* One per note, in the order of enum fp_st_note. */
static const struct {
    const char *dump; /* ' stands for "; NULL: it would be too large */
    const char *words;
    enum fp_record_refusal reason;
} cases[] = {
    {RECORD "{'type':1,}", "a record that is not JSON", REFUSED(NOT_JSON)},
    {RECORD "{'type':1,'time", "a truncated record", REFUSED(TRUNCATED)},
    {"{'type':1,'time':0,'children':[4]}", "a value among the records", REFUSED(NOT_OBJECT)},
    {RECORD "{'type':'x'}", "a type that is not a 32-bit", REFUSED(BAD_TYPE)},
    {RECORD "{'type':1,'time':'x'}", "a time that is not a number", REFUSED(BAD_TIME)},
    {RECORD "{'type':1,'time':0,'duration':'x'}", "a duration that is not", REFUSED(BAD_DURATION)},
    {RECORD "{'type':1,'time':0,'duration':-1}", "a duration below zero",
     REFUSED(NEGATIVE_DURATION)},
    {RECORD "{'type':1,'time':0,'children':3}", "children that are not", REFUSED(BAD_CHILDREN)},
    {RECORD "{'type':1,'time':0,'data':[]}", "data that is not an object", REFUSED(BAD_DATA)},
    {LOG("tick,zz,0,0"), "a line of a V8 profile", REFUSED(BAD_PROFILE_LINE)},
    {LOG("heap-sample,1"), "an unknown command or a lost", REFUSED(BAD_PROFILE_LINE)},
    {RECORD "and then", "something between the records", KEPT},
    {"{'header':{},'data':[{'type':1,'time':0},{'type':1,}]}", "a posted body", KEPT},
    {"{'header':{'timeStamp':-1},'data':[{'type':1,'time':0}]}", "a header whose timeStamp", KEPT},
    {RECORD "{'time':0}", "a record without a type", KEPT},
    {RECORD "{'type':4711,'time':0}", "a type that is not known", KEPT},
    {RECORD "{'type':-2,'typeName':7,'time':0}", "a custom type without", KEPT},
    {RECORD "{'type':1}", "a record without a time", KEPT},
    {"{'type':1,'time':-3}", "a time below zero", KEPT},
    {RECORD "{'type':1,'time':-1}", "a record that begins before", KEPT},
    {"{'type':1,'time':0,'duration':1,'children':[{'type':2,'time':0,'duration':3}]}",
     "children that take longer", KEPT},
    {"{'type':1,'time':0,'callerScriptName':'a.js'}", "a caller's script", KEPT},
    {"{'type':1,'time':0,'usedHeapSize':7}", "a used or total heap", KEPT},
    {"{'type':10,'time':0,'data':{'url':'http://a/?b&amp;c'}}", "HTML entities", KEPT},
    {"{'type':2147483644,'time':0,'data':{'format':'jsc','profileData':'x'}}",
     "a JavaScript profile in a format other", KEPT},
    {LOG("code-creation,Odd,1000,16,a"), "code of an unknown kind", KEPT},
    {NULL, "16 MiB", KEPT},
};

static const struct fp_profile_note *find(const struct decoded *decoded, const char *words)
{
    const struct fp_profile_session *session = &decoded->profile.session;
    for (uint32_t i = 0; i < session->note_count; i++)
        if (strncmp(session->notes[i].text, words, strlen(words)) == 0)
            return &session->notes[i];
    return NULL;
}

static void each_has_a_dump_with_its_words_and_reason(void **state)
{
    (void)state;
    assert_int_equal(FP_COUNT(cases), FP_ST_NOTE_COUNT);
    for (enum fp_st_note i = 0; i < FP_ST_NOTE_COUNT; i++) {
        assert_non_null(fp_st_note_text(i));
        if (strstr(fp_st_note_text(i), cases[i].words) == NULL)
            fail_msg("note %d says: %s", (int)i, fp_st_note_text(i));
        if (cases[i].dump == NULL)
            continue;
        struct decoded decoded;
        take_dump(&decoded, cases[i].dump);
        const struct fp_profile_note *note = find(&decoded, cases[i].words);
        if (note == NULL)
            fail_msg("no note in %s: %s", cases[i].dump, cases[i].words);
        assert_int_equal(note->count, 1);
        assert_int_equal(note->reason, cases[i].reason);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_a_dump_with_its_words_and_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
