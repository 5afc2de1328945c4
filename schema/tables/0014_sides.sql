-- Sides: a comparison of any two sides, told apart by other dimensions than the release.

alter type fleetprof_data.compared_side add attribute apart text[];

comment on type fleetprof_data.compared_side is
    'One side of a comparison, read in four ways. whole: sums, in the fewest rows. segments: each segment''s sums, in the fewest blocks. hours, segment_hours: the same by hour, by day where hours are gone. apart: dimensions other than the release in which the caller made the sides differ.';
