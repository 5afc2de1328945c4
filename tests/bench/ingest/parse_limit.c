/*
 * The limit: inflates and parses one gzip body again and again, and does nothing with it.
 *
 * Prints microseconds of processor time per body. usage: parse_limit BODY.gz SECONDS
 */
#include <libdeflate.h>
#include <yyjson.h>

#define MAX_BODY (8u << 20)
#define MAX_INFLATED (64u << 20)

static bool parse_once(struct libdeflate_decompressor *inflater, const char *body, size_t body_len,
                       char *json)
{
    size_t json_len = 0;
    if (libdeflate_gzip_decompress(inflater, body, body_len, json, MAX_INFLATED, &json_len) !=
        LIBDEFLATE_SUCCESS)
        return false;
    yyjson_doc *document = yyjson_read(json, json_len, 0);
    yyjson_doc_free(document);
    return document != NULL;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    static char body[MAX_BODY];
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: parse_limit BODY.gz SECONDS\n");
        return 2;
    }
    size_t body_len = fread(body, 1, sizeof(body), file);
    fclose(file);

    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    char *json = malloc(MAX_INFLATED);
    double until = cpu_seconds() + strtod(argv[2], NULL);
    double began = cpu_seconds();
    unsigned long count = 0;
    while (json != NULL && cpu_seconds() < until) {
        if (!parse_once(inflater, body, body_len, json)) {
            fprintf(stderr, "parse_limit: %s does not inflate to JSON\n", argv[1]);
            return 1;
        }
        count++;
    }
    printf("{\"count\":%lu,\"cpu_us\":%.2f}\n", count,
           (cpu_seconds() - began) * 1e6 / (double)count);
    free(json);
    libdeflate_free_decompressor(inflater);
    return 0;
}
