-- Sessions: what is kept of single uploads, so that one can be read back, event by event or as it came.
--
-- The numbers of a session are in the facts like everybody's; what lies here is for looking at one. Its three
-- tables hang together by session_id, and are kept as long as retention.sessions says.

create table fleetprof_data.session (
    segment_id    bigint not null,
    bucket        timestamptz not null,
    session_id    bigint not null,
    upload_id     uuid not null,
    load_id       uuid,
    part          integer not null,
    received      timestamptz not null,
    started       timestamptz,
    format        text not null,
    version       text not null,
    source_id     bigint,
    window_id     bigint,
    page_url      text not null,
    is_raw        boolean not null,
    content_bytes integer not null,
    content       bytea not null,
    primary key (segment_id, bucket, session_id)
) partition by range (bucket);
alter table fleetprof_data.session alter column content set storage external; -- it is zstd already
create index session_id on fleetprof_data.session (session_id);

create table fleetprof_data.timeline (
    segment_id  bigint not null,
    bucket      timestamptz not null,
    session_id  bigint not null,
    timeline    bigint not null,
    timeline_id bigint not null,
    frame_id    bigint,
    mode        text not null,
    events      integer not null,
    primary key (segment_id, bucket, session_id, timeline)
) partition by range (bucket);

create table fleetprof_data.event (
    segment_id  bigint not null,
    bucket      timestamptz not null,
    session_id  bigint not null,
    event       bigint not null,
    timeline    bigint not null,
    parent      bigint,
    event_id    bigint,
    type        text not null,
    type_number integer not null,
    start_us    bigint not null,
    duration_us bigint,
    self_us     bigint not null,
    overhead_us bigint not null,
    total_us          bigint not null,
    total_overhead_us bigint not null,
    hits        bigint not null,
    child_count bigint not null,
    resource    text,
    line        integer,
    detail      jsonb,
    primary key (segment_id, bucket, session_id, event)
) partition by range (bucket);

-- Retention --------------------------------------------------------------------------------------------

drop function fleetprof_data.drop_partition(date, date);

create function fleetprof_data.drop_partition(facts_from date, uploads_from date, sessions_from date)
returns name
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- Whoever comes after the lock that dropping needs waits as long as it does.
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
    child name;
begin
    select c.relname
    into child
    from pg_inherits i
    join pg_class p on p.oid = i.inhparent
    join pg_class c on c.oid = i.inhrelid
    where p.relnamespace = 'fleetprof_data'::regnamespace
        and p.relkind = 'p'
        and c.relkind = 'r'
        and c.relname ~ '_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') < case
            when p.relname = 'upload' then drop_partition.uploads_from
            when p.relname in ('session', 'timeline', 'event') then drop_partition.sessions_from
            else drop_partition.facts_from
        end
    order by c.relname
    limit 1;
    if child is not null then
        execute format('drop table fleetprof_data.%I', child);
    end if;
    return child;
end
$$;

comment on function fleetprof_data.drop_partition(date, date, date) is
    'Drops one partition of a UTC day before facts_from (of upload: uploads_from; of session, timeline and event: sessions_from) and returns its name, null when there is none. One a call: each takes a lock that readers and writers of its table wait for.';

-- Views ------------------------------------------------------------------------------------------------

create view fleetprof.sessions with (security_invoker = true) as
select
    session_id,
    site,
    route,
    release,
    environment,
    variant,
    browser,
    os,
    device,
    thread,
    format,
    version,
    page_url,
    received,
    started,
    upload_id,
    load_id,
    part,
    source_id,
    window_id,
    (
        select count(*)
        from fleetprof_data.timeline as t
        where t.segment_id = s.segment_id and t.bucket = s.bucket and t.session_id = s.session_id
    ) as timelines,
    (
        select coalesce(sum(events), 0)
        from fleetprof_data.timeline as t
        where t.segment_id = s.segment_id and t.bucket = s.bucket and t.session_id = s.session_id
    ) as events,
    is_raw,
    content_bytes,
    length(content) as stored_bytes
from fleetprof_data.session as s
left join fleetprof_data.segment using (segment_id);

