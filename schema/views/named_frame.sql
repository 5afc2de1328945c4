-- Frames as they are shown.

create or replace view fleetprof_data.named_frame with (security_invoker = true) as
select
    frame_id,
    case when function = '' then '(anonymous)' else function end as function,
    url as resource,
    line,
    column_number,
    kind
from fleetprof_data.frame
left join fleetprof_data.resource using (resource_id);

comment on view fleetprof_data.named_frame is
    'Frames as they are shown: (anonymous) for a function without a name; resource, line and column_number null where absent.';

grant select on fleetprof_data.named_frame to fleetprof_reader;
