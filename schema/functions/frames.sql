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
    'One text for a frame: its function''s name, followed by its place when it has no name.';

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
    'The frames of a stack as labels, outermost first.';

revoke execute on function fleetprof_data.frame_label, fleetprof_data.stack_path from public;
grant execute on function fleetprof_data.frame_label, fleetprof_data.stack_path to fleetprof_reader;
