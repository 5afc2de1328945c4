/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ceilings: per site, a table of the names used in this hour and the one before.
 *
 * A table is an array of keys, linearly probed, at most three quarters full. A key is the id times
 * a secret odd number, so that nobody outside can choose ids that collide; its lowest bits hold a
 * stamp that says when the name was last used. (Ids that differ only there count as one name:
 * chance 2^-62.) At a site's first upload in a new hour the names used in the last hour are copied
 * to a table of the size they need; the others are dropped.
 *
 * One lock guards everything. It is held for NAMES_AT_ONCE names, for the growth of a table, or for
 * the turn of a site's hour.
 */
#include "collector/profile/fold/ceilings.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/profile/fold/metrics.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    NAMES_AT_ONCE = 1024,
    AHEAD = 8, /* names whose slots are fetched while others are looked up */
    FIRST_SLOTS = 64,
    SITE_LISTS = 256,
    /* Names in use, in ceilings: the memory of two ceilings holds three. */
    CEILINGS_IN_USE_MAX = 3,
    COLLAPSED_SHARE = 10, /* of the ceiling for whole segments */
};

/* The lowest bits of a slot. A free slot is 0. */
enum stamp { LAST_HOUR = 1, THIS_HOUR = 2, STAMP_BITS = 3 };

struct table {
    uint64_t *slots;     /* owned */
    size_t slot_count;   /* a power of two; 0: no table yet */
    size_t names;        /* slots in use */
    uint32_t new_names;  /* of these, charged to this hour's ceiling */
    bool refusal_logged; /* in this hour */
};

struct site {
    struct site *next;
    uint64_t id;
    int64_t hour;
    struct table tables[FP_NAME_TABLES];
};

struct fp_ceilings {
    struct fp_metric_set *metrics;
    uint64_t multiplier; /* odd, random */

    pthread_mutex_t lock; /* of what follows */
    int64_t hour;
    size_t memory; /* bytes of all tables */
    struct site *sites[SITE_LISTS];
};

/* ---- life ---- */

static uint64_t draw_multiplier(void)
{
    uint64_t drawn;
    if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
        drawn = UINT64_C(0x9e3779b97f4a7c15); /* early boot: still spreads, can be foreseen */
    return drawn | 1;
}

static const struct fp_metric metrics_table[] = {FP_PROFILE_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_profile_metrics = {metrics_table, FP_PROFILE_METRIC_COUNT, NULL};

struct fp_ceilings *fp_ceilings_create(struct fp_metrics *metrics)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &fp_profile_metrics);
    struct fp_ceilings *ceilings = set != NULL ? calloc(1, sizeof(*ceilings)) : NULL;
    if (ceilings == NULL)
        return NULL;
    if (pthread_mutex_init(&ceilings->lock, NULL) != 0) {
        free(ceilings);
        return NULL;
    }
    ceilings->metrics = set;
    ceilings->multiplier = draw_multiplier();
    return ceilings;
}

static void release_table(struct fp_ceilings *ceilings, struct table *table)
{
    ceilings->memory -= table->slot_count * sizeof(*table->slots);
    free(table->slots);
    *table = (struct table){0};
}

static void free_site(struct fp_ceilings *ceilings, struct site *site)
{
    for (size_t i = 0; i < FP_NAME_TABLES; i++)
        release_table(ceilings, &site->tables[i]);
    free(site);
}

/* Frees the sites that were not seen in the last hour. */
static void forget_sites(struct fp_ceilings *ceilings, int64_t hour)
{
    for (size_t i = 0; i < SITE_LISTS; i++) {
        struct site **link = &ceilings->sites[i];
        while (*link != NULL) {
            struct site *site = *link;
            if (site->hour == hour - 1) {
                link = &site->next;
                continue;
            }
            *link = site->next;
            free_site(ceilings, site);
        }
    }
}

void fp_ceilings_free(struct fp_ceilings *ceilings)
{
    if (ceilings == NULL)
        return;
    forget_sites(ceilings, INT64_MAX);
    pthread_mutex_destroy(&ceilings->lock);
    free(ceilings);
}

/* ---- tables ---- */

/* Returns the slot that holds the key, or the free slot where it belongs. The table is never
 * full. */
