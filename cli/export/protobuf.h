/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol Buffers: appends fields in their wire format. The format has no more than this: a
 * varint, and bytes with their length (https://protobuf.dev/programming-guides/encoding/).
 */
#ifndef FP_CLI_EXPORT_PROTOBUF_H
#define FP_CLI_EXPORT_PROTOBUF_H

#include "collector/base/buf.h"

/* Appends a number without its field, as in a packed list. Negative ones take ten bytes. */
void fp_protobuf_add_varint(struct fp_buf *message, int64_t number);

/* Appends a field that is a number. 0, which is what an absent field means, is left out. */
void fp_protobuf_add_number(struct fp_buf *message, unsigned field, int64_t number);

/* Appends a field that has a length: a text, a packed list or another message. */
void fp_protobuf_add_bytes(struct fp_buf *message, unsigned field, struct fp_str bytes);

/* Appends another message as a field, and empties it. */
void fp_protobuf_add_message(struct fp_buf *message, unsigned field, struct fp_buf *part);

#endif
