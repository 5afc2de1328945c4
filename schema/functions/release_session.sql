-- SPDX-License-Identifier: Apache-2.0
-- Deletes kept uploads.

create or replace function fleetprof.release_session(session_id bigint default null)
returns bigint
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    released bigint;
    of_segment bigint;
    of_bucket timestamptz;
    of_load uuid;
begin
    if release_session.session_id is null then
        delete from session where load_id is null or load_id not in (select load_id from fleetprof.running_sessions);
        get diagnostics released = row_count;
        -- By the whole key: Citus joins tables by the column that they are distributed by.
        delete from timeline as t
        where not exists (
            select from session as s
            where s.segment_id = t.segment_id and s.bucket = t.bucket and s.session_id = t.session_id);
        delete from event as e
        where not exists (
            select from session as s
            where s.segment_id = e.segment_id and s.bucket = e.bucket and s.session_id = e.session_id);
        return released;
    end if;
    select load_id into of_load from session where session_id = release_session.session_id;
    if of_load in (select load_id from fleetprof.running_sessions) then
        raise object_in_use using
            message = format('session %s is a part of %s, which still runs', release_session.session_id, of_load),
            hint = 'Stop that first, as docs/http.md says; it runs until its last part is stored, as long as fleetprof.running_sessions lists it.';
    end if;
    delete from session where session_id = release_session.session_id returning segment_id, bucket into of_segment, of_bucket;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', release_session.session_id),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
    -- By the whole key: that is the index of the partitions.
    delete from timeline
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    delete from event
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    return 1;
end
$$;

comment on function fleetprof.release_session is
    -- {{comment of release_session}};

revoke execute on function fleetprof.release_session from public;
grant execute on function fleetprof.release_session to fleetprof_writer;
