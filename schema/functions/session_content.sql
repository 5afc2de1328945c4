-- SPDX-License-Identifier: Apache-2.0
-- The content of a kept upload.

create or replace function fleetprof.session_content(session_id bigint)
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
            message = format('session %s is not kept', coalesce(session_content.session_id::text, 'null')),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
end
$$;

comment on function fleetprof.session_content is
    -- {{comment of session_content}};

revoke execute on function fleetprof.session_content from public;
grant execute on function fleetprof.session_content to fleetprof_reader;
