/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the directives once, when the configuration is read.  The error
 * messages say what would be right.
 */

#include "mod_fleetprof.h"

#include "http_core.h"

#include "apr_strings.h"

#include <errno.h>

#define EXPRESSION "expr="

#define ALONE "it must be the only parameter; remove it or the others"

/* Maximum length of a list of members or origins, in bytes. */
#define LIST_MAX (FLEETPROF_FIELD_MAX / 2)

static const char *invalid(cmd_parms *cmd, const char *parameter,
                           const char *reason)
{
    return apr_psprintf(cmd->pool, "invalid parameter \"%.128s%s\" in \"%s\": %s",
                        parameter, strlen(parameter) > 128 ? "..." : "",
                        cmd->cmd->name, reason);
}

static const char *too_few(cmd_parms *cmd)
{
    return apr_psprintf(cmd->pool, "%s %s", cmd->cmd->name, cmd->cmd->errmsg);
}

/* Returns the text after "expr=", or NULL. */
static const char *expression_in(const char *parameter)
{
    size_t len = sizeof(EXPRESSION) - 1;

    return strncmp(parameter, EXPRESSION, len) == 0 ? parameter + len : NULL;
}

/*
 * Compiles an expression.  Returns NULL, or what is wrong.  The expression
 * adds nothing to Vary, which belongs to the application.
 */
static const char *compile(cmd_parms *cmd, const char *text, unsigned flags,
                           ap_expr_info_t **expression)
{
    const char *error = NULL;

    if (*text == '\0') {
        return invalid(cmd, text, "an expression must not be empty; leave it "
                       "out, or write one");
    }

    flags |= AP_EXPR_FLAG_DONT_VARY;
    if (cmd->pool == cmd->temp_pool) {
        flags |= AP_EXPR_FLAG_RESTRICTED;       /* a .htaccess file */
    }
    *expression = ap_expr_parse_cmd(cmd, text, flags, &error, NULL);

    return error ? invalid(cmd, text, error) : NULL;
}

/* A setting that takes one of a few words; its value is the word's number. */
typedef struct {
    size_t offset;              /* of an int in the configuration */
    const char *words[4];       /* numbered from 1; NULL ends them */
} choice;

#define CHOICE(setting, ...) \
    { APR_OFFSETOF(mod_fleetprof_conf, setting), { __VA_ARGS__, NULL } }

static const choice unsampled = CHOICE(unsampled, "negative", "omit");
static const choice conflict = CHOICE(conflict, "upstream", "local");
static const choice not_modified = CHOICE(not_modified, "auto", "send", "omit");
static const choice always = CHOICE(always, "on", "off");
static const choice cacheable = CHOICE(cacheable, "on", "off");
static const choice server_timing = CHOICE(server_timing, "on", "off");

static const char *set_choice(cmd_parms *cmd, void *data, const char *value)
{
    const choice *options = cmd->info;
    const char *reason = "it is not one of";
    int i;

    for (i = 0; options->words[i] != NULL; i++) {
        if (strcasecmp(value, options->words[i]) == 0) {
            *(int *) ((char *) data + options->offset) = i + 1;
            return NULL;
        }
        reason = apr_psprintf(cmd->temp_pool, "%s%s \"%s\"", reason,
                              i > 0 ? "," : "", options->words[i]);
    }

    return invalid(cmd, value, reason);
}

static const char *set_enabled(cmd_parms *cmd, void *data, const char *value)
{
    mod_fleetprof_conf *conf = data;
    const char *expression = expression_in(value);

    if (expression != NULL) {
        conf->enabled = MOD_FLEETPROF_EXPRESSION;
        return compile(cmd, expression, 0, &conf->condition);
    }

    if (strcasecmp(value, "on") == 0) {
        conf->enabled = MOD_FLEETPROF_ON;
    }
    else if (strcasecmp(value, "off") == 0) {
        conf->enabled = MOD_FLEETPROF_OFF;
    }
    else {
        return invalid(cmd, value, "it is neither \"on\" nor \"off\" nor an "
                       "expression such as \"expr=-T reqenv('PROFILE')\"");
    }

    return NULL;
}

static const char *set_rate(cmd_parms *cmd, mod_fleetprof_sample *sample,
                            const char *value)
{
    const char *expression = expression_in(value);
    enum fleetprof_rate_error error;

    if (expression != NULL) {
        return compile(cmd, expression, AP_EXPR_FLAG_STRING_RESULT,
                       &sample->rate);
    }

    error = fleetprof_rate_parse(mod_fleetprof_slice(value), &sample->ppm);

    return error == FLEETPROF_RATE_OK
               ? NULL
               : invalid(cmd, value, fleetprof_rate_error_text(error));
}

