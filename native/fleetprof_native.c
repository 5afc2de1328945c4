/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension fleetprof_native: aggregates over packed rows.
 *
 * States have the type internal. SQL has no values of it, and calls none of these functions but
 * through an aggregate. The core does the sums; here arrays are checked, and errors raised.
 */
#include "core.h"

#include <postgres.h>

#include <catalog/pg_type.h>
#include <fmgr.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/memutils.h>

/* Servers before version 16 do not export what they declare. */
#pragma GCC visibility push(default)
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(fleetprof_sums_add);
PG_FUNCTION_INFO_V1(fleetprof_sums_combine);
PG_FUNCTION_INFO_V1(fleetprof_sums_serialize);
PG_FUNCTION_INFO_V1(fleetprof_sums_deserialize);
PG_FUNCTION_INFO_V1(fleetprof_sums_result);
#pragma GCC visibility pop

/* The state of the aggregates. Its memory belongs to the aggregate's context. */
struct sums_state {
    struct fp_sums sums;
    bool is_full; /* work_mem does not suffice: the sums are gone, and SQL adds up */
};

static void *allocate(void *context, size_t size)
{
    return MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void release(void *context, void *block)
{
    (void)context;
    pfree(block);
}

/* The result, and what workers send, is a value, of which a server takes 1 GB. */
static struct fp_sums_memory memory_of(MemoryContext context)
{
    return (struct fp_sums_memory){
        .allocate = allocate,
        .release = release,
        .context = context,
        .most = Min((size_t)work_mem * 1024, MaxAllocSize - 1024),
    };
}

static struct sums_state *make_state(MemoryContext context, unsigned columns)
{
    struct sums_state *state = MemoryContextAllocZero(context, sizeof(*state));
    struct fp_sums_memory memory = memory_of(context);
    fp_sums_init(&state->sums, &memory, columns);
    return state;
}

static MemoryContext aggregate_context(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("fleetprof_native: called outside an aggregate"));
    return context;
}

static void fill_up(struct sums_state *state)
{
    fp_sums_release(&state->sums);
    state->is_full = true;
}

/* Raises an error, or notes that the sums are too many. */
static void take_result(struct sums_state *state, enum fp_sums_result result)
{
    switch (result) {
    case FP_SUMS_OK:
        break;
    case FP_SUMS_OVERFLOW:
        ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"));
        break;
    case FP_SUMS_FULL:
        fill_up(state);
        break;
    case FP_SUMS_INVALID:
        ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
                errmsg("fleetprof_native: a worker's sums are damaged"));
        break;
    }
}

/* Returns the values of a packed column, and their number. */
static const void *open_array(FunctionCallInfo fcinfo, int argument, Oid *type, size_t *count)
{
    ArrayType *array;
    if (PG_ARGISNULL(argument))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                errmsg("fleetprof_native: a packed column is null"));
    array = PG_GETARG_ARRAYTYPE_P(argument);
    if (ARR_NDIM(array) > 1)
        ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                errmsg("fleetprof_native: a packed column has %d dimensions", ARR_NDIM(array)));
    if (array_contains_nulls(array))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                errmsg("fleetprof_native: a packed column contains null"));
    *type = ARR_ELEMTYPE(array);
    if (*type != INT4OID && *type != INT8OID)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("fleetprof_native: a packed column is not of integers"));
    *count = (size_t)ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    return ARR_DATA_PTR(array);
}

/* Opens the columns of a row; returns its number of entries. */
static size_t open_row(FunctionCallInfo fcinfo, const int64_t **keys,
                       struct fp_sums_column *columns)
{
    Oid type;
    size_t count;
    *keys = open_array(fcinfo, 1, &type, &count);
    if (type != INT8OID)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("fleetprof_native: keys are not of type bigint"));
    for (int i = 0; i < PG_NARGS() - 2; i++) {
        size_t other;
        const void *values = open_array(fcinfo, i + 2, &type, &other);
        if (other != count)
            ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                    errmsg("fleetprof_native: packed columns differ in length: %zu and %zu", count,
                           other));
        columns[i].counts = type == INT4OID ? values : NULL;
        columns[i].numbers = type == INT8OID ? values : NULL;
    }
    return count;
}

