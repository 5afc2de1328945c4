/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload address: makes a URL from `listen` and `sites` of a configuration.
 */
#include "cli/feed/upload_address.h"

#include "cli/kit/message.h"
#include "collector/format/format.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

static const struct fp_site *choose_site(const struct fp_rules *rules, const char *name)
{
    if (name == NULL && rules->site_count == 1)
        return &rules->sites[0];
    for (size_t i = 0; name != NULL && i < rules->site_count; i++) {
        if (fp_str_equal(rules->sites[i].name, fp_str_of(name)))
            return &rules->sites[i];
    }
    if (name == NULL)
        fp_message_error("no site was named, and the configuration has several");
    else
        fp_message_error("the configuration has no site named \"%s\"", name);
    struct fp_buf names;
    fp_buf_init(&names, 4096);
    for (size_t i = 0; i < rules->site_count; i++)
        fp_buf_addf(&names, "%s%s", i > 0 ? ", " : "", rules->sites[i].name.ptr);
    fp_message_hint("Give --site NAME: %.*s.", (int)names.len, (const char *)names.data);
    fp_buf_release(&names);
    return NULL;
}

/* Writes "127.0.0.1:8600" or "[::1]:8600". Linux reaches "any" addresses as loopback. */
static bool write_host(const struct fp_address *address, char *host, size_t size)
{
    char ip[INET6_ADDRSTRLEN], port[8];
    if (getnameinfo((const struct sockaddr *)&address->sa, address->len, ip, sizeof(ip), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    bool brackets = address->sa.ss_family == AF_INET6;
    return snprintf(host, size, "%s%s%s:%s", brackets ? "[" : "", ip, brackets ? "]" : "", port) <
           (int)size;
}

bool fp_upload_address_find(const struct fp_config *config, const char *site,
                            struct fp_upload_address *target)
{
    const struct fp_site *chosen = choose_site(config->rules, site);
    if (chosen == NULL)
        return false;
    char host[INET6_ADDRSTRLEN + 16] = "localhost";
    bool fine = true;
    target->site = chosen;
    target->unix_socket[0] = '\0';
    if (config->listen.sa.ss_family == AF_UNIX) {
        struct sockaddr_un sa;
        memcpy(&sa, &config->listen.sa, sizeof(sa));
        (void)snprintf(target->unix_socket, sizeof(target->unix_socket), "%.*s",
                       (int)sizeof(sa.sun_path), sa.sun_path);
    } else {
        fine = write_host(&config->listen, host, sizeof(host));
    }
    int len =
        snprintf(target->url, sizeof(target->url), "http://%s/v1/ingest/%s", host, chosen->key.ptr);
    if (fine && len < (int)sizeof(target->url))
        return true;
    fp_message_error("the configuration's address and key make no URL");
    return false;
}

bool fp_upload_address_complete(const struct fp_config *config, const char *site,
                                struct fp_upload_address *found, struct fp_upload_target *target)
{
    if (target->url != NULL)
        return true;
    if (config == NULL) {
        fp_message_error("no collector was named");
        fp_message_hint("Give --url URL or --config FILE.");
        return false;
    }
    if (!fp_upload_address_find(config, site, found))
        return false;
    target->url = found->url;
    if (found->unix_socket[0] != '\0')
        target->unix_socket = found->unix_socket;
    return true;
}

bool fp_upload_is_taken(const struct fp_site *site, const char *format)
{
    return (fp_formats_named(fp_str_of(format)) & ~site->closed_formats) != 0;
}
