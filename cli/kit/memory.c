/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a command: allocations that succeed or end the process.
 */
#include "cli/kit/memory.h"

#include "cli/kit/message.h"

#include <stdarg.h>
#include <stdlib.h>

_Noreturn void fp_memory_end(void)
{
    fp_message_error("out of memory");
    exit(FP_EXIT_TROUBLE);
}

void *fp_memory_need(void *pointer)
{
    if (pointer == NULL)
        fp_memory_end();
    return pointer;
}

char *fp_memory_copy(const char *text)
{
    return fp_memory_need(strdup(text));
}

char *fp_memory_print(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    return fp_memory_need(len < 0 ? NULL : text);
}

void *fp_memory_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 64;
    return fp_memory_need(reallocarray(array, *capacity, size));
}

const char *fp_memory_text(struct fp_buf *buf)
{
    fp_buf_add(buf, "", 1);
    if (buf->failed)
        fp_memory_end();
    return (const char *)buf->data;
}
