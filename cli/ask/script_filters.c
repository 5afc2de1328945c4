/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Script filters: writes them for SQL, and names those that would match.
 */
#include "cli/ask/script_filters.h"

#include "cli/kit/message.h"
#include "cli/kit/note.h"

/* As parameters in SQL, which are also what cost_by lists by, and as people call them. */
static const struct group {
    const char *name;
    const char *many;
} groups[FP_SCRIPT_FILTER_COUNT] = {
    [FP_SCRIPT_HOST] = {"host", "Hosts"},
    [FP_SCRIPT_PARTY] = {"party", "Parties"},
    [FP_SCRIPT_PACKAGE] = {"package", "Packages"},
};

void fp_script_filters_add(const struct fp_script_filters *scripts, struct fp_sql_query *query)
{
    for (enum fp_script_filter i = 0; i < FP_SCRIPT_FILTER_COUNT; i++) {
        if (scripts->values[i] == NULL)
            continue;
        fp_sql_add(query, ", ");
        fp_sql_add(query, groups[i].name);
        fp_sql_add(query, " => ");
        fp_sql_value(query, "text", scripts->values[i]);
    }
}

void fp_script_filters_note(const struct fp_script_filters *scripts)
{
    for (enum fp_script_filter i = 0; i < FP_SCRIPT_FILTER_COUNT; i++) {
        if (scripts->values[i] != NULL)
            fp_note_print("Only functions of the %s \"%s\"; shares are of all time.",
                          groups[i].name, scripts->values[i]);
    }
}

/* Lists what ran by one of them, the most time first. Each row says whether the pattern matches
 * any. */
static PGresult *list_groups(const struct group *group, const char *pattern,
                             const struct fp_filters *filters, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select name, bool_or(name like fleetprof_data.like_pattern(");
    fp_sql_value(&query, "text", pattern);
    fp_sql_add(&query, ")) over () from fleetprof.cost_by(by => ");
    fp_sql_value(&query, "text", group->name);
    fp_sql_add(&query, ", ");
    fp_filters_add(filters, &query);
    fp_sql_add(&query, ") where samples > 0 order by self_ms desc, name limit 1000");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

static void name_groups(const struct group *group, const char *pattern, const char *site,
                        const PGresult *known)
{
    fp_message_notice("nothing was counted for the %s \"%s\" of site \"%s\"", group->name, pattern,
                      site);
    fp_sql_hint_at_nearest(known, pattern);
    struct fp_buf names;
    fp_sql_list(known, &names);
    fp_message_hint("%s, most time first: %.*s.", group->many, (int)names.len,
                    (const char *)names.data);
    fp_buf_release(&names);
}

enum fp_scripts_finding fp_script_filters_explain(const struct fp_script_filters *scripts,
                                                  const struct fp_filters *filters,
                                                  PGconn *connection)
{
    enum fp_scripts_finding finding = FP_SCRIPTS_NOTHING_RAN;
    for (enum fp_script_filter i = 0; i < FP_SCRIPT_FILTER_COUNT; i++) {
        if (scripts->values[i] == NULL)
            continue;
        PGresult *known = list_groups(&groups[i], scripts->values[i], filters, connection);
        if (known == NULL)
            return FP_SCRIPTS_TROUBLE;
        if (PQntuples(known) > 0)
            finding = PQgetvalue(known, 0, 1)[0] == 't' ? FP_SCRIPTS_KNOWN : FP_SCRIPTS_UNKNOWN;
        if (finding == FP_SCRIPTS_UNKNOWN)
            name_groups(&groups[i], scripts->values[i], filters->values[FP_FILTER_SITE], known);
        PQclear(known);
        if (finding != FP_SCRIPTS_KNOWN)
            return finding;
    }
    return finding;
}
