/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_tool: fills a database with a fleet's uploads, by the collector's own fold, rollup and
 * store. It also tells sources apart as the collector does.
 *
 *     fleet_tool CONNINFO
 *
 * Commands on standard input, one per line; each is answered by one line of JSON:
 *
 *     site SEED FUNCTIONS                        another site
 *     shop SEED FUNCTIONS                        another shop
 *     function NUMBER PRESENCE MEAN_MS SIGMA     a function that costs the same on all routes
 *     effect NUMBER FACTOR                       from the next side on
 *     side SITE DAY RELEASE [NAME=VALUE …]       draws a side into the database; DAY since 1970.
 *                                                Names: uploads, mobile, bots, drift, hour_sigma,
 *                                                function_hour_sigma, parts, visit_ms, pareto,
 *                                                steady, hours, timings, slowdown, visitor,
 *                                                visitor_hours, addresses, slow_first, day_curve,
 *                                                rollout, machine_noise, fast_bots, desktop,
 *                                                rare_use, cold, new_browser, heavy, vitals, route0
 * … route5 uniform                                    a random number from 0 to 1
 *     rates EVEN0 … EVEN5 ODD0 … ODD5            from the next side on, only some page loads are
 *                                                profiled: by route, in millionths, in even and in
 *                                                odd hours; the others do not reach the database
 *     truth                                      of all page loads since then, by route: how many,
 *                                                how many profiled, and self time by function
 *     visits SITE DAY LOADS PROFILED [NAME=VALUE …] draws page loads into the database, of which
 *                                                the first are profiled, or, of several routes,
 *                                                those that a server draws at their rates; names
 *                                                as in visits.c
 *     gains LOADS [NAME=VALUE …]                 draws page loads: p75 of their vital as it is,
 *                                                without the function `target`, with half of it
 */
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/ingest/sources.h"
#include "collector/profile/fold/fold.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/rollup.h"
#include "collector/store/store.h"
#include "tests/stats/fleet.h"
#include "tests/stats/visits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_MAX = 256 * 1024 * 1024, WINDOW_BYTES = 40 * 1024 * 1024 };

/* The draws of a web server: which page loads are profiled. */
struct drawing {
    bool is_on;
    double rates_ppm[2][FLEET_ROUTES]; /* in even and in odd hours */
    unsigned long loads[FLEET_ROUTES];
    unsigned long profiled[FLEET_ROUTES];
    int64_t self_us[FLEET_ROUTES][FLEET_FUNCTIONS_MAX]; /* of all page loads */
};

struct tool {
    struct fleet fleet;
    struct drawing drawing;
    struct fp_arena side_arena;
    struct fp_arena arena;
    struct fp_rollup rollup;
    struct fp_store *store;
    struct fp_sources *sources;
    struct fp_uuid spool_id;
    uint64_t position;
};

static void die(const char *what)
{
    fprintf(stderr, "fleet_tool: %s\n", what);
    exit(2);
}

/* ---- to the database ---- */

static void begin_window(struct tool *tool)
{
    struct fp_rollup_clock clock;
    if (fp_store_read_clock(tool->store, &clock) != FP_STORE_OK)
        die(fp_store_message(tool->store));
    fp_rollup_clear(&tool->rollup, &clock);
}

static void end_window(struct tool *tool)
{
    const struct fp_store_window window = {tool->spool_id, tool->position, tool->position + 1};
    size_t known;
    size_t entries;
    if (fp_store_claim(tool->store, &window, &tool->rollup, &known) != FP_STORE_OK || known > 0 ||
        fp_store_commit(tool->store, &tool->rollup, &entries) != FP_STORE_OK)
        die(fp_store_message(tool->store));
    tool->position++;
}

static struct fp_str traffic_of(const struct tool *tool, const struct fleet_upload *upload,
                                const char *site, int64_t day)
{
    const struct fp_source_load load = {
        .site_id = fp_site_id(fp_str_of(site)),
        .address = {(const char *)&upload->address, sizeof(upload->address)},
        .user_agent = fp_str_of(upload->user_agent),
        .load = upload->load,
        .is_page = true,
        .now_us = day * FP_US_PER_DAY,
    };
    return fp_sources_is_repeated(tool->sources, &load) ? FP_STR("repeated") : FP_STR("");
}

