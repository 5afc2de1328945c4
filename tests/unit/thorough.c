/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every unit test: turns FP_ASSERT_COSTLY on.
 */
#include "collector/base/assert.h"

const bool fp_assert_thorough = true;
