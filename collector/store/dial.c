/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dial: a list of places (host, address, port), and one attempt of libpq's after the other.
 */
#include "collector/store/dial.h"

#include "collector/base/clock.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>

enum {
    PLACES_MAX = 64, /* the message about it has the number */
    ADDRESSES_MAX = 64,
    PARAMETERS_MAX = 96, /* libpq 18 knows 53 */
    MESSAGE_MAX = 2048,
    ADDRESS_SIZE = INET6_ADDRSTRLEN + IF_NAMESIZE,
    TIMEOUT_MAX_S = 600, /* nobody waits longer, whatever is given */
};

/* An element of the lists of hosts, of addresses and of ports. "": not given. */
struct dial_place {
    const char *host;
    const char *address;
    const char *port;
};

struct fp_dial {
    PQconninfoOption *options; /* of the string, its service, the environment and libpq; owned */
    char *channel_binding, *password; /* which they lack; owned */
    char *hosts, *numbers, *ports;    /* the lists, cut into their elements; owned */
    struct dial_place places[PLACES_MAX];
    size_t place_count;
    size_t next_place;
    char addresses[ADDRESSES_MAX][ADDRESS_SIZE]; /* of the last place that was looked up */
    size_t address_count;
    size_t next_address;
    const char *session;     /* target_session_attrs of this round; NULL: any */
    bool has_second_round;   /* prefer-standby: then any server will do */
    bool is_random;          /* load_balance_hosts */
    bool ends;               /* no more attempts */
    bool heard;              /* an attempt failed before its limit */
    int64_t timeout_us;      /* of an attempt */
    int64_t end_us;          /* of all */
    int64_t limit_us;        /* of this attempt */
    int64_t deadline_us;     /* its end */
    PGconn *connection;      /* this attempt; owned */
    struct dial_place where; /* it goes */
    short events;            /* it waits for; 0: it is to go on at once */
    struct fp_failure failure;
    char message[MESSAGE_MAX];
};

/* ---- options ---- */

/* An option with a value of our own. */
struct own_option {
    const char *name;
    const char *value;
};

/*
 * Returns all options as libpq would use them, with two of our own. Only libpq knows how services,
 * environment and strings add up, and only a connection tells; so it is asked for one that it
 * refuses before it connects, for the wrong value of the first option. The second one keeps it from
 * reading the file of passwords, about which it may print warnings. The caller calls
 * PQconninfoFree. NULL: out of memory.
 */
static PQconninfoOption *expand(const struct fp_dial_settings *settings,
                                const struct own_option own[2])
{
    const char *names[FP_DIAL_OPTIONS_MAX + 3] = {NULL};
    const char *values[FP_DIAL_OPTIONS_MAX + 3] = {NULL};
    size_t count = 0;
    for (; count < FP_DIAL_OPTIONS_MAX && settings->names[count] != NULL; count++) {
        names[count] = settings->names[count];
        values[count] = settings->values[count];
    }
    for (size_t i = 0; i < 2; i++) {
        names[count + i] = own[i].name;
        values[count + i] = own[i].value;
    }
    PGconn *refused = PQconnectStartParams(names, values, 1);
    PQconninfoOption *options = refused != NULL ? PQconninfo(refused) : NULL;
    PQfinish(refused);
    return options;
}

/* Returns the value of an option; "" if it has none. */
static const char *option(const PQconninfoOption *options, const char *name)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, name) == 0)
            return options->val != NULL ? options->val : "";
    return "";
}

/* Returns what libpq was compiled with. */
static const char *compiled_option(const PQconninfoOption *options, const char *name)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, name) == 0)
            return options->compiled != NULL ? options->compiled : "";
    return "";
}

/* ---- messages ---- */

static void say(struct fp_dial *dial, const char *format, ...) FP_PRINTF(2, 3);

/* Appends a line to the message, unless it is there already: a second round may repeat the first.
 */
