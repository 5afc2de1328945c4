/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before every file of ours: functions that cannot be used safely do not compile.
 *
 * Each name has a better way: snprintf for sprintf, memcpy with a known length for strcpy, strtoll
 * with its end pointer for atoi, the arena for alloca and variable arrays, strtok_r or a loop over
 * (pointer, length) for strtok.
 */
#ifndef FLEETPROF_BANNED_H
#define FLEETPROF_BANNED_H

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Some C libraries have macros of these names: a macro cannot be poisoned, the function behind it
 * can. */
#undef sprintf
#undef vsprintf
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef stpcpy
#undef alloca

#pragma GCC poison sprintf vsprintf gets strcpy strcat strncpy strncat stpcpy strtok
#pragma GCC poison atoi atol atoll atof alloca tmpnam mktemp asctime ctime gmtime localtime

#endif
