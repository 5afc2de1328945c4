/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof doctor: finds out why a site has no profiles.
 */
#include "cli/doctor/doctor.h"

#include "cli/doctor/interval.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "cli/kit/terminal.h"
#include "collector/base/clock.h"

#include "header_policy/sampling.h"

#include <curl/curl.h>
#include <stdlib.h>

enum {
    OPTION_REPEAT = FP_OPTION_FIRST,
    OPTION_RATE,
    OPTION_ENDPOINT,
    OPTION_DIRECT,
    OPTION_FOLLOW,
    OPTION_CA,
    OPTION_TIMEOUT,
    OPTION_IGNORE,
    OPTION_LIST,
    OPTION_JSON,
};

enum { REPEAT_DEFAULT = 20, REPEAT_MAX = 1000, TIMEOUT_DEFAULT_S = 60, TIMEOUT_MAX_S = 600 };

#define ARENA_MAX ((size_t)64 * 1024 * 1024) /* the scripts' attributes of a page of 2 MiB */

static const struct argp_option options[] = {
    {"repeat", OPTION_REPEAT, "N", 0,
     "fetch the page N times, 1 to 1000 (default: 20), to see the sample rate", 0},
    {"rate", OPTION_RATE, "RATE", 0,
     "the rate that the server is configured with, such as 1%; the finding rate-differs if the "
     "interval does not contain it",
     0},
    {"endpoint", OPTION_ENDPOINT, "URL", 0,
     "where the agent uploads to, absolute or relative to the page, if no tag says it (the agent "
     "is in a bundle), or the tag names another site",
     0},
    {"follow", OPTION_FOLLOW, NULL, 0,
     "follow the page's redirects to other origins, without a question", 0},
    {"direct", OPTION_DIRECT, "HOST:PORT", 0,
     "a server behind the proxy or CDN: also fetch the page there, and compare", 0},
    {"ca", OPTION_CA, "FILE", 0, "trust the certificates in FILE (PEM)", 0},
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0,
     "end after SECONDS at the latest, 1 to 600 (default: 60)", 0},
    {"ignore", OPTION_IGNORE, "ID", 0, "do not report this finding; may be repeated", 0},
    {"list", OPTION_LIST, NULL, 0, "list all findings and exit", 0},
    {"config", 'c', "FILE", 0,
     "without URL: the collector's configuration (/etc/fleetprof/fleetprof.yaml)", 0},
    {"json", OPTION_JSON, NULL, 0, "print the findings as JSON", 0},
    {0},
};

static void read_rate(const char *arg, struct argp_state *state, struct fp_doctor_options *given)
{
    const struct fleetprof_slice text = {arg, strlen(arg)};
    enum fleetprof_rate_error error = fleetprof_rate_parse(text, &given->rate_ppm);
    if (error != FLEETPROF_RATE_OK)
        argp_error(state, "--rate %s: %s", arg, fleetprof_rate_error_text(error));
    given->has_rate = true;
}

static void read_ignored(const char *arg, struct argp_state *state, struct fp_doctor_options *given)
{
    enum fp_finding_id id;
    if (fp_finding_of(arg, &id))
        given->is_ignored[id] = true;
    else
        argp_error(state, "--ignore: there is no finding \"%s\"; --list has all", arg);
}

static bool is_web_url(const char *url)
{
    char *origin = fp_web_origin(url);
    free(origin);
    return origin != NULL;
}