static void say(struct fp_dial *dial, const char *format, ...)
{
    char line[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (size_t end = strlen(line); end > 0 && line[end - 1] == '\n'; end--)
        line[end - 1] = '\0';
    size_t len = strlen(dial->message);
    if (strstr(dial->message, line) == NULL)
        snprintf(dial->message + len, MESSAGE_MAX - len, "%s%s", len > 0 ? "\n" : "", line);
}

/* Ends the search for a reason that no server gave. */
static void refuse(struct fp_dial *dial, const char *text)
{
    say(dial, "%s", text);
    dial->heard = dial->ends = true;
}

/* ---- places ---- */

/* Cuts a list at its commas into the elements. Returns how many it has; 0: it is empty. */
static size_t cut(char *list, const char *elements[PLACES_MAX + 1])
{
    size_t count = 0;
    if (list[0] == '\0')
        return 0;
    for (char *at = list; at != NULL && count <= PLACES_MAX;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        elements[count++] = at;
        at = comma;
    }
    return count;
}

/* Returns a number below the limit, at random. */
static size_t draw(size_t limit)
{
    uint32_t number = 0;
    (void)!getrandom(&number, sizeof(number), 0);
    return number % limit;
}

static void shuffle_places(struct fp_dial *dial)
{
    for (size_t i = dial->place_count; i > 1; i--) {
        size_t other = draw(i);
        struct dial_place place = dial->places[i - 1];
        dial->places[i - 1] = dial->places[other];
        dial->places[other] = place;
    }
}

/* Reads the three lists. False: they do not match. */
static bool read_places(struct fp_dial *dial)
{
    const char *hosts[PLACES_MAX + 1], *numbers[PLACES_MAX + 1], *ports[PLACES_MAX + 1];
    size_t host_count = cut(dial->hosts, hosts);
    size_t number_count = cut(dial->numbers, numbers);
    size_t port_count = cut(dial->ports, ports);
    size_t count = number_count > 0 ? number_count : host_count > 0 ? host_count : 1;
    if ((host_count > 0 && host_count != count) || (port_count > 1 && port_count != count))
        return false;
    if (count > PLACES_MAX) {
        refuse(dial, "the connection string names more than 64 hosts");
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const char *port = port_count == 0 ? "" : ports[port_count == 1 ? 0 : i];
        dial->places[i] = (struct dial_place){
            .host = host_count > 0 ? hosts[i] : "",
            .address = number_count > 0 ? numbers[i] : "",
            .port = port[0] != '\0' ? port : compiled_option(dial->options, "port"),
        };
    }
    dial->place_count = count;
    return true;
}

/* Reads connect_timeout, as libpq does in a connection that it waits for. */
static bool read_timeout(struct fp_dial *dial)
{
    const char *text = option(dial->options, "connect_timeout");
    char *rest;
    errno = 0;
    long seconds = strtol(text, &rest, 10);
    rest += strspn(rest, " \t\n\v\f\r");
    bool is_valid = *rest == '\0' && errno == 0 && seconds >= INT32_MIN && seconds <= INT32_MAX;
    if (seconds <= 0)
        seconds = FP_DIAL_TIMEOUT_S;
    dial->timeout_us = (seconds < TIMEOUT_MAX_S ? seconds : TIMEOUT_MAX_S) * FP_US_PER_S;
    return is_valid;
}

static void read_session(struct fp_dial *dial)
{
    const char *session = option(dial->options, "target_session_attrs");
    dial->has_second_round = strcmp(session, "prefer-standby") == 0;
    dial->session = dial->has_second_round ? "standby" : session;
    dial->is_random = strcmp(option(dial->options, "load_balance_hosts"), "random") == 0;
}

/* True if two answers of libpq are the same except for our own options. Without memory, libpq
 * leaves values out and does not say so: a host that is left out would be another server. */
static bool is_same(const PQconninfoOption *options, const PQconninfoOption *others)
{
    static const char *const own[] = {"channel_binding", "password", "sslmode", "passfile"};
    for (; options->keyword != NULL; options++) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            is_own = is_own || strcmp(options->keyword, own[i]) == 0;
        const char *value = options->val != NULL ? options->val : "";
        if (!is_own && strcmp(value, option(others, options->keyword)) != 0)
            return false;
    }
    return true;
}

/* Lets libpq say what is wrong with the options: it refuses them before it connects. If it does
 * not, it lacked memory before. */
static void refuse_options(struct fp_dial *dial, const struct fp_dial_settings *settings)
{
    PGconn *connection = PQconnectStartParams(settings->names, settings->values, 1);
    bool is_refused = connection != NULL && PQstatus(connection) == CONNECTION_BAD;
    refuse(dial, is_refused ? PQerrorMessage(connection) : "out of memory");
    PQfinish(connection);
}

