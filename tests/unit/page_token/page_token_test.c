/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: published examples, every field out of range, every bit flipped, and what age allows. */
#include "page_token/page_token.c"

#include "page_token/keys.c"

#include "test.h"

/* Computed with another HMAC (Python's); docs/page_token.md also shows the first one. */
#define TOKEN_A                                                                                    \
    "v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc"
#define TOKEN_B                                                                                    \
    "v1.5b6e4d3a.shop.example_EU-1.1000000.1.________________."                                    \
    "6aFSifN3v3uqOk-Hwz2RecOzzPN2p7eT12A8EkVOR18"
#define TOKEN_LONGEST                                                                              \
    "v1.9dfbd8d2.ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss.1000000."        \
    "99999999999.----------------.nxuM9_0hoqMWyB09HGuyeF4FdV1_5SNVZB_MT8wxjDg"

/* Also signed with another HMAC (Node's). */
#define ARMS_MAX                                                                                   \
    "a222222222222222=AAAAAAAAAAAAAAAA,b222222222222222=AAAAAAAAAAAAAAAA,c22222222222"             \
    "2222=AAAAAAAAAAAAAAAA,d222222222222222=AAAAAAAAAAAAAAAA"
static const char token_with_arms[] =
    "v2.9dfbd8d2.shop.chat=off,hero=B-1.500.1767225600.AAECAwQFBgcICQoL.KTjA2A2Ccmdjq"
    "DW-CgiXXvFIPjGU6ixubZvVnJ_C-j0";
static const char token_of_the_unsampled[] =
    "v2.9dfbd8d2.a.b.chat=off.0.1767225600.AAECAwQFBgcICQoL.m_8lGaA5YXifIBQxiVOPEoTfq"
    "6If8JmR2ydHa2BeD_Q";
static const char longest_token_with_arms[] =
    "v2.9dfbd8d2.ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss.a22"
    "2222222222222=AAAAAAAAAAAAAAAA,b222222222222222=AAAAAAAAAAAAAAAA,c22222222222222"
    "2=AAAAAAAAAAAAAAAA,d222222222222222=AAAAAAAAAAAAAAAA.1000000.99999999999.-------"
    "---------.HHkxVtZYUHKvBKkznT3jNej6GWydgV_r30pwp0SGy1E";

#define SITE_64 "ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
#define TIME_A 1767225600

static struct fleetprof_token_keys *keys_of(const char *text)
{
    struct fleetprof_token_keys *keys;

    assert_int_equal(fleetprof_token_keys_parse(text, strlen(text), &keys).error, FLEETPROF_KEY_OK);
    return keys;
}

static int set_up(void **state)
{
    *state = keys_of(KEY_A "\n" KEY_B);
    return 0;
}

static int tear_down(void **state)
{
    fleetprof_token_keys_free(*state);
    return 0;
}

static struct fleetprof_token token_of(const char *site, uint32_t ppm, int64_t time_s,
                                       const char *nonce)
{
    struct fleetprof_token token = {site, strlen(site), ppm, time_s, {0}, NULL, 0};

    memcpy(token.nonce, nonce, sizeof(token.nonce));
    return token;
}

static struct fleetprof_token_rules rules_of(const char *site, int64_t now_s)
{
    return (struct fleetprof_token_rules){site, strlen(site), now_s, 3600, 60};
}

static enum fleetprof_token_error check(const struct fleetprof_token_keys *keys, const char *text)
{
    struct fleetprof_token_rules rules = rules_of("shop", TIME_A);
    struct fleetprof_token token;

    return fleetprof_token_check(keys, text, strlen(text), &rules, &token);
}

static void assert_made(const struct fleetprof_token_keys *keys,
                        const struct fleetprof_token *token, const char *expected)
{
    char text[FLEETPROF_TOKEN_MAX];

    assert_int_equal(fleetprof_token_make(keys, token, text), strlen(expected));
    assert_memory_equal(text, expected, strlen(expected));
}

