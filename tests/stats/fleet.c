/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fleet: draws sites, sides and uploads.
 */
#include "tests/stats/fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INTERVAL_US = 10000,
    IDLE_US = 2 * INTERVAL_US, /* the longest gap */
    SAMPLES_MAX = 20000,
};

enum { VISITOR = 1, OTHERS = 1000 }; /* addresses */

#define TYPICAL_MS 8000.0
#define GOLDEN 0.6180339887498949 /* its multiples are spread evenly from 0 to 1 */

/* ---- random numbers ---- */

/* sfc32 */
static uint32_t next(struct fleet *fleet)
{
    uint32_t *s = fleet->random;
    uint32_t t = s[0] + s[1] + s[3]++;
    s[0] = s[1] ^ (s[1] >> 9);
    s[1] = s[2] + (s[2] << 3);
    s[2] = ((s[2] << 21) | (s[2] >> 11)) + t;
    return t;
}

void fleet_seed(struct fleet *fleet, uint32_t seed)
{
    const uint32_t start[4] = {seed, 0x9e3779b9, 0x243f6a88, 1};
    memcpy(fleet->random, start, sizeof(start));
    fleet->has_spare = false;
    for (int i = 0; i < 20; i++)
        (void)next(fleet);
}

double fleet_uniform(struct fleet *fleet)
{
    return (next(fleet) + 0.5) / 4294967296.0;
}

static double normal(struct fleet *fleet)
{
    if (fleet->has_spare) {
        fleet->has_spare = false;
        return fleet->spare_normal;
    }
    double r = sqrt(-2 * log(fleet_uniform(fleet)));
    double angle = 2 * M_PI * fleet_uniform(fleet);
    fleet->spare_normal = r * sin(angle);
    fleet->has_spare = true;
    return r * cos(angle);
}

/* Draws a factor with mean 1. */
static double lognormal(struct fleet *fleet, double sigma)
{
    return exp(sigma * normal(fleet) - sigma * sigma / 2);
}

static unsigned poisson(struct fleet *fleet, double mean)
{
    if (mean > 25)
        return (unsigned)fmax(0, round(mean + sqrt(mean) * normal(fleet)));
    unsigned count = 0;
    double p = exp(-mean);
    for (double left = fleet_uniform(fleet) - p; left > 0 && count < 200; left -= p)
        p *= mean / ++count;
    return count;
}

/* ---- site and side ---- */

static void draw_function(struct fleet *fleet, struct fleet_function *function, bool everywhere)
{
    function->presence = everywhere ? 0.8 + 0.19 * fleet_uniform(fleet)
                                    : exp(log(0.01) + log(30) * fleet_uniform(fleet));
    function->mean_ms = fmin(400, fmax(4, 30 * exp(normal(fleet))));
    function->sigma = 0.6 + 0.7 * fleet_uniform(fleet);
    function->grows = fleet_uniform(fleet) < 0.5;
    function->mobile = 1.2 + 1.6 * fleet_uniform(fleet);
    for (unsigned route = 0; route < FLEET_ROUTES; route++)
        function->route_factors[route] = exp(0.7 * normal(fleet));
    function->effect = 1;
    function->browser = function->heavy = 1;
}

static void draw_shop_function(struct fleet *fleet, struct fleet_function *function,
                               bool everywhere)
{
    *function = (struct fleet_function){
        .presence = everywhere ? 0.9 + 0.09 * fleet_uniform(fleet)
                               : exp(log(0.02) + log(15) * fleet_uniform(fleet)),
        .mean_ms = fmin(300, fmax(4, 20 * exp(0.8 * normal(fleet)))),
        .sigma = 0.7 + 0.5 * fleet_uniform(fleet),
        .grows = fleet_uniform(fleet) < 0.3,
        .mobile = 1.5 + 1.5 * fleet_uniform(fleet),
        .effect = 1,
        .browser = fleet_uniform(fleet) < 0.5 ? 0.94 : 1.06,
        .heavy = 1 + fleet_uniform(fleet),
    };
    for (unsigned route = 0; route < FLEET_ROUTES; route++)
        function->route_factors[route] = exp(0.5 * normal(fleet));
}

void fleet_make_shop(struct fleet *fleet, unsigned functions)
{
    fleet->site.function_count = functions < FLEET_FUNCTIONS_MAX ? functions : FLEET_FUNCTIONS_MAX;
    for (unsigned i = 0; i < fleet->site.function_count; i++)
        draw_shop_function(fleet, &fleet->site.functions[i], i % 4 == 0);
}

