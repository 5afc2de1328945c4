/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, frame: one line of a recording, in either form of a frame.
 */
#include "collector/format/opera_scope/frame.h"

#include "collector/format/opera_scope/message.h"
#include "collector/format/opera_scope/opera_scope.h"

enum { FRAME_SERVICE, FRAME_COMMAND, FRAME_STATUS, FRAME_TAG, FRAME_MESSAGE };
enum { STP_SERVICE, STP_KIND, STP_COMMAND, STP_FORMAT, STP_TAG, STP_STATUS };

#define STP_PREFIX FP_STR("STP/1 ")
#define STP_BINARY FP_STR("STP\x01")
#define STP_FORMAT_JSON 1
#define STATUS_INTERNAL_ERROR 4

static bool is_service_char(char c)
{
    return fp_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

struct fp_str fp_scope_skip_space(struct fp_str text)
{
    const struct fp_str mark = FP_JSON_BYTE_ORDER_MARK;
    if (fp_str_has_prefix(text, mark))
        text = fp_str_skip(text, mark.len);
    while (text.len > 0 && fp_json_is_space(text.ptr[0]))
        text = fp_str_skip(text, 1);
    return text;
}

bool fp_opera_scope_is_recording(struct fp_str body)
{
    struct fp_str text = fp_scope_skip_space(body);
    if (fp_str_has_prefix(text, STP_PREFIX) || fp_str_has_prefix(text, STP_BINARY))
        return true;
    if (!fp_str_has_prefix(text, FP_STR("[\"")))
        return false;
    size_t at = 2;
    while (at < text.len && is_service_char(text.ptr[at]))
        at++;
    return fp_str_has_prefix(fp_str_skip(text, at), FP_STR("\","));
}

static bool fail_frame(struct fp_decoder *decoder, const char *why)
{
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL, "this is not a frame: %s", why);
}

/* Reads an unsigned integer of a list; 0 if the list ends before it. */
static bool get_number(struct fp_decoder *decoder, yyjson_val *list, size_t index, uint32_t *number)
{
    yyjson_val *value = yyjson_arr_get(list, index);
    *number = 0;
    return value == NULL || yyjson_is_null(value) || fp_scope_get_uint(value, number) ||
           fail_frame(decoder, "command, status and tag must be numbers");
}

/* Reads the command, a number from 1. */
static bool get_command(struct fp_decoder *decoder, yyjson_val *list, size_t index,
                        struct fp_scope_frame *frame)
{
    return get_number(decoder, list, index, &frame->command) &&
           (frame->command > 0 || fail_frame(decoder, "it has no command"));
}

static bool is_profiler(yyjson_val *list)
{
    return yyjson_equals_str(yyjson_arr_get(list, 0), "profiler");
}

static bool check_service(struct fp_decoder *decoder, yyjson_val *list)
{
    return yyjson_is_str(yyjson_arr_get(list, 0)) ||
           fail_frame(decoder, "it must be a list that begins with a service's name");
}

/* Refuses a message that is not JSON. format: its name. */
static bool fail_format(struct fp_decoder *decoder, const char *format)
{
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                      "the message of this frame is %s; only UMS/JSON (format 1) is read, for "
                      "which a client can ask",
                      format);
}

/* Refuses a message that is a text: JSON's are lists or objects. */
static bool check_json(struct fp_decoder *decoder, const struct fp_scope_frame *frame)
{
    if (!yyjson_is_str(frame->message) || frame->status != 0)
        return true;
    bool is_xml = yyjson_get_str(frame->message)[0] == '<';
    return fail_format(decoder, is_xml ? "XML" : "a text, such as UMS/protobuf in base64");
}

static bool read_list(struct fp_decoder *decoder, yyjson_val *list, struct fp_scope_frame *frame)
{
    *frame = (struct fp_scope_frame){.is_of_service = is_profiler(list),
                                     .place = {.index = FRAME_MESSAGE}};
    if (!frame->is_of_service)
        return check_service(decoder, list);
    frame->message = yyjson_arr_get(list, FRAME_MESSAGE);
    return get_command(decoder, list, FRAME_COMMAND, frame) &&
           get_number(decoder, list, FRAME_STATUS, &frame->status) &&
           get_number(decoder, list, FRAME_TAG, &frame->tag) && check_json(decoder, frame);
}

