-- SPDX-License-Identifier: Apache-2.0
-- Sums of parallel arrays by key. States are of type internal, which SQL can neither write nor pass on.
\echo use "create extension fleetprof_native" to load this file \quit

create function @extschema@.sums_of_frames(internal, bigint[], integer[], bigint[], bigint[], bigint[])
returns internal
language c immutable parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_add';

create function @extschema@.sums_of_stacks(internal, bigint[], bigint[], bigint[])
returns internal
language c immutable parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_add';

create function @extschema@.sums_combine(internal, internal)
returns internal
language c immutable parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_combine';

create function @extschema@.sums_serialize(internal)
returns bytea
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_serialize';

create function @extschema@.sums_deserialize(bytea, internal)
returns internal
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_deserialize';

create function @extschema@.sums_result(internal)
returns bigint[]
language c immutable parallel safe
as 'MODULE_PATHNAME', 'fleetprof_sums_result';

create aggregate @extschema@.sum_frames(
    frame_id bigint[], uploads integer[], samples bigint[], self_us bigint[], total_us bigint[]
) (
    sfunc = @extschema@.sums_of_frames,
    stype = internal,
    sspace = 1048576,
    finalfunc = @extschema@.sums_result,
    combinefunc = @extschema@.sums_combine,
    serialfunc = @extschema@.sums_serialize,
    deserialfunc = @extschema@.sums_deserialize,
    parallel = safe
);

create aggregate @extschema@.sum_stacks(stack_id bigint[], samples bigint[], self_us bigint[]) (
    sfunc = @extschema@.sums_of_stacks,
    stype = internal,
    sspace = 1048576,
    finalfunc = @extschema@.sums_result,
    combinefunc = @extschema@.sums_combine,
    serialfunc = @extschema@.sums_serialize,
    deserialfunc = @extschema@.sums_deserialize,
    parallel = safe
);

comment on aggregate @extschema@.sum_frames(bigint[], integer[], bigint[], bigint[], bigint[]) is
    'Adds parallel arrays up by their first one. The result has all keys, then for each other column the sums of all keys, in one array; {} without entries. Null: they need more than work_mem; the caller adds them up in SQL.';
comment on aggregate @extschema@.sum_stacks(bigint[], bigint[], bigint[]) is
    'As sum_frames.';

grant usage on schema @extschema@ to public;
