/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits: page loads whose INP, LCP, responses or measures are known with a thing and without it.
 */
#ifndef FP_TESTS_STATS_VISITS_H
#define FP_TESTS_STATS_VISITS_H

#include "tests/stats/fleet.h"

enum { VISIT_WAITS_MAX = 200 };

/* How page loads are. */
struct visits_world {
    double
        interactions; /* of a page load, from 1 to twice this less one; below 0: an LCP instead */
    double presence;  /* share of the waits in which the function runs */
    double mean_ms;   /* of its time there */
    double sigma;     /* spread of that, of the logarithm */
    double pareto;    /* 1: a heavy tail instead */
    double base_ms;   /* median of all else */
    double machines;  /* spread of the machines' speeds, of the logarithm */
    double with_work; /* 1: all else takes twice as long where the function runs */
    double kinds;     /* share of visits that are twice as slow and alone have the function */
    double depth;     /* functions below all others on each stack */
    double apart;     /* 1: the vital and the trace are parts, in either order */
    double rounded;   /* 1: to 8 ms, as browsers do */
    double values;    /* 1: each wait is a response instead of an interaction; 2: a measure */
    double names;     /* other measures of the page load */
    double package;   /* 1: the function is a script of a package; all that it is of: target */
    double host;      /* 1: of a host of its own */
    double marker;    /* 1: not a function, but style */
    double beside;    /* 1: the function runs after the waits and costs nothing */
    double routes;    /* how many; every second is of a group of its own, the odd ones */
    double odd;       /* share of the visits that are of the odd ones */
    double odd_slow;  /* how many times as slow those are */
    double odd_rare;  /* how many times as seldom they are profiled */
    double tokens;    /* 1: page tokens say the rates */
    double odd_only;  /* 1: the function runs there and another one elsewhere; 0: the other way */
};

/* A wait of the visitor. */
struct visit_wait {
    double base_ms;
    double own_ms;    /* the function's */
    double beside_ms; /* the same, after the wait */
    double before_ms; /* of the rest, what is before it */
};

struct visit {
    struct visit_wait waits[VISIT_WAITS_MAX];
    unsigned count;
    unsigned route;
    bool is_rival; /* what ran is another function */
    struct fp_uuid load;
};

/* Returns the world of an ordinary site. */
struct visits_world visits_ordinary_world(void);

/* Finds an option of the world by its name; NULL: it has none of this name. */
double *visits_option(struct visits_world *world, const char *name);

/* Returns which share of the visits like this one is profiled, if this many of all are. */
double visits_profiled_share(const struct visits_world *world, const struct visit *visit,
                             double profiled);

void visits_draw(struct fleet *fleet, const struct visits_world *world, struct visit *visit);

/* Lists the vital of the page load, or the values of its waits, if the function took this share of
 * its time. values_ms: VISIT_WAITS_MAX. Returns how many there are. */
unsigned visits_list_ms(const struct visits_world *world, const struct visit *visit, double share,
                        double *values_ms);

/* A part of the page load, and what it has. */
struct visit_part {
    bool has_vital;
    bool has_trace;
    unsigned number;
};

/* Makes the profile of a part. Its arrays live in the arena; texts are static. */
void visits_fill(struct fleet *fleet, const struct visits_world *world, const struct visit *visit,
                 const struct visit_part *part, struct fp_arena *arena, struct fp_profile *profile);

#endif