static void tokens_are_those_of_the_manual(void **state)
{
    struct fleetprof_token_keys *other = keys_of(KEY_B);
    struct fleetprof_token a = token_of("shop", 500, TIME_A, "AAECAwQFBgcICQoL");
    struct fleetprof_token b = token_of("shop.example_EU-1", 1000000, 1, "________________");
    struct fleetprof_token longest = token_of(SITE_64, 1000000, TIME_MAX, "----------------");

    assert_made(*state, &a, TOKEN_A);
    assert_made(other, &b, TOKEN_B);
    assert_made(*state, &longest, TOKEN_LONGEST);
    fleetprof_token_keys_free(other);
}

static void a_token_is_read_back(void **state)
{
    struct fleetprof_token_rules rules = rules_of("shop.example_EU-1", 2);
    struct fleetprof_token token;

    assert_int_equal(fleetprof_token_check(*state, TOKEN_B, strlen(TOKEN_B), &rules, &token),
                     FLEETPROF_TOKEN_OK);
    assert_int_equal(token.site_len, 17);
    assert_memory_equal(token.site, "shop.example_EU-1", 17);
    assert_int_equal(token.ppm, 1000000);
    assert_int_equal(token.time_s, 1);
    assert_memory_equal(token.nonce, "________________", FLEETPROF_TOKEN_NONCE_LEN);

    rules = rules_of(SITE_64, TIME_MAX);
    assert_int_equal(
        fleetprof_token_check(*state, TOKEN_LONGEST, strlen(TOKEN_LONGEST), &rules, &token),
        FLEETPROF_TOKEN_OK);
}

static struct fleetprof_token armed(struct fleetprof_token token, const char *arms)
{
    token.arms = arms;
    token.arms_len = strlen(arms);
    return token;
}

static void tokens_with_arms_are_written_and_read_back(void **state)
{
    struct fleetprof_token a =
        armed(token_of("shop", 500, TIME_A, "AAECAwQFBgcICQoL"), "chat=off,hero=B-1");
    struct fleetprof_token unsampled =
        armed(token_of("a.b", 0, TIME_A, "AAECAwQFBgcICQoL"), "chat=off");
    struct fleetprof_token longest =
        armed(token_of(SITE_64, 1000000, TIME_MAX, "----------------"), ARMS_MAX);
    struct fleetprof_token_rules rules = rules_of("a.b", TIME_A);
    struct fleetprof_token token;

    assert_made(*state, &a, token_with_arms);
    assert_made(*state, &unsampled, token_of_the_unsampled);
    assert_made(*state, &longest, longest_token_with_arms);
    assert_int_equal(fleetprof_token_check(*state, token_of_the_unsampled,
                                           strlen(token_of_the_unsampled), &rules, &token),
                     FLEETPROF_TOKEN_OK);
    assert_int_equal(token.ppm, 0);
    assert_int_equal(token.site_len, 3);
    assert_int_equal(token.arms_len, 8);
    assert_memory_equal(token.arms, "chat=off", 8);
    rules = rules_of("shop", TIME_A);
    assert_int_equal(
        fleetprof_token_check(*state, token_with_arms, strlen(token_with_arms), &rules, &token),
        FLEETPROF_TOKEN_OK);
    assert_int_equal(token.ppm, 500);
    assert_memory_equal(token.arms, "chat=off,hero=B-1", token.arms_len);
    assert_int_equal(fleetprof_token_check(*state, TOKEN_A, strlen(TOKEN_A), &rules, &token),
                     FLEETPROF_TOKEN_OK);
    assert_int_equal(token.arms_len, 0);
}

