/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page: what a document's HTML says about scripts, parsed as browsers parse it (Gumbo).
 *
 * Pure. One thread.
 */
#ifndef FP_CLI_DOCTOR_PAGE_H
#define FP_CLI_DOCTOR_PAGE_H

#include "collector/base/arena.h"

enum { FP_PAGE_SCRIPTS_MAX = 500, FP_PAGE_METAS_MAX = 16, FP_PAGE_DATA_MAX = 32 };

/* An attribute of the agent's tag that begins with "data-". */
struct fp_page_data {
    const char *name; /* without "data-" */
    const char *value;
};

/* A script that the browser would run. All texts live in the arena; NULL: no such attribute. */
struct fp_page_script {
    const char *src;         /* as written; NULL: inline */
    const char *crossorigin; /* "" is anonymous */
    const char *integrity;
    const char *nonce;
    const char *tag; /* as written in the document, cut */
    bool is_module;
    bool has_async;
    bool has_defer;
    bool is_in_head;
    bool makes_workers; /* inline, and its text has `new Worker(` or `new SharedWorker(` */
    struct fp_page_data data[FP_PAGE_DATA_MAX];
    size_t data_count;
};

struct fp_page {
    const char *base; /* href of the first base element; NULL: none */
    struct fp_page_script *scripts;
    size_t script_count;
    bool has_more_scripts;              /* than FP_PAGE_SCRIPTS_MAX */
    const char *csp[FP_PAGE_METAS_MAX]; /* contents of meta elements */
    size_t csp_count;
    bool has_policy_meta;    /* a meta element that tries to set Document-Policy */
    const char *inert_agent; /* tag of an agent with a type that no browser runs; NULL: none */
};

/* Parses a document. Ends the process when out of memory. */
void fp_page_parse(struct fp_str html, struct fp_arena *arena, struct fp_page *page);

/* True if the path of the URL is that of the agent: its name begins with "fleetprof" and ends in
 * ".js" or ".mjs". */
bool fp_page_is_agent(const char *src);

#endif
