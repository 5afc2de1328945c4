/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrubbed path of a page that no template matches.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/path.h"

static const struct {
    const char *path;
    const char *scrubbed;
} rows[] = {
    /* Parameters. */
    {"/cart;jsessionid=0F0F", "/cart"},
    {"/cart;jsessionid=0F0F/x", "/cart/x"},
    {"/cart;a=1;b=2/x;c=3", "/cart/x"},
    {"/cart%3Bjsessionid%3D0F0F", "/cart"},
    {"/cart%3bjsessionid=0F0F/x", "/cart/x"},
    {"/cart%253Bjsessionid%253D0F0F/x", "/cart/x"},
    {"/cart%25253bjsessionid%3d0F0F/x", "/cart/x"},
    {"/cart%253", "/cart%253"},
    {"/cart%253B", "/cart%253B"},
    {"/;jsessionid=0F0F", "/"},
    {"/a;b/c", "/a;b/c"},
    {"/a=b", "/a=b"},
    /* Addresses. */
    {"/user/ann@mail.example/orders", "/user/:mail/orders"},
    {"/user/ann%40mail.example/orders", "/user/:mail/orders"},
    {"/user/Ann.B%2Bc%40Mail.Example", "/user/:mail"},
    {"/user/ann@localhost", "/user/:mail"},
    {"/@ann@social.example", "/:mail"},
    {"/@ann", "/@ann"},
    {"/@scope/package", "/@scope/package"},
    {"/package@1.2.3", "/package@1.2.3"},
    {"/package@v2", "/package@v2"},
    {"/ann@", "/ann@"},
    {"/user/ann@163.example", "/user/:mail"},
    {"/user/ann@1and1.example", "/user/:mail"},
    {"/user/ann@v2.example", "/user/:mail"},
    {"/user/ann%2540mail.example", "/user/:mail"},
    {"/user/ann%252540mail.example", "/user/:mail"},
    {"/react@18.0.0-rc.1", "/react@18.0.0-rc.1"},
    {"/library@1.2.js", "/library@1.2.js"},
    {"/react@18.2.0,react-dom@18.2.0", "/react@18.2.0,react-dom@18.2.0"},
    /* Browsers take a backslash for a slash. */
    {"\\order\\4711", "\\order\\:id"},
    {"\\uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu/x", "\\:token/x"},
    {"/user\\ann@mail.example/orders", "/user\\:mail/orders"},
    {"/cart;jsessionid=0F0F\\x", "/cart\\x"},
    /* UUIDs and hexadecimal ids. */
    {"/order/123e4567-e89b-12d3-a456-426614174000", "/order/:id"},
    {"/order/123E4567-E89B-12D3-A456-426614174000/x", "/order/:id/x"},
    {"/order/x_123e4567-e89b-12d3-a456-426614174000.pdf", "/order/:id.pdf"},
    {"/order/4f3a2b1c", "/order/:id"},
    {"/order/DEADBEEF12", "/order/:id"},
    {"/order/0123456789abcdef0123456789abcdef", "/order/:id"},
    {"/order/order-4f3a2b1c9d", "/order/order-:id"},
    {"/order/4f3a2b1", "/order/4f3a2b1"},
    {"/host/2001:db8::1", "/host/:id"},
    {"/host/%5B2001%3Adb8%3A%3A1%5D", "/host/:id"},
    {"/host/10.0.0.1", "/host/:id"},
    {"/host/8%2E8%2e8.8", "/host/:id"},
    {"/x/1.2.3.beta", "/x/1.2.3.beta"},
    {"/x/1..2.3", "/x/1..2.3"},
    {"/x/1.2.3.4.5", "/x/1.2.3.4.5"},
    {"/device/00:1B:44:11:3A:B7", "/device/:id"},
    {"/a::b", "/a::b"},
    {"/facade", "/facade"},
    {"/effaced", "/effaced"},
    {"/decade1990", "/decade1990"},
    {"/cafe2024", "/cafe2024"},
    /* Numbers. */
    {"/order/4711", "/order/:id"},
    {"/order/4711/", "/order/:id/"},
    {"/order/4711.html", "/order/:id.html"},
    {"/order/%34%37%31%31", "/order/:id"},
    {"/order/123-456-789", "/order/:id"},
    {"/call/+49%20170%201234567", "/call/:id"},
    {"/map/52.5200,13.4050", "/map/:id"},
    {"/host/192.168.1.20", "/host/:id"},
    {"/invoice-2023117.pdf", "/invoice-:id.pdf"},
    {"/order_123456", "/order_:id"},
    {"/call/0170%2F1234567", "/call/:id"},
    {"/call/tel:+491701234567", "/call/tel:+:id"},
    {"/call/tel%3A%2B491701234567", "/call/tel%3A%2B:id"},
    {"/user1234567", "/user:id"},
    {"/INV123456789-2", "/INV:id-2"},
    {"/inv-%31%32%33%34%35%36%37", "/inv-:id"},
    {"/page/2", "/page/2"},
    {"/price/10-50", "/price/10-50"},
    {"/price/1000-5000", "/price/:id"},
    {"/season/2024-25", "/season/2024-25"},
    {"/season/2024-99", "/season/:id"},
    {"/2024-5", "/2024-5"},
    {"/2024-5-7", "/2024-5-7"},
    {"/17-05-2024", "/17-05-2024"},
    {"/05-2024", "/05-2024"},
    {"/2024-05.17", "/:id"},
    {"/%7Euser", "/%7Euser"},
    {"/404", "/404"},
    {"/v2/", "/v2/"},
    {"/v1.2.3", "/v1.2.3"},
    {"/18.2.0", "/18.2.0"},
    {"/2024/05/17", "/2024/05/17"},
    {"/2024-05-17", "/2024-05-17"},
    {"/2024-05", "/2024-05"},
    {"/20240517", "/20240517"},
    {"/2023-2024", "/2023-2024"},
    {"/20241345", "/:id"},
    {"/nike-air-1994", "/nike-air-1994"},
    {"/boeing-747-8", "/boeing-747-8"},
    /* Tokens. */
    {"/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "/reset/:token"},
    {"/reset/dGhpcyBpcyBhIHRva2Vu", "/reset/:token"},
    {"/reset/V1StGXR8_Z5jdHi6B-myT", "/reset/:token"},
    {"/reset/k3j9x0q2m7w5z8b1n4v6", "/reset/:token"},
    {"/reset/QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq", "/reset/:token"},
    {"/reset/aB3%2BxY7%2FzQ9%3DkL2%2BmN5%3D%3D", "/reset/:token"},
    {"/reset/token:eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl", "/reset/:token"},
    {"/reset/token=eyJhbGciOiJub25lIn0.e30.", "/reset/:token"},
    {"/reset/keyJhbGciOiJ", "/reset/keyJhbGciOiJ"},
    {"/(S(lit3py55t21z5v55vlm25s55))/order.aspx", "/:token/order.aspx"},
    {"/how-to-bake-a-chocolate-cake-in-2024", "/how-to-bake-a-chocolate-cake-in-2024"},
    {"/WebGLRenderingContextOverloads2", "/WebGLRenderingContextOverloads2"},
    {"/Donaudampfschifffahrtsgesellschaft", "/Donaudampfschifffahrtsgesellschaft"},
    {"/%E6%97%A5%E6%9C%AC%E8%AA%9E%E6%97%A5%E6%9C%AC",
     "/%E6%97%A5%E6%9C%AC%E8%AA%9E%E6%97%A5%E6%9C%AC"},
    {"/a-day-at-the-races-and-other-films", "/a-day-at-the-races-and-other-films"},
    /* Shapes. */
    {"", ""},
    {"/", "/"},
    {"//", "//"},
    {"4711", ":id"},
    {"/4711//4711", "/:id//:id"},
    {"/%", "/%"},
    {"/%4", "/%4"},
    {"/%zz4711", "/%zz4711"},
    {"/100%25", "/100%25"},
    {"/:id/:mail/:token", "/:id/:mail/:token"},
    {"/product/:id", "/product/:id"},
    {"/(overflow)", "/(overflow)"},
};

static struct fp_str scrub(const struct fp_scrub_rules *rules, const char *path,
                           struct fp_arena *arena)
{
    struct fp_str scrubbed;
    assert_true(fp_scrub_path(rules, fp_str_of(path), arena, &scrubbed));
    return scrubbed;
}

static void each_path_becomes_what_it_says(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    for (size_t i = 0; i < FP_COUNT(rows); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 << 10);
        struct fp_str once = scrub(&rules, rows[i].path, &arena);
        if (!fp_str_equal(once, fp_str_of(rows[i].scrubbed)))
            fail_msg("%s: %.*s", rows[i].path, FP_STR_ARG(once));
        const struct fp_str twice = scrub(&rules, rows[i].scrubbed, &arena);
        if (!fp_str_equal(twice, once))
            fail_msg("%s twice: %.*s", rows[i].path, FP_STR_ARG(twice));
        fp_arena_release(&arena);
    }
}