static void no_arm_can_be_changed_added_or_taken_away(void **state)
{
    char text[sizeof(token_with_arms)];

    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, token_with_arms, sizeof(text));
            text[i] = (char)(text[i] ^ 1 << bit);
            assert_int_not_equal(check(*state, text), FLEETPROF_TOKEN_OK);
        }
    }
    assert_int_equal(
        check(*state, "v2.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGC"
                      "Vo5ZsymcZpcwrrKKDc"),
        FLEETPROF_TOKEN_MALFORMED);
    assert_int_equal(
        check(*state, "v1.9dfbd8d2.shop.chat=off.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIO"
                      "iPddzEDGCVo5ZsymcZpcwrrKKDc"),
        FLEETPROF_TOKEN_MALFORMED);
}

static void fields_out_of_range_are_not_signed(void **state)
{
    static const char nonce[] = "AAECAwQFBgcICQoL";
    const struct fleetprof_token cases[] = {
        token_of("", 1, 1, nonce),
        token_of(SITE_64 "s", 1, 1, nonce),
        token_of("shop\"", 1, 1, nonce),
        token_of("a b", 1, 1, nonce),
        token_of("a%", 1, 1, nonce),
        token_of("\xc3\xbc", 1, 1, nonce),
        token_of("shop", 0, 1, nonce),
        token_of("shop", PPM_MAX + 1, 1, nonce),
        token_of("shop", 1, 0, nonce),
        token_of("shop", 1, -1, nonce),
        token_of("shop", 1, TIME_MAX + 1, nonce),
        token_of("shop", 1, 1, "AAECAwQFBgcICQo."),
        token_of("shop", 1, 1, "AAECAwQFBgcICQo\0"),
        armed(token_of("shop", 1, 1, nonce), "chat=o.n"),
        armed(token_of("shop", 1, 1, nonce), "chat=\""),
        armed(token_of("shop", 1, 1, nonce), ARMS_MAX "A"),
        armed(token_of("shop", PPM_MAX + 1, 1, nonce), "chat=on"),
    };
    char text[FLEETPROF_TOKEN_MAX];

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(fleetprof_token_make(*state, &cases[i], text), 0);
    }
}

static void refuses_malformed_tokens(void **state)
{
    static const char *texts[] = {
        "",
        "0",
        "v1",
        "v1.",
        "v1.9dfbd8d2",
        "v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQoL",
        "v1.9dfbd8d.shop.500.1767225600.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKD",
        "v1.9dfbd8d2.shop.0500.1767225600.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.0.1767225600.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.1000001.1767225600.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500.-1.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500..AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500.100000000000.AAECAwQFBgcICQoL."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQo."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQo=."
        "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2..500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        "v1.9dfbd8d2.sh/"
        "op.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc",
        TOKEN_LONGEST TOKEN_A,
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(check(*state, texts[i]), FLEETPROF_TOKEN_MALFORMED);
    }
    assert_int_equal(check(*state, "v3." SITE_64), FLEETPROF_TOKEN_VERSION);
    assert_int_equal(check(*state, "V1." SITE_64), FLEETPROF_TOKEN_VERSION);
    assert_int_equal(check(*state, "." TOKEN_A), FLEETPROF_TOKEN_VERSION);
}

/* If any byte changes, the token becomes invalid. */
static void no_byte_can_be_changed(void **state)
{
    char text[sizeof(TOKEN_A)];

    for (size_t i = 0; i < sizeof(TOKEN_A) - 1; i++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, TOKEN_A, sizeof(TOKEN_A));
            text[i] = (char)(text[i] ^ 1 << bit);
            assert_int_not_equal(check(*state, text), FLEETPROF_TOKEN_OK);
        }
    }
    memcpy(text, TOKEN_A, sizeof(TOKEN_A));
    assert_int_equal(check(*state, text), FLEETPROF_TOKEN_OK);
    text[17] = '6'; /* the rate */
    assert_int_equal(check(*state, text), FLEETPROF_TOKEN_FORGED);
}

static void a_failed_check_leaves_the_token_alone(void **state)
{
    struct fleetprof_token_rules rules = rules_of("shop", TIME_A + 100000);
    struct fleetprof_token token = {NULL, 7, 7, 7, "untouched", NULL, 7};
    struct fleetprof_token before = token;

    assert_int_equal(fleetprof_token_check(*state, TOKEN_A, strlen(TOKEN_A), &rules, &token),
                     FLEETPROF_TOKEN_EXPIRED);
    assert_memory_equal(&token, &before, sizeof(token));
}

