/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 table: what a profile adds to the detail of its event, for the tables of
 * profiles in SQL.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_TABLE_H
#define FP_FORMAT_SPEED_TRACER_V8_TABLE_H

#include "collector/format/speed_tracer/dump.h"

/* Most bytes of all tables of a dump; those after it are left out with a note. */
#define FP_ST_V8_TABLES_MAX ((size_t)16 * 1024 * 1024)

/* Appends the members vmStates and profile of the profile that was read last. Look at
 * out->failed. */
void fp_st_v8_table_write(struct fp_st_dump *dump, struct fp_buf *out);

#endif
