/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary reader against RFC 9651, production by production. */
#include "header_policy/sf_dict.c"

#include "test.h"

#define A15 "123456789012345"

static enum fleetprof_sf_step read_all(struct fleetprof_slice dictionary, size_t *members)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(dictionary);
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;

    *members = 0;
    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
        (*members)++;
    }
    return step;
}

static void accepts_what_the_rfc_accepts(void **state)
{
    static const struct {
        const char *dictionary;
        size_t members;
    } cases[] = {
        {"", 0},
        {"   ", 0},
        {"a", 1},
        {"*", 1},
        {"*a_-.*0", 1},
        {"a ", 1},
        {"  a", 1},
        {"a=?1, b=?0", 2},
        {"a,b,c", 3},
        {"a\t,\tb", 2},
        {"a ,  b", 2},
        {"a=1, a=2", 2},
        {"a=0", 1},
        {"a=-0", 1},
        {"a=007", 1},
        {"a=" A15, 1},
        {"a=-" A15, 1},
        {"a=123456789012.123", 1},
        {"a=-1.5", 1},
        {"a=1.0", 1},
        {"a=\"\"", 1},
        {"a=\"x, y;z=\\\"q\\\\\"", 1},
        {"a=tok", 1},
        {"a=*tok", 1},
        {"a=T:/x!#$%&'*+-.^_`|~0", 1},
        {"a=::", 1},
        {"a=:aGVsbG8=:", 1},
        {"a=:aGVsbG8:", 1},
        {"a=:YQ==:", 1},
        {"a=:YWJj:", 1},
        {"a=@1659578233", 1},
        {"a=@-1", 1},
        {"a=%\"\"", 1},
        {"a=%\"plain %25 sign\"", 1},
        {"a=%\"\\\"", 1},
        {"a=%\"f%c3%bc%c3%bc\"", 1},
        {"a=%\"%e0%a0%80%ed%9f%bf%ee%80%80%ef%bf%bf\"", 1},
        {"a=%\"%f0%90%80%80%f1%80%80%80%f4%8f%bf%bf\"", 1},
        {"a=()", 1},
        {"a=( )", 1},
        {"a=(  1  2  )", 1},
        {"a=(\"x\" y 1.5 ?0 :YQ==: @1 %\"z\");p", 1},
        {"a=(x;p=1 y;q);r=2, b", 2},
        {"a;p", 1},
        {"a;p=1;q=\"2\";p=3", 1},
        {"a; p;   q=tok", 1},
        {"a=1;*k_-.=?1", 1},
        {"foo;js-profiling", 1},
    };
    size_t i;
    size_t members;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        if (read_all(text(cases[i].dictionary), &members) != FLEETPROF_SF_END ||
            members != cases[i].members) {
            fail_msg("%s: %zu members", cases[i].dictionary, members);
        }
    }
}

/* Not a dictionary, and without a usable beginning. */
static const char *const refused[] = {
    "\ta",
    ",",
    "a,",
    "a, ",
    ", a",
    "a,,b",
    "a b",
    "A",
    "aB",
    "1a",
    "-a",
    "_a",
    ".a",
    "a\n",
    "=1",
    "a=",
    "a= 1",
    "a =1",
    "a=,b",
    "a=-",
    "a=--1",
    "a=1.",
    "a=.5",
    "a=+1",
    "a=1.2345",
    "a=1.2.3",
    "a=" A15 "6",
    "a=1234567890123.1",
    "a=-1234567890123.1",
    "a=1e3",
    "a=\"",
    "a=\"x",
    "a=\"\\x\"",
    "a=\"\\",
    "a=\"\x7f\"",
    "a=\"\xc3\xbc\"",
    "a=\"\t\"",
    "a=!x",
    "a=\xc3\xbc",
    "a=:",
    "a=:YQ==",
    "a=:YQ=:",
    "a=:Y:",
    "a=:YWJjZ:",
    "a=:YQ===:",
    "a=:=:",
    "a=:=YQ=:",
    "a=:Y-_=:",
    "a=:Y Q=:",
    "a=?",
    "a=?2",
    "a=?true",
    "a=?11",
    "a=@",
    "a=@1.5",
    "a=@x",
    "a=@\"1\"",
    "a=%",
    "a=%x",
    "a=%\"",
    "a=%\"x",
    "a=%\"%\"",
    "a=%\"%4\"",
    "a=%\"%C3%BC\"",
    "a=%\"%g0\"",
    "a=%\"%0g\"",
    "a=%\"%c3\"",
    "a=%\"%c3x\"",
    "a=%\"%c3%c3\"",
    "a=%\"%bc\"",
    "a=%\"%c0%80\"",
    "a=%\"%c1%bf\"",
    "a=%\"%e0%9f%80\"",
    "a=%\"%ed%a0%80\"",
    "a=%\"%f0%8f%80%80\"",
    "a=%\"%f4%90%80%80\"",
    "a=%\"%f5%80%80%80\"",
    "a=%\"%ff\"",
    "a=%\"\xc3\xbc\"",

    "a=(",
    "a=(1",
    "a=(1 ",
    "a=(1,2)",
    "a=(1\t2)",
    "a=(1(2))",
    "a=((1))",
    "a=(\"x\"y)",
    "a=(x;)",
    "a=(x;P)",
    "a=)",
    "a;",
    "a;=1",
    "a;P",
    "a;p=",
    "a;p=()",
    "a;\tp",
    "a ;p",
    "a=1;p=1.",
    "a=b=c",
    "a;p b",
    "js-profiling,",
    "JS-Profiling",
    "a=1 2",
    "\"a\"=1",
    "a=?1;p=@1.0",
};

