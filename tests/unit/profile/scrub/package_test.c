/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages that URLs name: the examples of tests/schema/ownership_test.sql.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/package.h"

static void names_what_sql_names(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *package;
    } examples[] = {
        {"https://cdn.jsdelivr.net/npm/react@18.2.0/index.js", "react"},
        {"https://cdn.jsdelivr.net/npm/@preact/signals@1.2/dist/x.js", "@preact/signals"},
        {"https://cdn.jsdelivr.net/npm/lodash/lodash.min.js", "lodash"},
        {"https://unpkg.com/vue@3", "vue"},
        {"https://unpkg.com/vue", "vue"},
        {"https://esm.sh/v135/@scope/a@2.0.0/es2022/a.mjs", "@scope/a"},
        {"https://ga.jspm.io/npm:react-dom@18.2.0/index.js", "react-dom"},
        {"https://cdnjs.cloudflare.com/ajax/libs/jquery/3.7.1/jquery.min.js", "jquery"},
        {"http://localhost:5173/node_modules/a/node_modules/@b/c/index.js", "@b/c"},
        {"http://localhost:5173/node_modules/.vite/deps/x.js", ""},
        {"https://shop.example/npm/app.js", ""},
        {"https://shop.example/img@2x/a.js", ""},
        {"https://shop.example/my_node_modules/a/b.js", ""},
        {"https://shop.example/a.js?x=/node_modules/a/b.js", ""},
        {"https://shop.example/a.js?x=/a@1/b.js", ""},
        {"blob:https://shop.example", ""},
        {"app.js", ""},
        {"https://shop.example/js/main@1.4.2.js", ""},
        {"https://shop.example/js/main@1.4.2.min.mjs?x", ""},
        {"https://esm.sh/chart.js@4.4.0", "chart.js"},
        {"https://unpkg.com/vue@3.4.1?module", "vue"},
        {"https://esm.sh/v135/react", "react"},
        {"https://esm.sh/v135/react/jsx-runtime", "react"},
        {"https://cdn.jsdelivr.net/gh/user/repo@1.0/x.js", ""},
        {"https://esm.sh/gh/user/repo@1.0/x.js", ""},
        {"https://esm.sh/gh/user/repo", ""},
        {"https://unpkg.com/react@^18/umd/react.js", "react"},
        {"https://unpkg.com/react@beta", "react"},
        {"https://cdn.jsdelivr.net/npm/@vue/shared@~3.2/x.js", "@vue/shared"},
        {"https://esm.sh/v135/vue@%5E3", "vue"},
        {"https://cdn.jsdelivr.net/combine/npm/vue@3,npm/vuex@4", ""},
        {"https://esm.sh/*swr@2.2.0/es2022/swr.mjs", "swr"},
        {"https://esm.sh/v135/*@scope/a@2", "@scope/a"},
        {"https://esm.sh/*swr", "swr"},
        {"https://cdn.skypack.dev/canvas-confetti", "canvas-confetti"},
        {"https://cdn.skypack.dev/@hot/a@1.0.0", "@hot/a"},
        {"https://cdn.jsdelivr.net/npm/vue", "vue"},
        {"https://cdn.shop.example/vue@latest/vue.js", "vue"},
        {"https://cdn.shop.example/vue@next/vue.js", "vue"},
        {"https://cdn.shop.example/vue@v3/vue.js", "vue"},
        {"https://cdn.shop.example/vue@previous/vue.js", ""},
        {"", ""},
        {"https://unpkg.com/", ""},
        {"https://esm.sh/v135", "v135"},
        {"https://shop.example/node_modules/", ""},
        {"https://shop.example/node_modules/@scope", ""},
        {"https://shop.example/node_modules/@scope/.hidden/a.js", ""},
        {"https://shop.example/ajax/libs/jquery/3.7.1", ""},
        {"https://shop.example/ajax/libs/jquery/v3/a.js", "jquery"},
        {"https://shop.example/@", ""},
    };
    for (size_t i = 0; i < FP_COUNT(examples); i++)
        assert_text(fp_package_of_url(fp_str_of(examples[i].url)), examples[i].package);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_what_sql_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
