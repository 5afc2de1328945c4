/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: options of the command line that become named parameters of SQL.
 */
#include "cli/ask/filters.h"

#include "cli/kit/command.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

#define KEY(filter) (FP_OPTION_SHARED + FP_FILTER_##filter)

enum { OPTION_EXCLUDE = FP_OPTION_SHARED + FP_FILTER_COUNT, OPTION_LIST };

#define OPTION(id, of, name, placeholder, usual, one, many, help, option)                          \
    {option, KEY(id), placeholder, 0, help, 0}
#define NAME(id, of, name, ...) name

/* --help explains the route and lists the names of the others: `fleetprof help filters' explains
 * them. */
#define IS_LISTED(id) (FP_FILTER_##id != FP_FILTER_ROUTE)
#define SHORT_OPTION(id, of, name, placeholder, usual, one, many, help, option)                    \
    {option, KEY(id), placeholder, IS_LISTED(id) ? OPTION_HIDDEN : 0, help, 0}
#define LETTER(letter) {NULL, letter, NULL, OPTION_ALIAS, NULL, 0}

static const struct argp_option vitals_options[] = {
    FP_FILTERS_OF_VITALS(OPTION),
    {0},
};

static bool is_of_vitals(enum fp_filter filter)
{
#define CASE(id, ...) filter == FP_FILTER_##id
    return FP_FILTERS_OF_VITALS(CASE);
#undef CASE
}

#define SINCE_OPTION                                                                               \
    {"since",                                                                                      \
     KEY(SINCE),                                                                                   \
     "WHEN",                                                                                       \
     0,                                                                                            \
     "from this time on: a duration back from now (30m, 2h, 1d, 1w) or a timestamp (default: 1d)", \
     0},                                                                                           \
        LETTER(FP_LETTER_SINCE)
#define UNTIL_OPTION {"until", KEY(UNTIL), "WHEN", 0, "before this time (default: now)", 0}
#define SITE_OPTION                                                                                \
    {"site",                                                                                       \
     KEY(SITE),                                                                                    \
     "NAME",                                                                                       \
     0,                                                                                            \
     "the site (not needed when the database has only one); % is all of them",                     \
     0},                                                                                           \
        LETTER(FP_LETTER_SITE)
#define EXCLUDE_OPTION                                                                             \
    {"exclude",                                                                                    \
     OPTION_EXCLUDE,                                                                               \
     "FILTER=PATTERN",                                                                             \
     0,                                                                                            \
     "leave out what this filter selects, such as browser=Headless%; may be given for each "       \
     "filter",                                                                                     \
     0}

/* A command begins at one of the places of enum filter_place. */
static const struct argp_option filter_options[] = {
    FP_FILTERS_OF_SAMPLES(OPTION),
    FP_FILTERS_OF_SIDES(OPTION),
    LETTER(FP_LETTER_RELEASE),
    SINCE_OPTION,
    UNTIL_OPTION,
    SITE_OPTION,
    FP_FILTERS_OF_LOADS(SHORT_OPTION),
    EXCLUDE_OPTION,
    {"    --FILTER=PATTERN", OPTION_LIST, NULL, OPTION_DOC, NULL, 1},
    {0},
};

enum filter_place {
    PLACE_OF_LOADS = FP_FILTERS_OF_SAMPLES_COUNT,
    PLACE_OF_SITE = PLACE_OF_LOADS + 5, /* behind release, since and until, with two letters */
};

/* The parameters' names in SQL. */
static const char *const filter_names[FP_FILTER_COUNT] = {
    FP_FILTERS_OF_SAMPLES(NAME), FP_FILTERS_OF_SIDES(NAME),  "since", "until", "site",
    FP_FILTERS_OF_LOADS(NAME),   FP_FILTERS_OF_VITALS(NAME),
};

/* True if a command whose filters begin with `first` can leave out what this filter selects. */
static bool may_exclude(const struct fp_filters *filters, enum fp_filter first,
                        enum fp_filter filter)
{
    return filter >= first && (filter < FP_FILTER_SINCE || filter > FP_FILTER_SITE) &&
           (filters->of_vitals || !is_of_vitals(filter));
}