void fleet_make_site(struct fleet *fleet, unsigned functions)
{
    fleet->site.function_count = functions < FLEET_FUNCTIONS_MAX ? functions : FLEET_FUNCTIONS_MAX;
    for (unsigned i = 0; i < fleet->site.function_count; i++)
        draw_function(fleet, &fleet->site.functions[i], i % 10 == 0);
}

struct fleet_side fleet_ordinary_side(void)
{
    return (struct fleet_side){
        .uploads = 2000,
        .mobile = 0.5,
        .routes = {0.4, 0.25, 0.15, 0.1, 0.06, 0.04},
        .drift = 1,
        .parts = 1,
        .visit_ms = TYPICAL_MS,
        .hours = FLEET_HOURS,
        .visitor_hours = 3,
        .vitals = 1,
        .slowdown = 1,
        .desktop = 1,
        .rare_use = 1,
        .release = "1",
    };
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("fleet: the arena is full\n", stderr);
        exit(2);
    }
    return memory;
}

/* Makes the text "BEFORE NUMBER AFTER", without the spaces. */
static struct fp_str print_text(struct fp_arena *arena, const char *before, unsigned number,
                                const char *after)
{
    enum { LEN = 80 };
    char *bytes = need(fp_arena_alloc(arena, LEN));
    int len = snprintf(bytes, LEN, "%s%u%s", before, number, after);
    return (struct fp_str){bytes, (size_t)len};
}

/* Makes the tables of a bundle: its names and lines are the release's. */
static void make_bundle(struct fleet *fleet, struct fp_arena *arena)
{
    struct fp_profile *profile = &fleet->bundle;
    uint32_t count = fleet->site.function_count + 1; /* the first one is what calls all others */
    profile->resources = need(fp_arena_array(arena, 1, sizeof(*profile->resources)));
    profile->resource_count = 1;
    profile->resources[0] = print_text(arena, "https://shop.example/app.",
                                       10000000 + (unsigned)fleet->side.release[0], ".js");
    profile->frames = need(fp_arena_array(arena, count, sizeof(*profile->frames)));
    profile->stacks = need(fp_arena_array(arena, count, sizeof(*profile->stacks)));
    profile->frame_count = profile->stack_count = count;
    for (uint32_t i = 0; i < count; i++) {
        profile->frames[i] = (struct fp_profile_frame){
            .function = print_text(arena, i == 0 ? "main" : "function", i == 0 ? 0 : i - 1, ""),
            .resource = 0,
            .line = (int32_t)(10 * i + 1 + (unsigned)fleet->side.release[0] % 7),
            .column = 1,
        };
        profile->stacks[i] = (struct fp_profile_stack){i, i == 0 ? FP_INDEX_NONE : 0};
    }
}

void fleet_begin_side(struct fleet *fleet, const struct fleet_side *side, struct fp_arena *arena)
{
    fleet->side = *side;
    fleet->parts_left = 0;
    fleet->bundle = (struct fp_profile){0};
    make_bundle(fleet, arena);
    for (unsigned hour = 0; hour < FLEET_SIDE_HOURS; hour++)
        fleet->hour_factors[hour] = lognormal(fleet, side->hour_sigma);
    fleet->visitor_left = side->visitor;
    for (unsigned i = 0; i < fleet->site.function_count; i++) {
        fleet->visitor_draws[i] = fmod((i + 1) * GOLDEN, 1); /* on each side the same visitor */
        for (unsigned hour = 0; hour < FLEET_SIDE_HOURS; hour++)
            fleet->function_hours[i][hour] = lognormal(fleet, side->function_hour_sigma);
    }
}

/* ---- an upload ---- */

static unsigned draw_route(struct fleet *fleet)
{
    double sum = 0;
    for (unsigned i = 0; i < FLEET_ROUTES; i++)
        sum += fleet->side.routes[i];
    double left = fleet_uniform(fleet) * sum;
    for (unsigned i = 0; i < FLEET_ROUTES - 1; i++) {
        left -= fleet->side.routes[i];
        if (left <= 0)
            return i;
    }
    return FLEET_ROUTES - 1;
}

