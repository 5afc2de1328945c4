/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store, shared: what the collectors of one database share (schema/functions/shared.sql).
 */
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/store/store_internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { HEX_LEN = 2 * FP_STORE_SECRET_LEN };

static void print_hex(const uint8_t secret[FP_STORE_SECRET_LEN], char text[HEX_LEN + 3])
{
    snprintf(text, 3, "\\x");
    for (size_t i = 0; i < FP_STORE_SECRET_LEN; i++)
        snprintf(text + 2 + 2 * i, 3, "%02x", secret[i]);
}

enum fp_store_result fp_store_share_secret(struct fp_store *store,
                                           uint8_t secret[FP_STORE_SECRET_LEN])
{
    char proposed[HEX_LEN + 3];
    const char *const values[] = {proposed};
    const struct fp_pg_query query = {
        .statement = "select fleetprof_data.share_secret($1::bytea)",
        .values = values,
        .value_count = FP_COUNT(values),
        .binary = true,
    };
    PGresult *rows;
    print_hex(secret, proposed);
    enum fp_store_result result = fp_store_transact(store, &query, &rows);
    if (result != FP_STORE_OK)
        return result;
    if (PQgetlength(rows, 0, 0) == FP_STORE_SECRET_LEN)
        memcpy(secret, PQgetvalue(rows, 0, 0), FP_STORE_SECRET_LEN);
    PQclear(rows);
    return FP_STORE_OK;
}

static uint64_t number_at(const PGresult *rows, int row, int column)
{
    return strtoull(PQgetvalue(rows, row, column), NULL, 10);
}

enum fp_store_result fp_store_share_kept(struct fp_store *store,
                                         const struct fp_store_kept_exchange *exchange)
{
    char spool[FP_UUID_TEXT_LEN + 1];
    char hour[32];
    const char *const values[] = {spool, hour, exchange->kept};
    const struct fp_pg_query query = {
        .statement = "select * from fleetprof_data.share_kept($1::uuid, to_timestamp($2::bigint), "
                     "$3::jsonb)",
        .values = values,
        .value_count = FP_COUNT(values),
    };
    PGresult *rows;
    fp_uuid_format(&exchange->spool_id, spool);
    snprintf(hour, sizeof(hour), "%" PRId64, exchange->hour_us / FP_US_PER_S);
    enum fp_store_result result = fp_store_transact(store, &query, &rows);
    for (int row = 0; result == FP_STORE_OK && row < PQntuples(rows); row++) {
        const struct fp_store_kept site = {fp_str_of(PQgetvalue(rows, row, 0)),
                                           number_at(rows, row, 1), number_at(rows, row, 2)};
        exchange->learn(exchange->context, &site);
    }
    PQclear(rows);
    return result;
}
