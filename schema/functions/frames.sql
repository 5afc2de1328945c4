-- SPDX-License-Identifier: Apache-2.0
-- Frames and stacks as texts.

create or replace function fleetprof_data.frame_label(function text, resource text, line integer, column_number integer)
returns text
language sql immutable parallel safe
return case
    when function = '(anonymous)' and num_nonnulls(resource, line) > 0
        then function || ' ' || coalesce(resource, '') || coalesce(':' || line, '') || coalesce(':' || column_number, '')
    else function
end;

comment on function fleetprof_data.frame_label is
    'Returns one text for a frame: its function''s name, followed by its place when it has no name.';

create or replace function fleetprof_data.stack_path(stack_id bigint)
returns text[]
language plpgsql stable strict parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    next_id bigint := stack_path.stack_id;
    next_frame_id bigint;
    frame_ids bigint[] := '{}';
begin
    while next_id is not null loop
        select parent_id, frame_id into next_id, next_frame_id from stack where stack_id = next_id;
        exit when not found;
        frame_ids := next_frame_id || frame_ids;
    end loop;
    return array(
        select frame_label(function, resource, line, column_number)
        from unnest(frame_ids) with ordinality as node (frame_id, place)
        join named_frame using (frame_id)
        order by place
    );
end
$$;

comment on function fleetprof_data.stack_path is
    'Returns the frames of a stack as labels, outermost first.';

-- PL/pgSQL, so that the planner treats the function as expensive and calls it only for rows that a limit keeps.
create or replace function fleetprof.is_agent(resource text)
returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return coalesce(
        resource like '%fleetprof%'
        -- Builds, versions and hashes: parts that have a digit or an upper-case letter, or are known or very short.
        and resource ~ (
            '^([^?#]*[/:])?fleetprof'
            '([.-]([a-z_]{0,3}|worker|vitals|debug|alpha|beta|[A-Za-z0-9_]*[A-Z0-9][A-Za-z0-9_]*))*'
            '[.][mc]?js([?#]|$)')
        -- Short parts belong to a hash, so there must be others.
        and resource ~ '^([^?#]*[/:])?fleetprof(([.-](min|worker|vitals|debug))*|[^/?#]*[A-Z0-9][^/?#]*)[.][mc]?js([?#]|$)',
        false);
end
$$;

comment on function fleetprof.is_agent is
    -- {{comment of is_agent}};

revoke execute on function fleetprof_data.frame_label, fleetprof_data.stack_path, fleetprof.is_agent from public;
grant execute on function fleetprof_data.frame_label, fleetprof_data.stack_path, fleetprof.is_agent to fleetprof_reader;