/* Reads all options. False: out of memory. */
static bool read_options(struct fp_dial *dial, const struct fp_dial_settings *settings)
{
    static const struct own_option own[] = {{"channel_binding", "?"}, {"password", "?"}};
    static const struct own_option other[] = {{"sslmode", "?"}, {"passfile", "/nonexistent"}};
    dial->options = expand(settings, own);
    PQconninfoOption *others = expand(settings, other);
    if (dial->options == NULL || others == NULL || !is_same(dial->options, others)) {
        PQconninfoFree(others);
        return false;
    }
    bool is_read = strcmp(option(dial->options, own[0].name), own[0].value) == 0;
    dial->channel_binding = strdup(option(others, own[0].name));
    dial->password = strdup(option(others, own[1].name));
    PQconninfoFree(others);
    dial->hosts = strdup(option(dial->options, "host"));
    dial->numbers = strdup(option(dial->options, "hostaddr"));
    dial->ports = strdup(option(dial->options, "port"));
    if (dial->channel_binding == NULL || dial->password == NULL || dial->hosts == NULL ||
        dial->numbers == NULL || dial->ports == NULL)
        return false;
    if (!is_read || !read_places(dial)) {
        refuse_options(dial, settings);
        return true;
    }
    if (!read_timeout(dial)) {
        say(dial, "invalid integer value \"%s\" for connection option \"connect_timeout\"",
            option(dial->options, "connect_timeout"));
        dial->heard = dial->ends = true;
    }
    read_session(dial);
    if (dial->is_random)
        shuffle_places(dial);
    return true;
}

struct fp_dial *fp_dial_begin(const struct fp_dial_settings *settings)
{
    struct fp_dial *dial = calloc(1, sizeof(*dial));
    if (dial == NULL)
        return NULL;
    dial->end_us = settings->end_us;
    if (read_options(dial, settings))
        return dial;
    fp_dial_end(dial);
    return NULL;
}

void fp_dial_end(struct fp_dial *dial)
{
    if (dial == NULL)
        return;
    PQfinish(dial->connection);
    PQconninfoFree(dial->options);
    free(dial->channel_binding);
    free(dial->password);
    free(dial->hosts);
    free(dial->numbers);
    free(dial->ports);
    free(dial);
}

/* ---- addresses ---- */

static bool has_address(const struct fp_dial *dial, const char *address)
{
    for (size_t i = 0; i < dial->address_count; i++)
        if (strcmp(dial->addresses[i], address) == 0)
            return true;
    return false;
}

static void add_address(struct fp_dial *dial, const char *address)
{
    if (dial->address_count == ADDRESSES_MAX || has_address(dial, address))
        return;
    size_t at = dial->address_count++;
    size_t other = dial->is_random ? draw(at + 1) : at;
    memmove(dial->addresses[at], dial->addresses[other], ADDRESS_SIZE);
    snprintf(dial->addresses[other], ADDRESS_SIZE, "%s", address);
}

/* Looks up a host's addresses. */
static void resolve(struct fp_dial *dial, const struct dial_place *place)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char text[ADDRESS_SIZE];
    int error = getaddrinfo(place->host, NULL, &wanted, &found);
    for (const struct addrinfo *at = found; error == 0 && at != NULL; at = at->ai_next)
        if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) ==
            0)
            add_address(dial, text);
    if (error == 0)
        freeaddrinfo(found);
    if (dial->address_count > 0)
        return;
    dial->heard = true;
    say(dial, "could not translate host name \"%s\" to address: %s", place->host,
        error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error != 0 ? error : EAI_NONAME));
}

/* Returns whether the host is a name or an address, not a socket's directory. */
static bool is_name(const char *host)
{
    return host[0] != '\0' && host[0] != '/' && host[0] != '@';
}

/* Finds the next place to try. False: there is none left in this round. */
static bool find_next(struct fp_dial *dial)
{
    while (dial->next_address == dial->address_count) {
        if (dial->next_place == dial->place_count)
            return false;
        dial->where = dial->places[dial->next_place++];
        dial->next_address = dial->address_count = 0;
        if (dial->where.address[0] != '\0' || !is_name(dial->where.host))
            return true;
        resolve(dial, &dial->where);
    }
    dial->where.address = dial->addresses[dial->next_address++];
    return true;
}

/* ---- attempts ---- */

struct parameters {
    const char *names[PARAMETERS_MAX + 1];
    const char *values[PARAMETERS_MAX + 1];
    size_t count;
};

static void add_parameter(struct parameters *parameters, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0' || parameters->count == PARAMETERS_MAX)
        return;
    parameters->names[parameters->count] = name;
    parameters->values[parameters->count++] = value;
}