static double rate_of(const struct tool *tool, unsigned hour)
{
    return tool->drawing.is_on ? tool->drawing.rates_ppm[hour % 2][tool->fleet.route] : 0;
}

/* Returns the number of "function7"; of another name FLEET_FUNCTIONS_MAX. */
static unsigned number_of(struct fp_str name)
{
    unsigned number = 0;
    if (!fp_str_has_prefix(name, FP_STR("function")))
        return FLEET_FUNCTIONS_MAX;
    for (size_t i = strlen("function"); i < name.len && number < FLEET_FUNCTIONS_MAX; i++)
        number = 10 * number + (unsigned)(name.ptr[i] - '0');
    return number;
}

/* Adds a page load to the truth. True if it is profiled. */
static bool is_drawn(struct tool *tool, const struct fp_delta *delta, double rate_ppm)
{
    struct drawing *drawing = &tool->drawing;
    const unsigned route = tool->fleet.route;
    if (!drawing->is_on)
        return true;
    for (size_t i = 0; i < delta->frame_count; i++) {
        const unsigned number = number_of(delta->frames[i].function);
        if (number < FLEET_FUNCTIONS_MAX)
            drawing->self_us[route][number] += delta->frames[i].self_us;
    }
    const bool is_profiled = fleet_uniform(&tool->fleet) * 1e6 < rate_ppm;
    drawing->loads[route]++;
    drawing->profiled[route] += is_profiled;
    return is_profiled;
}

static void count(struct tool *tool, const struct fleet_upload *upload, const char *site,
                  int64_t day)
{
    const double rate_ppm = rate_of(tool, upload->hour);
    const struct fp_fold_context context = {
        .rate_ppm = (uint32_t)rate_ppm,
        .site = fp_str_of(site),
        .user_agent = fp_str_of(upload->user_agent),
        .traffic = traffic_of(tool, upload, site, day),
        .received_us = day * FP_US_PER_DAY + upload->hour * FP_US_PER_HOUR + FP_US_PER_S,
        .body_bytes = 1000,
    };
    struct fp_delta delta;
    if (!fp_fold(&upload->profile, &context, &tool->arena, &delta))
        die("fold");
    if (!is_drawn(tool, &delta, rate_ppm))
        return;
    if (fp_rollup_add(&tool->rollup, &delta) != FP_ROLLUP_COUNTED)
        die("an upload was not counted in its hour");
}

static void draw_side(struct tool *tool, const char *site, int64_t day,
                      const struct fleet_side *side)
{
    fp_arena_clear(&tool->side_arena);
    fleet_begin_side(&tool->fleet, side, &tool->side_arena);
    begin_window(tool);
    for (unsigned i = 0; i < side->uploads + side->visitor; i++) {
        struct fleet_upload upload;
        fp_arena_clear(&tool->arena);
        fleet_draw(&tool->fleet, &tool->arena, &upload);
        count(tool, &upload, site, day);
        if (fp_rollup_is_full(&tool->rollup)) {
            end_window(tool);
            begin_window(tool);
        }
    }
    end_window(tool);
    printf("{\"uploads\": %u}\n", side->uploads + side->visitor);
}

/* ---- commands ---- */