/* True if a text is the name of a filter, as SQL or as its option writes it. */
static bool is_named(const char *name, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] != (text[i] == '-' ? '_' : text[i]))
            return false;
    return name[len] == '\0';
}

static void parse_exclude(enum fp_filter first, const char *arg, struct argp_state *state)
{
    struct fp_filters *filters = state->input;
    size_t len = strcspn(arg, "=");
    if (arg[len] == '\0')
        argp_error(state, "--exclude takes FILTER=PATTERN, such as browser=Headless%%, not \"%s\"",
                   arg);
    char names[500] = "";
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
        const char *name = filter_names[filter];
        if (!may_exclude(filters, first, filter))
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", name);
        if (!is_named(name, arg, len))
            continue;
        if (filters->excluded[filter] != NULL)
            argp_error(state, "--exclude %s is given twice", name);
        filters->excluded[filter] = arg + len + 1;
        return;
    }
    argp_error(state, "--exclude has no filter \"%.*s\"; it has %s", (int)len, arg, names);
}

/* Returns the filter that an option's key is of; FP_FILTER_COUNT: none. */
static enum fp_filter filter_of(int key)
{
    switch (key) {
    case FP_LETTER_RELEASE:
        return FP_FILTER_RELEASE;
    case FP_LETTER_SINCE:
        return FP_FILTER_SINCE;
    case FP_LETTER_SITE:
        return FP_FILTER_SITE;
    default:
        return key >= FP_OPTION_SHARED && key < FP_OPTION_SHARED + FP_FILTER_COUNT
                   ? (enum fp_filter)(key - FP_OPTION_SHARED)
                   : FP_FILTER_COUNT;
    }
}

