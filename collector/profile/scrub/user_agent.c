/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User-Agent: maps a header to one of a few families, by tables of the words that browsers write.
 *
 * A browser also names the browsers that it imitates, so the first match in a table's order wins.
 */
#include "collector/base/ascii.h"
#include "collector/profile/scrub/scrub.h"

enum { HEADER_MAX = 1024, VERSION_DIGITS_MAX = 6 };

struct word {
    const char *word;
    const char *meaning;
};

/* The version follows the word. */
static const struct word browsers[] = {
    {"Edg/", "Edge"},
    {"EdgA/", "Edge"},
    {"EdgiOS/", "Edge"},
    {"Edge/", "Edge"},
    {"OPR/", "Opera"},
    {"OPT/", "Opera"},
    {"OPiOS/", "Opera"},
    {"Opera/", "Opera"},
    {"SamsungBrowser/", "Samsung Internet"},
    {"YaBrowser/", "Yandex"},
    {"UCBrowser/", "UC Browser"},
    {"Vivaldi/", "Vivaldi"},
    {"FxiOS/", "Firefox"},
    {"Firefox/", "Firefox"},
    {"CriOS/", "Chrome"},
    {"HeadlessChrome/", "Chrome"},
    {"Chrome/", "Chrome"},
    {"Chromium/", "Chrome"},
    {"MSIE ", "Internet Explorer"},
    {"Trident/7.0; rv:", "Internet Explorer"},
    {"Version/", "Safari"},
};

static const struct word systems[] = {
    {"Windows", "Windows"}, {"CrOS", "ChromeOS"},   {"iPhone", "iOS"},     {"iPad", "iOS"},
    {"iPod", "iOS"},        {"Android", "Android"}, {"Mac OS X", "macOS"}, {"Macintosh", "macOS"},
    {"Linux", "Linux"},     {"X11", "Linux"},
};

/* Clients without a person: crawlers and automated browsers. */
static const struct word robots[] = {
    {"bot/", "bot"},           {"Bot/", "bot"},    {"bot;", "bot"},    {"AdsBot", "bot"},
    {"bot)", "bot"},           {"crawler", "bot"}, {"Crawler", "bot"}, {"spider", "bot"},
    {"Spider", "bot"},         {"slurp", "bot"},   {"Slurp", "bot"},   {"Lighthouse", "bot"},
    {"HeadlessChrome", "bot"}, {"PTST/", "bot"},
};

static const struct word devices[] = {
    {"iPad", "tablet"},   {"Tablet", "tablet"}, {"Mobile", "mobile"},
    {"iPhone", "mobile"}, {"iPod", "mobile"},   {"Android", "tablet"}, /* without `Mobile` */
};

/* Returns the text after the first occurrence of word; ptr is NULL if none. */
static struct fp_str find_after(struct fp_str header, const char *word)
{
    size_t len = strlen(word);
    const char *found = header.len > 0 ? memmem(header.ptr, header.len, word, len) : NULL;
    if (found == NULL)
        return (struct fp_str){NULL, 0};
    const char *after = found + len;
    return (struct fp_str){after, (size_t)(header.ptr + header.len - after)};
}

static const struct word *find_word(struct fp_str header, const struct word *words, size_t count,
                                    struct fp_str *after)
{
    for (size_t i = 0; i < count; i++) {
        *after = find_after(header, words[i].word);
        if (after->ptr != NULL)
            return &words[i];
    }
    return NULL;
}

static struct fp_str meaning_of(struct fp_str header, const struct word *words, size_t count)
{
    struct fp_str after;
    const struct word *word = find_word(header, words, count, &after);
    return word != NULL ? fp_str_of(word->meaning) : FP_STR("");
}

static uint32_t leading_number(struct fp_str text)
{
    uint32_t number = 0;
    for (size_t i = 0; i < text.len && i < VERSION_DIGITS_MAX; i++) {
        if (!fp_is_digit(text.ptr[i]))
            break;
        number = number * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    return number;
}

static bool is_desktop(struct fp_str os)
{
    return fp_str_equal(os, FP_STR("Windows")) || fp_str_equal(os, FP_STR("macOS")) ||
           fp_str_equal(os, FP_STR("Linux")) || fp_str_equal(os, FP_STR("ChromeOS"));
}

static struct fp_str find_device(struct fp_str header, struct fp_str os)
{
    struct fp_str robot = meaning_of(header, robots, FP_COUNT(robots));
    if (robot.len > 0)
        return robot;
    struct fp_str device = meaning_of(header, devices, FP_COUNT(devices));
    return device.len == 0 && is_desktop(os) ? FP_STR("desktop") : device;
}

struct fp_user_agent fp_user_agent_parse(struct fp_str header)
{
    if (header.len > HEADER_MAX)
        header.len = HEADER_MAX;
    struct fp_user_agent agent = {.os = meaning_of(header, systems, FP_COUNT(systems))};
    agent.device = find_device(header, agent.os);
    struct fp_str after;
    const struct word *browser = find_word(header, browsers, FP_COUNT(browsers), &after);
    if (browser != NULL) {
        agent.browser = fp_str_of(browser->meaning);
        agent.version = leading_number(after);
    } else {
        agent.browser = FP_STR("");
    }
    return agent;
}