static void read_url(const char *arg, struct argp_state *state, struct fp_doctor_options *given)
{
    if (given->url != NULL)
        argp_error(state, "doctor takes one URL");
    if (!is_web_url(arg))
        argp_error(state, "\"%s\" is not an http or https URL, such as https://shop.example/", arg);
    given->url = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fp_doctor_options *given = state->input;
    switch (key) {
    case OPTION_REPEAT:
        given->repeat = fp_option_number("repeat", arg, NULL, 1, REPEAT_MAX, state);
        return 0;
    case OPTION_RATE:
        read_rate(arg, state, given);
        return 0;
    case OPTION_ENDPOINT:
        given->endpoint = arg;
        return 0;
    case OPTION_FOLLOW:
        given->follows = true;
        return 0;
    case OPTION_DIRECT:
        given->direct = arg;
        return 0;
    case OPTION_CA:
        given->ca_file = arg;
        return 0;
    case OPTION_TIMEOUT:
        given->timeout_s = fp_option_number("timeout", arg, "seconds", 1, TIMEOUT_MAX_S, state);
        return 0;
    case OPTION_IGNORE:
        read_ignored(arg, state, given);
        return 0;
    case OPTION_LIST:
        given->list = true;
        return 0;
    case OPTION_JSON:
        given->json = true;
        return 0;
    case 'c':
        given->config_file = arg;
        return 0;
    case ARGP_KEY_ARG:
        read_url(arg, state, given);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp doctor_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[URL]",
    .doc = "Finds out why a site has no profiles. With the URL of a page, fetches it as a browser "
           "would, and checks policy, sampling, caches, the agent's tag, scripts, and the way to "
           "the collector. Without a URL, checks the collector on this machine: configuration, "
           "database, spool, admin listener.\v"
           "Each finding says what is wrong, why it matters, and which line to add. Nothing is "
           "stored: uploads are dry runs. Exit code: 0 nothing is wrong, 1 something is, 2 it "
           "could not be checked.",
};

/* ---- the page ---- */

static const char *version_of(long version)
{
    switch (version) {
    case CURL_HTTP_VERSION_2:
        return "HTTP/2";
    case CURL_HTTP_VERSION_1_0:
        return "HTTP/1.0";
    case CURL_HTTP_VERSION_3:
        return "HTTP/3";
    default:
        return "HTTP/1.1";
    }
}

/* Prints what was seen, before the findings. */
static void print_facts(const struct fp_doctor *doctor)
{
    const struct fp_doctor_tally *tally = &doctor->tally;
    const struct fp_interval rate = fp_interval_of(tally->sampled, tally->answered);
    char *endpoint = doctor->base != NULL ? fp_doctor_endpoint(doctor) : NULL;
    (void)printf("page:     %s\n", doctor->url);
    if (tally->answered > 0)
        (void)printf(
            "sampled:  %u of %u page loads (%s): %.4g %%, 95 %% interval %.4g to %.4g %%\n",
            tally->sampled, tally->answered, version_of(doctor->reply.version),
            100.0 * tally->sampled / tally->answered, 100 * rate.low, 100 * rate.high);
    if (tally->answered > 0 && tally->asked < doctor->options->repeat)
        (void)printf("          only %u of %u requests fitted into the time (--timeout)\n",
                     tally->asked, doctor->options->repeat);
    if (endpoint != NULL)
        (void)printf("endpoint: %s\n", endpoint);
    (void)printf("\n");
    free(endpoint);
}

static bool check_site(struct fp_doctor *doctor)
{
    if (!fp_doctor_check_page(doctor))
        return false;
    fp_doctor_check_direct(doctor);
    fp_doctor_check_tag(doctor);
    fp_doctor_check_scripts(doctor);
    fp_doctor_check_endpoint(doctor);
    return true;
}

static enum fp_exit print(struct fp_doctor *doctor)
{
    const struct fp_doctor_options *given = doctor->options;
    if (!given->json && given->url != NULL)
        print_facts(doctor);
    fp_findings_print(&doctor->findings, given->json);
    if (!given->json && doctor->findings.count == 0)
        (void)printf("%sNothing is wrong.%s\n", fp_terminal_style(stdout, FP_STYLE_GOOD),
                     fp_terminal_style(stdout, FP_STYLE_PLAIN));
    return fp_findings_are_wrong(&doctor->findings) ? FP_EXIT_NO : FP_EXIT_FINE;
}

static void release(struct fp_doctor *doctor)
{
    fp_client_release(&doctor->reply);
    fp_findings_release(&doctor->findings);
    fp_arena_release(&doctor->arena);
    free(doctor->url);
    free(doctor->origin);
    free(doctor->timing);
    free(doctor->base);
}

static enum fp_exit examine(const struct fp_doctor_options *given)
{
    const struct fp_fetch_settings settings = {
        .url = given->url != NULL ? given->url : "",
        .ca_file = given->ca_file,
        .deadline_us = fp_clock_monotonic_us() + given->timeout_s * FP_US_PER_S,
        .is_guarded = given->url != NULL,
    };
    struct fp_doctor doctor = {.options = given, .fetcher = fp_fetcher_create(&settings)};
    fp_arena_init(&doctor.arena, ARENA_MAX);
    memcpy(doctor.findings.is_ignored, given->is_ignored, sizeof(given->is_ignored));
    bool checked = given->url != NULL ? check_site(&doctor) : fp_doctor_check_machine(&doctor);
    enum fp_exit code = checked ? print(&doctor) : FP_EXIT_TROUBLE;
    fp_fetcher_free(doctor.fetcher);
    release(&doctor);
    return code;
}

enum fp_exit fp_doctor_command(int argc, char **argv)
{
    struct fp_doctor_options given = {.repeat = REPEAT_DEFAULT, .timeout_s = TIMEOUT_DEFAULT_S};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        fp_memory_end();
    fp_command_parse(&doctor_argp, argc, argv, &given);
    if (given.list) {
        fp_findings_list(given.json);
        return FP_EXIT_FINE;
    }
    return examine(&given);
}
