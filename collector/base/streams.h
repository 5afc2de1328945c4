/*
 * Streams: what is printed goes to whom it is for, or nowhere.
 */
#ifndef FP_BASE_STREAMS_H
#define FP_BASE_STREAMS_H

#include "collector/base/base.h"

/*
 * Puts in place of each standard descriptor that the parent has closed one that cannot be used:
 * else the next file or connection would get its number, and what is printed with it. Writing to it
 * fails as it would have. To be called first of all, by the only thread. False, with errno, when
 * there is no such descriptor.
 */
bool fp_streams_hold(void) FP_MUST_CHECK;

#endif