/* Compiles a key: always an expression; a plain word is its own value. */
static const char *set_key(cmd_parms *cmd, const char *value,
                           ap_expr_info_t **compiled)
{
    const char *key = value + strlen("key=");
    const char *expression;

    if (strncmp(value, "key=", strlen("key=")) != 0 || *key == '\0') {
        return invalid(cmd, value, "it is not a key; write for example "
                       "\"key=%{reqenv:VISITOR}\"");
    }

    expression = expression_in(key);

    return compile(cmd, expression ? expression : key,
                   AP_EXPR_FLAG_STRING_RESULT, compiled);
}

static const char *set_sample(cmd_parms *cmd, void *data, const char *rate,
                              const char *key)
{
    mod_fleetprof_conf *conf = data;
    mod_fleetprof_sample *sample = apr_pcalloc(cmd->pool, sizeof(*sample));
    const char *error = set_rate(cmd, sample, rate);

    if (error == NULL && key != NULL) {
        error = set_key(cmd, key, &sample->key);
    }
    conf->sample = sample;

    return error;
}

/* Adds one parameter to the arms: an experiment or the key. */
static const char *add_arms(cmd_parms *cmd, mod_fleetprof_arms *arms,
                            const char *parameter)
{
    enum fleetprof_arms_error error;

    if (strncmp(parameter, "key=", strlen("key=")) == 0) {
        return arms->key == NULL
                   ? set_key(cmd, parameter, &arms->key)
                   : invalid(cmd, parameter, "write one key, for example "
                             "\"key=%{reqenv:VISITOR}\"");
    }

    error = fleetprof_arms_add(&arms->experiments,
                               mod_fleetprof_slice(parameter));

    return error == FLEETPROF_ARMS_OK
               ? NULL
               : invalid(cmd, parameter, fleetprof_arms_error_text(error));
}

static const char *set_arms(cmd_parms *cmd, void *data, int argc,
                            char *const argv[])
{
    mod_fleetprof_conf *conf = data;
    mod_fleetprof_arms *arms = apr_pcalloc(cmd->pool, sizeof(*arms));
    int i;

    if (argc == 0) {
        return too_few(cmd);
    }

    conf->arms = arms;
    if (argc == 1 && strcasecmp(argv[0], "off") == 0) {
        return NULL;
    }

    for (i = 0; i < argc; i++) {
        const char *error = add_arms(cmd, arms, argv[i]);

        if (error != NULL) {
            return error;
        }
    }

    return arms->experiments.count > 0
               ? NULL
               : invalid(cmd, argv[0],
                         fleetprof_arms_error_text(FLEETPROF_ARMS_SYNTAX));
}

static const char *set_policy(cmd_parms *cmd, void *data, int argc,
                              char *const argv[])
{
    mod_fleetprof_conf *conf = data;
    char text[LIST_MAX];
    struct fleetprof_buffer list = { text, 0, sizeof(text) };
    enum fleetprof_policy_error error;
    int i;

    if (argc == 0) {
        return too_few(cmd);
    }

    for (i = 0; i < argc; i++) {
        error = fleetprof_document_policy_add(&list,
                                              mod_fleetprof_slice(argv[i]));
        if (error != FLEETPROF_POLICY_OK) {
            return invalid(cmd, argv[i], fleetprof_policy_error_text(error));
        }
    }
    conf->policy = apr_pstrmemdup(cmd->pool, list.data, list.len);

    return NULL;
}

/* Returns NULL, or what is wrong with one of argc origins. */
static const char *check_origin(const char *origin, int argc)
{
    enum fleetprof_origin_error error;

    if (argc > 1
        && (strcasecmp(origin, "off") == 0 || strcmp(origin, "*") == 0)) {
        return ALONE;
    }
    if (expression_in(origin) != NULL || strstr(origin, "%{") != NULL) {
        return "an expression would let the request choose its own answer; "
               "write the origins out";
    }

    error = fleetprof_origin_check(mod_fleetprof_slice(origin));

    return error == FLEETPROF_ORIGIN_OK ? NULL
                                        : fleetprof_origin_error_text(error);
}

