/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UUID: converts between 36 characters and 16 bytes; draws random ones and derives them from
 * hashes.
 */
#include "collector/base/uuid.h"

#include "collector/base/ascii.h"
#include "collector/base/clock.h"

#include <endian.h>
#include <errno.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool hyphen_at(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

bool fp_uuid_parse(struct fp_str text, struct fp_uuid *uuid)
{
    if (text.len != FP_UUID_TEXT_LEN)
        return false;
    struct fp_uuid parsed;
    size_t count = 0;
    for (size_t at = 0; at < FP_UUID_TEXT_LEN;) {
        if (hyphen_at(at)) {
            if (text.ptr[at++] != '-')
                return false;
            continue;
        }
        int high = fp_hex_value(text.ptr[at]);
        int low = fp_hex_value(text.ptr[at + 1]);
        if (high < 0 || low < 0)
            return false;
        parsed.bytes[count++] = (uint8_t)(high * 16 + low);
        at += 2;
    }
    *uuid = parsed;
    return true;
}

void fp_uuid_format(const struct fp_uuid *uuid, char text[FP_UUID_TEXT_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
        if (hyphen_at(at))
            text[at++] = '-';
        text[at++] = digits[uuid->bytes[i] >> 4];
        text[at++] = digits[uuid->bytes[i] & 15];
    }
    text[at] = '\0';
}

static void set_version(struct fp_uuid *uuid, unsigned version)
{
    uuid->bytes[6] = (uint8_t)((uuid->bytes[6] & 0x0f) | version << 4);
    uuid->bytes[8] = (uint8_t)((uuid->bytes[8] & 0x3f) | 0x80); /* RFC 9562's variant */
}

/* Fills a UUID with random bytes. False: unchanged. */
static bool draw(struct fp_uuid *uuid)
{
    struct fp_uuid drawn;
    ssize_t got;
    do {
        got = getrandom(drawn.bytes, sizeof(drawn.bytes), 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(drawn.bytes))
        return false;
    *uuid = drawn;
    return true;
}

bool fp_uuid_random(struct fp_uuid *uuid)
{
    if (!draw(uuid))
        return false;
    set_version(uuid, 4);
    return true;
}

bool fp_uuid_timed(struct fp_uuid *uuid)
{
    enum { TIME_LEN = 6 };
    if (!draw(uuid))
        return false;
    uint64_t now_ms = htobe64((uint64_t)(fp_clock_real_us() / FP_US_PER_MS) << 16);
    memcpy(uuid->bytes, &now_ms, TIME_LEN);
    set_version(uuid, 7);
    return true;
}

struct fp_uuid fp_uuid_of_bytes(const void *bytes, size_t len)
{
    struct fp_uuid uuid;
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, len));
    memcpy(uuid.bytes, hash.digest, sizeof(uuid.bytes));
    set_version(&uuid, 8);
    return uuid;
}

struct fp_uuid fp_uuid_of_part(const struct fp_uuid *whole, uint32_t number)
{
    const struct {
        struct fp_uuid whole;
        uint32_t number;
    } part = {*whole, htole32(number)};
    return fp_uuid_of_bytes(&part, sizeof(part));
}
