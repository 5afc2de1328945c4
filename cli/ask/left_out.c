/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Left out: the line below timings that says what page loads had more of than their agent sends.
 */
#include "cli/ask/left_out.h"
#include "cli/kit/note.h"

/* One row with the line about what page loads left out; none if they left out nothing. The row
 * `(any)` is about all of it. */
static const char left_out_line[] =
    ", shown as (select what, loads, share, to_char(loads, number) as loads_text, "
    "to_char(all_loads, number) as all_text, to_char(count, number) || ' ' as count_text, "
    "case when count = 1 then '' else 's' end as plural "
    "from missing cross join (values ('FM999,999,999,999,999,990')) as format (number) "
    "where loads > 0), "
    "parts as (select string_agg(coalesce(count_text, '') || case what "
    "when 'profile' then 'the end of the profile' "
    "when 'overload' then 'the profile of a busy device' "
    "when '(unknown)' then 'what the sender does not say' "
    "when 'frame' then 'long frame' || plural else what || plural end "
    "|| ' (in ' || loads_text || ')', ', ' order by loads desc, what) as list "
    "from shown where what <> '(any)') "
    "select loads_text || ' of ' || all_text || ' page loads (' "
    "|| to_char(100 * share, 'FM990.0') || ' %) left something out: ' || list || '.' "
    "from shown cross join parts where what = '(any)'";

bool fp_left_out_print(const struct fp_analysis *analysis)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "with missing as (select * from fleetprof.left_out(");
    fp_filters_add(&analysis->filters, &query);
    fp_sql_add(&query, "))");
    fp_sql_add(&query, left_out_line);
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    for (int i = 0; i < PQntuples(answer); i++)
        fp_note_put(PQgetvalue(answer, i, 0));
    PQclear(answer);
    return true;
}