comment on view fleetprof.sessions is
    'Uploads that are kept as they were: all Speed Tracer dumps and Opera Scope sessions, and the share of self-profiling traces that sample_keep says.';
comment on column fleetprof.sessions.session_id is 'What get_events and release_session take.';
comment on column fleetprof.sessions.version is 'Version of the format, as the upload says; empty: it did not.';
comment on column fleetprof.sessions.page_url is 'The page, scrubbed; empty: unknown.';
comment on column fleetprof.sessions.received is 'When the collector had received it.';
comment on column fleetprof.sessions.started is 'When it began, as the upload says; null: it did not.';
comment on column fleetprof.sessions.load_id is 'What parts of one long session, or uploads of one page load, have in common; null: nothing.';
comment on column fleetprof.sessions.part is 'Which of these parts, from 0.';
comment on column fleetprof.sessions.source_id is 'Session id in the profiled browser; null: none.';
comment on column fleetprof.sessions.window_id is 'Window in the profiled browser; null: none.';
comment on column fleetprof.sessions.timelines is 'Rows in timelines.';
comment on column fleetprof.sessions.events is 'Events in all its timelines.';
comment on column fleetprof.sessions.is_raw is 'Whether the content is what was sent, byte for byte (privacy.keep_raw), not scrubbed.';
comment on column fleetprof.sessions.content_bytes is 'Size of the content, bytes.';
comment on column fleetprof.sessions.stored_bytes is 'Size of the content as stored (zstd), bytes.';

create view fleetprof.timelines with (security_invoker = true) as
select
    session_id,
    timeline,
    timeline_id,
    frame_id,
    mode,
    events,
    span.start_us / 1000::double precision as start_ms,
    span.end_us / 1000::double precision as end_ms,
    span.self_us / 1000::double precision as self_ms
from fleetprof_data.timeline as t
cross join lateral (
    select
        min(start_us) filter (where mode = 'all' or duration_us is not null) as start_us,
        max(start_us + coalesce(duration_us, 0)) filter (where mode = 'all' or duration_us is not null) as end_us,
        sum(self_us) filter (where (type, type_number) <> ('PROCESS', 2)) as self_us
    from fleetprof_data.event as e
    where e.segment_id = t.segment_id
        and e.bucket = t.bucket
        and e.session_id = t.session_id
        and e.timeline = t.timeline
) as span;

comment on view fleetprof.timelines is
    'Timelines of kept sessions: one a frame of the page (Opera Scope), or the whole dump (Speed Tracer). Several rows of one timeline_id are lists made with different modes or filters.';
comment on column fleetprof.timelines.timeline is 'Number in its session, from 1.';
comment on column fleetprof.timelines.timeline_id is 'As the upload says; what get_events takes.';
comment on column fleetprof.timelines.frame_id is 'Frame of the page; null: not said.';
comment on column fleetprof.timelines.mode is 'What was done to its events before they came: all (nothing), reduce_unique_types, reduce_unique_events, reduce_all. Only unreduced ones are in any sum.';
comment on column fleetprof.timelines.events is 'Events.';
comment on column fleetprof.timelines.start_ms is 'First start, milliseconds since the session began; null: not said.';
comment on column fleetprof.timelines.end_ms is 'Last end, milliseconds since the session began; null: not said.';
comment on column fleetprof.timelines.self_ms is 'Sum of own times, milliseconds.';

-- Events -----------------------------------------------------------------------------------------------

create function fleetprof.event_breakdown(
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
    marker      text default null
)
returns table (
    event_type text,
    count      bigint,
    self_ms    double precision,
    total_ms   double precision
)
language plpgsql stable parallel safe rows 30
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        event_breakdown.site, event_breakdown.since, event_breakdown.until, event_breakdown.route,
        event_breakdown.release, event_breakdown.environment, event_breakdown.variant, event_breakdown.browser,
        event_breakdown.os, event_breakdown.device, event_breakdown.thread);
    markers marker[] := select_markers(event_breakdown.marker);