/* Makes the page load one of the visitor who comes again and again. */
static void take_visitor(struct fleet *fleet)
{
    enum { FIRST_HOUR = 10 };
    unsigned first = fleet->side.visitor_hours + FIRST_HOUR > FLEET_HOURS ? 0 : FIRST_HOUR;
    const struct fleet_side *side = &fleet->side;
    const unsigned before = side->visitor - fleet->visitor_left--;
    fleet->address = VISITOR;
    fleet->route = 0;
    fleet->is_mobile = fleet->is_other_browser = fleet->is_bot = false;
    fleet->hour = first + before * side->visitor_hours / side->visitor;
    fleet->speed = 3;
    fleet->machine = fleet->side.machine_noise == 0 ? FP_STR("") : FP_STR("low");
}

enum { TRIES = 1000 };

/* Draws an hour: of a day_curve, more come in the afternoon than at night. */
static unsigned draw_hour(struct fleet *fleet)
{
    unsigned hour = 0;
    for (int i = 0; i < TRIES; i++) {
        hour = (unsigned)(fleet_uniform(fleet) * fleet->side.hours);
        double busy = (1 - cos(2 * M_PI * (hour % FLEET_HOURS - 3.0) / (double)FLEET_HOURS)) / 2;
        if (fleet_uniform(fleet) >= fleet->side.day_curve * (1 - busy))
            break;
    }
    return hour;
}

/* Whether this machine is among those that have the side's release in the hour. */
static bool has_release(struct fleet *fleet, double deviate)
{
    const struct fleet_side *side = &fleet->side;
    double log_odds = side->slow_first * deviate;
    if (side->rollout == 0 && side->slow_first == 0)
        return true;
    if (side->rollout != 0) {
        double share = 0.01 + 0.98 * (fleet->hour % FLEET_HOURS) / (FLEET_HOURS - 1);
        log_odds += log(share / (1 - share));
    }
    double chance = 1 / (1 + exp(-log_odds));
    return fleet_uniform(fleet) < (side->rollout < 0 ? 1 - chance : chance);
}

/* Returns the class that the browser says: thirds, seen with noise. */
static struct fp_str machine_class(struct fleet *fleet, double deviate)
{
    double noise = fleet->side.machine_noise;
    if (noise == 0)
        return FP_STR("");
    double seen = (deviate + noise * normal(fleet)) / sqrt(1 + noise * noise);
    const double third = 0.43;
    return seen > third ? FP_STR("low") : seen > -third ? FP_STR("mid") : FP_STR("high");
}

/* Draws the hour, and how slow the machine is. */
static double draw_machine(struct fleet *fleet)
{
    const double sigma = 0.5;
    double deviate = 0;
    for (int i = 0; i < TRIES; i++) {
        fleet->hour = draw_hour(fleet);
        deviate = normal(fleet);
        if (has_release(fleet, deviate))
            break;
    }
    fleet->machine = machine_class(fleet, deviate);
    return exp(sigma * deviate - sigma * sigma / 2);
}

/* Draws what nothing records. */
static void draw_unrecorded(struct fleet *fleet)
{
    enum { FIRST_HOUR = 10, HOURS = 6 };
    const struct fleet_side *side = &fleet->side;
    fleet->is_cold = side->cold > 0 && fleet_uniform(fleet) < side->cold;
    fleet->is_new_browser = side->new_browser > 0 && fleet_uniform(fleet) < side->new_browser;
    fleet->is_heavy = side->heavy > 0 && fleet_uniform(fleet) < side->heavy;
    fleet->is_fast_bot = side->fast_bots > 0 && fleet->hour >= FIRST_HOUR &&
                         fleet->hour < FIRST_HOUR + HOURS && fleet_uniform(fleet) < side->fast_bots;
    if (fleet->is_fast_bot)
        fleet->speed = 0.4;
    else if (!fleet->is_mobile)
        fleet->speed *= side->desktop;
}

/* Draws what the uploads of a page load share. */
static void begin_load(struct fleet *fleet)
{
    const struct fleet_side *side = &fleet->side;
    fleet->route = draw_route(fleet);
    fleet->is_mobile = fleet_uniform(fleet) < side->mobile;
    fleet->is_other_browser = fleet_uniform(fleet) >= 0.75;
    fleet->is_bot = side->bots > 0 && fleet_uniform(fleet) < side->bots;
    double slowness = draw_machine(fleet);
    fleet->speed = slowness * (fleet->is_other_browser ? 1.15 : 1) *
                   fleet->hour_factors[fleet->hour] * side->drift * (fleet->is_bot ? 0.3 : 1);
    draw_unrecorded(fleet);
    fleet->is_visitor = fleet->visitor_left > 0;
    fleet->address = OTHERS + (side->addresses > 0 ? next(fleet) % side->addresses : fleet->loads);
    fleet->loads++;
    if (fleet->is_visitor)
        take_visitor(fleet);
    fleet->part = 0;
    fleet->parts_left = 1;
    while (side->parts > 1 && fleet_uniform(fleet) < 1 - 1 / side->parts)
        fleet->parts_left++;
    /* A visitor who uses a thing uses it in all parts. */
    fleet->boost = side->parts > 1 ? lognormal(fleet, 0.8) : 1;
    for (size_t i = 0; i < sizeof(fleet->load.bytes); i++)
        fleet->load.bytes[i] = (uint8_t)next(fleet);
}