static error_t parse_from(enum fp_filter first, int key, char *arg, struct argp_state *state)
{
    struct fp_filters *filters = state->input;
    if (key == OPTION_EXCLUDE)
        parse_exclude(first, arg, state);
    else if (filter_of(key) != FP_FILTER_COUNT)
        filters->values[filter_of(key)] = arg;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static error_t parse_of_samples(int key, char *arg, struct argp_state *state)
{
    return parse_from(0, key, arg, state);
}

static error_t parse_of_loads(int key, char *arg, struct argp_state *state)
{
    return parse_from(FP_FILTERS_OF_SAMPLES_COUNT, key, arg, state);
}

static error_t parse_of_both_sides(int key, char *arg, struct argp_state *state)
{
    return parse_from(FP_FILTER_SITE, key, arg, state);
}

static error_t parse_of_vitals(int key, char *arg, struct argp_state *state)
{
    struct fp_filters *filters = state->input;
    if (key == ARGP_KEY_INIT)
        filters->of_vitals = true;
    if (key < FP_OPTION_SHARED || key >= FP_OPTION_SHARED + FP_FILTER_COUNT)
        return ARGP_ERR_UNKNOWN;
    filters->values[key - FP_OPTION_SHARED] = arg;
    return 0;
}

const struct argp fp_filters_of_vitals_argp = {.options = vitals_options,
                                               .parser = parse_of_vitals};
/* Returns a text of --help, and for OPTION_LIST the names of the filters that it does not explain;
 * NULL without memory. */
static char *fill_list(int key, const char *text, void *input)
{
    (void)input;
    static const struct argp_option listed[] = {FP_FILTERS_OF_LOADS(SHORT_OPTION)};
    char *list = NULL;
    size_t len;
    if (key != OPTION_LIST)
        return (char *)(uintptr_t)text;
    FILE *stream = open_memstream(&list, &len);
    if (stream == NULL)
        return NULL;
    for (size_t i = 0; i < FP_COUNT(listed); i++)
        if (listed[i].flags == OPTION_HIDDEN)
            (void)fprintf(stream, "%s%s", listed[i].name, i + 1 < FP_COUNT(listed) ? ", " : "");
    (void)fprintf(stream, ": `fleetprof help filters' explains them");
    return fclose(stream) == 0 ? list : NULL;
}

const struct argp fp_filters_argp = {
    .options = filter_options, .parser = parse_of_samples, .help_filter = fill_list};
const struct argp fp_filters_without_marker_argp = {
    .options = filter_options + PLACE_OF_LOADS, .parser = parse_of_loads, .help_filter = fill_list};
const struct argp fp_filters_of_both_sides_argp = {.options = filter_options + PLACE_OF_SITE,
                                                   .parser = parse_of_both_sides,
                                                   .help_filter = fill_list};

/* ---- the topic of help ---- */

/* Each filter with its own text, of whatever command. */
static const struct argp_option topic_options[] = {
    FP_FILTERS_OF_SAMPLES(OPTION),
    FP_FILTERS_OF_SIDES(OPTION),
    LETTER(FP_LETTER_RELEASE),
    FP_FILTERS_OF_LOADS(OPTION),
    FP_FILTERS_OF_VITALS(OPTION),
    SINCE_OPTION,
    UNTIL_OPTION,
    SITE_OPTION,
    EXCLUDE_OPTION,
    {0},
};

void fp_filters_explain(FILE *stream)
{
    static const struct argp topic = {
        .options = topic_options,
        .doc =
            "Filters narrow down the page loads of a question. In a PATTERN, % matches any "
            "text, and \\% a percent sign; '' matches an absent value. --marker is for questions "
            "about samples; --navigation for those about web vitals and interactions.",
    };
    char name[] = "fleetprof";
    argp_help(&topic, stream, ARGP_HELP_PRE_DOC | ARGP_HELP_LONG, name);
}

/* ---- filters of one side ---- */

enum { KEY_BEFORE = FP_OPTION_SHARED + 0x100, KEY_AFTER = KEY_BEFORE + FP_FILTER_COUNT };

#define BEFORE(id, of, name, placeholder, usual, one, many, help, option)                          \
    {"before-" option, KEY_BEFORE + FP_FILTER_##id, placeholder, OPTION_HIDDEN, NULL, 0}
#define AFTER(id, of, name, placeholder, usual, one, many, help, option)                           \
    {"after-" option, KEY_AFTER + FP_FILTER_##id, placeholder, OPTION_HIDDEN, NULL, 0}

static const struct argp_option own_options[] = {
    {"    --before-NAME=PATTERN", 0, NULL, OPTION_DOC, "route, or one of the filters listed above",
     0},
    {"--after-NAME=PATTERN", 0, NULL, OPTION_DOC | OPTION_ALIAS, NULL, 0},
    FP_FILTERS_OF_LOADS(BEFORE),
    FP_FILTERS_OF_LOADS(AFTER),
    {0},
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct fp_own_filters *own = state->input;
    if (key >= KEY_BEFORE && key < KEY_AFTER)
        own->values[FP_SIDE_BEFORE][key - KEY_BEFORE] = arg;
    else if (key >= KEY_AFTER && key < KEY_AFTER + FP_FILTER_COUNT)
        own->values[FP_SIDE_AFTER][key - KEY_AFTER] = arg;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

const struct argp fp_own_filters_argp = {.options = own_options, .parser = parse_own};

void fp_own_filters_add(const struct fp_own_filters *own, struct fp_sql_query *query)
{
    static const char *const prefixes[] = {", before_", ", after_"};
    for (enum fp_side side = 0; side < FP_SIDE_COUNT; side++) {
        for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
            if (own->values[side][filter] == NULL)
                continue;
            fp_sql_add(query, prefixes[side]);
            fp_sql_add(query, filter_names[filter]);
            fp_sql_add(query, " => ");
            fp_sql_value(query, "text", own->values[side][filter]);
        }
    }
}

bool fp_own_filters_are_given(const struct fp_own_filters *own)
{
    for (enum fp_side side = 0; side < FP_SIDE_COUNT; side++) {
        for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
            if (own->values[side][filter] != NULL)
                return true;
        }
    }
    return false;
}

struct fp_filters fp_filters_of_loads(const struct fp_filters *filters)
{
    struct fp_filters loads = *filters;
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++)
        if (filter < FP_FILTERS_OF_SAMPLES_COUNT || is_of_vitals(filter))
            loads.values[filter] = loads.excluded[filter] = NULL;
    return loads;
}

/* True for a duration back from now, such as "2h". */
static bool is_duration(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && strlen(text) == digits + 1 && strchr("smhdw", text[digits]) != NULL;
}

const char *fp_filter_name(enum fp_filter filter)
{
    return filter_names[filter];
}

void fp_filters_add_value(enum fp_filter filter, const char *value, struct fp_sql_query *query)
{
    if (filter != FP_FILTER_SINCE && filter != FP_FILTER_UNTIL) {
        fp_sql_value(query, "text", value);
    } else if (is_duration(value)) {
        fp_sql_add(query, "now() - ");
        fp_sql_value(query, "interval", value);
    } else {
        fp_sql_value(query, "timestamptz", value);
    }
}

void fp_filters_add(const struct fp_filters *filters, struct fp_sql_query *query)
{
    const char *separator = "";
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
        if (filters->values[filter] != NULL) {
            fp_sql_add(query, separator);
            fp_sql_add(query, filter_names[filter]);
            fp_sql_add(query, " => ");
            fp_filters_add_value(filter, filters->values[filter], query);
            separator = ", ";
        }
        if (filters->excluded[filter] != NULL) {
            fp_sql_add(query, separator);
            fp_sql_add(query, "exclude_");
            fp_sql_add(query, filter_names[filter]);
            fp_sql_add(query, " => ");
            fp_sql_value(query, "text", filters->excluded[filter]);
            separator = ", ";
        }
    }
}