static uint64_t *find_slot(const struct table *table, uint64_t key)
{
    size_t mask = table->slot_count - 1;
    size_t at = (size_t)(key >> __builtin_clzll(mask));
    while (table->slots[at] != 0 && (table->slots[at] ^ key) > STAMP_BITS)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static bool has_room(const struct table *table)
{
    return table->names < table->slot_count / 4 * 3;
}

/* Moves the table's names to a table of slot_count slots: all of them, or, at the turn of an hour,
 * those used in the hour that ended. False, with nothing changed, when memory is out. */
static bool move_names(struct fp_ceilings *ceilings, struct table *table, size_t slot_count,
                       bool new_hour)
{
    struct table moved = *table;
    moved.slot_count = slot_count;
    moved.names = 0;
    moved.slots = calloc(slot_count, sizeof(*moved.slots));
    if (moved.slots == NULL)
        return false;
    for (size_t i = 0; i < table->slot_count; i++) {
        uint64_t slot = table->slots[i];
        if (slot == 0 || (new_hour && (slot & STAMP_BITS) != THIS_HOUR))
            continue;
        *find_slot(&moved, slot) = new_hour ? slot - THIS_HOUR + LAST_HOUR : slot;
        moved.names++;
    }
    ceilings->memory += slot_count * sizeof(*moved.slots);
    release_table(ceilings, table);
    *table = moved;
    return true;
}

static bool grow(const struct fp_ceilings_visit *visit, struct table *table)
{
    size_t slot_count = table->slot_count > 0 ? table->slot_count * 2 : FIRST_SLOTS;
    size_t len = slot_count * sizeof(*table->slots);
    return visit->ceilings->memory + len <= visit->limits->memory &&
           move_names(visit->ceilings, table, slot_count, false);
}

/* ---- hours ---- */

static size_t count_used(const struct table *table)
{
    size_t used = 0;
    for (size_t i = 0; i < table->slot_count; i++)
        used += (table->slots[i] & STAMP_BITS) == THIS_HOUR;
    return used;
}

/* Keeps the names used in the hour that ended; none when memory is out. */
static void begin_hour(struct fp_ceilings *ceilings, struct table *table)
{
    size_t used = count_used(table);
    size_t slot_count = FIRST_SLOTS; /* at most as many as now */
    while (used > slot_count / 4 * 3)
        slot_count *= 2;
    table->new_names = 0;
    table->refusal_logged = false;
    if (used == 0 || !move_names(ceilings, table, slot_count, true))
        release_table(ceilings, table);
}

/* An upload that arrived before the turn of the hour and gets here after it counts in the new hour.
 * If the clock was set back further, the hour starts over; otherwise the ceilings would stay spent
 * until then. */
static void turn_hour(struct fp_ceilings *ceilings, int64_t hour)
{
    if (hour == ceilings->hour || hour == ceilings->hour - 1)
        return;
    ceilings->hour = hour;
    forget_sites(ceilings, hour);
}

/* Finds the site, with its tables of this hour. NULL when memory is out. */
static struct site *find_site(const struct fp_ceilings_visit *visit)
{
    struct fp_ceilings *ceilings = visit->ceilings;
    struct site **link = &ceilings->sites[visit->site_id % SITE_LISTS];
    while (*link != NULL && (*link)->id != visit->site_id)
        link = &(*link)->next;
    struct site *site = *link;
    if (site == NULL) {
        site = calloc(1, sizeof(*site));
        if (site == NULL)
            return NULL;
        site->id = visit->site_id;
        site->hour = ceilings->hour;
        *link = site;
    }
    if (site->hour != ceilings->hour) {
        site->hour = ceilings->hour;
        for (size_t i = 0; i < FP_NAME_TABLES; i++)
            begin_hour(ceilings, &site->tables[i]);
    }
    return site;
}

/* ---- names ---- */

static const struct {
    const char *name;
    const char *setting;
    enum fp_profile_metric metric;
} kinds[FP_NAME_KINDS] = {
    [FP_NAME_FRAME] = {"frame", "ceilings.frames", FP_METRIC_NAMES_OVERFLOWED_FRAME},
    [FP_NAME_STACK] = {"stack", "ceilings.stacks", FP_METRIC_NAMES_OVERFLOWED_STACK},
    [FP_NAME_TIMING] = {"timing", "ceilings.timing_names", FP_METRIC_NAMES_OVERFLOWED_TIMING},
    [FP_NAME_ROUTE] = {"route", "ceilings.routes", FP_METRIC_NAMES_OVERFLOWED_ROUTE},
    [FP_NAME_RELEASE] = {"release", "ceilings.releases", FP_METRIC_NAMES_OVERFLOWED_RELEASE},
    [FP_NAME_SEGMENT] = {"segment", "ceilings.segments", FP_METRIC_NAMES_OVERFLOWED_SEGMENT},
    [FP_NAME_BROWSER_VERSION] = {"browser_version", "ceilings.browser_versions",
                                 FP_METRIC_NAMES_OVERFLOWED_BROWSER_VERSION},
    [FP_NAME_CUSTOM] = {"custom", "ceilings.custom", FP_METRIC_NAMES_OVERFLOWED_CUSTOM},
    [FP_NAME_CUSTOM_VALUE] = {"custom_value", "ceilings.custom_values",
                              FP_METRIC_NAMES_OVERFLOWED_CUSTOM_VALUE},
    [FP_NAME_ELEMENT] = {"element", "ceilings.elements", FP_METRIC_NAMES_OVERFLOWED_ELEMENT},
    [FP_NAME_VITAL] = {"vital", "ceilings.vitals", FP_METRIC_NAMES_OVERFLOWED_VITAL},
};

static uint32_t ceiling_of(const struct fp_ceiling_limits *limits, enum fp_name_kind kind)
{
    return kind < FP_NAME_KINDS ? limits->names[kind]
                                : limits->names[FP_NAME_SEGMENT] / COLLAPSED_SHARE;
}

static bool may_add(const struct table *table, uint32_t ceiling)
{
    return table->new_names < ceiling && table->names < (size_t)ceiling * CEILINGS_IN_USE_MAX;
}

static bool admit_unnamed(struct table *table, uint32_t ceiling)
{
    bool admitted = table->new_names < ceiling;
    table->new_names += admitted;
    return admitted;
}

static bool admit(const struct fp_ceilings_visit *visit, struct table *table, uint32_t ceiling,
                  uint64_t key)
{
    if (table->slot_count > 0) {
        uint64_t *slot = find_slot(table, key);
        if (*slot != 0) {
            *slot = key;
            return true;
        }
    }
    if (!may_add(table, ceiling) || (!has_room(table) && !grow(visit, table)))
        return false;
    *find_slot(table, key) = key;
    table->names++;
    table->new_names++;
    return true;
}

static void fetch(const struct table *table, uint64_t key)
{
    if (table->slot_count > 0)
        __builtin_prefetch(&table->slots[key >> __builtin_clzll(table->slot_count - 1)]);
}

/* As fp_ceilings_admit, under the lock. *spent: the setting that refused a name, if that must be
 * logged. */
static size_t admit_some(const struct fp_ceilings_visit *visit, enum fp_name_kind kind,
                         const uint64_t *ids, size_t count, bool *refused, const char **spent)
{
    turn_hour(visit->ceilings, visit->received_us / FP_US_PER_HOUR);
    struct site *site = find_site(visit);
    if (site == NULL) {
        memset(refused, true, count);
        return count;
    }
    struct table *table = &site->tables[kind];
    const uint32_t ceiling = ceiling_of(visit->limits, kind);
    const uint64_t multiplier = visit->ceilings->multiplier;
    size_t refusals = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            fetch(table, ids[i + AHEAD] * multiplier);
        uint64_t key = (ids[i] * multiplier & ~(uint64_t)STAMP_BITS) | THIS_HOUR;
        refused[i] = kind == FP_NAME_VITAL ? !admit_unnamed(table, ceiling)
                                           : !admit(visit, table, ceiling, key);
        refusals += refused[i];
    }
    if (refusals > 0 && kind < FP_NAME_KINDS && !table->refusal_logged) {
        table->refusal_logged = true;
        *spent = may_add(table, ceiling) ? "ceilings.memory" : kinds[kind].setting;
    }
    return refusals;
}

