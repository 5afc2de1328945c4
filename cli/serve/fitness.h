/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fitness: whether a database and a role are what a report needs, and what the database's errors
 * mean to a reader of the report. Any thread; each fitness belongs to one.
 */
#ifndef FP_CLI_SERVE_FITNESS_H
#define FP_CLI_SERVE_FITNESS_H

#include "cli/serve/trouble.h"

#include <libpq-fe.h>

struct fp_fitness {
    bool allow_writer;
    struct fp_trouble *trouble; /* filled when something does not hold */
    bool can_write;
    bool has_schema;
    char role[64];
    size_t same_files;      /* of the schema, as this program has them */
    char other_file[96];    /* the first that differs; "": none */
    char other_version[32]; /* that applied it */
};

/* To be asked on a new connection, one after the other, as long as fp_fitness_holds. */
extern const char *const fp_fitness_questions[];
extern const size_t fp_fitness_question_count;

/* Takes a row of an answer; context is the fitness. Returns true. */
bool fp_fitness_take(void *context, const PGresult *row);

/* True if the answers so far are good; else fills the trouble. */
bool fp_fitness_holds(const struct fp_fitness *fitness) FP_MUST_CHECK;

/* Fills the trouble from a statement's error. True if the database may have changed since it was
 * admitted: a new connection finds out. */
bool fp_fitness_explain(const PGconn *connection, const PGresult *result,
                        struct fp_trouble *trouble);

#endif