char *fp_filters_text(const char *command, const struct fp_filters *filters)
{
    struct fp_buf text;
    fp_buf_init(&text, (size_t)1024 * 1024);
    fp_buf_addf(&text, "%s", command);
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
        if (filters->values[filter] != NULL)
            fp_buf_addf(&text, "\n%s=%s", filter_names[filter], filters->values[filter]);
        if (filters->excluded[filter] != NULL)
            fp_buf_addf(&text, "\n-%s=%s", filter_names[filter], filters->excluded[filter]);
    }
    char *copy = fp_memory_copy(fp_memory_text(&text));
    fp_buf_release(&text);
    return copy;
}

/* Lists the sites with the most uploads. */
static PGresult *list_sites(PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select site from (" FP_FILTERS_UPLOADS ") as entry "
                        "group by site order by sum(uploads) desc, site limit 1000");
    PGresult *sites = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return sites;
}

static void hint_at_sites(const PGresult *sites)
{
    struct fp_buf names;
    fp_sql_list(sites, &names);
    fp_message_hint("Give --site NAME: %.*s.", (int)names.len, (const char *)names.data);
    fp_buf_release(&names);
}

bool fp_filters_hint_at_sites(PGconn *connection, const char *unknown)
{
    PGresult *sites = list_sites(connection);
    if (sites != NULL) {
        fp_sql_hint_at_nearest(sites, unknown);
        hint_at_sites(sites);
    }
    PQclear(sites);
    return sites != NULL;
}

bool fp_filters_choose_site(struct fp_filters *filters, PGconn *connection)
{
    if (filters->values[FP_FILTER_SITE] != NULL)
        return true;
    PGresult *sites = list_sites(connection);
    if (sites == NULL)
        return false;
    bool several = PQntuples(sites) > 1;
    if (several) {
        fp_message_error("no site was named, and the database has several");
        hint_at_sites(sites);
    } else {
        (void)snprintf(filters->chosen_site, sizeof(filters->chosen_site), "%s",
                       PQntuples(sites) == 1 ? PQgetvalue(sites, 0, 0) : "");
        filters->values[FP_FILTER_SITE] = filters->chosen_site;
    }
    PQclear(sites);
    return !several;
}