static void set_option(struct fleet_side *side, const char *name, double value)
{
    const struct {
        const char *name;
        double *value;
    } known[] = {
        {"mobile", &side->mobile},
        {"bots", &side->bots},
        {"drift", &side->drift},
        {"hour_sigma", &side->hour_sigma},
        {"function_hour_sigma", &side->function_hour_sigma},
        {"parts", &side->parts},
        {"visit_ms", &side->visit_ms},
        {"slowdown", &side->slowdown},
        {"slow_first", &side->slow_first},
        {"day_curve", &side->day_curve},
        {"rollout", &side->rollout},
        {"machine_noise", &side->machine_noise},
        {"fast_bots", &side->fast_bots},
        {"desktop", &side->desktop},
        {"rare_use", &side->rare_use},
        {"cold", &side->cold},
        {"new_browser", &side->new_browser},
        {"heavy", &side->heavy},
        {"route0", &side->routes[0]},
        {"route1", &side->routes[1]},
        {"route2", &side->routes[2]},
        {"route3", &side->routes[3]},
        {"route4", &side->routes[4]},
        {"route5", &side->routes[5]},
    };
    const struct {
        const char *name;
        unsigned *value;
    } numbers[] = {
        {"uploads", &side->uploads},
        {"timings", &side->timings},
        {"vitals", &side->vitals},
        {"visitor", &side->visitor},
        {"visitor_hours", &side->visitor_hours},
        {"addresses", &side->addresses},
        {"arm", &side->arm},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].value = (unsigned)value;
            return;
        }
    }
    if (strcmp(name, "hours") == 0) {
        side->hours = value < 1 || value > (double)FLEET_SIDE_HOURS ? FLEET_HOURS : (unsigned)value;
        return;
    }
    if (strcmp(name, "pareto") == 0 || strcmp(name, "steady") == 0) {
        *(name[0] == 'p' ? &side->pareto : &side->steady) = value > 0;
        return;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i].name) == 0) {
            *known[i].value = value;
            return;
        }
    }
    die("unknown option of a side");
}

static void side(struct tool *tool, char *arguments)
{
    struct fleet_side wanted = fleet_ordinary_side();
    char *rest = NULL;
    const char *site = strtok_r(arguments, " \n", &rest);
    const char *day = strtok_r(NULL, " \n", &rest);
    wanted.release = strtok_r(NULL, " \n", &rest);
    if (wanted.release == NULL)
        die("side SITE DAY RELEASE …");
    for (char *option = strtok_r(NULL, " \n", &rest); option != NULL;
         option = strtok_r(NULL, " \n", &rest)) {
        char *value = strchr(option, '=');
        if (value == NULL)
            die("NAME=VALUE");
        *value = '\0';
        set_option(&wanted, option, strtod(value + 1, NULL));
    }
    draw_side(tool, site, strtoll(day, NULL, 10), &wanted);
}

static struct fleet_function *find_function(struct tool *tool, unsigned number)
{
    if (number >= tool->fleet.site.function_count)
        die("no such function");
    return &tool->fleet.site.functions[number];
}

static void set_function(struct tool *tool, unsigned number, double presence, double mean_ms,
                         double sigma)
{
    struct fleet_function *function = find_function(tool, number);
    function->presence = presence;
    function->mean_ms = mean_ms;
    function->sigma = sigma;
    for (unsigned i = 0; i < FLEET_ROUTES; i++)
        function->route_factors[i] = 1;
    printf("{}\n");
}

/* ---- page loads whose vital is known without a function ---- */

static void read_world(char **rest, struct visits_world *world)
{
    *world = visits_ordinary_world();
    for (char *option = strtok_r(NULL, " \n", rest); option != NULL;
         option = strtok_r(NULL, " \n", rest)) {
        char *value = strchr(option, '=');
        if (value == NULL)
            die("NAME=VALUE");
        *value = '\0';
        double *to = visits_option(world, option);
        if (to == NULL)
            die("unknown option of a world");
        *to = strtod(value + 1, NULL);
    }
}

/* A part of a page load on its way to the database. */
struct arriving {
    const char *site;
    int64_t received_us;
    const struct visits_world *world;
    const struct visit *visit;
    double share; /* of such page loads that is profiled; 0: not drawn */
};

/* Folds and counts a part after the earlier one, if any. Profiled ones have page tokens. */
static void count_part(struct tool *tool, const struct arriving *arriving,
                       const struct visit_part *part, const struct fp_part *earlier,
                       struct fp_part *remembered)
{
    const struct fp_part *const list[] = {earlier};
    const bool has_rate = part->has_trace && arriving->world->tokens > 0;
    const struct fp_fold_context context = {.site = fp_str_of(arriving->site),
                                            .rate_ppm =
                                                has_rate ? (uint32_t)(1e6 * arriving->share) : 0,
                                            .received_us = arriving->received_us,
                                            .body_bytes = 1000,
                                            .measures = 100,
                                            .earlier = list,
                                            .earlier_count = earlier != NULL,
                                            .part = remembered};
    struct fp_profile profile;
    struct fp_delta delta;
    visits_fill(&tool->fleet, arriving->world, arriving->visit, part, &tool->arena, &profile);
    if (!fp_fold(&profile, &context, &tool->arena, &delta))
        die("fold");
    if (fp_rollup_add(&tool->rollup, &delta) != FP_ROLLUP_COUNTED)
        die("an upload was not counted in its hour");
}