static void refuses_what_the_rfc_refuses(void **state)
{
    size_t i;
    size_t members;

    (void)state;
    for (i = 0; i < COUNT(refused); i++) {
        if (read_all(text(refused[i]), &members) != FLEETPROF_SF_ERROR) {
            fail_msg("%s was accepted", refused[i]);
        }
    }
}

static void a_nul_byte_is_never_part_of_anything(void **state)
{
    static const struct fleetprof_slice cases[] = {
        {"\0", 1},       {"a\0", 2},  {"a=\0", 3},   {"a=x\0", 4},
        {"a=\"\0\"", 5}, {"a;\0", 3}, {"a=(\0)", 5},
    };
    size_t i;
    size_t members;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        assert_int_equal(read_all(cases[i], &members), FLEETPROF_SF_ERROR);
    }
}

static void an_absent_value_is_an_empty_dictionary(void **state)
{
    size_t members;

    (void)state;
    assert_int_equal(read_all((struct fleetprof_slice){NULL, 0}, &members), FLEETPROF_SF_END);
    assert_int_equal(members, 0);
}

static void the_end_of_the_text_is_respected(void **state)
{
    /* The byte after the slice would continue the key, and close the string. */
    struct fleetprof_slice key = {"ab", 1};
    struct fleetprof_slice string = {"a=\"b\"", 4};
    struct fleetprof_sf_member member;
    size_t members;

    (void)state;
    assert_true(fleetprof_sf_find(key, text("a"), &member));
    assert_int_equal(read_all(string, &members), FLEETPROF_SF_ERROR);
}

static void a_member_is_told_in_its_parts(void **state)
{
    struct fleetprof_sf_reader reader =
        fleetprof_sf_read(text("  one;p=1 ,two=(a b);q , three=%\"%c3%bc\""));
    struct fleetprof_sf_member member;

    (void)state;
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_MEMBER);
    assert_text(member.text, "one;p=1");
    assert_text(member.key, "one");
    assert_text(member.value, "");
    assert_int_equal(member.type, FLEETPROF_SF_BOOLEAN);
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_MEMBER);
    assert_text(member.text, "two=(a b);q");
    assert_text(member.value, "(a b)");
    assert_int_equal(member.type, FLEETPROF_SF_INNER_LIST);
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_MEMBER);
    assert_text(member.text, "three=%\"%c3%bc\"");
    assert_int_equal(member.type, FLEETPROF_SF_DISPLAY_STRING);
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_END);
}

static void every_type_is_named(void **state)
{
    static const struct {
        const char *dictionary;
        enum fleetprof_sf_type type;
    } cases[] = {
        {"a", FLEETPROF_SF_BOOLEAN},       {"a=?0", FLEETPROF_SF_BOOLEAN},
        {"a=1", FLEETPROF_SF_INTEGER},     {"a=1.5", FLEETPROF_SF_DECIMAL},
        {"a=\"x\"", FLEETPROF_SF_STRING},  {"a=x", FLEETPROF_SF_TOKEN},
        {"a=:YQ:", FLEETPROF_SF_BYTES},    {"a=@1", FLEETPROF_SF_DATE},
        {"a=()", FLEETPROF_SF_INNER_LIST}, {"a=%\"x\"", FLEETPROF_SF_DISPLAY_STRING},
    };
    struct fleetprof_sf_member member;
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        assert_true(fleetprof_sf_find(text(cases[i].dictionary), text("a"), &member));
        assert_int_equal(member.type, cases[i].type);
    }
}

static void the_last_of_a_repeated_key_wins(void **state)
{
    struct fleetprof_sf_member member;

    (void)state;
    assert_true(fleetprof_sf_find(text("a=1, b=2, a=3"), text("a"), &member));
    assert_text(member.value, "3");
}

static void nothing_is_found_in_what_is_no_dictionary(void **state)
{
    struct fleetprof_sf_member member;

    (void)state;
    assert_false(fleetprof_sf_find(text("a, b,"), text("a"), &member));
    assert_false(fleetprof_sf_find(text("foo;a, ab"), text("a"), &member));
}

static void an_error_says_where(void **state)
{
    struct fleetprof_slice dictionary = text("a=1, b=?2");
    struct fleetprof_sf_reader reader = fleetprof_sf_read(dictionary);
    struct fleetprof_sf_member member;

    (void)state;
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_MEMBER);
    assert_int_equal(fleetprof_sf_next(&reader, &member), FLEETPROF_SF_ERROR);
    assert_ptr_equal(reader.at, dictionary.data + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_the_rfc_accepts),
        cmocka_unit_test(refuses_what_the_rfc_refuses),
        cmocka_unit_test(a_nul_byte_is_never_part_of_anything),
        cmocka_unit_test(an_absent_value_is_an_empty_dictionary),
        cmocka_unit_test(the_end_of_the_text_is_respected),
        cmocka_unit_test(a_member_is_told_in_its_parts),
        cmocka_unit_test(every_type_is_named),
        cmocka_unit_test(the_last_of_a_repeated_key_wins),
        cmocka_unit_test(nothing_is_found_in_what_is_no_dictionary),
        cmocka_unit_test(an_error_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
