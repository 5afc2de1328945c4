/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notification: findings in the words of the services where people work.
 *
 * Names of functions, scripts and releases come from strangers' browsers. Each format writes them
 * so that its service shows them and does nothing else with them. One thread.
 */
#ifndef FP_CLI_ASK_NOTIFICATION_H
#define FP_CLI_ASK_NOTIFICATION_H

#include "collector/base/buf.h"

#include <argp.h>

enum fp_notification_format {
    FP_NOTIFICATION_NONE,
    FP_NOTIFICATION_JSON,
    FP_NOTIFICATION_MARKDOWN,
    FP_NOTIFICATION_GITHUB, /* workflow commands */
    FP_NOTIFICATION_GITLAB, /* a code quality report */
    FP_NOTIFICATION_SLACK,  /* Block Kit */
    FP_NOTIFICATION_TEAMS,  /* an Adaptive Card */
    FP_NOTIFICATION_ALERTMANAGER,
    FP_NOTIFICATION_PAGERDUTY, /* Events API v2, an event per finding */
};

/* The names of all formats, for help and errors. */
#define FP_NOTIFICATION_FORMATS                                                                    \
    "json, markdown, github, gitlab, slack, teams, alertmanager or pagerduty"

enum { FP_FINDING_CELLS = 4 };

/* A finding. Texts are the caller's; "" is none. "Stranger's" are those that a format escapes. */
struct fp_notification_finding {
    const char *key;         /* what identifies it */
    const char *lasting_key; /* the same in each week; NULL: the key */
    const char *old_key;     /* another one that was posted for it, or NULL */
    const char *json;        /* an object of all that is known */
    const char *verdict;     /* one word */
    const char *fact;        /* a phrase that follows the name */
    const char *name;        /* stranger's */
    const char *site;        /* stranger's; NULL: the notification's */
    const char *place;       /* stranger's: script or source, with line */
    const char *source;      /* stranger's: path of the original source */
    const char *line;        /* in it */
    const char *source_link; /* an address */
    const char *owner;       /* whose the source is; "" or NULL: not known */
    char *suspects;          /* owned, a stranger's: commits, a line each; "" or NULL: none */
    char *link;              /* owned: an address in the report; NULL: none */
    const char *cells[FP_FINDING_CELLS]; /* of the table */
};

enum { FP_NOTIFICATION_TITLE = 9 };

struct fp_notification {
    const char *alert; /* name of the alert: FleetprofRegression */
    const char *site;  /* stranger's */
    bool is_judged;    /* else nothing could be */
    bool is_void;      /* nothing is judged any more, so that all findings are gone */
    /* It follows the number of findings: ours, a stranger's, ours, …, NULL. */
    const char *title[FP_NOTIFICATION_TITLE];
    const char *headings[FP_FINDING_CELLS];
    const struct fp_notification_finding *findings;
    size_t count;
    /* Tells the question apart from others whose findings go to the same webhook; NULL: gone
     * findings are not looked for. Only judged and void questions have gone ones. */
    const char *scope;
    const char *const *undecided;     /* keys of findings that are neither there nor gone */
    const char *const *undecided_old; /* their old keys; NULL: none */
    size_t undecided_count;
    bool forgets;     /* a finding that is gone and comes back is posted again, in each format */
    const char *link; /* an address in the report; NULL: none */
    const char *routing_key; /* of PagerDuty */
    const char *ends_at;     /* RFC 3339: when Alertmanager resolves it */
};

/* Reads the argument of option --name; an unknown format is wrong use. */
enum fp_notification_format fp_notification_read(const char *name, const char *arg,
                                                 struct argp_state *state);

/* Returns the name that the option takes. */
const char *fp_notification_name(enum fp_notification_format format);

/* True if the service takes one finding at a time. */
bool fp_notification_is_single(enum fp_notification_format format);

/*
 * Returns what resolves the finding in the format's service once it is gone, one line of JSON
 * without its end; NULL if the service does not know of that. The caller frees it.
 */
char *fp_notification_resolution(enum fp_notification_format format,
                                 const struct fp_notification *notification,
                                 const struct fp_notification_finding *finding) FP_MUST_CHECK;

/* Appends the document that resolves a finding now: resolution is what fp_notification_resolution
 * returned, may be from an earlier run; now: RFC 3339. False if it is not that. */
bool fp_notification_resolve(enum fp_notification_format format, const char *resolution,
                             const struct fp_notification *notification, const char *now,
                             struct fp_buf *out) FP_MUST_CHECK;

/* Returns the key of PagerDuty's integration, which the environment has. Prints an error and
 * returns NULL if it does not. */
const char *fp_notification_routing_key(void) FP_MUST_CHECK;

/* Appends the document of the format; of one that is single, a line per finding. */
void fp_notification_write(enum fp_notification_format format,
                           const struct fp_notification *notification, struct fp_buf *out);

/* Prints the document; in a job of GitHub Actions, also the job's summary. Prints an error and
 * returns false on failure. */
bool fp_notification_print(enum fp_notification_format format,
                           const struct fp_notification *notification) FP_MUST_CHECK;

/* Writers, a file per kind of service. */
void fp_notification_markdown(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_github(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_gitlab(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_slack(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_teams(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_alertmanager(const struct fp_notification *notification, struct fp_buf *out);
void fp_notification_pagerduty(const struct fp_notification *notification, struct fp_buf *out);

#endif
