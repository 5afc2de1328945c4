-- SPDX-License-Identifier: Apache-2.0
-- Pages that were shown.

create or replace function fleetprof.page_transitions(session_id bigint)
returns table (
    at_ms          double precision,
    url            text,
    is_refresh     boolean,
    dom_content_ms double precision,
    load_ms        double precision
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with every as materialized (
        select event, type, start_us, resource, detail
        from speed_tracer_events(page_transitions.session_id, '{TAB_CHANGED, MARK_DOM_CONTENT, MARK_LOAD_EVENT}')
        where type_number >= 0
    ),
    page as (
        select row_number() over (order by start_us, event) as page, start_us, resource, detail
        from every
        where type = 'TAB_CHANGED'
    ),
    -- A mark belongs to the last page shown before it.
    mark as (
        select
            width_bucket(start_us, array(select start_us from page order by page)) as page,
            min(start_us) filter (where type = 'MARK_DOM_CONTENT') as dom_content_us,
            min(start_us) filter (where type = 'MARK_LOAD_EVENT') as load_us
        from every
        where type <> 'TAB_CHANGED'
        group by 1
    )
    select
        start_us / 1000::double precision,
        resource,
        -- The stored URL does not show this, because its query was dropped.
        coalesce(detail -> 'isRefresh' = 'true', false),
        (dom_content_us - start_us) / 1000::double precision,
        (load_us - start_us) / 1000::double precision
    from page
    left join mark using (page)
    order by page;
end
$$;

comment on function fleetprof.page_transitions is
    -- {{comment of page_transitions}};

revoke execute on function fleetprof.page_transitions from public;
grant execute on function fleetprof.page_transitions to fleetprof_reader;