begin
    return query
    with recursive every as materialized (
        select stack_id, parent_id, function as type, sums.self_us, sums.total_us, sums.samples
        from stack_sums(selected, markers) as sums
        join frame using (frame_id)
        where kind = 'event'
    ),
    inside as (
        select parent_id as stack_id, sum(samples) as samples
        from every
        group by parent_id
    ),
    -- Events stand on events only; which types are around is carried down.
    tree as (
        select stack_id, type, self_us, total_us, samples, true as is_outermost, array[type] as types
        from every
        where parent_id is null
        union all
        select
            child.stack_id, child.type, child.self_us, child.total_us, child.samples,
            not child.type = any(types),
            case when child.type = any(types) then types else types || child.type end
        from tree
        join every as child on child.parent_id = tree.stack_id
    )
    select
        type,
        sum(tree.samples - coalesce(inside.samples, 0))::bigint,
        (sum(self_us) / 1000)::double precision,
        (coalesce(sum(total_us) filter (where is_outermost), 0) / 1000)::double precision
    from tree
    left join inside using (stack_id)
    group by type
    order by 3 desc, 2 desc, type collate "C";
end
$$;

comment on function fleetprof.event_breakdown is
    'Events of Speed Tracer and Opera Scope by type, greatest own time first: how many there were, self_ms (own time, without the events inside), total_ms (with them, once where a type is inside itself). Milliseconds.';

create function fleetprof_data.kept_timeline(session_id bigint, timeline_id bigint, mode text)
returns fleetprof_data.timeline
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    modes text[] := array['all', 'reduce_unique_types', 'reduce_unique_events', 'reduce_all'];
    list timeline;
    listed text;
begin
    if kept_timeline.mode is null or kept_timeline.mode <> all(modes) then
        raise invalid_parameter_value using
            message = format('no mode is named %s', coalesce(quote_literal(kept_timeline.mode), 'null')),
            hint = format('Modes are %s.', array_to_string(modes, ', '));
    end if;
    -- Events that nobody reduced can be reduced here, and this row stands for all lists of them that the timeline
    -- has; else a list that came reduced as asked will do.
    select t.*
    into list
    from session as s
    join timeline as t using (segment_id, bucket, session_id)
    where s.session_id = kept_timeline.session_id
        and t.timeline_id = kept_timeline.timeline_id
        and t.mode in ('all', kept_timeline.mode)
    order by t.mode = 'all' desc, events desc, timeline
    limit 1;
    if found then
        return list;
    end if;
    select string_agg(format('%s (%s)', t.timeline_id, t.mode), ', ' order by t.timeline)
    into listed
    from session as s
    join timeline as t using (segment_id, bucket, session_id)
    where s.session_id = kept_timeline.session_id;
    raise no_data_found using
        message = format('session %s has no timeline %s that can give mode %s',
            kept_timeline.session_id, kept_timeline.timeline_id, kept_timeline.mode),
        hint = case
            when listed is not null then format('It has %s.', listed)
            when exists (select from session as s where s.session_id = kept_timeline.session_id)
                then 'It has no events; fleetprof session export gives it back as it came.'
            else 'There is no such session; the view fleetprof.sessions lists those that are kept.'
        end;
end
$$;

comment on function fleetprof_data.kept_timeline is
    'The list of a kept session that can answer for a timeline in a mode (of several unreduced ones the longest, for all of them); an error with a hint when there is none.';

create function fleetprof_data.select_events(
    list      fleetprof_data.timeline,
    event_id  bigint,
    from_ms   double precision,
    to_ms     double precision,
    max_depth integer,
    types     text[]
)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    root bigint;
    lists bigint[] := array(
        select t.timeline
        from timeline as t
        where t.segment_id = (select_events.list).segment_id
            and t.bucket = (select_events.list).bucket
            and t.session_id = (select_events.list).session_id
            and t.timeline_id = (select_events.list).timeline_id
            and t.mode = (select_events.list).mode
            and (t.mode = 'all' or t.timeline = (select_events.list).timeline));
