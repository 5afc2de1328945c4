/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits: draws page loads, and makes profiles of them.
 */
#include "tests/stats/visits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INTERVAL_US = 10000,
    GAP_US = 200000, /* between two waits */
    BESIDE_MAX_MS = GAP_US / 2000,
    SENT_MS = 40, /* shorter interactions are not sent */
    ROUND_MS = 8,
    OTHERS = 12, /* functions of which all else consists */
    DEPTH_MAX = 40,
    FRAMES = DEPTH_MAX + OTHERS + 1,
    SAMPLES_MAX = 20000
};

struct visits_world visits_ordinary_world(void)
{
    return (struct visits_world){.interactions = 3,
                                 .presence = 0.3,
                                 .mean_ms = 120,
                                 .sigma = 0.5,
                                 .base_ms = 80,
                                 .machines = 0.5,
                                 .depth = 2,
                                 .routes = 1,
                                 .odd_slow = 1,
                                 .odd_rare = 1};
}

double *visits_option(struct visits_world *world, const char *name)
{
    const struct {
        const char *name;
        double *value;
    } options[] = {
        {"interactions", &world->interactions},
        {"presence", &world->presence},
        {"mean_ms", &world->mean_ms},
        {"sigma", &world->sigma},
        {"pareto", &world->pareto},
        {"base_ms", &world->base_ms},
        {"machines", &world->machines},
        {"with_work", &world->with_work},
        {"kinds", &world->kinds},
        {"depth", &world->depth},
        {"apart", &world->apart},
        {"rounded", &world->rounded},
        {"values", &world->values},
        {"names", &world->names},
        {"package", &world->package},
        {"host", &world->host},
        {"marker", &world->marker},
        {"beside", &world->beside},
        {"routes", &world->routes},
        {"odd", &world->odd},
        {"odd_slow", &world->odd_slow},
        {"odd_rare", &world->odd_rare},
        {"odd_only", &world->odd_only},
        {"tokens", &world->tokens},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strcmp(name, options[i].name) == 0)
            return options[i].value;
    return NULL;
}

static double normal(struct fleet *fleet)
{
    return sqrt(-2 * log(fleet_uniform(fleet))) * cos(2 * M_PI * fleet_uniform(fleet));
}

static double draw_own_ms(struct fleet *fleet, const struct visits_world *world)
{
    if (world->pareto > 0)
        return world->mean_ms * 0.5238 * pow(fleet_uniform(fleet), -1 / 2.1);
    return world->mean_ms * exp(world->sigma * normal(fleet) - world->sigma * world->sigma / 2);
}

static struct visit_wait draw_wait(struct fleet *fleet, const struct visits_world *world,
                                   double speed, bool may_run)
{
    struct visit_wait wait = {.base_ms = world->base_ms * speed * exp(0.6 * normal(fleet))};
    if (may_run && fleet_uniform(fleet) < world->presence) {
        wait.own_ms = fmin(10000, speed * draw_own_ms(fleet, world));
        wait.base_ms *= 1 + world->with_work;
    }
    if (world->beside > 0) {
        wait.beside_ms = fmin(BESIDE_MAX_MS, wait.own_ms);
        wait.own_ms = 0;
    }
    wait.base_ms = fmin(10000, wait.base_ms);
    wait.before_ms = fleet_uniform(fleet) * wait.base_ms;
    return wait;
}

static bool is_odd(const struct visit *visit)
{
    return visit->route % 2 > 0;
}

/* Draws the route: of each group, the first ones have most visits. */
static void draw_route(struct fleet *fleet, const struct visits_world *world, struct visit *visit)
{
    visit->route = 0;
    visit->is_rival = false;
    if (world->routes <= 1)
        return;
    visit->route = fleet_uniform(fleet) < world->odd;
    visit->is_rival = is_odd(visit) != (world->odd_only > 0);
    visit->route += 2 * (unsigned)(world->routes / 2 * pow(fleet_uniform(fleet), 3));
}

double visits_profiled_share(const struct visits_world *world, const struct visit *visit,
                             double profiled)
{
    const double share = profiled / (1 - world->odd + world->odd / world->odd_rare);
    return is_odd(visit) ? share / world->odd_rare : share;
}

