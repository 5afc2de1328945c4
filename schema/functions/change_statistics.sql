-- SPDX-License-Identifier: Apache-2.0
-- Statistics of changes: their common part, their scatter, and their probability by chance.

create or replace function fleetprof_data.p_of_t(t double precision, df double precision)
returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    -- The normal deviate of the same probability (Wallace). Past 37, exp() would underflow.
    z constant double precision := least(
        (8 * p_of_t.df + 1) / (8 * p_of_t.df + 3) * sqrt(p_of_t.df * ln(1 + p_of_t.t * p_of_t.t / p_of_t.df)), 37);
    x constant double precision := z / sqrt(2::double precision);
    u constant double precision := 1 / (1 + x / 2);
begin
    -- erfc, by a rational approximation that is 1.2e-7 off at most: above 1 for t = 0.
    return least(1, u * exp(-x * x - 1.26551223 + u * (1.00002368 + u * (0.37409196 + u * (0.09678418 + u * (-0.18628806
        + u * (0.27886807 + u * (-1.13520398 + u * (1.48851587 + u * (-0.82215223 + u * 0.17087277))))))))));
end
$$;

comment on function fleetprof_data.p_of_t is
    'Returns the two-sided probability of Student''s t with df degrees of freedom, for df from about 10 on; with fewer, too great where it is small.';

create or replace function fleetprof_data.t_of_z(z double precision, df double precision)
returns double precision
language sql immutable strict parallel safe
-- The inverse of p_of_t's first step. Below one degree of freedom nothing is known.
return case
    when df >= 1 then sqrt(df * (exp(least((z * (8 * df + 3) / (8 * df + 1)) ^ 2 / df, 500)) - 1))
    else 'Infinity'
end;

comment on function fleetprof_data.t_of_z is
    'Returns the quantile of Student''s t with df degrees of freedom that has the same probability as this positive normal deviate; from three degrees on at most 2 % too great for 1.96.';

create or replace function fleetprof_data.common_change(
    differences      double precision[],
    errors           double precision[],
    fewest           integer default 30,
    out common       double precision,
    out common_error double precision
)
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Errors come from sums of 32 bits.
    rounding constant double precision := 1e-6;
begin
    common := 0;
    common_error := 0;
    -- With few functions, the median would be the change of one of them.
    if coalesce(cardinality(common_change.differences), 0) < common_change.fewest then
        return;
    end if;
    -- Where the weights reach half between two changes, their mean is the median; rounding does not choose one of them.
    select
        coalesce((
            min(difference) filter (where up_to >= half * (1 - rounding))
                + min(difference) filter (where up_to > half * (1 + rounding))) / 2, 0),
        sqrt(pi() / 2 / sum(error ^ -2))
    into common, common_error
    from (
        select
            difference, error, sum(1 / error) over (order by difference) as up_to, sum(1 / error) over () / 2 as half
        from unnest(common_change.differences, common_change.errors) as tested (difference, error)
    ) as ordered;
end
$$;

comment on function fleetprof_data.common_change is
    'Returns the common change of functions: the median of their changes (logarithms), weighted by precision, and its standard error; 0 for fewer functions than fewest.';

create or replace function fleetprof_data.change_scatter(differences double precision[], errors double precision[])
returns double precision
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Mean and standard deviation of a normal deviate's square, capped at 4, so that a few changed functions count
    -- little.
    most constant double precision := 4;
    mean_square constant double precision := 0.9205;
    square_sd constant double precision := 1.1101;
    -- Standard errors by which changes must scatter beyond chance.
    least_z constant double precision := 0.5;
    least double precision := 0;
    greatest_scatter double precision := 1;
    scatter double precision := 0;
    excess double precision;
begin
    for step in 0..20 loop
        select sum((least(difference ^ 2 / variance, most) - mean_square) / variance) - least_z * square_sd * sqrt(sum(variance ^ -2))
        into excess
        from (
            select difference, error ^ 2 + scatter ^ 2 as variance
            from unnest(change_scatter.differences, change_scatter.errors) as tested (difference, error)
        ) as tested;
        if step = 0 and coalesce(excess, 0) <= 0 then
            return 0;
        elsif excess > 0 then
            least := scatter;
        else
            greatest_scatter := scatter;
        end if;
        scatter := (least + greatest_scatter) / 2;
    end loop;
    return scatter;
end
$$;

comment on function fleetprof_data.change_scatter is
    'Returns the standard deviation of changes (logarithms, less the common change) beyond their errors; 0 if chance explains them.';

create or replace function fleetprof_data.beyond(difference double precision, margin double precision)
returns double precision
language sql immutable parallel safe
return sign(difference) * greatest(0, abs(difference) - margin);

comment on function fleetprof_data.beyond is 'Returns what is left of a difference without a margin, which may be on either side of 0.';

create or replace function fleetprof_data.judged_change(
    difference   double precision,
    after_weight double precision,
    is_scarce    boolean
)
returns double precision
language sql immutable parallel safe
-- The logarithm of a mean of few uploads is skewed to the left. If the side with less time has far fewer uploads, or
-- few uploads with the function, the difference of the means divided by their mean is judged instead.
return case
    when is_scarce or (difference < 0 and after_weight < 1.0 / 3) or (difference > 0 and after_weight > 2.0 / 3)
        then (exp(difference) - 1) / (1 - after_weight + after_weight * exp(difference))
    else difference
end;

comment on function fleetprof_data.judged_change is
    'Returns a change (a logarithm) on the scale on which it is judged. after_weight: share of the later side in all uploads; is_scarce: a side has the function in few uploads.';

revoke execute on function
    fleetprof_data.p_of_t, fleetprof_data.t_of_z, fleetprof_data.common_change, fleetprof_data.change_scatter, fleetprof_data.beyond,
    fleetprof_data.judged_change
from public;
grant execute on function
    fleetprof_data.p_of_t, fleetprof_data.t_of_z, fleetprof_data.common_change, fleetprof_data.change_scatter, fleetprof_data.beyond,
    fleetprof_data.judged_change
to fleetprof_reader;