static void count_visit(struct tool *tool, const struct arriving *arriving, bool has_trace)
{
    struct fp_part remembered;
    const bool is_apart = has_trace && arriving->world->apart > 0;
    if (!is_apart) {
        const struct visit_part whole = {true, has_trace, 0};
        count_part(tool, arriving, &whole, NULL, NULL);
        return;
    }
    const bool trace_first = fleet_uniform(&tool->fleet) < 0.5;
    const struct visit_part first = {!trace_first, trace_first, trace_first};
    const struct visit_part second = {trace_first, !trace_first, !trace_first};
    count_part(tool, arriving, &first, NULL, &remembered);
    count_part(tool, arriving, &second, &remembered, NULL);
}

/* True for the first ones; of several routes for those that a server draws. */
static bool is_profiled(struct tool *tool, const struct arriving *arriving, long number,
                        const long *of)
{
    if (arriving->world->routes <= 1)
        return number < of[1];
    return fleet_uniform(&tool->fleet) < arriving->share;
}

static void visits(struct tool *tool, char *arguments)
{
    struct visits_world world;
    struct visit visit;
    char *rest = NULL;
    const char *site = strtok_r(arguments, " \n", &rest);
    const char *day = strtok_r(NULL, " \n", &rest);
    const char *loads = strtok_r(NULL, " \n", &rest);
    const char *profiled = strtok_r(NULL, " \n", &rest);
    if (profiled == NULL)
        die("visits SITE DAY LOADS PROFILED …");
    read_world(&rest, &world);
    const long of[] = {strtol(loads, NULL, 10), strtol(profiled, NULL, 10)};
    begin_window(tool);
    for (long i = 0; i < of[0]; i++) {
        const int64_t hour = i % FLEET_HOURS;
        fp_arena_clear(&tool->arena);
        visits_draw(&tool->fleet, &world, &visit);
        const struct arriving arriving = {
            site, strtoll(day, NULL, 10) * FP_US_PER_DAY + hour * FP_US_PER_HOUR + FP_US_PER_S,
            &world, &visit, visits_profiled_share(&world, &visit, (double)of[1] / (double)of[0])};
        count_visit(tool, &arriving, is_profiled(tool, &arriving, i, of));
        if (fp_rollup_is_full(&tool->rollup)) {
            end_window(tool);
            begin_window(tool);
        }
    }
    end_window(tool);
    printf("{}\n");
}