static void each_rule_can_be_switched_off_alone(void **state)
{
    (void)state;
    static const char uuid[] = "/123e4567-e89b-12d3-a456-426614174000";
    static const char path[] = "/x;a=1/ann@b.example/4f3a2b1c/4711/dGhpcyBpcyBhIHRva2Vu";
    static const struct {
        struct fp_scrub_kept kept;
        const char *scrubbed;
    } switches[] = {
        {{.path_parameters = true}, "/x;a=1/:mail/:id/:id/:token"},
        {{.path_addresses = true}, "/x/ann@b.example/:id/:id/:token"},
        {{.path_hashes = true}, "/x/:mail/4f3a2b1c/:id/:token"},
        {{.path_numbers = true}, "/x/:mail/:id/4711/:token"},
        {{.path_tokens = true}, "/x/:mail/:id/:id/dGhpcyBpcyBhIHRva2Vu"},
    };
    struct fp_arena whole;
    fp_arena_init(&whole, 64 << 10);
    const struct fp_scrub_rules hashes = {.kept = {.path_hashes = true}};
    assert_true(fp_str_equal(scrub(&hashes, uuid, &whole), fp_str_of(uuid)));
    fp_arena_release(&whole);
    for (size_t i = 0; i < FP_COUNT(switches); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 << 10);
        const struct fp_scrub_rules rules = {.kept = switches[i].kept};
        const struct fp_str scrubbed = scrub(&rules, path, &arena);
        if (!fp_str_equal(scrubbed, fp_str_of(switches[i].scrubbed)))
            fail_msg("%s: %.*s", switches[i].scrubbed, FP_STR_ARG(scrubbed));
        fp_arena_release(&arena);
    }
}

