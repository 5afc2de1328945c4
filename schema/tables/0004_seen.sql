-- Seen: what of the watched time the browser did not look at, and the page loads of windows.
--
-- Rows that earlier versions wrote have null in these columns. Readers and the sealer take that for what an upload
-- meant then: nothing unseen, and each upload a page load.

alter type fleetprof_data.total_columns add attribute unseen_us bigint[];
alter type fleetprof_data.measure_columns add attribute loads integer[];
alter type fleetprof_data.measure_columns add attribute window_us bigint[];
alter table fleetprof_data.upload add column unseen_us bigint not null default 0;

do $$
declare
    added record;
    place text;
begin
    for added in
        select *
        from (
            values
                ('total', 'unseen_us', 'bigint[]', 'Time in which the browser did not look, microseconds; in the entry of marker -1, else 0. Not part of profiled time. Null: an earlier version wrote the row; 0.'),
                ('measure', 'loads', 'integer[]', 'Page loads with profiled time in the windows; one of several uploads counts where it is first seen. Null: an earlier version wrote the row; uploads.'),
                ('measure', 'window_us', 'bigint[]', 'Length of the windows, microseconds: profiled time and unseen time. Of several parts of a page load each adds what the parts before it lack. Null: an earlier version wrote the row; profiled_us.')
        ) as new_column (kind, name, type, meaning)
    loop
        execute format('comment on column fleetprof_data.%s_columns.%I is %L', added.kind, added.name, added.meaning);
        foreach place in array array['recent', 'hours', 'days'] loop
            execute format('alter table fleetprof_data.%s_%s add column %I %s', added.kind, place, added.name, added.type);
            execute format('comment on column fleetprof_data.%s_%s.%I is %L', added.kind, place, added.name, added.meaning);
            execute format('alter table fleetprof_data.%s_%s alter %I set statistics 0', added.kind, place, added.name);
            begin
                execute format('alter table fleetprof_data.%s_%s alter %I set compression lz4', added.kind, place, added.name);
            exception
                when feature_not_supported then null;
            end;
        end loop;
    end loop;
end
$$;

comment on column fleetprof_data.upload.unseen_us is 'Time in which the browser did not look, microseconds; not part of profiled time.';
