/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding texts: finds a finding's words in the tables.
 */
#include "cli/doctor/finding_texts.h"

#include "collector/base/assert.h"

static const struct {
    const struct fp_finding_text *texts;
    size_t count;
} tables[] = {
    {fp_texts_of_pages, FP_TEXTS_OF_PAGES},
    {fp_texts_of_scripts, FP_TEXTS_OF_SCRIPTS},
    {fp_texts_of_uploads, FP_TEXTS_OF_UPLOADS},
    {fp_texts_of_machines, FP_TEXTS_OF_MACHINES},
};
_Static_assert(FP_TEXTS_OF_PAGES + FP_TEXTS_OF_SCRIPTS + FP_TEXTS_OF_UPLOADS +
                       FP_TEXTS_OF_MACHINES ==
                   (int)FP_FINDING_COUNT,
               "each finding is in a table");

const struct fp_finding_text *fp_finding_text(enum fp_finding_id id)
{
    FP_ASSERT(id < FP_FINDING_COUNT);
    size_t place = id;
    size_t table = 0;
    while (place >= tables[table].count)
        place -= tables[table++].count;
    return &tables[table].texts[place];
}
