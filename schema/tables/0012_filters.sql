-- Filters: what a caller of a question gives, in one value.

create type fleetprof_data.filters as (
    site     text,
    since    timestamptz,
    until    timestamptz,
    wanted   text[],
    excluded text[]
);

comment on type fleetprof_data.filters is
    'What a caller''s filters say. wanted: of each dimension, in the order of fleetprof_data.dimensions(), what its value must match; excluded: what it must not match. Null: everything, and nothing.';