/* Returns whether an attempt has its own value for an option, or must not have any. */
static bool is_replaced(const char *name)
{
    static const char *const replaced[] = {"host",
                                           "hostaddr",
                                           "port",
                                           "target_session_attrs",
                                           "load_balance_hosts",
                                           "channel_binding",
                                           "password"};
    for (size_t i = 0; i < FP_COUNT(replaced); i++)
        if (strcmp(name, replaced[i]) == 0)
            return true;
    return strncmp(name, "service", strlen("service")) == 0;
}

/* Begins an attempt at one place. */
static bool start(struct fp_dial *dial)
{
    struct parameters parameters = {.count = 0};
    for (const PQconninfoOption *at = dial->options; at->keyword != NULL; at++)
        if (!is_replaced(at->keyword))
            add_parameter(&parameters, at->keyword, at->val);
    add_parameter(&parameters, "channel_binding", dial->channel_binding);
    add_parameter(&parameters, "password", dial->password);
    /* libpq's own place. Without a host, the environment's whole list would take its place; a list
     * of two empty ones does not. */
    bool is_default = dial->where.host[0] == '\0' && dial->where.address[0] == '\0';
    add_parameter(&parameters, "host", is_default ? "," : dial->where.host);
    add_parameter(&parameters, "hostaddr", dial->where.address);
    add_parameter(&parameters, "port", dial->where.port);
    add_parameter(&parameters, "target_session_attrs", dial->session);
    dial->connection = PQconnectStartParams(parameters.names, parameters.values, 0);
    if (dial->connection == NULL) {
        refuse(dial, "out of memory");
        return false;
    }
    /* A refused connection's SQLSTATE is only available in this form. */
    (void)PQsetErrorVerbosity(dial->connection, PQERRORS_VERBOSE);
    dial->events = PQstatus(dial->connection) == CONNECTION_BAD ? 0 : POLLOUT;
    return true;
}

/* Limits an attempt: to its own time, and to its share of what is left for all. */
static void set_deadline(struct fp_dial *dial)
{
    int64_t now_us = fp_clock_monotonic_us();
    int64_t limit_us = dial->timeout_us;
    if (dial->end_us != INT64_MAX) {
        size_t attempts =
            1 + dial->address_count - dial->next_address + dial->place_count - dial->next_place;
        int64_t share_us = (dial->end_us - now_us) / (int64_t)attempts;
        if (share_us < limit_us)
            limit_us = share_us > 0 ? share_us : 0;
    }
    dial->limit_us = limit_us;
    dial->deadline_us = now_us + limit_us;
}

/* Begins the next attempt. False: there is none left, or the search has ended. */
static bool start_next(struct fp_dial *dial)
{
    bool found = !dial->ends && find_next(dial);
    if (!found && !dial->ends && dial->has_second_round) {
        dial->has_second_round = false;
        dial->session = NULL;
        dial->next_place = dial->next_address = dial->address_count = 0;
        found = find_next(dial);
    }
    if (!found || !start(dial))
        return false;
    set_deadline(dial);
    return true;
}

static void drop(struct fp_dial *dial)
{
    PQfinish(dial->connection);
    dial->connection = NULL;
}

/* Returns whether another host would refuse us as well: the role, its password or the database. */
static bool is_final(const struct fp_failure *failure)
{
    return failure->lacks_password || strncmp(failure->sqlstate, "28", 2) == 0 ||
           strncmp(failure->sqlstate, "3D", 2) == 0;
}

/* Says why an attempt failed. With an address, libpq names only that: this also names the host. */
static void say_failure(struct fp_dial *dial, const char *text)
{
    char prefix[ADDRESS_SIZE + 40];
    snprintf(prefix, sizeof(prefix), "connection to server at \"%s\"", dial->where.address);
    bool is_named = dial->where.host[0] != '\0' && dial->where.address[0] != '\0' &&
                    strcmp(dial->where.host, dial->where.address) != 0 &&
                    strncmp(text, prefix, strlen(prefix)) == 0;
    if (is_named)
        say(dial, "connection to server at \"%s\" (%s)%s", dial->where.host, dial->where.address,
            text + strlen(prefix));
    else
        say(dial, "%s", text);
}