begin
    if (select_events.list).mode <> 'all'
        and num_nonnulls(select_events.event_id, select_events.from_ms, select_events.to_ms, select_events.max_depth) > 0
    then
        raise invalid_parameter_value using
            message = format('timeline %s came reduced (%s)', (select_events.list).timeline_id, (select_events.list).mode),
            hint = 'Of what was summed before it came, nothing but types can be selected.';
    end if;
    if select_events.max_depth < 1 then
        raise invalid_parameter_value using
            message = format('max_depth is %s', select_events.max_depth),
            hint = 'max_depth is how many levels below the root to return, 1 or more; null returns all.';
    end if;
    if select_events.event_id is not null then
        select event
        into root
        from event
        where segment_id = (select_events.list).segment_id
            and bucket = (select_events.list).bucket
            and session_id = (select_events.list).session_id
            and timeline = any(lists)
            and event_id = select_events.event_id;
        if not found then
            raise no_data_found using
                message = format('timeline %s has no event %s',
                    (select_events.list).timeline_id, select_events.event_id);
        end if;
    end if;
    return query
    with recursive every as materialized (
        select e.*
        from event as e
        where segment_id = (select_events.list).segment_id
            and bucket = (select_events.list).bucket
            and session_id = (select_events.list).session_id
            and timeline = any(lists)
    ),
    walk as (
        select event, 1 as depth
        from every
        where parent is not distinct from root
        union all
        select child.event, depth + 1
        from walk
        join every as child on child.parent = walk.event
        where depth < coalesce(select_events.max_depth, 2147483647)
    )
    select every.*
    from every
    where event in (select event from walk)
        and (select_events.types is null or cardinality(select_events.types) = 0 or type = any(select_events.types))
        and (select_events.from_ms is null or start_us + coalesce(duration_us, 0) >= select_events.from_ms * 1000)
        and (select_events.to_ms is null or start_us <= select_events.to_ms * 1000);
end
$$;

comment on function fleetprof_data.select_events is
    'The events of a list below event_id (null: all), at most max_depth levels, whose interval overlaps [from_ms, to_ms], of these types (null or none: all). An unreduced list stands for all of its timeline.';

create function fleetprof_data.own_detail(detail jsonb)
returns jsonb
language sql immutable parallel safe
return nullif(
    own_detail.detail
        - array['aggregatedTime', 'aggregatedOverhead', 'sequence', 'usedHeapSize', 'totalHeapSize', 'stackTrace'],
    '{}');

comment on function fleetprof_data.own_detail is
    'What an event''s detail says of the event itself, without what tells one of its kind from the next: sums, numbers of records, heap sizes, stacks. Null: nothing.';