static const char *set_origins(cmd_parms *cmd, void *data, int argc,
                               char *const argv[])
{
    mod_fleetprof_conf *conf = data;
    char text[LIST_MAX];
    struct fleetprof_buffer list = { text, 0, sizeof(text) };
    const char *reason;
    int i;

    if (argc == 0) {
        return too_few(cmd);
    }
    if (argc == 1 && strcasecmp(argv[0], "off") == 0) {
        conf->origins = "";
        return NULL;
    }

    for (i = 0; i < argc; i++) {
        reason = check_origin(argv[i], argc);
        if (reason == NULL
            && !fleetprof_timing_allow_origin_add(
                   &list, mod_fleetprof_slice(argv[i]))) {
            reason = "the list is longer than 2048 bytes; name fewer origins";
        }
        if (reason != NULL) {
            return invalid(cmd, argv[i], reason);
        }
    }
    conf->origins = apr_pstrmemdup(cmd->pool, list.data, list.len);

    return NULL;
}

static const char *set_trial(cmd_parms *cmd, void *data, int argc,
                             char *const argv[])
{
    mod_fleetprof_conf *conf = data;
    char text[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer list = { text, 0, sizeof(text) };
    enum fleetprof_trial_error error;
    int i;

    if (argc == 0) {
        return too_few(cmd);
    }
    if (argc == 1 && strcasecmp(argv[0], "off") == 0) {
        conf->trial = "";
        return NULL;
    }

    for (i = 0; i < argc; i++) {
        error = fleetprof_trial_add(&list, mod_fleetprof_slice(argv[i]));
        if (error != FLEETPROF_TRIAL_OK) {
            return invalid(cmd, argv[i], fleetprof_trial_error_text(error));
        }
    }
    conf->trial = apr_pstrmemdup(cmd->pool, list.data, list.len);
    return NULL;
}

static const char *set_reports(cmd_parms *cmd, void *data, const char *url)
{
    mod_fleetprof_conf *conf = data;
    enum fleetprof_endpoint_error error;

    if (strcasecmp(url, "off") == 0) {
        conf->reports = "";
        return NULL;
    }
    if (expression_in(url) != NULL || strstr(url, "%{") != NULL) {
        return invalid(cmd, url, "an expression would let the request choose "
                       "where reports go; write the URL out");
    }

    error = fleetprof_endpoint_check(mod_fleetprof_slice(url));
    if (error != FLEETPROF_ENDPOINT_OK) {
        return invalid(cmd, url, fleetprof_endpoint_error_text(error));
    }
    conf->reports = url;

    return NULL;
}

/* Returns NULL, or what is wrong with one of argc types. */
static const char *check_type(const char *type, int argc)
{
    enum fleetprof_type_error error;

    if (argc > 1 && strcmp(type, "*") == 0) {
        return ALONE;
    }

    error = fleetprof_type_check(mod_fleetprof_slice(type));

    return error == FLEETPROF_TYPE_OK ? NULL
                                      : fleetprof_type_error_text(error);
}

static const char *set_types(cmd_parms *cmd, void *data, int argc,
                             char *const argv[])
{
    mod_fleetprof_conf *conf = data;
    struct fleetprof_types *types = apr_pcalloc(cmd->pool, sizeof(*types));
    struct fleetprof_slice *type;
    const char *reason;
    int i;

    if (argc == 0) {
        return too_few(cmd);
    }

    conf->types = types;
    if (argc == 1 && strcmp(argv[0], "*") == 0) {
        types->any = true;
        return NULL;
    }

    type = apr_palloc(cmd->pool, (size_t) argc * sizeof(*type));
    for (i = 0; i < argc; i++) {
        char *text = apr_pstrdup(cmd->pool, argv[i]);

        reason = check_type(text, argc);
        if (reason != NULL) {
            return invalid(cmd, text, reason);
        }
        ap_str_tolower(text);
        type[i] = mod_fleetprof_slice(text);
    }
    types->type = type;
    types->count = (size_t) argc;

    return NULL;
}

static const char *set_site(cmd_parms *cmd, void *data, const char *name)
{
    mod_fleetprof_conf *conf = data;

    if (!fleetprof_token_site_is_valid(name, strlen(name))) {
        return invalid(cmd, name, "it is not a site's name; write 1 to 64 of "
                       "A-Z a-z 0-9 . _ - as in the collector's configuration");
    }
    conf->site = name;

    return NULL;
}

static apr_status_t free_keys(void *keys)
{
    fleetprof_token_keys_free(keys);

    return APR_SUCCESS;
}

/* Returns what is wrong with a key file.  errno must be that of reading it. */
static const char *key_file_error(cmd_parms *cmd,
                                  struct fleetprof_key_result result)
{
    char text[128];
    const char *reason = fleetprof_key_error_text(result.error);

    if (result.error == FLEETPROF_KEY_UNREADABLE) {
        return apr_psprintf(cmd->temp_pool, "%s (%s)", reason,
                            apr_strerror(errno, text, sizeof(text)));
    }
    if (result.line > 0) {
        return apr_psprintf(cmd->temp_pool, "in line %u: %s", result.line,
                            reason);
    }

    return reason;
}

/* Runs as the user that starts httpd: the children need no access. */
static const char *set_token_key(cmd_parms *cmd, void *data, const char *name)
{
    mod_fleetprof_conf *conf = data;
    mod_fleetprof_keys *keys = apr_pcalloc(cmd->pool, sizeof(*keys));
    struct fleetprof_key_result result;
    const char *file;

    conf->keys = keys;
    if (strcasecmp(name, "off") == 0) {
        return NULL;
    }

    file = ap_server_root_relative(cmd->temp_pool, name);
    if (file == NULL) {
        return invalid(cmd, name, "it is not a path");
    }

    result = fleetprof_token_keys_load(file, &keys->keys);
    if (result.error != FLEETPROF_KEY_OK) {
        return invalid(cmd, name, key_file_error(cmd, result));
    }
    apr_pool_cleanup_register(cmd->pool, keys->keys, free_keys,
                              apr_pool_cleanup_null);

    return NULL;
}

const command_rec mod_fleetprof_directives[] = {
    AP_INIT_TAKE1("FleetProf", set_enabled, NULL, OR_FILEINFO,
                  "\"on\", \"off\" or \"expr=CONDITION\""),
    AP_INIT_TAKE12("FleetProfSample", set_sample, NULL, OR_FILEINFO,
                   "a rate such as \"1%\", \"1/2000\" or "
                   "\"expr=EXPRESSION\", and perhaps \"key=EXPRESSION\""),
    AP_INIT_TAKE_ARGV("FleetProfArms", set_arms, NULL, OR_FILEINFO,
                      "takes \"off\", or one or more experiments such as "
                      "\"chat=on:99,off:1\" and perhaps \"key=EXPRESSION\""),
    AP_INIT_TAKE_ARGV("FleetProfPolicy", set_policy, NULL, OR_FILEINFO,
                      "takes one or more members of Document-Policy"),
    AP_INIT_TAKE1("FleetProfUnsampled", set_choice, (void *) &unsampled,
                  OR_FILEINFO, "\"negative\" or \"omit\""),
    AP_INIT_TAKE1("FleetProfConflict", set_choice, (void *) &conflict,
                  OR_FILEINFO, "\"upstream\" or \"local\""),
    AP_INIT_TAKE_ARGV("FleetProfTypes", set_types, NULL, OR_FILEINFO,
                      "takes \"*\" or one or more media types"),
    AP_INIT_TAKE1("FleetProfAlways", set_choice, (void *) &always, OR_FILEINFO,
                  "\"on\" or \"off\""),
    AP_INIT_TAKE1("FleetProfNotModified", set_choice, (void *) &not_modified,
                  OR_FILEINFO, "\"auto\", \"send\" or \"omit\""),
    AP_INIT_TAKE1("FleetProfCacheable", set_choice, (void *) &cacheable,
                  OR_FILEINFO, "\"on\" or \"off\""),
    AP_INIT_TAKE1("FleetProfSite", set_site, NULL, OR_FILEINFO,
                  "the name of a site in the collector's configuration"),
    AP_INIT_TAKE1("FleetProfTokenKey", set_token_key, NULL,
                  RSRC_CONF | ACCESS_CONF, "\"off\" or a file with keys"),
    AP_INIT_TAKE1("FleetProfServerTiming", set_choice, (void *) &server_timing,
                  OR_FILEINFO, "\"on\" or \"off\""),
    AP_INIT_TAKE_ARGV("FleetProfOriginTrial", set_trial, NULL, OR_FILEINFO,
                      "takes \"off\" or one or more tokens"),
    AP_INIT_TAKE1("FleetProfReports", set_reports, NULL, OR_FILEINFO,
                  "\"off\" or the URL that crash reports go to"),
    AP_INIT_TAKE_ARGV("TimingAllowOrigin", set_origins, NULL, OR_FILEINFO,
                      "takes \"off\", \"*\" or one or more origins"),
    { NULL }
};
