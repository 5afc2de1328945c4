/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance budget: cuts a text at "<=", then at its last word before and after it.
 */
#include "collector/config/performance_budget.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/config/value.h"
#include "collector/rollup/vital.h"

#include <inttypes.h>

/* How a limit may be written: a score has no unit, and a vital's time is in ms without one. */
enum limit_form { LIMIT_SCORE, LIMIT_VITAL, LIMIT_TIME };

enum { LENGTH_MAX = 300, SCORE_ONE = 1000000, DECIMALS_MAX = 3 };

static const char form[] =
    "a budget is WHAT pNN <= LIMIT or WHAT mean <= LIMIT, with \" on ROUTE\" if wanted, such as "
    "INP p75 <= 200ms on /checkout";

/* Cuts a text at the first or last separator. False if it has none. */
static bool cut(struct fp_str text, const char *separator, bool is_last, struct fp_str sides[2])
{
    const size_t len = strlen(separator);
    bool found = false;
    for (size_t i = 0; i + len <= text.len && (is_last || !found); i++)
        if (memcmp(text.ptr + i, separator, len) == 0) {
            sides[0] = (struct fp_str){text.ptr, i};
            sides[1] = fp_str_skip(text, i + len);
            found = true;
        }
    return found;
}

/* Reads "p75" or "mean". */
static const char *read_statistic(struct fp_str word, struct fp_performance_budget *budget)
{
    budget->percentile = 0;
    if (fp_str_equal(word, FP_STR("mean")))
        return NULL;
    bool fine = (word.len == 2 || word.len == 3) && word.ptr[0] == 'p' && word.ptr[1] != '0';
    for (size_t i = 1; fine && i < word.len; i++) {
        fine = fp_is_digit(word.ptr[i]);
        budget->percentile = 10 * budget->percentile + (word.ptr[i] - '0');
    }
    return fine ? NULL : "a budget is of a percentile from p1 to p99, or of the mean";
}

/* Reads what the budget is of, and how its limit may be written. */
static const char *read_what(struct fp_str what, struct fp_performance_budget *budget,
                             enum limit_form *limit_form)
{
    static const struct fp_str measure = {"measure ", 8};
    static const struct fp_str third_party = {"third-party ", 12};
    const enum fp_vital vital = fp_vital_find(what);
    const bool is_mean = budget->percentile == 0;
    *limit_form = LIMIT_TIME;
    if (vital != FP_VITAL_COUNT)
        *limit_form = fp_vital_is_score(vital) ? LIMIT_SCORE : LIMIT_VITAL;
    budget->what = what;
    if (vital != FP_VITAL_COUNT || fp_str_has_prefix(what, measure)) {
        budget->kind = vital != FP_VITAL_COUNT ? "vital" : "measure";
        if (vital == FP_VITAL_COUNT)
            budget->what = fp_str_skip(what, measure.len);
        return is_mean ? "a budget of a vital or measure is of a percentile: write p75" : NULL;
    }
    if (fp_str_equal(what, FP_STR("JS"))) {
        budget->kind = "js";
        budget->what = FP_STR("");
    } else if (fp_str_has_prefix(what, third_party)) {
        budget->kind = "third_party";
        budget->what = fp_str_skip(what, third_party.len);
        const char *wrong = fp_value_check_host(budget->what);
        if (wrong != NULL)
            return wrong;
    } else {
        return "a budget is of " FP_VITAL_NAMES ", measure NAME, JS or third-party HOST";
    }
    return is_mean ? NULL
                   : "time of JS and third parties is known as a mean per page load only: write "
                     "mean";
}

/* Reads digits with at most three decimals, in thousandths. Returns the length, 0 if there is no
 * number, or one of ten digits or more. */
static size_t read_number(struct fp_str text, int64_t *thousandths)
{
    enum { DIGITS_MAX = 9 };
    size_t len = 0;
    int decimals = -1; /* before the point */
    int64_t value = 0;
    for (; len < text.len && (fp_is_digit(text.ptr[len]) || text.ptr[len] == '.'); len++) {
        if (text.ptr[len] == '.' ? decimals >= 0 || len == 0 : decimals == DECIMALS_MAX)
            return 0;
        decimals += text.ptr[len] == '.' || decimals >= 0;
        if (text.ptr[len] != '.')
            value = 10 * value + (text.ptr[len] - '0');
        if (len > DIGITS_MAX)
            return 0;
    }
    if (len == 0 || decimals == 0) /* nothing after the point */
        return 0;
    for (; decimals < DECIMALS_MAX; decimals += decimals < 0 ? 2 : 1)
        value *= 10;
    *thousandths = value;
    return len;
}