/* Returns a function's cost in this page load, relative to others that look alike. */
static double unrecorded_factor(const struct fleet *fleet, unsigned number)
{
    return (fleet->is_cold && number / 4 % 2 == 0 ? 1.5 : 1) *
           (fleet->is_new_browser ? fleet->site.functions[number].browser : 1) *
           (fleet->is_heavy ? fleet->site.functions[number].heavy : 1);
}

/* Draws how many samples a function has in an upload, 0 if it does not run. */
static unsigned draw_samples(struct fleet *fleet, unsigned number, double visit_ms)
{
    const struct fleet_function *function = &fleet->site.functions[number];
    double chance = function->presence;
    if (chance <= 0.5)
        chance = fmin(0.999, chance * fleet->boost * (number % 5 == 1 ? fleet->side.rare_use : 1));
    double presence =
        fleet->side.steady ? 1 - pow(1 - chance, fleet->side.visit_ms / TYPICAL_MS) : chance;
    if ((fleet->is_visitor ? fleet->visitor_draws[number] : fleet_uniform(fleet)) >= presence)
        return 0;
    double cost = function->mean_ms * function->route_factors[fleet->route] *
                  (fleet->is_mobile ? function->mobile : 1) * fleet->speed * function->effect *
                  fleet->function_hours[number][fleet->hour] * unrecorded_factor(fleet, number);
    cost *= fleet->side.pareto ? 0.5238 * pow(fleet_uniform(fleet), -1 / 2.1)
                               : lognormal(fleet, function->sigma);
    if (function->grows || fleet->side.steady)
        cost *= visit_ms / TYPICAL_MS * (chance / presence);
    return poisson(fleet, fmin(cost, visit_ms) * 1000 / (double)INTERVAL_US);
}

/* Appends a sample, with `gap_us` to the next. False when there is no room. */
static bool add_sample(struct fp_profile *profile, int64_t *time_us, uint32_t stack, int64_t gap_us)
{
    if (profile->sample_count == SAMPLES_MAX)
        return false;
    profile->samples[profile->sample_count++] =
        (struct fp_profile_sample){.time_us = *time_us, .stack = stack, .marker = FP_MARKER_NONE};
    *time_us += gap_us;
    return true;
}

static void draw_trace(struct fleet *fleet, struct fp_profile *profile, double visit_ms)
{
    int64_t time_us = 0;
    for (uint32_t i = 0; i < fleet->site.function_count; i++) {
        unsigned samples = draw_samples(fleet, i, visit_ms);
        for (unsigned k = 0; k < samples && (double)time_us < visit_ms * 1000; k++) {
            double gap_us = (double)INTERVAL_US + 2000 * normal(fleet);
            if (!add_sample(profile, &time_us, i + 1, (int64_t)fmin(fmax(gap_us, 1000), IDLE_US)))
                return;
        }
    }
    /* The rest of the visit is idle. */
    while ((double)time_us < visit_ms * 1000) {
        if (!add_sample(profile, &time_us, FP_INDEX_NONE, IDLE_US))
            return;
    }
}

/* Draws the value of a measure: on phones, on some routes and on slow machines it is greater. */
static int64_t draw_timing(struct fleet *fleet, unsigned number)
{
    double spread = 0.3 + 0.1 * (number % 5);
    double route = exp(0.25 * ((double)((fleet->route + number) % FLEET_ROUTES) - 2));
    double value_ms = 40 * (1 + number) * route * (fleet->is_mobile ? 1.8 : 1) * fleet->speed *
                      fleet->side.slowdown;
    value_ms *= fleet->side.pareto ? pow(fleet_uniform(fleet), -1 / 2.1) : lognormal(fleet, spread);
    return (int64_t)(fmin(value_ms, 60000) * 1000);
}

