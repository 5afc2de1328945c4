/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol Buffers: the wire format.
 */
#include "cli/export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, WIRE_BITS = 3 };

void fp_protobuf_add_varint(struct fp_buf *message, int64_t number)
{
    uint8_t bytes[10];
    size_t len = 0;
    uint64_t rest = (uint64_t)number;
    for (; rest > 0x7F; rest >>= 7)
        bytes[len++] = (uint8_t)(rest | 0x80);
    bytes[len++] = (uint8_t)rest;
    fp_buf_add(message, bytes, len);
}

void fp_protobuf_add_number(struct fp_buf *message, unsigned field, int64_t number)
{
    if (number == 0)
        return;
    fp_protobuf_add_varint(message, (int64_t)field << WIRE_BITS | WIRE_VARINT);
    fp_protobuf_add_varint(message, number);
}

void fp_protobuf_add_bytes(struct fp_buf *message, unsigned field, struct fp_str bytes)
{
    fp_protobuf_add_varint(message, (int64_t)field << WIRE_BITS | WIRE_LENGTH);
    fp_protobuf_add_varint(message, (int64_t)bytes.len);
    fp_buf_add(message, bytes.ptr, bytes.len);
}

void fp_protobuf_add_message(struct fp_buf *message, unsigned field, struct fp_buf *part)
{
    fp_protobuf_add_bytes(
        message, field, (struct fp_str){part->len > 0 ? (const char *)part->data : "", part->len});
    message->failed = message->failed || part->failed;
    fp_buf_clear(part);
}