create function fleetprof.get_events(
    session_id  bigint,
    timeline_id bigint,
    mode        text default 'all',
    event_id    bigint default null,
    from_ms     double precision default null,
    to_ms       double precision default null,
    max_depth   integer default null,
    types       text[] default null
)
returns table (
    id                bigint,
    parent_id         bigint,
    type              text,
    time_ms           double precision,
    overhead_ms       double precision,
    hits              bigint,
    start_ms          double precision,
    end_ms            double precision,
    child_count       bigint,
    total_ms          double precision,
    total_overhead_ms double precision,
    resource          text,
    line              integer,
    detail            jsonb
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    list timeline := kept_timeline(get_events.session_id, get_events.timeline_id, get_events.mode);
begin
    if get_events.mode = list.mode then
        return query
        select
            event_id,
            (select p.event_id from event as p
             where p.segment_id = e.segment_id and p.bucket = e.bucket
                 and p.session_id = e.session_id and p.event = e.parent),
            type,
            self_us / 1000::double precision,
            overhead_us / 1000::double precision,
            hits,
            case when list.mode = 'all' or duration_us is not null then start_us / 1000::double precision end,
            (start_us + duration_us) / 1000::double precision,
            child_count,
            total_us / 1000::double precision,
            total_overhead_us / 1000::double precision,
            resource,
            line,
            detail
        from select_events(list, get_events.event_id, get_events.from_ms, get_events.to_ms,
            get_events.max_depth, get_events.types) as e
        order by start_us, event;
        return;
    end if;

    -- A virtual event stands for all that are the same: nothing tells one from another but what they have in
    -- common, and only their own times add up. The process's time is nobody's event.
    return query
    select
        null::bigint,
        null::bigint,
        same.type,
        sum(self_us) / 1000::double precision,
        sum(overhead_us) / 1000::double precision,
        sum(hits)::bigint,
        null::double precision,
        null::double precision,
        null::bigint,
        null::double precision,
        null::double precision,
        same.resource,
        same.line,
        same.detail
    from select_events(list, get_events.event_id, get_events.from_ms, get_events.to_ms,
        get_events.max_depth, get_events.types) as e
    cross join lateral (
        select
            case when get_events.mode = 'reduce_all' then 'GENERIC' else e.type end,
            case when get_events.mode = 'reduce_unique_events' then e.resource end,
            case when get_events.mode = 'reduce_unique_events' then e.line end,
            case when get_events.mode = 'reduce_unique_events' then own_detail(e.detail) end
    ) as same (type, resource, line, detail)
    where (e.type, e.type_number) <> ('PROCESS', 2)
    group by same.type, same.resource, same.line, same.detail
    order by 4 desc, same.type collate "C", same.resource collate "C", same.line, same.detail;
end
$$;

comment on function fleetprof.get_events is
    'Events of a kept session''s timeline. Which: those below event_id (null: all) down to max_depth levels, of these types, whose interval overlaps [from_ms, to_ms]; then the mode: all of them by start, or virtual ones, greatest time first: one a type (reduce_unique_types), one a type and detail (reduce_unique_events), one in all (reduce_all). time_ms is own time and adds up; total_ms is with the events inside. Milliseconds since the session began.';

create function fleetprof.session_content(session_id bigint)
returns table (
    format        text,
    is_raw        boolean,
    content_bytes integer,
    content       bytea
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select format, is_raw, content_bytes, content
    from session
    where session_id = session_content.session_id;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', session_content.session_id);
    end if;
end
$$;

comment on function fleetprof.session_content is
    'A kept upload in the format it came in: content is zstd, content_bytes its size when unpacked. `fleetprof session export` unpacks it.';

-- Release ----------------------------------------------------------------------------------------------

create function fleetprof.release_session(session_id bigint default null)
returns bigint
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    released bigint;
    of_segment bigint;
    of_bucket timestamptz;
begin
    if release_session.session_id is null then
        delete from event;
        delete from timeline;
        delete from session;
        get diagnostics released = row_count;
        return released;
    end if;
    delete from session where session_id = release_session.session_id returning segment_id, bucket into of_segment, of_bucket;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', release_session.session_id);
    end if;
    -- By the whole key, which the events' partitions have an index of.
    delete from timeline
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    delete from event
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    return 1;
end
$$;

comment on function fleetprof.release_session is
    'Forgets a kept session, or all of them without an id; returns how many. What they added to the numbers stays. For fleetprof_owner and fleetprof_writer.';

-- Rights -----------------------------------------------------------------------------------------------

grant select on
    fleetprof_data.session, fleetprof_data.timeline, fleetprof_data.event, fleetprof.sessions, fleetprof.timelines
to fleetprof_reader;
grant select, insert, delete on
    fleetprof_data.session, fleetprof_data.timeline, fleetprof_data.event
to fleetprof_writer;

revoke execute on function
    fleetprof_data.drop_partition, fleetprof_data.kept_timeline, fleetprof_data.select_events,
    fleetprof_data.own_detail, fleetprof.event_breakdown, fleetprof.get_events, fleetprof.session_content,
    fleetprof.release_session
from public;
grant execute on function fleetprof_data.drop_partition, fleetprof.release_session to fleetprof_writer;
grant execute on function
    fleetprof_data.kept_timeline, fleetprof_data.select_events, fleetprof_data.own_detail,
    fleetprof.event_breakdown, fleetprof.get_events, fleetprof.session_content
to fleetprof_reader;

-- Comments ---------------------------------------------------------------------------------------------

comment on table fleetprof_data.session is 'Kept uploads, as the view fleetprof.sessions shows them.';
comment on column fleetprof_data.session.segment_id is 'Segment.';
comment on column fleetprof_data.session.bucket is 'UTC hour in which the upload counts, its begin.';
comment on column fleetprof_data.session.session_id is 'Content hash of site and upload id (docs/ids.md), never negative.';
comment on column fleetprof_data.session.upload_id is 'The upload.';
comment on column fleetprof_data.session.load_id is 'The page load or long session that it belongs to; null: none.';
comment on column fleetprof_data.session.part is 'Which part of that it is, from 0.';
comment on column fleetprof_data.session.received is 'When the collector had received it, by the collector''s clock.';
comment on column fleetprof_data.session.started is 'When the session began, as the upload says; null: it did not.';
comment on column fleetprof_data.session.format is 'self-profile, user-timing, speed-tracer or opera-scope.';
comment on column fleetprof_data.session.version is 'Version of the format, as the upload says; empty: it did not.';
comment on column fleetprof_data.session.source_id is 'Session id in the profiled browser; null: none.';
comment on column fleetprof_data.session.window_id is 'Window in the profiled browser; null: none.';
comment on column fleetprof_data.session.page_url is 'The page, scrubbed; empty: unknown.';
comment on column fleetprof_data.session.is_raw is 'Whether the content is what was sent, byte for byte, not scrubbed.';
comment on column fleetprof_data.session.content_bytes is 'Size of the content, bytes.';
comment on column fleetprof_data.session.content is 'The upload in the format it came in, zstd.';

comment on table fleetprof_data.timeline is 'Lists of events of kept sessions, as the view fleetprof.timelines shows them.';
comment on column fleetprof_data.timeline.segment_id is 'Segment.';
comment on column fleetprof_data.timeline.bucket is 'UTC hour in which the upload counts, its begin.';
comment on column fleetprof_data.timeline.session_id is 'Session.';
comment on column fleetprof_data.timeline.timeline is 'Number in its session, from 1.';
comment on column fleetprof_data.timeline.timeline_id is 'As the upload says.';
comment on column fleetprof_data.timeline.frame_id is 'Frame of the page; null: not said.';
comment on column fleetprof_data.timeline.mode is 'What was done to the events before they came: all, reduce_unique_types, reduce_unique_events or reduce_all.';
comment on column fleetprof_data.timeline.events is 'Events.';

comment on table fleetprof_data.event is 'Events of kept sessions.';
comment on column fleetprof_data.event.segment_id is 'Segment.';
comment on column fleetprof_data.event.bucket is 'UTC hour in which the upload counts, its begin.';
comment on column fleetprof_data.event.session_id is 'Session.';
comment on column fleetprof_data.event.event is 'Number in its session, from 1; parents stand before their children.';
comment on column fleetprof_data.event.timeline is 'Timeline, by its number in the session.';
comment on column fleetprof_data.event.parent is 'The event around it; null: none.';
comment on column fleetprof_data.event.event_id is 'As the upload says, unique in its timeline; null: it has none.';
comment on column fleetprof_data.event.type is 'Name of its type, such as LAYOUT.';
comment on column fleetprof_data.event.type_number is 'Number of its type, as the upload says.';
comment on column fleetprof_data.event.start_us is 'Start, microseconds since the session began.';
comment on column fleetprof_data.event.duration_us is 'From start to end, microseconds; null: a point in time.';
comment on column fleetprof_data.event.self_us is 'Own time, microseconds: without the events inside. Below zero where a clock is coarse.';
comment on column fleetprof_data.event.overhead_us is 'What profiling it cost, microseconds; not part of its time.';
comment on column fleetprof_data.event.total_us is 'Its own time and that of all events inside, microseconds.';
comment on column fleetprof_data.event.total_overhead_us is 'The same for overhead, microseconds.';
comment on column fleetprof_data.event.hits is 'How often it was hit.';
comment on column fleetprof_data.event.child_count is 'Events immediately inside, as the upload says; it may not list all of them.';
comment on column fleetprof_data.event.resource is 'URL of what it worked on, scrubbed; null: none.';
comment on column fleetprof_data.event.line is 'Line in the resource; null: unknown.';
comment on column fleetprof_data.event.detail is 'What else the upload says of it, scrubbed; null: nothing (docs/formats.md).';