void visits_draw(struct fleet *fleet, const struct visits_world *world, struct visit *visit)
{
    draw_route(fleet, world, visit);
    double speed = exp(world->machines * normal(fleet));
    const bool is_heavy = world->kinds == 0 || fleet_uniform(fleet) < world->kinds;
    if (world->kinds > 0 && is_heavy)
        speed *= 2;
    if (is_odd(visit))
        speed *= world->odd_slow;
    visit->count = 1;
    if (world->interactions > 1)
        visit->count += (unsigned)(fleet_uniform(fleet) * (2 * world->interactions - 1));
    if (visit->count > VISIT_WAITS_MAX)
        visit->count = VISIT_WAITS_MAX;
    for (unsigned i = 0; i < visit->count; i++)
        visit->waits[i] = draw_wait(fleet, world, speed, is_heavy);
    for (size_t i = 0; i < sizeof(visit->load.bytes); i++)
        visit->load.bytes[i] = (uint8_t)(fleet_uniform(fleet) * 256);
}

static double rounded(const struct visits_world *world, double ms)
{
    return world->rounded > 0 ? ceil(ms / (double)ROUND_MS) * (double)ROUND_MS : ms;
}

static int compare_ms(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left < right) - (left > right);
}

static double vital_ms(const struct visits_world *world, const struct visit *visit, double share)
{
    enum { OF_RANK = 50 };
    const double kept = visit->is_rival ? 1 : share;
    double values[VISIT_WAITS_MAX];
    for (unsigned i = 0; i < visit->count; i++)
        values[i] = rounded(world, visit->waits[i].base_ms + kept * visit->waits[i].own_ms);
    qsort(values, visit->count, sizeof(*values), compare_ms);
    return values[visit->count / OF_RANK < visit->count ? visit->count / OF_RANK : 0];
}

unsigned visits_list_ms(const struct visits_world *world, const struct visit *visit, double share,
                        double *values_ms)
{
    const double kept = visit->is_rival ? 1 : share;
    if (world->values == 0) {
        values_ms[0] = vital_ms(world, visit, share);
        return 1;
    }
    for (unsigned i = 0; i < visit->count; i++)
        values_ms[i] = rounded(world, visit->waits[i].base_ms + kept * visit->waits[i].own_ms);
    return visit->count;
}

/* ---- profiles ---- */

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("visits: the arena is full\n", stderr);
        exit(2);
    }
    return memory;
}

/* Names the functions: those below all others, then those of all else, then the one. */
static void fill_tables(const struct visits_world *world, const struct visit *visit,
                        struct fp_arena *arena, struct fp_profile *profile)
{
    const struct fp_str own = visit->is_rival ? FP_STR("rival") : FP_STR("target");
    static const struct fp_str script = {"https://shop.example/app.js", 27};
    static const struct fp_str package = {"https://shop.example/node_modules/target/a.js", 45};
    static const struct fp_str host = {"https://target/a.js", 19};
    enum { NAME_LEN = 16, SCRIPTS = 2 };
    const uint32_t depth = (uint32_t)world->depth < DEPTH_MAX ? (uint32_t)world->depth : DEPTH_MAX;
    const uint32_t count = depth + OTHERS + 1;
    profile->resources = need(fp_arena_array(arena, SCRIPTS, sizeof(*profile->resources)));
    profile->frames = need(fp_arena_array(arena, count, sizeof(*profile->frames)));
    profile->stacks = need(fp_arena_array(arena, count, sizeof(*profile->stacks)));
    profile->resources[0] = script;
    profile->resources[1] = world->host > 0 ? host : package;
    profile->resource_count = SCRIPTS;
    const uint32_t last = world->host > 0 || world->package > 0;
    profile->frame_count = profile->stack_count = count;
    for (uint32_t i = 0; i < count; i++) {
        char *name = need(fp_arena_alloc(arena, NAME_LEN));
        const size_t len = (size_t)snprintf(name, NAME_LEN, "other%u", i);
        const bool is_own = i + 1 == count;
        profile->frames[i] = (struct fp_profile_frame){is_own ? own : (struct fp_str){name, len},
                                                       is_own ? last : 0, (int32_t)i + 1, 1};
        const uint32_t parent = i < depth ? i : depth;
        profile->stacks[i] = (struct fp_profile_stack){i, parent > 0 ? parent - 1 : FP_INDEX_NONE};
    }
}

