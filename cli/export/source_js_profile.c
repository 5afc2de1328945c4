/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source, JavaScript profile: the ticks of V8's sampler in a Speed Tracer dump, as sums. A tick has
 * no length of its own; the sampler's interval was a millisecond.
 */
#include "cli/export/source.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

#define TICK_US 1000

enum profile_column { PARENT, TICKS, FUNCTION, NAME, RESOURCE, LINE };

/* The stacks of a profile, from 1 on; parents come before their children. 0: none. */
struct js_profile {
    const PGresult *rows;
    struct fp_export_stacks *stacks;
    struct fp_export_track *track;
    int count;
    int *first_child; /* by stack, like the next field; 0 has the outermost */
    int *next_sibling;
    uint32_t *frame_of; /* by function */
    uint32_t *node_of;  /* by stack */
    int64_t time_us;    /* where the next sample begins */
};

static int64_t number(const struct js_profile *tree, int stack, enum profile_column column)
{
    return strtoll(PQgetvalue(tree->rows, stack - 1, (int)column), NULL, 10);
}

static struct fp_str text(const struct js_profile *tree, int stack, enum profile_column column)
{
    return fp_export_text(tree->stacks, fp_str_of(PQgetvalue(tree->rows, stack - 1, (int)column)));
}

static uint32_t find_frame(struct js_profile *tree, int stack)
{
    uint32_t *frame = &tree->frame_of[number(tree, stack, FUNCTION)];
    if (*frame != FP_INDEX_NONE)
        return *frame;
    bool has_line = PQgetisnull(tree->rows, stack - 1, LINE) == 0;
    const struct fp_export_frame added = {
        .function = text(tree, stack, NAME),
        .resource = text(tree, stack, RESOURCE),
        .line = has_line ? (int32_t)number(tree, stack, LINE) : FP_POSITION_NONE,
        .column = FP_POSITION_NONE,
        .generated_line = FP_POSITION_NONE,
        .generated_column = FP_POSITION_NONE,
        .kind = FP_FRAME_FUNCTION,
    };
    *frame = fp_export_add_frame(tree->stacks, &added);
    return *frame;
}

/* Adds the sample of a node after the one before it. */
static void add_sample(struct js_profile *tree, uint32_t node, int64_t ticks)
{
    const struct fp_export_sample sample = {
        .node = node,
        .time_us = tree->time_us,
        .weight_us = ticks * TICK_US,
        .count = ticks,
    };
    fp_export_add_sample(tree->stacks, tree->track, &sample);
    tree->time_us += sample.weight_us;
}

static void add_stack(struct js_profile *tree, int stack)
{
    uint32_t parent = tree->node_of[number(tree, stack, PARENT)];
    tree->node_of[stack] = fp_export_add_node(tree->stacks, find_frame(tree, stack), parent);
    add_sample(tree, tree->node_of[stack], number(tree, stack, TICKS));
}

/* Adds all stacks, depth first. */
static void add_stacks(struct js_profile *tree)
{
    for (int stack = tree->count; stack > 0; stack--) {
        int parent = (int)number(tree, stack, PARENT);
        tree->next_sibling[stack] = tree->first_child[parent];
        tree->first_child[parent] = stack;
    }
    tree->node_of[0] = FP_INDEX_NONE;
    for (int stack = tree->first_child[0]; stack > 0;) {
        add_stack(tree, stack);
        if (tree->first_child[stack] > 0) {
            stack = tree->first_child[stack];
            continue;
        }
        while (stack > 0 && tree->next_sibling[stack] == 0)
            stack = (int)number(tree, stack, PARENT);
        stack = stack > 0 ? tree->next_sibling[stack] : 0;
    }
}

static void fill(const PGresult *rows, int64_t functions, struct fp_export_stacks *stacks,
                 struct fp_export_track *track, int64_t unattributed)
{
    size_t count = (size_t)PQntuples(rows);
    struct js_profile tree = {
        .rows = rows,
        .stacks = stacks,
        .track = track,
        .count = (int)count,
        .first_child = fp_memory_need(calloc(count + 1, sizeof(int))),
        .next_sibling = fp_memory_need(calloc(count + 1, sizeof(int))),
        .frame_of = fp_memory_need(calloc((size_t)functions + 1, sizeof(uint32_t))),
        .node_of = fp_memory_need(calloc(count + 1, sizeof(uint32_t))),
    };
    for (int64_t i = 0; i <= functions; i++)
        tree.frame_of[i] = FP_INDEX_NONE;
    add_stacks(&tree);
    if (unattributed > 0)
        add_sample(&tree, fp_export_unattributed(stacks), unattributed);
    free(tree.first_child);
    free(tree.next_sibling);
    free(tree.frame_of);
    free(tree.node_of);
}

static PGresult *ask(PGconn *connection, const char *session_id, const char *select)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "with profile as materialized "
                        "(select * from fleetprof_data.js_profile_stacks(");
    fp_sql_value(&query, "bigint", session_id);
    fp_sql_add(&query, ", null, null)) ");
    fp_sql_add(&query, select);
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

static const char select_sums[] =
    "select coalesce(cardinality(lines), 0), (select coalesce(sum(ticks), 0) "
    "from unnest(run_stacks, run_ticks) as run (stack, ticks) where stack < 0) from profile";

/* The database numbers functions and stacks from 0. */
static const char select_stacks[] =
    "select stack.parent + 1, coalesce(ticks, 0), stack.function + 1, "
    "coalesce(nullif(name, ''), '(anonymous)'), url, line "
    "from profile "
    "cross join unnest(functions, parents) with ordinality "
    "as stack (function, parent, number) "
    "join (select listed.* from profile cross join unnest(names, urls, lines) with ordinality "
    "as listed (name, url, line, number)) as known on known.number = stack.function + 1 "
    "left join (select stack + 1 as number, sum(ticks) as ticks from profile "
    "cross join unnest(run_stacks, run_ticks) as run (stack, ticks) group by stack) as ended "
    "on ended.number = stack.number "
    "order by stack.number";

bool fp_export_read_js_profile(PGconn *connection, const char *session_id,
                               struct fp_export_stacks *stacks)
{
    PGresult *sums = ask(connection, session_id, select_sums);
    PGresult *rows = sums != NULL ? ask(connection, session_id, select_stacks) : NULL;
    if (rows != NULL) {
        int64_t unattributed = strtoll(PQgetvalue(sums, 0, 1), NULL, 10);
        struct fp_export_track *track = fp_export_add_track(stacks, FP_STR("V8 profile"));
        fill(rows, strtoll(PQgetvalue(sums, 0, 0), NULL, 10), stacks, track, unattributed);
    }
    bool fine = rows != NULL;
    PQclear(sums);
    PQclear(rows);
    return fine;
}