size_t fp_ceilings_admit(const struct fp_ceilings_visit *visit, enum fp_name_kind kind,
                         const uint64_t *ids, size_t count, bool *refused)
{
    struct fp_ceilings *ceilings = visit->ceilings;
    size_t refusals = 0;
    const char *spent = NULL;
    for (size_t at = 0; at < count; at += NAMES_AT_ONCE) {
        size_t some = count - at < NAMES_AT_ONCE ? count - at : NAMES_AT_ONCE;
        pthread_mutex_lock(&ceilings->lock);
        refusals += admit_some(visit, kind, ids + at, some, refused + at, &spent);
        pthread_mutex_unlock(&ceilings->lock);
    }
    if (refusals > 0 && kind < FP_NAME_KINDS)
        fp_metrics_add(ceilings->metrics, kinds[kind].metric, refusals);
    if (spent != NULL && kind == FP_NAME_VITAL)
        fp_log(FP_LOG_WARN,
               "ceiling reached, vitals are not replaced when sent again until the next hour",
               "site=%.*s kind=%s setting=%s", FP_STR_ARG(visit->site), kinds[kind].name, spent);
    else if (spent != NULL)
        fp_log(FP_LOG_WARN, "ceiling reached, new names become (overflow) until the next hour",
               "site=%.*s kind=%s setting=%s", FP_STR_ARG(visit->site), kinds[kind].name, spent);
    return refusals;
}
