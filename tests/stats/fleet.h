/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fleet: a made-up site and what its users' browsers would upload, with known costs.
 *
 * A port of the simulation that the estimator was designed with: page routes, phones and laptops,
 * slow and fast machines, functions that run everywhere and functions that run rarely, costs with
 * heavy tails, seen through a sampler of 10 ms. Everything follows from the seed.
 */
#ifndef FP_TESTS_STATS_FLEET_H
#define FP_TESTS_STATS_FLEET_H

#include "collector/base/arena.h"
#include "collector/profile/profile.h"

enum {
    FLEET_FUNCTIONS_MAX = 1000,
    FLEET_ROUTES = 6,
    FLEET_HOURS = 24,
    FLEET_SIDE_HOURS = 48, /* the longest side */
    FLEET_TIMINGS_MAX = 20,
};

struct fleet_function {
    double presence; /* share of uploads in which it runs */
    double browser;  /* what the new browser makes of its cost */
    double mean_ms;  /* per upload in which it runs */
    double heavy;    /* the same of a heavy product */
    double sigma;    /* spread of its cost, of the logarithm */
    bool grows;      /* with the time of the visit, not work at load */
    double mobile;   /* how much dearer on phones */
    double route_factors[FLEET_ROUTES];
    double effect; /* on the side that is drawn next: 1.25 is 25 % slower */
};

struct fleet_site {
    struct fleet_function functions[FLEET_FUNCTIONS_MAX];
    unsigned function_count;
};

/* How one side differs. */
struct fleet_side {
    unsigned uploads;
    double mobile; /* share of phones */
    double bots;   /* share of automated browsers, which run little */
    double routes[FLEET_ROUTES];
    double drift;               /* all costs times this */
    double hour_sigma;          /* random factor of each hour, of all functions alike */
    double function_hour_sigma; /* of each function and hour */
    double parts;               /* mean uploads of a page load; they share the machine */
    double visit_ms;            /* typical profiled time of an upload */
    bool pareto;                /* costs have a Pareto 2.1 tail */
    bool steady;      /* functions cost the same share of time, however long an upload is */
    unsigned timings; /* measures that each upload has, and vitals; 0: none of both */
    unsigned vitals;  /* LCP; 3: also INP where somebody interacts, and CLS */
    double slowdown;  /* of measures and vitals: times this */
    unsigned hours;   /* over how many hours uploads spread */
    double day_curve; /* 0: hours are alike; 1: in the emptiest there is nobody */
    /* Further page loads, all of one visitor on a slow machine, who uses the same things each
     * time, and over how many hours they spread. */
    unsigned visitor;
    unsigned visitor_hours;
    unsigned addresses; /* that all others share, as in offices; 0: each page load has its own */
    /* How much more often slow machines have the side than fast ones: a rollout that fast ones
     * get first has -1. 0: all alike. */
    double slow_first;
    /* 1: the later release of a rollout from 1 to 100 % in a day; -1: what the earlier one keeps.
     * slow_first holds for the later one, as odds. 0: no rollout. */
    double rollout;
    /* How wrong machine classes are, in standard deviations of the logarithm of speed; 0: uploads
     * do not say a class. */
    double machine_noise;
    double fast_bots;   /* share of automated browsers that look ordinary, for six hours */
    double desktop;     /* costs on desktops: times this */
    double rare_use;    /* how often a fifth of the rare functions runs: times this */
    double cold;        /* share of page loads with a cold cache: half of the functions cost more */
    double new_browser; /* share of a browser in which each function costs up to 6 % more or less */
    double heavy;       /* share of heavy products: up to twice as dear, by function */
    unsigned arm;       /* of an experiment, with others in the same hours; 0: none */
    const char *release;
};

struct fleet_upload {
    struct fp_profile profile; /* in the arena */
    const char *user_agent;
    uint32_t address;
    struct fp_uuid load;
    unsigned hour;
};

struct fleet {
    struct fleet_site site;
    struct fleet_side side;
    uint32_t random[4];
    double spare_normal;
    bool has_spare;
    double hour_factors[FLEET_SIDE_HOURS];
    double function_hours[FLEET_FUNCTIONS_MAX][FLEET_SIDE_HOURS];
    struct fp_profile bundle; /* the tables that all uploads of a side have */
    /* The page load that goes on. */
    unsigned parts_left, part, route, hour;
    bool is_mobile, is_other_browser, is_bot, is_fast_bot, is_visitor;
    bool is_cold, is_new_browser, is_heavy;
    double speed, boost;
    struct fp_str machine;
    unsigned visitor_left;
    uint32_t address;
    uint32_t loads;
    double visitor_draws[FLEET_FUNCTIONS_MAX]; /* 0 to 1: whether the visitor uses a function */
    struct fp_uuid load;
};

/* Sets the seed. */
void fleet_seed(struct fleet *fleet, uint32_t seed);

/* Draws a site: a tenth of its functions runs nearly everywhere, the others in 1 to 30 % of
 * uploads. */
void fleet_make_site(struct fleet *fleet, unsigned functions);

/* Draws a shop: a quarter of its functions runs nearly everywhere, the others in 2 to 30 % of
 * uploads. */
void fleet_make_shop(struct fleet *fleet, unsigned functions);

/* Returns the side of an ordinary day. */
struct fleet_side fleet_ordinary_side(void);

/* Begins a side. The arena holds its names until the next one. */
void fleet_begin_side(struct fleet *fleet, const struct fleet_side *side, struct fp_arena *arena);

/* Draws the next upload of the side. Its arrays and texts live in the arena. */
void fleet_draw(struct fleet *fleet, struct fp_arena *arena, struct fleet_upload *upload);

/* Draws a number from 0 to 1. */
double fleet_uniform(struct fleet *fleet);

#endif
