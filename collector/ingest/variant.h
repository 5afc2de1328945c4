/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants: joins the arms that a page token proves with the variant that the page claims. Any
 * thread.
 */
#ifndef FP_INGEST_VARIANT_H
#define FP_INGEST_VARIANT_H

#include "collector/base/arena.h"

/*
 * Makes `NAME=ARM,NAME=ARM,OWN` from a token's arms and the page's own variant; each may be "". In
 * the own one `=` becomes `:`, so that no page can claim an arm. The result has at most
 * FP_TEXT_DIMENSION_MAX code points: the own variant is cut. False, with *variant unchanged, if
 * memory is out. The result borrows from the arguments or lies in the arena.
 */
bool fp_variant_join(struct fp_str arms, struct fp_str own, struct fp_arena *arena,
                     struct fp_str *variant) FP_MUST_CHECK;

#endif
