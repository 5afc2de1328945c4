/*
 * Nonces: a table of small sets. A nonce's hash selects its set, and each set evicts on its own.
 * Nonces are random, so the sets fill evenly.
 *
 * A nonce is evicted only for one that expires later. So all nonces evicted from a full set expire
 * no later than the earliest that is still in it.
 */
#include "collector/ingest/nonces.h"

#include "collector/base/hash.h"

#include <pthread.h>
#include <stdlib.h>

enum { SET_PLACES = 16 };

struct place {
    char nonce[FP_NONCE_LEN];
    int64_t expires_s; /* 0: free */
    uint32_t uses;
};

struct set {
    struct place places[SET_PLACES];
};

struct fp_nonce_table {
    pthread_mutex_t lock; /* protects the sets */
    struct set *sets;
    size_t set_count;
};

struct fp_nonce_table *fp_nonce_table_create(size_t places)
{
    struct fp_nonce_table *table = calloc(1, sizeof(*table));
    if (table == NULL)
        return NULL;
    /* The kernel zeroes the pages as sets are used: an unused table takes no memory. */
    table->set_count = places / SET_PLACES + 1;
    table->sets = calloc(table->set_count, sizeof(*table->sets));
    if (table->sets == NULL || pthread_mutex_init(&table->lock, NULL) != 0) {
        free(table->sets);
        free(table);
        return NULL;
    }
    return table;
}

void fp_nonce_table_free(struct fp_nonce_table *table)
{
    if (table == NULL)
        return;
    pthread_mutex_destroy(&table->lock);
    free(table->sets);
    free(table);
}

static struct place *find(struct set *set, const char nonce[FP_NONCE_LEN])
{
    for (size_t i = 0; i < SET_PLACES; i++) {
        if (memcmp(set->places[i].nonce, nonce, FP_NONCE_LEN) == 0)
            return &set->places[i];
    }
    return NULL;
}

/* Returns a place for a new nonce: a free one, or the one that expires first. NULL if the new nonce
 * expires no later than that: it may have been evicted before. */
static struct place *make_room(struct set *set, int64_t expires_s)
{
    struct place *first = &set->places[0];
    for (size_t i = 1; i < SET_PLACES; i++) {
        if (set->places[i].expires_s < first->expires_s)
            first = &set->places[i];
    }
    return expires_s > first->expires_s ? first : NULL;
}

static enum fp_nonce_verdict use(struct set *set, const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                 uint32_t uses_max)
{
    struct place *place = find(set, nonce);
    if (place == NULL) {
        place = make_room(set, expires_s);
        if (place == NULL)
            return FP_NONCE_FORGOTTEN;
        *place = (struct place){.expires_s = expires_s};
        memcpy(place->nonce, nonce, FP_NONCE_LEN);
    }
    if (place->uses >= uses_max)
        return FP_NONCE_USED_UP;
    place->uses++;
    return FP_NONCE_FINE;
}

static struct set *set_of(struct fp_nonce_table *table, const char nonce[FP_NONCE_LEN])
{
    return &table->sets[fp_hash64(nonce, FP_NONCE_LEN) % table->set_count];
}

enum fp_nonce_verdict fp_nonce_table_use(struct fp_nonce_table *table,
                                         const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                         uint32_t uses_max)
{
    struct set *set = set_of(table, nonce);
    pthread_mutex_lock(&table->lock);
    enum fp_nonce_verdict verdict = use(set, nonce, expires_s, uses_max);
    pthread_mutex_unlock(&table->lock);
    return verdict;
}

enum fp_nonce_verdict fp_nonce_table_peek(struct fp_nonce_table *table,
                                          const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                          uint32_t uses_max, uint32_t uses_before)
{
    struct set *set = set_of(table, nonce);
    pthread_mutex_lock(&table->lock);
    const struct place *place = find(set, nonce);
    const bool is_known = place != NULL || make_room(set, expires_s) != NULL;
    const uint32_t uses = place != NULL ? place->uses : 0;
    pthread_mutex_unlock(&table->lock);
    if (!is_known)
        return FP_NONCE_FORGOTTEN;
    return uses + uses_before >= uses_max ? FP_NONCE_USED_UP : FP_NONCE_FINE;
}
