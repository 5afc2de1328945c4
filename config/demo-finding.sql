-- SPDX-License-Identifier: Apache-2.0
-- The finding of the latest release of the made-up shop, which ./quickstart prints.
select coalesce(
  (
    select format(
      'Site "shop" is made up; its release 2.3.0 made %s slower: %s ms per page load, %s before.',
      string_agg(function, ', '), string_agg(round(after_self_ms)::text, ', '), string_agg(round(before_self_ms)::text, ', '))
    from fleetprof.compare_releases('shop', before => '2.2.9', after => '2.3.0', since => '-infinity')
    where verdict = 'slower'
    having count(*) > 0),
  'Site "shop" is made up; none of its functions became slower.');
