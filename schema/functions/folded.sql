-- SPDX-License-Identifier: Apache-2.0
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
    -- The frames of the current stack. Keeping the text of each prefix would take memory quadratic in the depth.
    labels text[] := '{}';
    -- As bytes: an escape would need an encoding, and SQL_ASCII has none.
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
        left join unnest(tree.names) using (frame_id)
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
    -- {{filters of samples}},
    fold text default null
)
returns setof text
language plpgsql stable parallel safe rows 10000
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
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
    -- {{comment of folded}};

revoke execute on function fleetprof_data.folded_stacks, fleetprof.folded from public;
grant execute on function fleetprof_data.folded_stacks, fleetprof.folded to fleetprof_reader;