/* True for the unit of milliseconds. Without a unit, a fraction is more likely seconds. */
static bool is_ms(struct fp_str unit, struct fp_str number, enum limit_form limit_form)
{
    return fp_str_equal(unit, FP_STR("ms")) || (limit_form == LIMIT_VITAL && unit.len == 0 &&
                                                memchr(number.ptr, '.', number.len) == NULL);
}

static const char *read_limit(struct fp_str text, enum limit_form limit_form, int64_t *limit_us)
{
    int64_t thousandths = 0;
    const size_t len = read_number(text, &thousandths);
    const struct fp_str unit = fp_str_skip(text, len);
    const struct fp_str number = {text.ptr, len};
    const bool is_score = limit_form == LIMIT_SCORE;
    if (is_score && (len == 0 || unit.len > 0))
        return "the limit of a score is a number without unit, such as 0.1";
    const bool is_seconds = fp_str_equal(unit, FP_STR("s"));
    if (!is_score && (len == 0 || (!is_seconds && !is_ms(unit, number, limit_form))))
        return "a limit is a number with at most three decimals and ms or s, such as 200ms";
    *limit_us = is_score || is_seconds ? thousandths * 1000 : thousandths;
    if (*limit_us < 1 || *limit_us > FP_US_PER_HOUR)
        return "a limit is above 0 and at most 3600s";
    return NULL;
}

static const char *check_route(struct fp_str route)
{
    bool is_after_star = false;
    if (route.len == 0 || route.ptr[0] != '/')
        return "a route of a budget begins with /, and * in it is any text";
    for (size_t i = 0; i < route.len; i++) {
        const bool is_star = route.ptr[i] == '*';
        if (route.ptr[i] == ' ')
            return "a route of a budget has no space";
        if (is_star && is_after_star)
            return "two * of a route need a character between them";
        is_after_star = is_star;
    }
    return NULL;
}

const char *fp_performance_budget_read(struct fp_str text, struct fp_performance_budget *budget)
{
    struct fp_str sides[2];
    struct fp_str what[2];
    struct fp_str limit[2];
    enum limit_form limit_form = LIMIT_TIME;
    if (text.len > LENGTH_MAX)
        return "a budget has at most 300 characters";
    if (memchr(text.ptr, '"', text.len) != NULL || memchr(text.ptr, '\\', text.len) != NULL)
        return "a budget has no quote and no backslash";
    if (!cut(text, " <= ", true, sides) || !cut(sides[0], " ", true, what) || what[0].len == 0)
        return form;
    const bool has_route = cut(sides[1], " on ", false, limit);
    budget->route = has_route ? limit[1] : FP_STR("");
    const char *wrong = read_statistic(what[1], budget);
    if (wrong == NULL)
        wrong = read_what(what[0], budget, &limit_form);
    if (wrong == NULL && budget->what.len == 0 && strcmp(budget->kind, "js") != 0)
        wrong = form;
    if (wrong == NULL)
        wrong = read_limit(has_route ? limit[0] : sides[1], limit_form, &budget->limit_us);
    return wrong == NULL && has_route ? check_route(budget->route) : wrong;
}

void fp_performance_budget_print(struct fp_str text, struct fp_buf *out)
{
    struct fp_performance_budget budget;
    const char *wrong = fp_performance_budget_read(text, &budget);
    FP_ASSERT(wrong == NULL);
    if (wrong != NULL)
        return;
    fp_buf_addf(out, "{\"name\":\"%.*s\",\"kind\":\"%s\",\"what\":\"%.*s\",\"percentile\":%d,",
                FP_STR_ARG(text), budget.kind, FP_STR_ARG(budget.what), budget.percentile);
    fp_buf_addf(out, "\"limit_us\":%" PRId64 ",\"route\":\"%.*s\"}", budget.limit_us,
                FP_STR_ARG(budget.route));
}
