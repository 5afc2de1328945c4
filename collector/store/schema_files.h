/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of schema/, built in by tools/embed-schema.
 */
#ifndef FP_STORE_SCHEMA_FILES_H
#define FP_STORE_SCHEMA_FILES_H

#include <stddef.h>

struct fp_schema_file {
    const char *name; /* below schema/ */
    const char *text;
    const char *objects; /* the functions and views it defines, as PostgreSQL's text[] */
};

/* tables/NNNN_what.sql, ordered by number from 1 without gaps. */
extern const struct fp_schema_file fp_schema_tables[];
extern const size_t fp_schema_table_count;

/* Files of functions/ and views/, each after the files that it needs. */
extern const struct fp_schema_file fp_schema_definitions[];
extern const size_t fp_schema_definition_count;

/* These two run first, on every migration. */
extern const char *const fp_schema_roles;
extern const char *const fp_schema_bootstrap;

/* apply.sql: temporary functions that apply the definitions. */
extern const char *const fp_schema_apply;

/* culprit.sql: a question to the catalogue; it says what its parameters are. */
extern const char *const fp_schema_culprit;

/* objects: the columns, constraints and indexes that the table files make, one per line. */
extern const char *const fp_schema_objects;

/* Files of citus/: each says at its top what it is. */
extern const char *const fp_schema_citus_role;
extern const char *const fp_schema_citus_distribute;
extern const char *const fp_schema_citus_rights;

#endif
