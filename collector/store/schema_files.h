/*
 * The files of schema/, built in by tools/embed-schema.
 */
#ifndef FP_STORE_SCHEMA_FILES_H
#define FP_STORE_SCHEMA_FILES_H

#include <stddef.h>

struct fp_schema_file {
    int number;       /* from 1, without gaps */
    const char *name; /* NNNN_what.sql */
    const char *text;
};

extern const struct fp_schema_file fp_schema_files[];
extern const size_t fp_schema_file_count;

/* bootstrap.sql, which runs before the numbered ones, every time. */
extern const char *const fp_schema_bootstrap;

#endif
