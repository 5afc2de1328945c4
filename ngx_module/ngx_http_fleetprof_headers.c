/* SPDX-License-Identifier: Apache-2.0 */

/*
 * nginx keeps header fields in lists of parts.  A field with a zero hash is
 * not sent.  Keys are compared by their bytes: lowcase_key is not always set.
 */


#include "ngx_http_fleetprof_module.h"


/* returns the next field after "*i" in "*part" with this name, or NULL */

static ngx_table_elt_t *
ngx_http_fleetprof_next(ngx_list_part_t **part, ngx_uint_t *i, ngx_str_t *name)
{
    ngx_table_elt_t  *h, *last;

    for ( ;; ) {
        h = (*part)->elts;
        last = h + (*part)->nelts;

        for (h += *i; h < last; h++) {

            if (h->key.len == name->len
                && h->hash != 0
                && (ngx_memcmp(h->key.data, name->data, name->len) == 0
                    || ngx_strncasecmp(h->key.data, name->data, name->len)
                       == 0))
            {
                *i = h - (ngx_table_elt_t *) (*part)->elts + 1;
                return h;
            }
        }

        if ((*part)->next == NULL) {
            *i = (*part)->nelts;
            return NULL;
        }

        *part = (*part)->next;
        *i = 0;
    }
}


uint32_t
ngx_http_fleetprof_lengths(ngx_http_request_t *r)
{
    uint32_t          lengths;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    lengths = 0;

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            lengths |= (uint32_t) 1 << (h[i].key.len & 31);
        }
    }

    return lengths;
}


ngx_int_t
ngx_http_fleetprof_lines(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name, struct fleetprof_slice *lines)
{
    ngx_int_t         n;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    if (!(lengths >> name->len & 1)) {
        return 0;
    }

    n = 0;
    i = 0;
    part = &r->headers_out.headers.part;

    while ((h = ngx_http_fleetprof_next(&part, &i, name)) != NULL) {

        if (n == NGX_HTTP_FLEETPROF_MAX_LINES) {
            return NGX_DECLINED;
        }

        lines[n++] = ngx_http_fleetprof_slice(&h->value);
    }

    return n;
}


struct fleetprof_slice
ngx_http_fleetprof_request_field(ngx_http_request_t *r, ngx_str_t *name)
{
    ngx_str_t         none = ngx_null_string;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    i = 0;
    part = &r->headers_in.headers.part;
    h = ngx_http_fleetprof_next(&part, &i, name);

    return ngx_http_fleetprof_slice(h ? &h->value : &none);
}


void
ngx_http_fleetprof_remove(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    if (!(lengths >> name->len & 1)) {
        return;
    }

    i = 0;
    part = &r->headers_out.headers.part;

    while ((h = ngx_http_fleetprof_next(&part, &i, name)) != NULL) {
        h->hash = 0;
    }
}


/*
 * Moves the first n lines of a field after the lines added since, and drops
 * metrics with our name.
 */

static ngx_int_t
ngx_http_fleetprof_move_timings(ngx_http_request_t *r, ngx_str_t *name,
    ngx_uint_t n)
{
    ngx_str_t         value;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    i = 0;
    part = &r->headers_out.headers.part;

    while (n-- && (h = ngx_http_fleetprof_next(&part, &i, name)) != NULL) {
        h->hash = 0;
        value = h->value;

        if (fleetprof_server_timing_names_us(ngx_http_fleetprof_slice(&value)))
        {
            value.data = ngx_pnalloc(r->pool, value.len);
            if (value.data == NULL) {
                return NGX_ERROR;
            }

            value.len = fleetprof_server_timing_others(
                                          ngx_http_fleetprof_slice(&h->value),
                                          (char *) value.data);
            if (value.len == 0) {
                continue;
            }
        }

        if (ngx_http_fleetprof_add(r, &h->key, &value) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_fleetprof_add_timing(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name, ngx_str_t *value)
{
    ngx_uint_t        i, n;
    ngx_list_part_t  *part;

    n = 0;

    if (lengths >> name->len & 1) {
        i = 0;
        part = &r->headers_out.headers.part;

        while (ngx_http_fleetprof_next(&part, &i, name) != NULL) {
            n++;
        }
    }

    if (ngx_http_fleetprof_add(r, name, value) != NGX_OK) {
        return NGX_ERROR;
    }

    return n == 0 ? NGX_OK : ngx_http_fleetprof_move_timings(r, name, n);
}


ngx_int_t
ngx_http_fleetprof_add(ngx_http_request_t *r, ngx_str_t *name,
    ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
    h->key = *name;
    h->value = *value;
    h->lowcase_key = NULL;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif

    return NGX_OK;
}


ngx_int_t
ngx_http_fleetprof_add_copy(ngx_http_request_t *r, ngx_str_t *name,
    struct fleetprof_slice value)
{
    ngx_str_t  copy;

    copy.len = value.len;
    copy.data = ngx_pnalloc(r->pool, value.len);

    if (copy.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(copy.data, value.data, value.len);

    return ngx_http_fleetprof_add(r, name, &copy);
}