static int compare_ms(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

static void gains(struct tool *tool, char *arguments)
{
    static const double shares[] = {1, 0, 0.5};
    enum { SHARES = sizeof(shares) / sizeof(shares[0]), VISIT_VALUES_MEAN_MAX = 10 };
    struct visits_world world;
    struct visit visit;
    char *rest = NULL;
    const char *loads = strtok_r(arguments, " \n", &rest);
    if (loads == NULL)
        die("gains LOADS …");
    const size_t count = strtoul(loads, NULL, 10);
    read_world(&rest, &world);
    const size_t most = count * (world.values > 0 ? VISIT_VALUES_MEAN_MAX : 1) + VISIT_WAITS_MAX;
    double *values = calloc(SHARES * most, sizeof(*values));
    if (values == NULL)
        die("memory");
    size_t listed = 0;
    for (size_t i = 0; i < count && listed + VISIT_WAITS_MAX <= most; i++) {
        unsigned added = 0;
        visits_draw(&tool->fleet, &world, &visit);
        for (size_t k = 0; k < SHARES; k++)
            added = visits_list_ms(&world, &visit, shares[k], values + k * most + listed);
        listed += added;
    }
    for (size_t k = 0; k < SHARES; k++) {
        qsort(values + k * most, listed, sizeof(*values), compare_ms);
        printf("%s%.3f", k == 0 ? "[" : ", ", values[k * most + listed * 3 / 4]);
    }
    printf("]\n");
    free(values);
}

/* ---- page loads that a server draws ---- */

static void set_rates(struct tool *tool, const double *rates_ppm)
{
    tool->drawing = (struct drawing){.is_on = true};
    for (unsigned i = 0; i < 2 * FLEET_ROUTES; i++)
        tool->drawing.rates_ppm[i / FLEET_ROUTES][i % FLEET_ROUTES] = rates_ppm[i];
    printf("{}\n");
}

static void print_truth(const struct tool *tool)
{
    const struct drawing *drawing = &tool->drawing;
    for (unsigned route = 0; route < FLEET_ROUTES; route++) {
        printf("%s{\"loads\": %lu, \"profiled\": %lu, \"self_us\": ", route == 0 ? "[" : ", ",
               drawing->loads[route], drawing->profiled[route]);
        for (unsigned i = 0; i < tool->fleet.site.function_count; i++)
            printf("%s%" PRId64, i == 0 ? "[" : ", ", drawing->self_us[route][i]);
        printf("]}");
    }
    printf("]\n");
}

/* Reads `count` numbers after a word. */
static bool reads(const char *line, const char *word, size_t count, double *numbers)
{
    const size_t len = strlen(word);
    if (strncmp(line, word, len) != 0)
        return false;
    line += len;
    for (size_t i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(line, &end);
        if (end == line)
            return false;
        line = end;
    }
    return true;
}

static void obey(struct tool *tool, char *line)
{
    double n[2 * FLEET_ROUTES];
    if (reads(line, "site ", 2, n)) {
        fleet_seed(&tool->fleet, (unsigned)n[0]);
        fleet_make_site(&tool->fleet, (unsigned)n[1]);
        printf("{}\n");
    } else if (reads(line, "shop ", 2, n)) {
        fleet_seed(&tool->fleet, (unsigned)n[0]);
        fleet_make_shop(&tool->fleet, (unsigned)n[1]);
        printf("{}\n");
    } else if (reads(line, "function ", 4, n)) {
        set_function(tool, (unsigned)n[0], n[1], n[2], n[3]);
    } else if (reads(line, "effect ", 2, n)) {
        find_function(tool, (unsigned)n[0])->effect = n[1];
        printf("{}\n");
    } else if (strncmp(line, "side ", 5) == 0) {
        side(tool, line + 5);
    } else if (strncmp(line, "visits ", 7) == 0) {
        visits(tool, line + 7);
    } else if (strncmp(line, "gains ", 6) == 0) {
        gains(tool, line + 6);
    } else if (reads(line, "rates ", FP_COUNT(n), n)) {
        set_rates(tool, n);
    } else if (strncmp(line, "truth", 5) == 0) {
        print_truth(tool);
    } else if (strncmp(line, "uniform", 7) == 0) {
        printf("%.9f\n", fleet_uniform(&tool->fleet));
    } else {
        die("unknown command");
    }
}

int main(int argc, char **argv)
{
    static struct tool tool;
    if (argc != 2)
        die("usage: fleet_tool CONNINFO");
    const struct fp_store_settings settings = {
        .database = argv[1],
        .retention = {.facts_us = 400 * FP_US_PER_DAY,
                      .hours_us = 14 * FP_US_PER_DAY,
                      .upload_ids_us = 7 * FP_US_PER_DAY},
        .interrupt_fd = -1,
    };
    fp_arena_init(&tool.side_arena, ARENA_MAX);
    fp_arena_init(&tool.arena, ARENA_MAX);
    fp_rollup_init(&tool.rollup, WINDOW_BYTES, 4 * (size_t)WINDOW_BYTES);
    tool.store = fp_store_create(&settings);
    tool.sources = fp_sources_create();
    if (tool.store == NULL || tool.sources == NULL || !fp_uuid_random(&tool.spool_id))
        die("memory");
    if (fp_store_connect(tool.store) != FP_STORE_OK ||
        fp_store_read_position(tool.store, &tool.spool_id, &tool.position) != FP_STORE_OK)
        die(fp_store_message(tool.store));
    char line[1024];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        obey(&tool, line);
        fflush(stdout);
    }
    fp_store_close(tool.store);
    fp_sources_free(tool.sources);
    fp_rollup_release(&tool.rollup);
    fp_arena_release(&tool.arena);
    fp_arena_release(&tool.side_arena);
    return 0;
}
