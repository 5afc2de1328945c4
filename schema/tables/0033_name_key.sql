-- Names of frames as numbers, so that hotspots finds functions of one name without comparing texts.
--
-- The server fills the column, also in rows that are there.

alter table fleetprof_data.frame add column name_key bigint not null generated always as (
    case
        -- As is_stable_name of functions/function_key.sql says.
        when kind <> 'function'
            or function <> '(anonymous)' and char_length(function) >= case when column_number > 1000 then 4 else 3 end
            then hashtextextended(case function when '' then '(anonymous)' else function end, 0)
        else frame_id
    end
) stored;

comment on column fleetprof_data.frame.name_key is 'Equal for frames that may be one function: a hash of a name that people wrote; frame_id for other names, which nothing else shares.';
