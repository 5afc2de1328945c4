/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: every verdict, where a token is demanded and where not.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/token.c"

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define KEY_B "f00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define KEY_C "e00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

enum { NOW_S = 1767225600, MAX_AGE_S = 600, PPM = 500 };

/* Two key files: A, and B with C behind it. */
static struct fleetprof_token_keys *files[2];
static struct fp_str names[2];
static struct fp_site site;
static struct fp_metrics *registry;
static struct fp_metric_set *metrics;

static struct fleetprof_token_keys *parse(const char *text)
{
    struct fleetprof_token_keys *keys;
    struct fleetprof_key_result result = fleetprof_token_keys_parse(text, strlen(text), &keys);
    assert_int_equal(result.error, FLEETPROF_KEY_OK);
    return keys;
}

static int set_up(void **state)
{
    (void)state;
    files[0] = parse(KEY_A);
    files[1] = parse(KEY_B KEY_C);
    site = (struct fp_site){
        .name = {"shop", 4},
        .require_token = true,
        .token_key_files = {names, 2},
        .token_keys = files,
        .token_max_age_us = MAX_AGE_S * FP_US_PER_S,
        .token_uploads = 2,
    };
    registry = fp_metrics_create();
    metrics = registry != NULL ? fp_metrics_join(registry, &fp_ingest_metrics) : NULL;
    site.nonces = fp_nonce_table_create(32000);
    return metrics == NULL || site.nonces == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    fleetprof_token_keys_free(files[0]);
    fleetprof_token_keys_free(files[1]);
    fp_nonce_table_unref(site.nonces);
    fp_metrics_free(registry);
    return 0;
}

struct made {
    char text[FLEETPROF_TOKEN_MAX];
    size_t len;
};

static struct made make(const char *key, const char *site_name, int64_t time_s)
{
    struct fleetprof_token token = {
        .site = site_name, .site_len = strlen(site_name), .ppm = PPM, .time_s = time_s};
    struct fleetprof_token_keys *keys = parse(key);
    struct made made;
    assert_true(fleetprof_token_draw_nonce(token.nonce));
    made.len = fleetprof_token_make(keys, &token, made.text);
    assert_true(made.len > 0);
    fleetprof_token_keys_free(keys);
    return made;
}

static struct fp_problem problem;
static struct fp_token_proof proof;

static bool has_samples;

static bool admit(const char *text, size_t len)
{
    const struct fp_token_claim claim = {
        .site = &site,
        .token = {text, len},
        .now_us = NOW_S * FP_US_PER_S + 999999,
        .metrics = metrics,
        .has_samples = has_samples,
    };
    proof = (struct fp_token_proof){77, FP_STR("x=1")};
    return fp_token_admit(&claim, &proof, &problem);
}

static bool admit_made(struct made made)
{
    return admit(made.text, made.len);
}

static int64_t counted(enum fp_ingest_metric metric)
{
    return fp_metrics_get(metrics, metric);
}

static void a_good_token_of_any_key_verifies_the_rate(void **state)
{
    (void)state;
    assert_true(admit_made(make(KEY_A, "shop", NOW_S)));
    assert_int_equal(proof.rate_ppm, PPM);
    assert_true(admit_made(make(KEY_B, "shop", NOW_S)));
    assert_int_equal(proof.rate_ppm, PPM);
    assert_true(admit_made(make(KEY_C, "shop", NOW_S)));
    assert_int_equal(proof.rate_ppm, PPM);
    assert_int_equal(counted(FP_METRIC_PAGE_TOKENS_GOOD), 3);
}

static struct made make_with_arms(uint32_t ppm)
{
    struct fleetprof_token token = {
        .site = "shop", .site_len = 4, .ppm = ppm, .time_s = NOW_S, .arms = "x=1", .arms_len = 3};
    struct made made;
    assert_true(fleetprof_token_draw_nonce(token.nonce));
    made.len = fleetprof_token_make(files[0], &token, made.text);
    assert_true(made.len > 0);
    return made;
}

static void assert_proven(const char *arms, uint32_t ppm)
{
    assert_true(fp_str_equal(proof.arms, fp_str_of(arms)));
    assert_int_equal(proof.rate_ppm, ppm);
}

static void a_good_token_proves_its_arms(void **state)
{
    (void)state;
    const struct made sampled = make_with_arms(PPM);
    const struct made plain = make_with_arms(0);
    assert_true(admit(sampled.text, sampled.len));
    assert_proven("x=1", PPM);
    assert_true(admit(plain.text, plain.len));
    assert_proven("x=1", 0);
    assert_true(admit_made(make(KEY_A, "shop", NOW_S)));
    assert_proven("", PPM);
}

/* Otherwise anybody could make profiles out of the tokens of all pages. */
static void a_token_of_an_unsampled_load_admits_no_profile(void **state)
{
    (void)state;
    const struct made plain = make_with_arms(0);
    has_samples = true;
    assert_false(admit(plain.text, plain.len));
    assert_non_null(strstr(problem.detail, "was not sampled, but"));
    site.require_token = false;
    assert_true(admit(plain.text, plain.len));
    assert_proven("", 0);
    site.require_token = true;
    has_samples = false;
}

static void age_has_its_bounds_and_an_allowance(void **state)
{
    (void)state;
    assert_true(admit_made(make(KEY_A, "shop", NOW_S - MAX_AGE_S - FP_TOKEN_SKEW_S)));
    assert_false(admit_made(make(KEY_A, "shop", NOW_S - MAX_AGE_S - FP_TOKEN_SKEW_S - 1)));
    assert_int_equal(counted(FP_METRIC_PAGE_TOKENS_EXPIRED), 1);
    assert_true(admit_made(make(KEY_A, "shop", NOW_S + FP_TOKEN_SKEW_S)));
    assert_false(admit_made(make(KEY_A, "shop", NOW_S + FP_TOKEN_SKEW_S + 1)));
    assert_int_equal(counted(FP_METRIC_PAGE_TOKENS_EARLY), 1);
}

