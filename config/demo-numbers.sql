-- SPDX-License-Identifier: Apache-2.0
-- The numbers that the demo page shows next to its own: the functions of all its page loads of the last day.
select json_build_object(
  'at', extract(epoch from clock_timestamp())::float8,
  'site', 'demo',
  'release', 'demo-1',
  'report', :'report',
  'loads', (
    select count(distinct load_id)
    from fleetprof.upload_log
    where site = 'demo' and release = 'demo-1'),
  'hotspots', coalesce((
    select json_agg(hotspot)
    from (
      select
        function, coalesce(resource, '') as resource, line, column_number, self_ms, total_ms, self_ms_per_load,
        total_ms_per_load, uploads
      from fleetprof.hotspots('demo', release => 'demo-1', top => 1000)) as hotspot), '[]'));