static void keys_can_be_rotated(void **state)
{
    struct fleetprof_token_keys *old = keys_of(KEY_A);
    struct fleetprof_token_keys *new = keys_of(KEY_B);
    struct fleetprof_token_keys *both = keys_of(KEY_B "\n" KEY_A);

    (void)state;
    assert_int_equal(check(old, TOKEN_A), FLEETPROF_TOKEN_OK);
    assert_int_equal(check(both, TOKEN_A), FLEETPROF_TOKEN_OK);
    assert_int_equal(check(new, TOKEN_A), FLEETPROF_TOKEN_UNKNOWN_KEY);
    fleetprof_token_keys_free(old);
    fleetprof_token_keys_free(new);
    fleetprof_token_keys_free(both);
}

static void a_token_is_good_for_its_site_only(void **state)
{
    static const char *sites[] = {"sho", "shop2", "SHOP", "shoq", ""};
    struct fleetprof_token token;

    for (size_t i = 0; i < COUNT(sites); i++) {
        struct fleetprof_token_rules rules = rules_of(sites[i], TIME_A);

        assert_int_equal(fleetprof_token_check(*state, TOKEN_A, strlen(TOKEN_A), &rules, &token),
                         FLEETPROF_TOKEN_OTHER_SITE);
    }
}

static void age_is_allowed_for_the_clocks_difference(void **state)
{
    static const struct {
        int64_t age_s;
        enum fleetprof_token_error expected;
    } cases[] = {{0, FLEETPROF_TOKEN_OK},           {3600, FLEETPROF_TOKEN_OK},
                 {3660, FLEETPROF_TOKEN_OK},        {3661, FLEETPROF_TOKEN_EXPIRED},
                 {-60, FLEETPROF_TOKEN_OK},         {-61, FLEETPROF_TOKEN_EARLY},
                 {TIME_A, FLEETPROF_TOKEN_EXPIRED}, {-TIME_A, FLEETPROF_TOKEN_EARLY}};
    struct fleetprof_token token;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fleetprof_token_rules rules = rules_of("shop", TIME_A + cases[i].age_s);

        assert_int_equal(fleetprof_token_check(*state, TOKEN_A, strlen(TOKEN_A), &rules, &token),
                         cases[i].expected);
    }
}

static void nonces_are_base64url_and_differ(void **state)
{
    char nonce[2][FLEETPROF_TOKEN_NONCE_LEN];

    (void)state;
    assert_true(fleetprof_token_draw_nonce(nonce[0]));
    assert_true(fleetprof_token_draw_nonce(nonce[1]));
    assert_true(consists_of(nonce[0], FLEETPROF_TOKEN_NONCE_LEN, "_-"));
    assert_memory_not_equal(nonce[0], nonce[1], FLEETPROF_TOKEN_NONCE_LEN);
}

static void a_field_carries_a_token_that_is_good(void **state)
{
    struct fleetprof_token token = {SITE_64, 64, 1000000, TIME_MAX, {0}, NULL, 0};
    struct fleetprof_token_rules rules = rules_of(SITE_64, TIME_MAX);
    char value[FLEETPROF_TOKEN_FIELD_MAX];
    size_t len = fleetprof_token_field(*state, token, value);

    assert_int_equal(len, strlen("fleetprof;desc=\"" TOKEN_LONGEST "\""));
    assert_memory_equal(value, "fleetprof;desc=\"v1.", 19);
    assert_int_equal(value[len - 1], '"');
    assert_int_equal(fleetprof_token_check(*state, value + 16, len - 17, &rules, &token),
                     FLEETPROF_TOKEN_OK);
    token.ppm = 0;
    assert_int_equal(fleetprof_token_field(*state, token, value), 0);
}