Datum fleetprof_sums_add(PG_FUNCTION_ARGS)
{
    MemoryContext context = aggregate_context(fcinfo);
    const int column_count = PG_NARGS() - 2;
    struct fp_sums_column columns[FP_SUMS_COLUMNS_MAX];
    const int64_t *keys;
    struct sums_state *state;
    size_t count;

    if (column_count < 1 || column_count > FP_SUMS_COLUMNS_MAX)
        ereport(ERROR, errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                errmsg("fleetprof_native: declared with %d columns", column_count));
    if (PG_ARGISNULL(0))
        state = make_state(context, (unsigned)column_count);
    else
        state = (struct sums_state *)PG_GETARG_POINTER(0);
    count = state->is_full ? 0 : open_row(fcinfo, &keys, columns);
    for (size_t done = 0; done < count && !state->is_full;) {
        const size_t part = Min(count - done, FP_SUMS_BATCH_MAX);
        CHECK_FOR_INTERRUPTS();
        take_result(state, fp_sums_add(&state->sums, keys + done, columns, part));
        for (int i = 0; i < column_count; i++) {
            if (columns[i].counts != NULL)
                columns[i].counts += part;
            else
                columns[i].numbers += part;
        }
        done += part;
    }
    PG_RETURN_POINTER(state);
}

Datum fleetprof_sums_combine(PG_FUNCTION_ARGS)
{
    MemoryContext context = aggregate_context(fcinfo);
    struct sums_state *into = PG_ARGISNULL(0) ? NULL : (struct sums_state *)PG_GETARG_POINTER(0);
    const struct sums_state *from =
        PG_ARGISNULL(1) ? NULL : (struct sums_state *)PG_GETARG_POINTER(1);
    uint32_t at = 0;

    if (from == NULL && into == NULL)
        PG_RETURN_NULL();
    if (into == NULL)
        into = make_state(context, from->sums.stride - 1);
    if (from != NULL && from->is_full && !into->is_full)
        fill_up(into);
    while (from != NULL && !into->is_full && at < from->sums.count) {
        CHECK_FOR_INTERRUPTS();
        take_result(into, fp_sums_merge(&into->sums, &from->sums, &at));
    }
    PG_RETURN_POINTER(into);
}

/* One byte says whether there are sums; then they follow. */
Datum fleetprof_sums_serialize(PG_FUNCTION_ARGS)
{
    const struct sums_state *state;
    bytea *bytes;
    size_t size;

    aggregate_context(fcinfo);
    state = (struct sums_state *)PG_GETARG_POINTER(0);
    size = VARHDRSZ + 1 + fp_sums_size(&state->sums);
    bytes = palloc(size);
    SET_VARSIZE(bytes, size);
    *VARDATA(bytes) = state->is_full;
    fp_sums_write(&state->sums, VARDATA(bytes) + 1);
    PG_RETURN_BYTEA_P(bytes);
}

Datum fleetprof_sums_deserialize(PG_FUNCTION_ARGS)
{
    struct fp_sums_memory memory = memory_of(CurrentMemoryContext);
    const bytea *bytes;
    struct sums_state *state;

    aggregate_context(fcinfo);
    bytes = PG_GETARG_BYTEA_PP(0);
    state = palloc0(sizeof(*state));
    if (VARSIZE_ANY_EXHDR(bytes) < 1)
        take_result(state, FP_SUMS_INVALID);
    state->is_full = *VARDATA_ANY(bytes) != 0;
    take_result(state, fp_sums_read(&state->sums, &memory, VARDATA_ANY(bytes) + 1,
                                    VARSIZE_ANY_EXHDR(bytes) - 1));
    PG_RETURN_POINTER(state);
}

/* Returns all keys, then all sums of each column, in one array: SQL takes slices of it. */
Datum fleetprof_sums_result(PG_FUNCTION_ARGS)
{
    const struct sums_state *state;
    const struct fp_sums *sums;
    ArrayType *array;
    size_t size;

    aggregate_context(fcinfo);
    state = PG_ARGISNULL(0) ? NULL : (struct sums_state *)PG_GETARG_POINTER(0);
    if (state == NULL)
        PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));
    if (state->is_full)
        PG_RETURN_NULL();
    sums = &state->sums;
    if (sums->count == 0)
        PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));
    size = ARR_OVERHEAD_NONULLS(1) + (size_t)sums->count * sums->stride * sizeof(int64_t);
    array = palloc0(size);
    SET_VARSIZE(array, size);
    array->ndim = 1;
    array->elemtype = INT8OID;
    ARR_DIMS(array)[0] = (int)(sums->count * sums->stride);
    ARR_LBOUND(array)[0] = 1;
    for (unsigned i = 0; i < sums->stride; i++) {
        CHECK_FOR_INTERRUPTS();
        fp_sums_column(sums, i, (int64_t *)ARR_DATA_PTR(array) + (size_t)i * sums->count);
    }
    PG_RETURN_ARRAYTYPE_P(array);
}