/* Refused where a token is demanded, admitted without a rate where not, counted in both. */
static void assert_bad(const char *text, size_t len, enum fp_ingest_metric metric,
                       const char *words)
{
    int64_t before = counted(metric);
    site.require_token = true;
    assert_false(admit(text, len));
    assert_int_equal(problem.status, 403);
    assert_int_equal(problem.retry_s, 0);
    assert_int_equal(proof.rate_ppm, 0);
    if (strstr(problem.detail, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", problem.detail, words);
    site.require_token = false;
    assert_true(admit(text, len));
    assert_int_equal(proof.rate_ppm, 0);
    assert_int_equal(counted(metric), before + 2);
    site.require_token = true;
}

static void a_bad_token_is_refused_only_where_one_is_demanded(void **state)
{
    (void)state;
    struct made forged = make(KEY_A, "shop", NOW_S);
    struct made other = make(KEY_A, "shop2", NOW_S);
    struct made unknown = make("aa" KEY_A, "shop", NOW_S);
    struct made old = make(KEY_A, "shop", NOW_S - 2 * MAX_AGE_S);
    struct made early = make(KEY_A, "shop", NOW_S + MAX_AGE_S);
    forged.text[forged.len - 2] ^= 1;
    assert_bad("", 0, FP_METRIC_PAGE_TOKENS_MISSING, "has no page token");
    assert_bad("0", 1, FP_METRIC_PAGE_TOKENS_FORGED, "not of the form");
    assert_bad(forged.text, forged.len, FP_METRIC_PAGE_TOKENS_FORGED, "signature is wrong");
    assert_bad(forged.text, forged.len - 1, FP_METRIC_PAGE_TOKENS_FORGED, "not of the form");
    assert_bad(other.text, other.len, FP_METRIC_PAGE_TOKENS_FORGED, "another site");
    assert_bad(unknown.text, unknown.len, FP_METRIC_PAGE_TOKENS_FORGED, "not known here");
    assert_bad(old.text, old.len, FP_METRIC_PAGE_TOKENS_EXPIRED, "has expired");
    assert_bad(early.text, early.len, FP_METRIC_PAGE_TOKENS_EARLY, "from the future");
}

static void a_token_is_good_for_so_many_uploads(void **state)
{
    (void)state;
    struct made made = make(KEY_A, "shop", NOW_S);
    assert_true(admit_made(made));
    assert_true(admit_made(made));
    assert_int_equal(proof.rate_ppm, PPM);
    assert_bad(made.text, made.len, FP_METRIC_PAGE_TOKENS_USED_UP, "used up");
    assert_true(admit_made(make(KEY_A, "shop", NOW_S)));
}

static void a_bad_token_uses_nothing(void **state)
{
    (void)state;
    struct made made = make(KEY_A, "shop", NOW_S);
    struct made forged = made;
    forged.text[forged.len - 2] ^= 1;
    for (int i = 0; i < 5; i++)
        assert_false(admit_made(forged));
    assert_true(admit_made(made));
    assert_true(admit_made(made));
}

static void a_token_that_a_flood_made_forgotten_is_refused(void **state)
{
    (void)state;
    struct made first = make(KEY_A, "shop", NOW_S - 1);
    assert_true(admit_made(first));
    fp_nonce_table_unref(site.nonces);
    site.nonces = fp_nonce_table_create(1);
    for (int i = 0; i < 16; i++)
        assert_true(admit_made(make(KEY_A, "shop", NOW_S)));
    assert_bad(first.text, first.len, FP_METRIC_PAGE_TOKENS_FORGOTTEN, "too old");
    assert_true(admit_made(make(KEY_A, "shop", NOW_S + 1)));
}

static void a_site_without_keys_looks_at_no_token(void **state)
{
    (void)state;
    site.token_key_files.count = 0;
    site.require_token = false;
    assert_true(admit("nonsense", 8));
    assert_int_equal(proof.rate_ppm, 0);
    assert_true(admit("", 0));
    for (enum fp_ingest_metric i = FP_METRIC_PAGE_TOKENS_GOOD; i <= FP_METRIC_PAGE_TOKENS_UNCHECKED;
         i++)
        assert_int_equal(counted(i), 0);
}

static void counts_an_unchecked_token_apart_from_bad_ones(void **state)
{
    (void)state;
    assert_int_equal(judge_error(FLEETPROF_TOKEN_CRYPTO).metric, FP_METRIC_PAGE_TOKENS_UNCHECKED);
    assert_int_equal(judge_error(FLEETPROF_TOKEN_OK).metric, FP_METRIC_PAGE_TOKENS_GOOD);
}

int main(void)
{
#define WITH_SITE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SITE(a_good_token_of_any_key_verifies_the_rate),
        WITH_SITE(a_good_token_proves_its_arms),
        WITH_SITE(a_token_of_an_unsampled_load_admits_no_profile),
        WITH_SITE(age_has_its_bounds_and_an_allowance),
        WITH_SITE(a_bad_token_is_refused_only_where_one_is_demanded),
        WITH_SITE(a_token_is_good_for_so_many_uploads),
        WITH_SITE(a_bad_token_uses_nothing),
        WITH_SITE(a_token_that_a_flood_made_forgotten_is_refused),
        WITH_SITE(a_site_without_keys_looks_at_no_token),
        WITH_SITE(counts_an_unchecked_token_apart_from_bad_ones),
    };
    return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}
