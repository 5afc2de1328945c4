/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: packs as arrays in PostgreSQL's binary format (its manual, "COPY", and array_send): a
 * header, then each element with its length, numbers big-endian.
 */
#include "collector/pack/pack.h"

#include <endian.h>

/* A field that holds an array: its length, then the array's header. An empty array has no
 * dimension, and so neither length nor lower_bound. */
struct header {
    uint32_t field_len;
    uint32_t dimensions;
    uint32_t has_nulls;
    uint32_t type_oid;
    uint32_t length;
    uint32_t lower_bound;
} __attribute__((packed));

enum {
    EMPTY_LEN = offsetof(struct header, length),
    ARRAY_LEN = sizeof(struct header),
    FIELD_LEN = sizeof(uint32_t), /* what field_len does not count */
    ELEMENT_LEN = sizeof(uint32_t)
};

struct element16 {
    uint32_t len;
    uint16_t value;
} __attribute__((packed));

struct element32 {
    uint32_t len;
    uint32_t value;
} __attribute__((packed));

struct element64 {
    uint32_t len;
    uint64_t value;
} __attribute__((packed));

/* PostgreSQL's numbers of the types of elements (catalog pg_type). */
static uint32_t oid_of(enum fp_pack_type type)
{
    static const uint32_t oids[FP_PACK_TYPE_COUNT] = {
        [FP_PACK_KEY_ID] = 20, [FP_PACK_KEY_NUMBER] = 21, [FP_PACK_COUNT] = 23,
        [FP_PACK_SUM] = 20,    [FP_PACK_SQUARES] = 700,   [FP_PACK_DOUBLE] = 701,
        [FP_PACK_LEAST] = 20,  [FP_PACK_GREATEST] = 20,
    };
    return oids[type];
}

/* Returns the length of a column's field without FIELD_LEN. */
static size_t field_len(enum fp_pack_type type, size_t count)
{
    return count == 0 ? EMPTY_LEN - FIELD_LEN
                      : ARRAY_LEN - FIELD_LEN + count * (ELEMENT_LEN + fp_pack_type_size(type));
}

static struct header make_header(enum fp_pack_type type, size_t count)
{
    return (struct header){
        .field_len = htobe32((uint32_t)field_len(type, count)),
        .dimensions = htobe32(count > 0),
        .type_oid = htobe32(oid_of(type)),
        .length = htobe32((uint32_t)count),
        .lower_bound = htobe32(1),
    };
}

static void write16(const uint16_t *values, size_t count, struct element16 *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct element16){htobe32(sizeof(*values)), htobe16(values[i])};
}

static void write32(const uint32_t *values, size_t count, struct element32 *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct element32){htobe32(sizeof(*values)), htobe32(values[i])};
}

static void write64(const uint64_t *values, size_t count, struct element64 *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct element64){htobe32(sizeof(*values)), htobe64(values[i])};
}

void fp_pack_encode_column(const struct fp_pack *pack, size_t column, struct fp_buf *out)
{
    enum fp_pack_type type = pack->shape->columns[column].type;
    const void *values = pack->columns[column];
    size_t count = pack->count;
    size_t header_len = count > 0 ? ARRAY_LEN : EMPTY_LEN;
    size_t len = FIELD_LEN + field_len(type, count);
    uint8_t *to = fp_buf_reserve(out, len);
    if (to == NULL)
        return;
    struct header header = make_header(type, count);
    memcpy(to, &header, header_len);
    switch (fp_pack_type_size(type)) {
    case sizeof(uint16_t):
        write16(values, count, (void *)(to + header_len));
        break;
    case sizeof(uint32_t):
        write32(values, count, (void *)(to + header_len));
        break;
    default:
        write64(values, count, (void *)(to + header_len));
    }
    out->len += len;
}

void fp_pack_encode(const struct fp_pack *pack, struct fp_buf *out)
{
    for (size_t i = 0; i < pack->shape->column_count; i++)
        fp_pack_encode_column(pack, i, out);
}

/* Reads a header, and what follows is as long as it says. False: it is not one of a column of this
 * type. */
