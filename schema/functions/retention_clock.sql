-- SPDX-License-Identifier: Apache-2.0
-- Retention's clock: one collector's clock alone never decides that data is deleted.

create or replace function fleetprof_data.judge_clock(collector timestamptz)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    agreement constant interval := '48 hours';
    -- A doubtful clock is trusted again on the seventh day on which the clocks agree.
    days_to_trust constant integer := 7;
    longest_pause constant interval := '192 hours';
    clock    fleetprof_data.retention_clock := (select c from fleetprof_data.retention_clock c);
    database timestamptz := clock_timestamp();
    -- Before any time is trusted, stored blocks are the only evidence, and a wrong clock may have dated them.
    known    timestamptz := coalesce(
        clock.trusted,
        (select greatest(
            (select max(bucket) from fleetprof_data.unsealed),
            (select max(bucket + (array[interval '1 hour', '4 hours', '24 hours', '192 hours'])[span + 1])
            from fleetprof_data.sealed))),
        database);
    agree    boolean := judge_clock.collector between database - agreement and database + agreement;
    days     integer := 0;
    reason   text;
begin
    if clock.stated between database - agreement and database + agreement then
        reason := null;
    elsif not agree then
        reason := 'clocks_differ';
    elsif database > known + agreement then
        reason := 'clock_ahead';
    elsif database < known - agreement then
        reason := 'clock_behind';
    end if;
    if agree and reason is not null then
        days := case
            when clock.watched is null or database < clock.watched or database > clock.watched + longest_pause then 1
            when (database at time zone 'UTC')::date > (clock.watched at time zone 'UTC')::date then clock.watched_days + 1
            else clock.watched_days
        end;
        if days >= days_to_trust then
            reason := null;
        end if;
    end if;
    update fleetprof_data.retention_clock
    set trusted = case when reason is null then database else trusted end,
        stated = null,
        watched = case when days > 0 and reason is not null then database end,
        watched_days = case when reason is null then 0 else days end,
        refused = reason,
        refused_since = case
            when reason is null then null
            when reason is not distinct from clock.refused then clock.refused_since
            else database
        end,
        collector = judge_clock.collector;
    return reason;
end
$$;

comment on function fleetprof_data.judge_clock(timestamptz) is
    'Returns why housekeeping must not destroy anything now, and notes it; null: it may. The clocks of database and collector and the moment that was trusted last (none: the newest stored hour) must agree within two days. If only the two clocks agree, they are believed on the seventh day on which they agreed. Only one collector may call it at a time.';

create or replace function fleetprof_data.trust_clock(stated timestamptz)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if stated is null then
        raise exception 'trust_clock needs the time of now' using errcode = 'null_value_not_allowed';
    end if;
    if not stated between clock_timestamp() - interval '48 hours' and clock_timestamp() + interval '48 hours' then
        raise exception 'the database''s clock says %, not %', clock_timestamp(), stated
            using errcode = 'invalid_parameter_value',
                hint = 'Set the clock of the database''s machine, or state the time as it is.';
    end if;
    update fleetprof_data.retention_clock c
    set trusted = trust_clock.stated, stated = trust_clock.stated, watched = null, watched_days = 0;
    return stated;
end
$$;

comment on function fleetprof_data.trust_clock(timestamptz) is
    'Tells retention what time it is now, and returns it: the next housekeeping does its work if the database''s clock agrees within two days, whatever a collector''s clock says. Later ones compare with it. For fleetprof_owner.';

revoke execute on function fleetprof_data.judge_clock, fleetprof_data.trust_clock from public;
grant execute on function fleetprof_data.judge_clock to fleetprof_writer;