/* A wait in time. */
struct placed {
    int64_t start_us;
    int64_t own_start_us;
    int64_t own_end_us;
    int64_t end_us;
};

static struct placed place(const struct visit_wait *wait, int64_t start_us)
{
    struct placed placed = {.start_us = start_us};
    placed.own_start_us = start_us + (int64_t)(wait->before_ms * 1000);
    placed.own_end_us = placed.own_start_us + (int64_t)(wait->own_ms * 1000);
    placed.end_us = start_us + (int64_t)((wait->base_ms + wait->own_ms) * 1000);
    if (wait->beside_ms > 0) {
        placed.own_start_us = placed.end_us;
        placed.own_end_us = placed.end_us + (int64_t)(wait->beside_ms * 1000);
    }
    return placed;
}

/* Returns the stack at a time. */
static uint32_t stack_at(const struct fp_profile *profile, const struct placed *placed,
                         unsigned wait, int64_t time_us)
{
    enum { TURN_US = 40000 };
    if (time_us >= placed->own_start_us && time_us < placed->own_end_us)
        return profile->stack_count - 1;
    if (time_us < placed->start_us || time_us >= placed->end_us)
        return FP_INDEX_NONE;
    const uint32_t turn = (uint32_t)((time_us - placed->start_us) / TURN_US) + wait;
    return profile->stack_count - 1 - OTHERS + turn % OTHERS;
}

/* Makes the sample of a time. Style has no stack. */
static struct fp_profile_sample sample_at(const struct visits_world *world,
                                          const struct fp_profile *profile,
                                          const struct placed *placed, unsigned wait,
                                          int64_t time_us)
{
    const uint32_t stack = stack_at(profile, placed, wait, time_us);
    if (world->marker > 0 && stack == profile->stack_count - 1)
        return (struct fp_profile_sample){time_us, FP_INDEX_NONE, FP_MARKER_STYLE};
    return (struct fp_profile_sample){time_us, stack, FP_MARKER_NONE};
}

static void fill_trace(struct fleet *fleet, const struct visits_world *world,
                       const struct visit *visit, struct fp_arena *arena,
                       struct fp_profile *profile)
{
    int64_t start_us = world->interactions < 0 ? 0 : GAP_US;
    int64_t time_us = (int64_t)(fleet_uniform(fleet) * (double)INTERVAL_US);
    fill_tables(world, visit, arena, profile);
    profile->has_trace = true;
    profile->samples = need(fp_arena_alloc(arena, SAMPLES_MAX * sizeof(*profile->samples)));
    for (unsigned i = 0; i < visit->count; i++) {
        const struct placed placed = place(&visit->waits[i], start_us);
        for (; time_us < placed.end_us + GAP_US / 2 && profile->sample_count < SAMPLES_MAX;
             time_us += INTERVAL_US)
            profile->samples[profile->sample_count++] =
                sample_at(world, profile, &placed, i, time_us);
        start_us = placed.end_us + GAP_US;
    }
}

/* Adds an interaction that is long enough to be sent. The vital says when its own was, if that was
 * sent or not. */
static void add_interaction(struct fp_profile *profile, int64_t start_us, int64_t duration_us)
{
    struct fp_profile_vital *inp = &profile->vitals[0];
    if (inp->value_us == duration_us) {
        inp->has_window = true;
        inp->start_us = start_us;
        inp->duration_us = duration_us;
    }
    if (duration_us >= SENT_MS * 1000)
        profile->interactions[profile->interaction_count++] =
            (struct fp_profile_interaction){.type = FP_STR("pointer"),
                                            .start_us = start_us,
                                            .duration_us = duration_us,
                                            .longest_us = duration_us};
}

static void fill_vital(const struct visits_world *world, const struct visit *visit,
                       struct fp_arena *arena, struct fp_profile *profile)
{
    int64_t start_us = GAP_US;
    const bool is_lcp = world->interactions < 0;
    profile->vitals = need(fp_arena_array(arena, 1, sizeof(*profile->vitals)));
    profile->vital_count = 1;
    profile->vitals[0] = (struct fp_profile_vital){
        .vital = is_lcp ? FP_VITAL_LCP : FP_VITAL_INP,
        .value_us = (int64_t)(vital_ms(world, visit, 1) * 1000),
        .has_id = true,
        .metric = 1,
    };
    if (is_lcp)
        return;
    profile->interactions =
        need(fp_arena_array(arena, visit->count, sizeof(*profile->interactions)));
    for (unsigned i = 0; i < visit->count; i++) {
        const struct placed placed = place(&visit->waits[i], start_us);
        const double ms = rounded(world, visit->waits[i].base_ms + visit->waits[i].own_ms);
        add_interaction(profile, start_us, (int64_t)(ms * 1000));
        start_us = placed.end_us + GAP_US;
    }
}

