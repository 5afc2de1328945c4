-- Folded stacks, as flame graph tools read them.

create or replace function fleetprof_data.folded_stacks(selected fleetprof_data.selection, markers smallint[], fold text)
returns table (path text, self_us bigint)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    node record;
    tree record := call_tree(folded_stacks.selected, folded_stacks.markers, 0, folded_stacks.fold);
    -- The frames of the current stack. Texts of all its prefixes would take memory that grows with depth squared.
    labels text[] := '{}';
    -- In bytes: an escape would need an encoding, which SQL_ASCII has not.
    no_break_space text := convert_from('\xc2a0', getdatabaseencoding());
begin
    for node in
        select
            level,
            self_us,
            -- flamegraph.pl takes a number after a space for a weight.
            regexp_replace(
                regexp_replace(
                    translate(
                        coalesce(frame_label(function, resource, line, column_number), package_label(frame_id, tree.packages)),
                        ';', ':'),
                    '[\u0001-\u001f\u007f-\u009f]', ' ', 'g'),
                ' ([0-9]+(\.[0-9]*)?)$', no_break_space || '\1') as label
        from (
            select
                unnest(tree.ordinals) as ordinal, unnest(tree.levels) as level, unnest(tree.frame_ids) as frame_id,
                unnest(tree.self_sums) as self_us
        ) as node
        left join named_frame using (frame_id)
        where level > 0
        order by ordinal
    loop
        labels[node.level] := node.label;
        if node.self_us > 0 then
            path := array_to_string(labels[:node.level], ';');
            self_us := node.self_us;
            return next;
        end if;
    end loop;
end
$$;

comment on function fleetprof_data.folded_stacks is
    'Returns a selection''s stacks as text, outermost frame first, with their self time in microseconds; different stacks may read the same.';

create or replace function fleetprof.folded(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    marker      text default null,
    fold        text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
)
returns setof text
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        folded.site, folded.since, folded.until, folded.route, folded.release, folded.environment,
        folded.variant, folded.browser, folded.os, folded.device, folded.thread,
        exclude => array[
            folded.exclude_route, folded.exclude_release, folded.exclude_environment, folded.exclude_variant,
            folded.exclude_browser, folded.exclude_os, folded.exclude_device, folded.exclude_thread]);
    markers smallint[] := select_markers(folded.marker, folded.exclude_marker);
begin
    return query
    select path || ' ' || sum(self_us)
    from folded_stacks(selected, markers, folded.fold)
    group by path
    order by path collate "C";
end
$$;

comment on function fleetprof.folded is
    'Returns stacks as lines "root;child;leaf weight", weight in microseconds of self time, for flamegraph.pl, speedscope and the like. In names ; becomes :, a control character a space, and a space before a number at the end a no-break one; anonymous functions are followed by resource:line:column. fold: as in flamegraph.';

revoke execute on function fleetprof_data.folded_stacks, fleetprof.folded from public;
grant execute on function fleetprof_data.folded_stacks, fleetprof.folded to fleetprof_reader;
