/* SPDX-License-Identifier: Apache-2.0 */
/* Rates, keys and random numbers: pinned, because all servers of all versions have to agree. */
#include "header_policy/sampling.c"

#include "test.h"

#define UNTOUCHED 77u

static void rates_become_parts_per_million(void **state)
{
    static const struct {
        const char *rate;
        enum fleetprof_rate_error error;
        uint32_t ppm;
    } cases[] = {
        {"100%", FLEETPROF_RATE_OK, 1000000},
        {"100.000%", FLEETPROF_RATE_OK, 1000000},
        {"1%", FLEETPROF_RATE_OK, 10000},
        {"0.05%", FLEETPROF_RATE_OK, 500},
        {"12.5%", FLEETPROF_RATE_OK, 125000},
        {"0.0001%", FLEETPROF_RATE_OK, 1},
        {"0.00014%", FLEETPROF_RATE_OK, 1},
        {"0.00015%", FLEETPROF_RATE_OK, 2},
        {"0%", FLEETPROF_RATE_OK, 0},
        {"0.000%", FLEETPROF_RATE_OK, 0},
        {"001%", FLEETPROF_RATE_OK, 10000},
        {"1/2000", FLEETPROF_RATE_OK, 500},
        {"1/1", FLEETPROF_RATE_OK, 1000000},
        {"2/3", FLEETPROF_RATE_OK, 666667},
        {"1/3", FLEETPROF_RATE_OK, 333333},
        {"1/1000000", FLEETPROF_RATE_OK, 1},
        {"0/5", FLEETPROF_RATE_OK, 0},
        {"999999999/999999999", FLEETPROF_RATE_OK, 1000000},
        {"0.00009%", FLEETPROF_RATE_TOO_SMALL, 0},
        {"1/1000001", FLEETPROF_RATE_TOO_SMALL, 0},
        {"0.000000001%", FLEETPROF_RATE_TOO_SMALL, 0},
        {"100.1%", FLEETPROF_RATE_ABOVE_ONE, 0},
        {"100.000000001%", FLEETPROF_RATE_ABOVE_ONE, 0},
        {"999999999.999999999%", FLEETPROF_RATE_ABOVE_ONE, 0},
        {"101%", FLEETPROF_RATE_ABOVE_ONE, 0},
        {"3/2", FLEETPROF_RATE_ABOVE_ONE, 0},
        {"", FLEETPROF_RATE_SYNTAX, 0},
        {"%", FLEETPROF_RATE_SYNTAX, 0},
        {"1", FLEETPROF_RATE_SYNTAX, 0},
        {"0.01", FLEETPROF_RATE_SYNTAX, 0},
        {"-1%", FLEETPROF_RATE_SYNTAX, 0},
        {"+1%", FLEETPROF_RATE_SYNTAX, 0},
        {".5%", FLEETPROF_RATE_SYNTAX, 0},
        {"5.%", FLEETPROF_RATE_SYNTAX, 0},
        {"1 %", FLEETPROF_RATE_SYNTAX, 0},
        {"1%%", FLEETPROF_RATE_SYNTAX, 0},
        {"1/", FLEETPROF_RATE_SYNTAX, 0},
        {"/2", FLEETPROF_RATE_SYNTAX, 0},
        {"1/0", FLEETPROF_RATE_SYNTAX, 0},
        {"1/2%", FLEETPROF_RATE_SYNTAX, 0},
        {"1/2.5", FLEETPROF_RATE_SYNTAX, 0},
        {"1e-3%", FLEETPROF_RATE_SYNTAX, 0},
        {"1234567890/1234567890", FLEETPROF_RATE_SYNTAX, 0},
        {"1/1234567890", FLEETPROF_RATE_SYNTAX, 0},
        {"0.0000000001%", FLEETPROF_RATE_SYNTAX, 0},
        {"on", FLEETPROF_RATE_SYNTAX, 0},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        uint32_t ppm = UNTOUCHED;
        enum fleetprof_rate_error error = fleetprof_rate_parse(text(cases[i].rate), &ppm);
        uint32_t expected = cases[i].error == FLEETPROF_RATE_OK ? cases[i].ppm : UNTOUCHED;

        if (error != cases[i].error || ppm != expected) {
            fail_msg("%s: error %d, %u ppm", cases[i].rate, (int)error, ppm);
        }
    }
}

static void every_refusal_says_what_would_be_right(void **state)
{
    int error;

    (void)state;
    for (error = FLEETPROF_RATE_SYNTAX; error <= FLEETPROF_RATE_TOO_SMALL; error++) {
        assert_non_null(
            strstr(fleetprof_rate_error_text((enum fleetprof_rate_error)error), "; write"));
    }
    assert_string_equal(fleetprof_rate_error_text(FLEETPROF_RATE_OK), "it is fine");
}