static bool read_header(enum fp_pack_type type, const uint8_t *bytes, const uint8_t *end,
                        size_t *count)
{
    struct header header = {.lower_bound = htobe32(1)};
    size_t left = (size_t)(end - bytes);
    if (left < EMPTY_LEN)
        return false;
    memcpy(&header, bytes, left < ARRAY_LEN ? EMPTY_LEN : ARRAY_LEN);
    bool is_empty = header.dimensions == 0;
    *count = is_empty ? 0 : be32toh(header.length);
    if (!is_empty && (left < ARRAY_LEN || *count == 0 || *count > FP_PACK_ENTRIES_MAX))
        return false;
    size_t len = field_len(type, *count);
    struct header expected = make_header(type, *count);
    return left - FIELD_LEN >= len &&
           memcmp(&header, &expected, is_empty ? EMPTY_LEN : ARRAY_LEN) == 0;
}

static bool read16(const struct element16 *elements, size_t count, uint16_t *values)
{
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        differences |= elements[i].len ^ htobe32(sizeof(*values));
        values[i] = be16toh(elements[i].value);
    }
    return differences == 0;
}

static bool read32(const struct element32 *elements, size_t count, uint32_t *values)
{
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        differences |= elements[i].len ^ htobe32(sizeof(*values));
        values[i] = be32toh(elements[i].value);
    }
    return differences == 0;
}

static bool read64(const struct element64 *elements, size_t count, uint64_t *values)
{
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        differences |= elements[i].len ^ htobe32(sizeof(*values));
        values[i] = be64toh(elements[i].value);
    }
    return differences == 0;
}

/* Reads an array's elements behind the pack's entries. */
static bool read_elements(struct fp_pack *pack, size_t column, const uint8_t *bytes, size_t count)
{
    size_t size = fp_pack_type_size(pack->shape->columns[column].type);
    void *to = (uint8_t *)pack->columns[column] + pack->count * size;
    switch (size) {
    case sizeof(uint16_t):
        return read16((const void *)bytes, count, to);
    case sizeof(uint32_t):
        return read32((const void *)bytes, count, to);
    default:
        return read64((const void *)bytes, count, to);
    }
}

/* The rest of a tuple. */
struct tuple {
    const uint8_t *at;
    const uint8_t *end;
    size_t count; /* entries, the length of each array */
};

/* Puts what stands for the missing values of a column behind the pack's entries. */
static void fill_column(struct fp_pack *pack, size_t column, size_t count)
{
    const struct fp_pack_column *columns = pack->shape->columns;
    const size_t size = fp_pack_type_size(columns[column].type);
    const size_t begin = pack->count * size;
    if (count == 0)
        return;
    memset((uint8_t *)pack->columns[column] + begin, 0, count * size);
    for (size_t i = 0; i < column; i++)
        if (strcmp(columns[i].name, columns[column].like) == 0)
            memcpy((uint8_t *)pack->columns[column] + begin, (uint8_t *)pack->columns[i] + begin,
                   count * size);
}

/* Reads the null of a row that an earlier version wrote. */
static bool read_null(struct fp_pack *pack, size_t column, struct tuple *tuple)
{
    const uint32_t null = htobe32(UINT32_MAX);
    if (pack->shape->columns[column].like == NULL ||
        (size_t)(tuple->end - tuple->at) < sizeof(null) ||
        memcmp(tuple->at, &null, sizeof(null)) != 0)
        return false;
    fill_column(pack, column, tuple->count);
    tuple->at += sizeof(null);
    return true;
}

static bool read_array(struct fp_pack *pack, size_t column, struct tuple *tuple)
{
    const enum fp_pack_type type = pack->shape->columns[column].type;
    size_t count;
    if (!read_header(type, tuple->at, tuple->end, &count))
        return false;
    if (column == 0)
        tuple->count = count;
    if (count != tuple->count || (column == 0 && !fp_pack_reserve(pack, count)) ||
        (count > 0 && !read_elements(pack, column, tuple->at + ARRAY_LEN, count)))
        return false;
    tuple->at += FIELD_LEN + field_len(type, count);
    return true;
}

bool fp_pack_decode(struct fp_pack *pack, const uint8_t **bytes, const uint8_t *end)
{
    struct tuple tuple = {.at = *bytes, .end = end};
    for (size_t i = 0; i < pack->shape->column_count; i++)
        if (!read_null(pack, i, &tuple) && !read_array(pack, i, &tuple))
            return false;
    pack->count += tuple.count;
    *bytes = tuple.at;
    return true;
}
