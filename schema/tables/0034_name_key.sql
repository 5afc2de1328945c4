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

create type fleetprof_data.shown_frame as (
    frame_id           bigint,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    kind               fleetprof_data.frame_kind,
    function_key       bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
);

comment on type fleetprof_data.shown_frame is 'A frame that stands for a function in a tree of stacks: columns of named_frame.';
