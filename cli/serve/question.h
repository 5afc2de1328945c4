/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Question: the routes below /api/v1/, their parameters, and what SQL and which command answer
 * them.
 *
 * A route is a function or a view of schema fleetprof; its parameters have SQL's names.
 * docs/report.md has an entry for each. Pure; any thread.
 */
#ifndef FP_CLI_SERVE_QUESTION_H
#define FP_CLI_SERVE_QUESTION_H

#include "cli/serve/trouble.h"
#include "collector/base/buf.h"

enum fp_value_type {
    FP_VALUE_TEXT,
    FP_VALUE_TIME,   /* ISO 8601, or a duration back from now */
    FP_VALUE_COUNT,  /* 1 to `most` */
    FP_VALUE_ID,     /* bigint */
    FP_VALUE_NUMBER, /* double precision */
    FP_VALUE_TEXTS,  /* text[]: may be given several times */
};

enum fp_presence {
    FP_PRESENCE_FREE, /* SQL has a default */
    FP_PRESENCE_NULL, /* SQL has none; null stands for it */
    FP_PRESENCE_NEEDED,
};

struct fp_parameter {
    const char *name;
    enum fp_value_type type;
    enum fp_presence presence;
    int64_t most;       /* of FP_VALUE_COUNT */
    const char *option; /* of the command: "--top", "" for an argument, FP_OPTION_DROPPED if the
                           command goes without; NULL: no command can say it */
};
#define FP_OPTION_DROPPED "-"

enum fp_shape {
    FP_SHAPE_ROWS,
    FP_SHAPE_TREE, /* one JSON value */
    FP_SHAPE_VIEW, /* rows; parameters are conditions on columns */
};

/* The filters that a question takes, of schema/filters. From BOTH_SIDES on, each set has those of
 * the one before. */
enum fp_filter_set {
    FP_FILTERS_NONE,
    FP_FILTERS_EACH_SIDE,   /* those of BOTH_SIDES, and before_NAME and after_NAME */
    FP_FILTERS_BOTH_SIDES,  /* site, period, and the filters of loads */
    FP_FILTERS_LOADS,       /* and of sides */
    FP_FILTERS_WITH_MARKER, /* and of samples */
    FP_FILTERS_VITALS = 8,  /* besides: those of vitals */
    FP_FILTERS_LOADS_AND_VITALS = FP_FILTERS_LOADS | FP_FILTERS_VITALS,
    FP_FILTERS_EACH_SIDE_AND_VITALS = FP_FILTERS_EACH_SIDE | FP_FILTERS_VITALS,
    FP_FILTERS_WITH_MARKER_AND_VITALS = FP_FILTERS_WITH_MARKER | FP_FILTERS_VITALS,
};

enum { FP_OWN_PARAMETERS = 9, FP_PARAMETERS_MAX = 100 };

struct fp_question {
    const char *name;     /* the route: /api/v1/NAME */
    const char *relation; /* in schema fleetprof */
    const char *command;  /* of fleetprof; NULL: none */
    const char *order;    /* of a view's rows */
    const char *time;     /* a view's column that since and until bound; NULL: none */
    struct fp_parameter own[FP_OWN_PARAMETERS]; /* the last one has no name */
    enum fp_shape shape;
    enum fp_filter_set filters;
};

extern const struct fp_question fp_questions[];
extern const size_t fp_question_count;

/* Returns the question of a route; NULL if there is none. */
const struct fp_question *fp_question_find(const char *name);

/* A question with the values of its parameters. */
struct fp_inquiry {
    const struct fp_question *question;
    const struct fp_parameter *parameters[FP_PARAMETERS_MAX];
    const char *values[FP_PARAMETERS_MAX]; /* NULL: not given; the caller's, or of `list` */
    size_t count;
    struct fp_buf list; /* PostgreSQL's text of the parameter that is text[] */
};

/* Starts an inquiry without values; fp_inquiry_release frees it. */
void fp_inquiry_init(struct fp_inquiry *inquiry, const struct fp_question *question);
void fp_inquiry_release(struct fp_inquiry *inquiry);

/*
 * Adds a value, which must outlive the inquiry; its length shows a U+0000 in it. False: *trouble
 * says what is wrong: an unknown parameter, one given twice, a value that its type does not have.
 */
bool fp_inquiry_add(struct fp_inquiry *inquiry, struct fp_str name, struct fp_str value,
                    struct fp_trouble *trouble) FP_MUST_CHECK;

/* True if nothing is missing. Call it after the last value. */
bool fp_inquiry_is_whole(const struct fp_inquiry *inquiry,
                         struct fp_trouble *trouble) FP_MUST_CHECK;

/* Names the parameter that a message of the database is about, if the message does. */
void fp_inquiry_blame(const struct fp_inquiry *inquiry, struct fp_trouble *trouble);

#endif