static void draw_vitals(struct fleet *fleet, struct fp_arena *arena, struct fp_profile *profile)
{
    enum { ALL = 3 };
    struct fp_profile_vital *vitals = need(fp_arena_array(arena, ALL, sizeof(*vitals)));
    uint32_t count = 0;
    vitals[count++] =
        (struct fp_profile_vital){.vital = FP_VITAL_LCP, .value_us = draw_timing(fleet, 20)};
    if (fleet->side.vitals == ALL) {
        if (fleet_uniform(fleet) < 0.7 && !fleet->is_fast_bot)
            vitals[count++] = (struct fp_profile_vital){
                .vital = FP_VITAL_INP,
                .value_us = (int64_t)(120000 * fleet->speed * fleet->side.slowdown *
                                      lognormal(fleet, 0.6))};
        double moved = fleet_uniform(fleet) < 0.65 ? lognormal(fleet, 1.3) : 0;
        vitals[count++] = (struct fp_profile_vital){
            .vital = FP_VITAL_CLS, .value_us = (int64_t)(80000 * fleet->side.slowdown * moved)};
    }
    profile->vitals = vitals;
    profile->vital_count = count;
}

static void draw_timings(struct fleet *fleet, struct fp_arena *arena, struct fp_profile *profile)
{
    unsigned count =
        fleet->side.timings < FLEET_TIMINGS_MAX ? fleet->side.timings : FLEET_TIMINGS_MAX;
    if (count == 0)
        return;
    profile->timings = need(fp_arena_array(arena, count, sizeof(*profile->timings)));
    profile->timing_count = count;
    for (unsigned i = 0; i < count; i++)
        profile->timings[i] = (struct fp_profile_timing){
            .name = print_text(arena, "measure", i, ""),
            .kind = FP_TIMING_MEASURE,
            .value_us = draw_timing(fleet, i),
        };
    draw_vitals(fleet, arena, profile);
}

static struct fp_str variant_of_arm(unsigned arm)
{
    static const char *const arms[] = {"", "tag=on", "tag=off"};
    return fp_str_of(arms[arm % 3]);
}

static const char *user_agent(const struct fleet *fleet)
{
    static const char *const agents[2][2] = {
        {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/140.0.0.0 Safari/537.36",
         "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"},
        {"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/140.0.0.0 Mobile Safari/537.36",
         "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0.0.0"},
    };
    return fleet->is_bot ? "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                           "HeadlessChrome/140.0.0.0 Safari/537.36"
                         : agents[fleet->is_mobile][fleet->is_other_browser];
}

void fleet_draw(struct fleet *fleet, struct fp_arena *arena, struct fleet_upload *upload)
{
    if (fleet->parts_left == 0)
        begin_load(fleet);
    double visit_ms = fmin(60000, fmax(300, fleet->side.visit_ms * exp(0.6 * normal(fleet))));
    *upload = (struct fleet_upload){
        .profile = {.format = FP_UPLOAD_SELF_PROFILE,
                    .interval_us = INTERVAL_US,
                    .has_trace = true,
                    .has_id = true,
                    .has_load = fleet->side.parts > 1,
                    .load = fleet->load,
                    .part = fleet->part,
                    .has_page_route = true,
                    .page_route = print_text(arena, "/route", fleet->route, ""),
                    .release = fp_str_of(fleet->side.release),
                    .said = {.thread = FP_STR("window"),
                             .environment = FP_STR("production"),
                             .machine = fleet->machine,
                             .variant = variant_of_arm(fleet->side.arm)},
                    .resources = fleet->bundle.resources,
                    .resource_count = fleet->bundle.resource_count,
                    .frames = fleet->bundle.frames,
                    .frame_count = fleet->bundle.frame_count,
                    .stacks = fleet->bundle.stacks,
                    .stack_count = fleet->bundle.stack_count},
        .user_agent = user_agent(fleet),
        .address = fleet->address,
        .load = fleet->load,
        .hour = fleet->hour,
    };
    for (size_t i = 0; i < sizeof(upload->profile.id.bytes); i++)
        upload->profile.id.bytes[i] = (uint8_t)next(fleet);
    upload->profile.samples =
        need(fp_arena_alloc(arena, SAMPLES_MAX * sizeof(*upload->profile.samples)));
    draw_trace(fleet, &upload->profile, visit_ms);
    draw_timings(fleet, arena, &upload->profile);
    fleet->parts_left--;
    fleet->part++;
}
