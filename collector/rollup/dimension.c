/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dimension: the table.
 */
#include "collector/rollup/dimension.h"

#include "collector/base/assert.h"

#include <stddef.h>

#define DIMENSION(member, absent_, version_)                                                       \
    {.name = #member,                                                                              \
     .absent = (absent_),                                                                          \
     .place = offsetof(struct fp_segment, member),                                                 \
     .version = (version_)}

const struct fp_dimension fp_dimensions[FP_DIMENSION_COUNT] = {
    DIMENSION(site, "", 1),
    DIMENSION(route, "", 1),
    DIMENSION(release, "", 1),
    DIMENSION(environment, "", 1),
    DIMENSION(variant, "", 1),
    DIMENSION(browser, "", 1),
    DIMENSION(os, "", 1),
    DIMENSION(device, "", 1),
    DIMENSION(thread, "", 1),
    DIMENSION(frame, "top", 5),
    DIMENSION(traffic, "", 6),
    DIMENSION(machine, "", 6),
    DIMENSION(browser_version, "", 8),
    DIMENSION(network, "", 8),
    DIMENSION(custom, "", 9),
    DIMENSION(drawn, "", 10),
};

struct fp_str *fp_dimension_text(struct fp_segment *segment, size_t dimension)
{
    FP_ASSERT(dimension < FP_DIMENSION_COUNT);
    return (struct fp_str *)((char *)segment + fp_dimensions[dimension].place);
}

struct fp_str fp_dimension_of(const struct fp_segment *segment, size_t dimension)
{
    FP_ASSERT(dimension < FP_DIMENSION_COUNT);
    return *(const struct fp_str *)((const char *)segment + fp_dimensions[dimension].place);
}

bool fp_dimension_is_kept(size_t dimension)
{
    return fp_dimensions[dimension].absent[0] != '\0';
}
