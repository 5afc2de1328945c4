/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User-Agent: real headers and their families.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/user_agent.c"

#define WEBKIT "AppleWebKit/537.36 (KHTML, like Gecko) "
#define IOS "AppleWebKit/605.1.15 (KHTML, like Gecko) "

static const struct {
    const char *header;
    const char *kept; /* browser version os device */
} agents[] = {
    {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " WEBKIT "Chrome/156.0.0.0 Safari/537.36",
     "Chrome 156 Windows desktop"},
    {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " WEBKIT "Chrome/156.0.0.0 Safari/537.36",
     "Chrome 156 macOS desktop"},
    {"Mozilla/5.0 (Linux; Android 10; K) " WEBKIT "Chrome/156.0.0.0 Mobile Safari/537.36",
     "Chrome 156 Android mobile"},
    {"Mozilla/5.0 (Linux; Android 10; K) " WEBKIT "Chrome/156.0.0.0 Safari/537.36",
     "Chrome 156 Android tablet"},
    {"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) " WEBKIT "Chrome/156.0.0.0 Safari/537.36",
     "Chrome 156 ChromeOS desktop"},
    {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " WEBKIT
     "Chrome/156.0.0.0 Safari/537.36 Edg/156.0.3240.50",
     "Edge 156 Windows desktop"},
    {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " WEBKIT
     "Chrome/150.0.0.0 Safari/537.36 OPR/124.0.0.0",
     "Opera 124 Windows desktop"},
    {"Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) " WEBKIT
     "SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36",
     "Samsung Internet 29 Android mobile"},
    {"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
     "Firefox 145 Linux desktop"},
    {"Mozilla/5.0 (Android 15; Tablet; rv:145.0) Gecko/145.0 Firefox/145.0",
     "Firefox 145 Android tablet"},
    {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " IOS "Version/18.1 Safari/605.1.15",
     "Safari 18 macOS desktop"},
    {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) " IOS
     "Version/18.1 Mobile/15E148 Safari/604.1",
     "Safari 18 iOS mobile"},
    {"Mozilla/5.0 (iPad; CPU OS 16_1 like Mac OS X) " IOS "Version/16.1 Mobile/15E148 Safari/604.1",
     "Safari 16 iOS tablet"},
    {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) " IOS
     "CriOS/156.0.0.0 Mobile/15E148 Safari/604.1",
     "Chrome 156 iOS mobile"},
    {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) " IOS
     "FxiOS/145.0 Mobile/15E148 Safari/605.1.15",
     "Firefox 145 iOS mobile"},
    {"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
     "Internet Explorer 11 Windows desktop"},
    {"Mozilla/5.0 (X11; Linux x86_64) " WEBKIT "HeadlessChrome/156.0.0.0 Safari/537.36",
     "Chrome 156 Linux bot"},
    {"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) " WEBKIT
     "Chrome/156.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1)",
     "Chrome 156 Android bot"},
    {"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", " 0  bot"},
    {"Mozilla/5.0 (Linux; Android 9; CUBOT_X18) " WEBKIT "Chrome/120.0.0.0 Mobile Safari/537.36",
     "Chrome 120 Android mobile"},
    {"Mozilla/5.0 (Linux; Android 10; HD1913) " WEBKIT
     "Chrome/120.0.0.0 Mobile Safari/537.36 EdgA/119.0.2151.92",
     "Edge 119 Android mobile"},
    {"Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) " IOS
     "Version/17.0 EdgiOS/120.0 Mobile/15E148 Safari/605.1.15",
     "Edge 120 iOS mobile"},
    {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " WEBKIT
     "Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763",
     "Edge 18 Windows desktop"},
    {"Mozilla/5.0 (iPhone; CPU iPhone OS 16_5 like Mac OS X) " IOS
     "Version/16.5 Mobile/15E148 Safari/9537.53 OPT/3.4.0",
     "Opera 3 iOS mobile"},
    {"Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X) " IOS
     "OPiOS/16.0.15 Mobile/14D27 Safari/9537.53",
     "Opera 16 iOS mobile"},
    {"Opera/9.80 (X11; Linux i686) Presto/2.12.388 Version/12.16", "Opera 9 Linux desktop"},
    {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " WEBKIT
     "Chrome/118.0.0.0 YaBrowser/23.11.0.2 Safari/537.36",
     "Yandex 23 Windows desktop"},
    {"Mozilla/5.0 (Linux; U; Android 13; en-US) " WEBKIT
     "Version/4.0 Chrome/100.0.0.0 UCBrowser/13.4.0 Mobile Safari/537.36",
     "UC Browser 13 Android mobile"},
    {"Mozilla/5.0 (X11; Linux x86_64) " WEBKIT "Chrome/118.0.0.0 Safari/537.36 Vivaldi/6.4",
     "Vivaldi 6 Linux desktop"},
    {"Mozilla/5.0 (X11; Fedora) " WEBKIT "Chromium/90.0.4430.212 Safari/537.36",
     "Chrome 90 Linux desktop"},
    {"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)",
     "Internet Explorer 8 Windows desktop"},
    {"Mozilla/5.0 (iPod; U; CPU iPod like) " IOS "Version/3.0 Safari/419.3", "Safari 3 iOS mobile"},
    {"Mozilla/5.0 (Macintosh; PPC; rv:60.0) Gecko/20100101 Firefox/60.0",
     "Firefox 60 macOS desktop"},
    {"YandexBot/3.0", " 0  bot"},
    {"Twitterbot; x", " 0  bot"},
    {"ExampleBot/1.0", " 0  bot"},
    {"AdsBot-Google (+http://www.google.com/adsbot.html)", " 0  bot"},
    {"Mozilla/5.0 (compatible; examplebot)", " 0  bot"},
    {"a-crawler", " 0  bot"},
    {"Crawler", " 0  bot"},
    {"Baiduspider", " 0  bot"},
    {"Spider", " 0  bot"},
    {"yahoo! slurp", " 0  bot"},
    {"Yahoo! Slurp", " 0  bot"},
    {"Mozilla/5.0 (Linux; Android 11) " WEBKIT
     "Chrome/119.0.0.0 Mobile Safari/537.36 Chrome-Lighthouse",
     "Chrome 119 Android bot"},
    {"Mozilla/5.0 (X11; Linux x86_64) " WEBKIT "Chrome/119.0.0.0 Safari/537.36 PTST/231",
     "Chrome 119 Linux bot"},
    {"Mozilla/5.0 (iPhone; U; CPU like Mac OS X)", " 0 iOS mobile"},
    {"curl/8.5.0", " 0  "},
    {"", " 0  "},
    {"Chrome/99999999999999999999", "Chrome 999999  "},
    {"Chrome/", "Chrome 0  "},
};