/* True if the reason is missing: libpq had no memory for it. */
static bool lacks_reason(const char *text)
{
    static const char ending[] = "failed:";
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\n'))
        len--;
    return len == 0 || (len >= strlen(ending) &&
                        memcmp(text + len - strlen(ending), ending, strlen(ending)) == 0);
}

/* Notes why libpq's attempt failed, and ends it. */
static void note_failure(struct fp_dial *dial)
{
    struct fp_failure failure;
    char text[MESSAGE_MAX];
    fp_failure_begin(&failure, dial->connection);
    fp_failure_read(&failure, PQerrorMessage(dial->connection), text, sizeof(text));
    say_failure(dial, lacks_reason(text) ? "out of memory" : text);
    dial->heard = true;
    bool says_more = failure.sqlstate[0] != '\0' || failure.is_read_only;
    bool said_more = dial->failure.sqlstate[0] != '\0' || dial->failure.is_read_only;
    if (says_more || !said_more)
        dial->failure = failure;
    dial->ends = dial->ends || is_final(&failure);
    drop(dial);
}

/* Notes that the time limit passed, in libpq's words for a place. */
static void note_silence(struct fp_dial *dial)
{
    const char *host = PQhost(dial->connection);
    const char *address = PQhostaddr(dial->connection);
    const char *port = PQport(dial->connection);
    bool is_local = host != NULL && (host[0] == '/' || host[0] == '@');
    bool is_named =
        host != NULL && address != NULL && address[0] != '\0' && strcmp(address, host) != 0;
    double limit_s = (double)dial->limit_us / FP_US_PER_S;
    if (is_local)
        say(dial, "connection to server on socket \"%s/.s.PGSQL.%s\" failed: no answer in %.3g s",
            host, port, limit_s);
    else
        say(dial, "connection to server at \"%s\"%s%s%s, port %s failed: no answer in %.3g s", host,
            is_named ? " (" : "", is_named ? address : "", is_named ? ")" : "", port, limit_s);
    drop(dial);
}

static bool is_ready(const struct fp_dial *dial)
{
    struct pollfd socket = {.fd = PQsocket(dial->connection), .events = dial->events};
    return dial->events == 0 || poll(&socket, 1, 0) != 0;
}

enum fp_dial_result fp_dial_step(struct fp_dial *dial, struct fp_dial_wait *wait)
{
    while (dial->connection != NULL || start_next(dial)) {
        if (is_ready(dial)) {
            PostgresPollingStatusType status = PQconnectPoll(dial->connection);
            if (status == PGRES_POLLING_OK)
                return FP_DIAL_OPEN;
            dial->events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
            if (status == PGRES_POLLING_FAILED)
                note_failure(dial);
        } else if (fp_clock_monotonic_us() >= dial->deadline_us) {
            note_silence(dial);
        } else {
            *wait =
                (struct fp_dial_wait){PQsocket(dial->connection), dial->events, dial->deadline_us};
            return FP_DIAL_WAITS;
        }
    }
    return FP_DIAL_FAILED;
}

PGconn *fp_dial_take(struct fp_dial *dial)
{
    PGconn *connection = dial->connection;
    dial->connection = NULL;
    (void)PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    return connection;
}

const char *fp_dial_message(const struct fp_dial *dial)
{
    return dial->message;
}

const struct fp_failure *fp_dial_failure(const struct fp_dial *dial)
{
    return &dial->failure;
}

bool fp_dial_was_silent(const struct fp_dial *dial)
{
    return !dial->heard;
}

/* ---- waiting ---- */

PGconn *fp_dial_finish(struct fp_dial *dial)
{
    struct fp_dial_wait wait;
    enum fp_dial_result result;
    while ((result = fp_dial_step(dial, &wait)) == FP_DIAL_WAITS) {
        struct pollfd socket = {.fd = wait.fd, .events = wait.events};
        int64_t left_us = wait.until_us - fp_clock_monotonic_us();
        (void)poll(&socket, 1, left_us > 0 ? (int)(left_us / FP_US_PER_MS) + 1 : 0);
    }
    return result == FP_DIAL_OPEN ? fp_dial_take(dial) : NULL;
}

PGconn *fp_dial_connect(const struct fp_dial_settings *settings, char *message, size_t size)
{
    struct fp_dial *dial = fp_dial_begin(settings);
    PGconn *connection = dial != NULL ? fp_dial_finish(dial) : NULL;
    snprintf(message, size, "%s", dial != NULL ? dial->message : "out of memory");
    fp_dial_end(dial);
    return connection;
}
