-- SPDX-License-Identifier: Apache-2.0
-- Records that were refused although their uploads were accepted.

create or replace function fleetprof.refusals(
    -- {{filters}}
)
returns table (
    format      text,
    reason      text,
    records     bigint,
    uploads     bigint,
    latest      timestamptz,
    first_place text
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    -- Citus takes variables as parameters of a query that it distributes, but not fields of them.
    segments constant bigint[] := selected.segment_ids;
    after constant timestamptz := selected.after;
    before constant timestamptz := selected.before;
begin
    return query
    select
        format,
        reason,
        sum(records)::bigint,
        sum(uploads)::bigint,
        max(latest),
        (array_agg(first_place order by latest desc, bucket desc, segment_id))[1]
    from refusal
    where segment_id = any(segments) and bucket > after and bucket < before
    group by format, reason
    order by 3 desc, format collate "C", reason collate "C";
end
$$;

comment on function fleetprof.refusals is
    -- {{comment of refusals}};

revoke execute on function fleetprof.refusals from public;
grant execute on function fleetprof.refusals to fleetprof_reader;
