/* SPDX-License-Identifier: Apache-2.0 */
/*
 * House: the environment of an upload, in a directory of its own: rules of one site, metrics, an
 * open spool, and connections to the public listener's code.
 */
#ifndef FP_TESTS_ALLOCATION_HOUSE_H
#define FP_TESTS_ALLOCATION_HOUSE_H

#include "failing.h"

#include "collector/base/clock.h"
#include "collector/config/config.h"
#include "tests/unit/directory.h"
#include "tests/unit/http/still.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#define HOUSE_PATIENCE_US (20 * FP_US_PER_S)

enum { HOUSE_REPLY_MAX = 16 * 1024 };

struct house {
    char directory[64];
    struct fp_metrics *metrics;
    struct fp_rules *rules; /* of the site `shop`, whose key is `pk` */
    struct fp_spool *spool;
};

static inline void house_load_rules(struct house *house)
{
    static const char settings[] = "listen: 127.0.0.1:8600\n"
                                   "database: dbname=x\n"
                                   "spool: {path: /s}\n"
                                   "sites: [{name: shop, key: pk, formats: "
                                   "[web, speed-tracer, opera-scope], origins: "
                                   "[\"https://shop.example\"], routes: [/product/:id]}]\n";
    char name[128];
    struct fp_buf errors;
    fp_buf_init(&errors, 16 * 1024);
    snprintf(name, sizeof(name), "%s/fleetprof.yaml", house->directory);
    FILE *file = fopen(name, "w");
    assert_true(file != NULL && fputs(settings, file) >= 0 && fclose(file) == 0);
    struct fp_config *config = fp_config_load(name, &errors);
    if (config == NULL)
        fail_msg("%.*s", (int)errors.len, (const char *)errors.data);
    house->rules = fp_rules_ref(config->rules);
    fp_config_free(config);
    fp_buf_release(&errors);
}

static inline void house_build(struct house *house)
{
    make_test_directory(house->directory, sizeof(house->directory), "allocation");
    house->metrics = fp_metrics_create();
    assert_non_null(house->metrics);
    house_load_rules(house);
    char path[128];
    snprintf(path, sizeof(path), "%s/spool", house->directory);
    const struct fp_spool_settings settings = {
        .path = path, .max_bytes = 256 << 20, .segment_bytes = 16 << 20};
    assert_int_equal(fp_spool_open(&settings, house->metrics, &house->spool, NULL), FP_SPOOL_OK);
}

static inline int house_remove_entry(const char *path, const struct stat *status, int type,
                                     struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline int house_demolish(struct house *house)
{
    fp_spool_close(house->spool);
    fp_rules_unref(house->rules);
    fp_metrics_free(house->metrics);
    return nftw(house->directory, house_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns the status of the only reply, 0 if none. Checks that a reply that asks for a retry says
 * when, and that every reply has the headers that let a page read it. */
static inline unsigned house_status_of(const char *reply)
{
    unsigned status = 0;
    if (reply[0] == '\0')
        return 0;
    assert_int_equal(sscanf(reply, "HTTP/1.1 %3u ", &status), 1);
    assert_true(status != 503 || strstr(reply, "\r\nRetry-After: ") != NULL);
    assert_non_null(strstr(reply, "\r\nAccess-Control-Allow-Origin: https://shop.example\r\n"));
    return status;
}

/* Serves one connection until the listener closes it. Returns the reply's status, 0 if none. */
static inline unsigned house_exchange(struct fp_http *http, const char *request, size_t request_len,
                                      char reply[HOUSE_REPLY_MAX + 1])
{
    size_t len = 0;
    int client = still_connect(http->daemon, request, request_len);
    if (client < 0)
        return 0;
    int64_t until_us = fp_clock_monotonic_us() + HOUSE_PATIENCE_US;
    while (still_receive(client, reply, HOUSE_REPLY_MAX, &len)) {
        MHD_run(http->daemon);
        (void)fp_turns_take(http->turns);
        struct pollfd wait = {.fd = client, .events = POLLIN};
        (void)poll(&wait, 1, 1);
        assert_true(fp_clock_monotonic_us() < until_us);
    }
    close(client);
    reply[len] = '\0';
    return house_status_of(reply);
}

#endif
