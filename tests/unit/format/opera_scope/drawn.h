/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawn: random Opera Scope sessions, independent of their form. Every form must decode to them.
 */
#ifndef FP_TEST_FORMAT_OPERA_SCOPE_DRAWN_H
#define FP_TEST_FORMAT_OPERA_SCOPE_DRAWN_H

#include "opera_scope_test.h"

enum { LISTS_MAX = 6, EVENTS_MAX = 12 };

/* xorshift64: the same sessions every time. */
static uint64_t random_state = 88172645463325252;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

/* A session, independent of its form. Arrays are indexed by field number; negative: absent. */
struct event {
    double numbers[10]; /* those of an Event up to aggregatedOverhead; 4: the interval's start */
    double end;
    double detail[6];
    uint32_t text; /* tells texts apart */
};

struct list {
    double request[5]; /* those of a GetEventsArg up to maxDepth */
    uint32_t type_count;
    uint32_t types[3];
    double start, end;
    uint32_t event_count;
    struct event events[EVENTS_MAX];
};

struct session {
    uint32_t list_count;
    struct list lists[LISTS_MAX];
};

static double maybe(double number)
{
    return draw(3) == 0 ? -1 : number;
}

static void make_event(struct event *event, uint32_t index)
{
    const double start = draw(1000) / 8.0;
    const double numbers[10] = {1 + draw(13),
                                draw(64) / 16.0,
                                draw(8) / 16.0,
                                draw(9),
                                maybe(start),
                                maybe(index + 1),
                                index > 0 ? maybe(draw(index + 2)) : -1,
                                maybe(draw(4)),
                                maybe(draw(99) / 16.0),
                                maybe(draw(9) / 16.0)};
    memcpy(event->numbers, numbers, sizeof(numbers));
    event->end = maybe(start + draw(80) / 8.0);
    for (size_t i = 0; i < 6; i++)
        event->detail[i] = i < 4 ? draw(12) : maybe(draw(900));
    event->text = draw(5);
}

static void make_list(struct list *list, uint32_t number)
{
    const double request[5] = {7, 1 + number % 3, maybe(1 + draw(4)), maybe(draw(3)),
                               maybe(number)};
    memcpy(list->request, request, sizeof(request));
    list->type_count = draw(4);
    for (uint32_t i = 0; i < list->type_count; i++)
        list->types[i] = draw(12);
    list->start = maybe(draw(9));
    list->end = maybe(10 + draw(9));
    list->event_count = draw(EVENTS_MAX);
    for (uint32_t i = 0; i < list->event_count; i++)
        make_event(&list->events[i], i);
}

static void make_session(struct session *session)
{
    session->list_count = 1 + draw(LISTS_MAX);
    for (uint32_t i = 0; i < session->list_count; i++)
        make_list(&session->lists[i], i);
}

#endif