/* Paths that make each rule look far. */
static void takes_linear_time(void **state)
{
    (void)state;
    static const char *const pieces[] = {"/",   "a@", "4",  "-4f3a2b1c", "%",
                                         "%3B", ";=", ".a", "aB3"};
    enum { LEN = 1 << 20 };
    const struct fp_scrub_rules rules = {0};
    char *path = malloc(LEN);
    assert_non_null(path);
    for (size_t i = 0; i < FP_COUNT(pieces); i++) {
        struct fp_arena arena;
        struct fp_str scrubbed;
        const size_t len = strlen(pieces[i]);
        for (size_t at = 0; at < LEN; at++)
            path[at] = pieces[i][at % len];
        fp_arena_init(&arena, 64 << 20);
        assert_true(fp_scrub_path(&rules, (struct fp_str){path, LEN}, &arena, &scrubbed));
        fp_arena_release(&arena);
    }
    free(path);
}

static void a_path_that_does_not_fit_is_told(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    struct fp_arena arena;
    struct fp_str scrubbed;
    fp_arena_init(&arena, 8);
    assert_false(fp_scrub_path(&rules, FP_STR("/order/4711"), &arena, &scrubbed));
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_becomes_what_it_says),
        cmocka_unit_test(each_rule_can_be_switched_off_alone),
        cmocka_unit_test(takes_linear_time),
        cmocka_unit_test(a_path_that_does_not_fit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