static void a_field_of_an_unsampled_load_says_no_before_its_token(void **state)
{
    struct fleetprof_token token = armed(token_of("shop", 0, TIME_A, "AAECAwQFBgcICQoL"), "a=b");
    struct fleetprof_token_rules rules = rules_of("shop", TIME_A);
    char value[FLEETPROF_TOKEN_FIELD_MAX];
    size_t len = fleetprof_token_field(*state, token, value);

    assert_memory_equal(value, "fleetprof;desc=\"0.v2.", 21);
    assert_int_equal(value[len - 1], '"');
    assert_int_equal(fleetprof_token_check(*state, value + 18, len - 19, &rules, &token),
                     FLEETPROF_TOKEN_OK);
    token = armed(token_of(SITE_64, 0, TIME_MAX, "----------------"), ARMS_MAX);
    assert_in_range(fleetprof_token_field(*state, token, value), 1, FLEETPROF_TOKEN_FIELD_MAX);
}

static void a_field_without_a_key_carries_time_and_nonce(void **state)
{
    static const char start[] = "fleetprof;desc=\"1.1767225600.";
    const size_t start_len = sizeof(start) - 1;
    struct fleetprof_token token = {NULL, 0, 0, TIME_A, {0}, NULL, 0};
    char value[2][FLEETPROF_TOKEN_FIELD_MAX];

    for (size_t i = 0; i < 2; i++) {
        size_t len = fleetprof_token_field(NULL, token, value[i]);

        assert_int_equal(len, start_len + FLEETPROF_TOKEN_NONCE_LEN + 1);
        assert_memory_equal(value[i], start, start_len);
        assert_true(consists_of(value[i] + start_len, FLEETPROF_TOKEN_NONCE_LEN, "_-"));
        assert_int_equal(value[i][len - 1], '"');
        /* It is not a token: the collector refuses it. */
        assert_int_equal(check(*state, value[i] + 16), FLEETPROF_TOKEN_VERSION);
    }
    assert_memory_not_equal(value[0] + start_len, value[1] + start_len, FLEETPROF_TOKEN_NONCE_LEN);
    token.time_s = 0;
    assert_int_equal(fleetprof_token_field(NULL, token, value[0]), 0);
    token.time_s = TIME_MAX + 1;
    assert_int_equal(fleetprof_token_field(NULL, token, value[0]), 0);
}

static void every_error_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = FLEETPROF_TOKEN_OK; i < FLEETPROF_TOKEN_CRYPTO; i++) {
        for (int other = i + 1; other <= FLEETPROF_TOKEN_CRYPTO; other++) {
            assert_string_not_equal(fleetprof_token_error_text((enum fleetprof_token_error)i),
                                    fleetprof_token_error_text((enum fleetprof_token_error)other));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_the_manual),
        cmocka_unit_test(a_token_is_read_back),
        cmocka_unit_test(tokens_with_arms_are_written_and_read_back),
        cmocka_unit_test(no_arm_can_be_changed_added_or_taken_away),
        cmocka_unit_test(a_field_of_an_unsampled_load_says_no_before_its_token),
        cmocka_unit_test(fields_out_of_range_are_not_signed),
        cmocka_unit_test(refuses_malformed_tokens),
        cmocka_unit_test(no_byte_can_be_changed),
        cmocka_unit_test(a_failed_check_leaves_the_token_alone),
        cmocka_unit_test(keys_can_be_rotated),
        cmocka_unit_test(a_token_is_good_for_its_site_only),
        cmocka_unit_test(age_is_allowed_for_the_clocks_difference),
        cmocka_unit_test(nonces_are_base64url_and_differ),
        cmocka_unit_test(a_field_carries_a_token_that_is_good),
        cmocka_unit_test(a_field_without_a_key_carries_time_and_nonce),
        cmocka_unit_test(every_error_has_a_text_of_its_own),
    };

    return cmocka_run_group_tests_name("page_token", tests, set_up, tear_down);
}
