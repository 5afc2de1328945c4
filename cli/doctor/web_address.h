/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Web address: URLs as browsers resolve and compare them, by libcurl's parser.
 *
 * Returned texts are malloc'd and the caller frees them. One thread.
 */
#ifndef FP_CLI_DOCTOR_WEB_ADDRESS_H
#define FP_CLI_DOCTOR_WEB_ADDRESS_H

#include "collector/base/base.h"

/* The parts of an http or https URL. The texts are malloc'd. */
struct fp_web_address {
    char *scheme;   /* in lower case */
    char *host;     /* in lower case; an IPv6 address in brackets */
    char *port;     /* as digits, also if it is the scheme's own */
    char *path;     /* starts with a slash */
    char *user;     /* NULL: none */
    char *password; /* NULL: none */
};

/* Parses an absolute http or https URL. False: it is not one; then nothing is held. */
bool fp_web_address_parse(const char *url, struct fp_web_address *address) FP_MUST_CHECK;
void fp_web_address_release(struct fp_web_address *address);

/* Returns `reference` resolved against `base`, without credentials and fragment. NULL if the
 * result is not an http or https URL. */
char *fp_web_resolve(const char *base, const char *reference) FP_MUST_CHECK;

/* Returns the origin (RFC 6454 §6.2), such as "https://shop.example"; NULL if the URL is not http
 * or https. */
char *fp_web_origin(const char *url) FP_MUST_CHECK;

/* True if both URLs have the same origin. */
bool fp_web_same_origin(const char *one, const char *other) FP_MUST_CHECK;

/* Returns the URL with `?parameter` or `&parameter` appended to its query. */
char *fp_web_with(const char *url, const char *parameter) FP_MUST_CHECK;

#endif