static void rates_are_written_as_decimal_fractions(void **state)
{
    static const struct {
        uint32_t ppm;
        const char *fraction;
    } cases[] = {{0, "0"},          {1, "0.000001"},      {500, "0.0005"}, {10000, "0.01"},
                 {125000, "0.125"}, {999999, "0.999999"}, {1000000, "1"},  {100000, "0.1"}};
    char memory[FLEETPROF_RATE_TEXT_MAX];
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_slice got = {memory, fleetprof_rate_format(cases[i].ppm, memory)};

        assert_text(got, cases[i].fraction);
    }
}

static void the_decision_is_exact_at_its_edges(void **state)
{
    const uint64_t step = 18446744073710u; /* 2^64 / 10^6, rounded up */

    (void)state;
    assert_false(fleetprof_sampled(0, 0));
    assert_true(fleetprof_sampled(0, 1));
    assert_true(fleetprof_sampled(step - 1, 1));
    assert_false(fleetprof_sampled(step, 1));
    assert_true(fleetprof_sampled(UINT64_MAX, 1000000));
    assert_false(fleetprof_sampled(UINT64_MAX, 999999));
}

static void a_higher_rate_samples_all_that_a_lower_one_does(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t number = fleetprof_random_number(&random);

        assert_true(!fleetprof_sampled(number, 10000) || fleetprof_sampled(number, 100000));
    }
}

/* The vectors that the authors of SipHash publish: key 00…0f, text 00…(n-1). */
static void the_hash_is_siphash_2_4(void **state)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } vectors[] = {
        {0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu}, {2, 0x0d6c8009d9a94f5au},
        {7, 0xab0200f58b01d137u}, {8, 0x93f5f5799a932462u}, {15, 0xa129ca6149be45e5u},
    };
    unsigned char bytes[16];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)i;
    }
    for (i = 0; i < COUNT(vectors); i++) {
        struct fleetprof_slice input = {(const char *)bytes, vectors[i].len};

        assert_true(siphash(bytes, input) == vectors[i].hash);
    }
}

/* Made with: printf KEY | openssl mac -macopt hexkey:$(printf 'fleetprof sample' | xxd -p)
   -macopt size:8 SIPHASH, which writes the number's bytes from the lowest up. */
static void keys_get_the_same_number_on_every_server(void **state)
{
    (void)state;
    assert_true(fleetprof_key_number(text("")) == 0x7bdd75902e8be324u);
    assert_true(fleetprof_key_number(text(NULL)) == 0x7bdd75902e8be324u);
    assert_true(fleetprof_key_number(text("visitor-1")) == 0x731a2a6eafd08cc4u);
    assert_true(fleetprof_key_number(text("0123456789abcdef")) == 0xb3b8ee9d792af415u);
    assert_true(fleetprof_key_number(text("\xc3\xa9")) == 0xda2dbb90872c31d8u);
}

/* Vectors as published with SplitMix64, seed 1234567. */
static void the_random_stream_is_splitmix64(void **state)
{
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    uint64_t seed = 1234567;
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(expected); i++) {
        assert_true(fleetprof_random_number(&seed) == expected[i]);
    }
}

/* 99.9 % of a binomial distribution lie within 3.29 standard deviations of its mean. */
static void assert_binomial(unsigned hits, double trials, double rate)
{
    double expected = trials * rate;
    double distance = (double)hits - expected;

    assert_true(distance * distance <= 3.29 * 3.29 * expected * (1 - rate));
}

static void random_numbers_and_counted_keys_hit_the_rate(void **state)
{
    const unsigned trials = 400000;
    static const uint32_t rates[] = {500, 10000, 500000};
    char key[24];

    (void)state;
    for (size_t i = 0; i < COUNT(rates); i++) {
        uint64_t random = 42;
        unsigned hits[2] = {0, 0};

        for (unsigned n = 0; n < trials; n++) {
            int len = snprintf(key, sizeof(key), "visitor-%u", n);
            struct fleetprof_slice visitor = {key, (size_t)len};

            hits[0] += fleetprof_sampled(fleetprof_random_number(&random), rates[i]);
            hits[1] += fleetprof_sampled(fleetprof_key_number(visitor), rates[i]);
        }
        assert_binomial(hits[0], trials, rates[i] / 1e6);
        assert_binomial(hits[1], trials, rates[i] / 1e6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_become_parts_per_million),
        cmocka_unit_test(every_refusal_says_what_would_be_right),
        cmocka_unit_test(rates_are_written_as_decimal_fractions),
        cmocka_unit_test(the_decision_is_exact_at_its_edges),
        cmocka_unit_test(a_higher_rate_samples_all_that_a_lower_one_does),
        cmocka_unit_test(the_hash_is_siphash_2_4),
        cmocka_unit_test(keys_get_the_same_number_on_every_server),
        cmocka_unit_test(the_random_stream_is_splitmix64),
        cmocka_unit_test(random_numbers_and_counted_keys_hit_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