/* Adds the waits as responses. */
static void fill_responses(const struct visit *visit, struct fp_arena *arena,
                           struct fp_profile *profile)
{
    int64_t start_us = GAP_US;
    profile->results = need(fp_arena_array(arena, visit->count, sizeof(*profile->results)));
    for (unsigned i = 0; i < visit->count; i++) {
        const struct placed placed = place(&visit->waits[i], start_us);
        profile->results[profile->result_count++] =
            (struct fp_profile_result){.type = FP_STR("click"),
                                       .target = FP_STR("#buy"),
                                       .start_us = placed.start_us,
                                       .duration_us = placed.end_us - placed.start_us};
        start_us = placed.end_us + GAP_US;
    }
}

/* Adds the waits as measures, and with the first wait others of the same length. */
static void fill_measures(const struct visits_world *world, const struct visit *visit,
                          struct fp_arena *arena, struct fp_profile *profile)
{
    enum { NAME_LEN = 16 };
    int64_t start_us = GAP_US;
    const unsigned names = (unsigned)world->names;
    profile->timings = need(fp_arena_array(arena, visit->count + names, sizeof(*profile->timings)));
    for (unsigned i = 0; i < visit->count; i++) {
        const struct placed placed = place(&visit->waits[i], start_us);
        struct fp_profile_timing timing = {.kind = FP_TIMING_MEASURE,
                                           .name = FP_STR("search"),
                                           .has_start = true,
                                           .start_us = placed.start_us,
                                           .value_us = placed.end_us - placed.start_us};
        profile->timings[profile->timing_count++] = timing;
        for (unsigned k = 0; i == 0 && k < names; k++) {
            char *name = need(fp_arena_alloc(arena, NAME_LEN));
            timing.name = (struct fp_str){name, (size_t)snprintf(name, NAME_LEN, "measure%u", k)};
            profile->timings[profile->timing_count++] = timing;
        }
        start_us = placed.end_us + GAP_US;
    }
}

static void fill_waits(const struct visits_world *world, const struct visit *visit,
                       struct fp_arena *arena, struct fp_profile *profile)
{
    if (world->values == 0)
        fill_vital(world, visit, arena, profile);
    else if (world->values == 1)
        fill_responses(visit, arena, profile);
    else
        fill_measures(world, visit, arena, profile);
}

static struct fp_str route_of(const struct visit *visit, struct fp_arena *arena)
{
    enum { ROUTE_LEN = 16 };
    char *route = need(fp_arena_alloc(arena, ROUTE_LEN));
    const int len = visit->route > 0 ? snprintf(route, ROUTE_LEN, "/route%u", visit->route)
                                     : snprintf(route, ROUTE_LEN, "/");
    return (struct fp_str){route, (size_t)len};
}

void visits_fill(struct fleet *fleet, const struct visits_world *world, const struct visit *visit,
                 const struct visit_part *part, struct fp_arena *arena, struct fp_profile *profile)
{
    *profile = (struct fp_profile){.format = part->has_trace ? FP_UPLOAD_SELF_PROFILE
                                                             : FP_UPLOAD_USER_TIMING,
                                   .interval_us = INTERVAL_US,
                                   .has_id = true,
                                   .has_load = true,
                                   .load = visit->load,
                                   .part = part->number,
                                   .has_page_route = true,
                                   .page_route = route_of(visit, arena),
                                   .page_url = FP_STR("https://shop.example/"),
                                   .said.thread = FP_STR("window"),
                                   .release = FP_STR("1")};
    for (size_t i = 0; i < sizeof(profile->id.bytes); i++)
        profile->id.bytes[i] = (uint8_t)(fleet_uniform(fleet) * 256);
    if (part->has_vital)
        fill_waits(world, visit, arena, profile);
    if (part->has_trace)
        fill_trace(fleet, world, visit, arena, profile);
}
