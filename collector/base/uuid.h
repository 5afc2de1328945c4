/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UUID: reading, writing, drawing and deriving them (RFC 9562). Any thread.
 */
#ifndef FP_BASE_UUID_H
#define FP_BASE_UUID_H

#include "collector/base/base.h"

#define FP_UUID_TEXT_LEN 36

/* Reads the 36-character form, either case, any version. False when text is something else. */
bool fp_uuid_parse(struct fp_str text, struct fp_uuid *uuid) FP_MUST_CHECK;

/* Writes the lower-case form and a NUL. */
void fp_uuid_format(const struct fp_uuid *uuid, char text[FP_UUID_TEXT_LEN + 1]);

/* Draws a random UUID (version 4) from the system. False when the system gives no random bytes. */
bool fp_uuid_random(struct fp_uuid *uuid) FP_MUST_CHECK;

/*
 * Makes a UUID (version 7): the time in milliseconds, then 74 random bits. Ids made one after
 * another are neighbours in an index. False when the system gives no random bytes.
 */
bool fp_uuid_timed(struct fp_uuid *uuid) FP_MUST_CHECK;

/* Derives a UUID (version 8) from the hash of some bytes: equal bytes give equal ids. */
struct fp_uuid fp_uuid_of_bytes(const void *bytes, size_t len);

/* Derives the UUID (version 8) of a numbered part of `whole`. */
struct fp_uuid fp_uuid_of_part(const struct fp_uuid *whole, uint32_t number);

#endif
