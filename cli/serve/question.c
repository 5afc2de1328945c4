/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Question: the routes of schema/questions, and the check of what a request asks.
 */
#include "cli/serve/question.h"

#include "cli/ask/filter_rows.h"
#include "cli/serve/question_rows.h"
#include "cli/serve/value.h"
#include "collector/base/ascii.h"

#define PARAMETER(name_, type_, presence_, most_, option_)                                         \
    {.name = (name_),                                                                              \
     .type = FP_VALUE_##type_,                                                                     \
     .presence = FP_PRESENCE_##presence_,                                                          \
     .most = (most_),                                                                              \
     .option = (option_)}

#define FIRST_LOADS FP_FILTERS_EACH_SIDE
#define FIRST_SIDES FP_FILTERS_LOADS
#define FIRST_SAMPLES FP_FILTERS_WITH_MARKER
#define FIRST_VITALS FP_FILTERS_VITALS
#define FROM(first, ...) {(first), FP_FILTERS_VITALS, PARAMETER(__VA_ARGS__)}
#define FILTER(id, of, name, placeholder, usual, one, many, help, option)                          \
    FROM(FIRST_##of, name, TEXT, FREE, 0, "--" option)
#define TWIN(id, of, name, ...) FROM(FIRST_##of, "exclude_" name, TEXT, FREE, 0, "--exclude")
#define OF_SIDE(name, option)                                                                      \
    {FP_FILTERS_EACH_SIDE, FP_FILTERS_EACH_SIDE, PARAMETER(name, TEXT, FREE, 0, option)}
#define BEFORE(id, of, name, placeholder, usual, one, many, help, option)                          \
    OF_SIDE("before_" name, "--before-" option)
#define AFTER(id, of, name, placeholder, usual, one, many, help, option)                           \
    OF_SIDE("after_" name, "--after-" option)

static const struct {
    enum fp_filter_set first; /* the sets that have it, without those of vitals */
    enum fp_filter_set last;
    struct fp_parameter parameter;
} filters[] = {
    FROM(FP_FILTERS_EACH_SIDE, "site", TEXT, NEEDED, 0, "--site"),
    FROM(FP_FILTERS_EACH_SIDE, "since", TIME, FREE, 0, "--since"),
    FROM(FP_FILTERS_EACH_SIDE, "until", TIME, FREE, 0, "--until"),
    FP_FILTERS(FILTER),
    FP_FILTERS(TWIN),
    FP_FILTERS_OF_LOADS(BEFORE),
    FP_FILTERS_OF_LOADS(AFTER),
};

#define QUESTION(route_, relation_, command_, shape_, filters_, order_, time_, ...)                \
    {.name = (route_),                                                                             \
     .relation = (relation_),                                                                      \
     .command = (command_),                                                                        \
     .order = (order_),                                                                            \
     .time = (time_),                                                                              \
     .own = {__VA_ARGS__},                                                                         \
     .shape = FP_SHAPE_##shape_,                                                                   \
     .filters = FP_FILTERS_##filters_}
#define NO_MORE {.name = NULL}

const struct fp_question fp_questions[] = {FP_QUESTIONS(QUESTION, PARAMETER, NO_MORE)};
const size_t fp_question_count = FP_COUNT(fp_questions);

const struct fp_question *fp_question_find(const char *name)
{
    for (size_t i = 0; i < FP_COUNT(fp_questions); i++) {
        if (strcmp(fp_questions[i].name, name) == 0)
            return &fp_questions[i];
    }
    return NULL;
}

/* True if a question takes the filter with this place in the table. */
static bool takes(const struct fp_question *question, size_t place)
{
    const unsigned set = (unsigned)question->filters & (FP_FILTERS_VITALS - 1u);
    if (filters[place].first == FP_FILTERS_VITALS)
        return (question->filters & FP_FILTERS_VITALS) != 0;
    return set >= filters[place].first && set <= filters[place].last;
}

/* Lists a question's parameters, its own ones first; returns how many. */
static size_t list_parameters(const struct fp_question *question,
                              const struct fp_parameter *parameters[FP_PARAMETERS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; question->own[i].name != NULL; i++)
        parameters[count++] = &question->own[i];
    for (size_t i = 0; i < FP_COUNT(filters); i++) {
        if (takes(question, i))
            parameters[count++] = &filters[i].parameter;
    }
    return count;
}
_Static_assert(FP_OWN_PARAMETERS + FP_COUNT(filters) <= FP_PARAMETERS_MAX, "all fit");

enum { LIST_MAX = 32 * 1024 };

void fp_inquiry_init(struct fp_inquiry *inquiry, const struct fp_question *question)
{
    *inquiry = (struct fp_inquiry){.question = question};
    inquiry->count = list_parameters(question, inquiry->parameters);
    fp_buf_init(&inquiry->list, LIST_MAX);
}

void fp_inquiry_release(struct fp_inquiry *inquiry)
{
    fp_buf_release(&inquiry->list);
}

/* Names the parameters that there are. */
static void hint_at_parameters(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    size_t used = 0;
    for (size_t i = 0; i < inquiry->count && used < sizeof(trouble->hint); i++) {
        int len = snprintf(trouble->hint + used, sizeof(trouble->hint) - used, "%s%s",
                           i == 0 ? "It takes " : ", ", inquiry->parameters[i]->name);
        used += len > 0 ? (size_t)len : 0;
    }
    if (inquiry->count == 0)
        fp_trouble_hint(trouble, "It takes no parameters.");
}

static size_t place_of(const struct fp_inquiry *inquiry, struct fp_str name)
{
    size_t place = 0;
    while (place < inquiry->count &&
           !fp_str_equal(name, fp_str_of(inquiry->parameters[place]->name)))
        place++;
    return place;
}

/* Appends an element to the text of a text[]. */
static bool add_element(struct fp_inquiry *inquiry, const char *value)
{
    struct fp_buf *list = &inquiry->list;
    if (list->len > 0)
        list->len -= strlen("}") + 1;
    fp_buf_add(list, list->len > 0 ? ",\"" : "{\"", 2);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fp_buf_add(list, "\\", 1);
        fp_buf_add(list, c, 1);
    }
    fp_buf_add(list, "\"}", 3);
    return !list->failed;
}

bool fp_inquiry_add(struct fp_inquiry *inquiry, struct fp_str name, struct fp_str value,
                    struct fp_trouble *trouble)
{
    size_t place = place_of(inquiry, name);
    if (place == inquiry->count) {
        fp_trouble_set(trouble, 400, "%s has no parameter \"%.*s\".", inquiry->question->name,
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
        (void)snprintf(trouble->unknown, sizeof(trouble->unknown), "%.*s",
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
        hint_at_parameters(inquiry, trouble);
        return false;
    }
    const struct fp_parameter *parameter = inquiry->parameters[place];
    if (!fp_value_check(parameter, value, trouble))
        return false;
    if (parameter->type == FP_VALUE_TEXTS) {
        if (!add_element(inquiry, value.ptr)) {
            fp_trouble_parameter(trouble, parameter->name, "%s has too many values.",
                                 parameter->name);
            return false;
        }
        inquiry->values[place] = (const char *)inquiry->list.data;
        return true;
    }
    if (inquiry->values[place] != NULL) {
        fp_trouble_parameter(trouble, parameter->name, "%s is given twice.", parameter->name);
        return false;
    }
    inquiry->values[place] = value.ptr;
    return true;
}

bool fp_inquiry_is_whole(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct fp_parameter *parameter = inquiry->parameters[i];
        if (parameter->presence == FP_PRESENCE_NEEDED && inquiry->values[i] == NULL) {
            fp_trouble_parameter(trouble, parameter->name, "%s is missing: %s needs it.",
                                 parameter->name, inquiry->question->name);
            return false;
        }
    }
    return true;
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        bool begins = at == text || !(fp_is_alnum(at[-1]) || at[-1] == '_');
        if (begins && !(fp_is_alnum(at[len]) || at[len] == '_'))
            return true;
    }
    return false;
}

void fp_inquiry_blame(const struct fp_inquiry *inquiry, struct fp_trouble *trouble)
{
    for (size_t i = 0; i < inquiry->count && trouble->parameter == NULL; i++) {
        if (has_word(trouble->detail, inquiry->parameters[i]->name))
            trouble->parameter = inquiry->parameters[i]->name;
    }
}