static bool read_stp_header(struct fp_decoder *decoder, yyjson_val *list,
                            struct fp_scope_frame *frame)
{
    static const char *const formats[] = {"UMS/protobuf (format 0)", "UMS/JSON (format 1)",
                                          "XML (format 2)"};
    uint32_t kind = FP_SCOPE_KIND_UNKNOWN;
    uint32_t format = 0;
    *frame = (struct fp_scope_frame){.is_of_service = is_profiler(list)};
    if (!frame->is_of_service)
        return check_service(decoder, list);
    if (!get_number(decoder, list, STP_KIND, &kind) ||
        !get_command(decoder, list, STP_COMMAND, frame) ||
        !get_number(decoder, list, STP_FORMAT, &format) ||
        !get_number(decoder, list, STP_TAG, &frame->tag) ||
        !get_number(decoder, list, STP_STATUS, &frame->status))
        return false;
    if (kind == FP_SCOPE_KIND_UNKNOWN || kind >= FP_SCOPE_KIND_COUNT)
        return fail_frame(decoder, "its kind must be 1 to 4");
    frame->kind = (enum fp_scope_kind)kind;
    if (frame->kind == FP_SCOPE_KIND_ERROR && frame->status == 0)
        frame->status = STATUS_INTERNAL_ERROR;
    frame->is_json = format == STP_FORMAT_JSON;
    return frame->is_json || frame->status != 0 ||
           fail_format(decoder,
                       format < FP_COUNT(formats) ? formats[format] : "in an unknown format");
}

/* Parses a part of a line. Makes the offset of an error one into the line. */
static bool parse(struct fp_decoder *decoder, struct fp_str line, struct fp_str part,
                  struct fp_json *json)
{
    if (fp_json_parse(part, decoder->limits->json_depth, decoder->arena, json, decoder->error) ==
        FP_VERDICT_OK)
        return true;
    if (decoder->error->offset >= 0)
        decoder->error->offset += part.ptr - line.ptr;
    return false;
}

/* Splits "LENGTH LISTMESSAGE". False if it does not have this form. */
static bool split_stp(struct fp_str text, struct fp_str *header, struct fp_str *message)
{
    size_t header_len = 0;
    size_t at = 0;
    for (; at < text.len && fp_is_digit(text.ptr[at]); at++) {
        header_len = header_len * 10 + (size_t)(text.ptr[at] - '0');
        if (header_len > text.len)
            return false;
    }
    if (at == 0 || at == text.len || text.ptr[at] != ' ' || header_len > text.len - at - 1)
        return false;
    *header = (struct fp_str){text.ptr + at + 1, header_len};
    *message = (struct fp_str){header->ptr + header_len, text.len - at - 1 - header_len};
    return true;
}

static bool read_plain(struct fp_decoder *decoder, struct fp_str line, struct fp_scope_frame *frame)
{
    struct fp_json json;
    if (!parse(decoder, line, line, &json))
        return false;
    bool read = read_list(decoder, json.root, frame);
    frame->json = json;
    return read;
}

/* Reads a frame in the second form. text: the line after "STP/1 ". Does not read the message of an
 * error, which need not be JSON. */
static bool read_stp(struct fp_decoder *decoder, struct fp_str line, struct fp_str text,
                     struct fp_scope_frame *frame)
{
    struct fp_str header;
    struct fp_str message;
    struct fp_json json;
    if (!split_stp(text, &header, &message))
        return fp_fail_at(decoder, FP_VERDICT_MALFORMED, NULL,
                          "this is not a frame: STP/1 is followed by the length of the header, a "
                          "space, the header and the message");
    if (!parse(decoder, line, header, &json))
        return false;
    bool read = read_stp_header(decoder, json.root, frame);
    fp_json_release(&json);
    if (!read || !frame->is_of_service || !frame->is_json)
        return read;
    if (!parse(decoder, line, message, &frame->json))
        return false;
    frame->message = frame->json.root;
    return true;
}

bool fp_scope_frame_read(struct fp_decoder *decoder, struct fp_str line,
                         struct fp_scope_frame *frame)
{
    const struct fp_str text = fp_scope_skip_space(line);
    *frame = (struct fp_scope_frame){.is_of_service = false};
    if (fp_str_has_prefix(text, STP_BINARY))
        return fp_fail_at(decoder, FP_VERDICT_UNSUPPORTED, NULL,
                          "this is STP/1 as it goes over the wire, whose headers are UMS/protobuf; "
                          "only frames as text with messages in UMS/JSON are read");
    return fp_str_has_prefix(text, STP_PREFIX)
               ? read_stp(decoder, line, fp_str_skip(text, STP_PREFIX.len), frame)
               : read_plain(decoder, line, frame);
}

void fp_scope_frame_release(struct fp_scope_frame *frame)
{
    if (frame->json.doc != NULL)
        fp_json_release(&frame->json);
}