static void keeps_family_major_version_system_and_kind_of_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(agents); i++) {
        struct fp_user_agent agent = fp_user_agent_parse(fp_str_of(agents[i].header));
        char kept[128];
        snprintf(kept, sizeof(kept), "%.*s %u %.*s %.*s", FP_STR_ARG(agent.browser), agent.version,
                 FP_STR_ARG(agent.os), FP_STR_ARG(agent.device));
        if (strcmp(kept, agents[i].kept) != 0)
            fail_msg("%s: %s", agents[i].header, kept);
    }
}

/* Each row decides for one of the headers: without the row, that header's family would be another.
 */
static void check_rows(const struct word *words, size_t count)
{
    struct fp_str after;
    for (size_t i = 0; i < count; i++) {
        bool decides = false;
        for (size_t j = 0; j < FP_COUNT(agents) && !decides; j++)
            decides = find_word(fp_str_of(agents[j].header), words, count, &after) == &words[i];
        if (!decides)
            fail_msg("no header has %s", words[i].word);
    }
}

static void each_word_has_a_header(void **state)
{
    (void)state;
    check_rows(browsers, FP_COUNT(browsers));
    check_rows(systems, FP_COUNT(systems));
    check_rows(robots, FP_COUNT(robots));
    check_rows(devices, FP_COUNT(devices));
}

static void reads_no_further_than_the_first_kilobyte(void **state)
{
    (void)state;
    static char header[64 * 1024];
    memset(header, 'x', sizeof(header));
    memcpy(header + 2000, "Firefox/145.0", 13);
    struct fp_user_agent agent = fp_user_agent_parse((struct fp_str){header, sizeof(header)});
    assert_int_equal(agent.browser.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_family_major_version_system_and_kind_of_device),
        cmocka_unit_test(each_word_has_a_header),
        cmocka_unit_test(reads_no_further_than_the_first_kilobyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
