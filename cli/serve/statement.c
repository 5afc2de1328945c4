/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statement: walks the inquiry's values once for SQL, once for the command.
 */
#include "cli/serve/statement.h"

#include "cli/serve/value.h"

enum { STATEMENT_MAX = 256 * 1024 };

static void add(struct fp_buf *text, const char *piece)
{
    fp_buf_add(text, piece, strlen(piece));
}

static void add_both(struct fp_statement *statement, const char *piece)
{
    add(&statement->sql, piece);
    add(&statement->shown, piece);
}

/* Appends a value inside quotes; `escaped` replaces a quote in it. */
static void add_quoted(struct fp_buf *text, const char *value, const char *escaped)
{
    add(text, "'");
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\'')
            add(text, escaped);
        else
            fp_buf_add(text, c, 1);
    }
    add(text, "'");
}

static const char *type_of(enum fp_value_type type)
{
    static const char *const types[] = {
        [FP_VALUE_TEXT] = "text", [FP_VALUE_TIME] = "timestamptz", [FP_VALUE_COUNT] = "integer",
        [FP_VALUE_ID] = "bigint", [FP_VALUE_NUMBER] = "float8",    [FP_VALUE_TEXTS] = "text[]",
    };
    return types[type];
}

/* Appends a value to both forms. Numbers are literals without quotes: they were checked. */
static void add_value(struct fp_statement *statement, enum fp_value_type type, const char *value)
{
    bool is_duration = type == FP_VALUE_TIME && fp_value_is_duration(value);
    bool is_number = type == FP_VALUE_COUNT || type == FP_VALUE_ID || type == FP_VALUE_NUMBER;
    if (is_duration)
        add_both(statement, "now() - ");
    statement->values[statement->value_count++] = value;
    fp_buf_addf(&statement->sql, "$%d::%s", statement->value_count,
                is_duration ? "interval" : type_of(type));
    if (is_duration)
        add(&statement->shown, "interval ");
    if (is_number)
        add(&statement->shown, value);
    else
        add_quoted(&statement->shown, value, "''");
}

static void add_arguments(struct fp_statement *statement, const struct fp_inquiry *inquiry)
{
    const char *separator = "(";
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct fp_parameter *parameter = inquiry->parameters[i];
        const char *value = inquiry->values[i];
        if (value == NULL && parameter->presence != FP_PRESENCE_NULL)
            continue;
        add_both(statement, separator);
        add_both(statement, parameter->name);
        add_both(statement, " => ");
        if (value != NULL)
            add_value(statement, parameter->type, value);
        else
            add_both(statement, "null");
        separator = ", ";
    }
    add_both(statement, separator[0] == '(' ? "()" : ")");
}

/* Appends the conditions of a view. A pattern without % is a plain comparison. */
static void add_conditions(struct fp_statement *statement, const struct fp_inquiry *inquiry)
{
    const char *separator = " where ";
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct fp_parameter *parameter = inquiry->parameters[i];
        const char *value = inquiry->values[i];
        bool is_twin = strncmp(parameter->name, "exclude_", strlen("exclude_")) == 0;
        if (value == NULL || (strcmp(value, "%") == 0 && !is_twin))
            continue;
        add_both(statement, separator);
        separator = " and ";
        if (parameter->type == FP_VALUE_TIME) {
            add_both(statement, inquiry->question->time);
            add_both(statement, strcmp(parameter->name, "until") == 0 ? " < " : " >= ");
            add_value(statement, parameter->type, value);
            continue;
        }
        bool is_pattern = parameter->type == FP_VALUE_TEXT && strchr(value, '%') != NULL;
        add_both(statement, parameter->name + (is_twin ? strlen("exclude_") : 0));
        if (is_pattern)
            add_both(statement, is_twin ? " not like replace(replace(replace("
                                        : " like replace(replace(replace(");
        else
            add_both(statement, is_twin ? " <> " : " = ");
        add_value(statement, parameter->type, value);
        if (is_pattern)
            add_both(statement, ", '\\', '\\\\'), '_', '\\_'), '\\\\%', '\\%')");
    }
    add_both(statement, " order by ");
    add_both(statement, inquiry->question->order);
}

/* ---- the command ---- */

/* Appends a word as a shell takes it. */
static void add_word(struct fp_buf *command, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
    add(command, " ");
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        add(command, word);
    else
        add_quoted(command, word, "'\\''");
}

/* Appends "browser=Headless%" for exclude_browser. */
static void add_exclusion(struct fp_buf *command, const char *name, const char *value)
{
    struct fp_buf word;
    fp_buf_init(&word, STATEMENT_MAX);
    fp_buf_addf(&word, "%s=%s", name + strlen("exclude_"), value);
    fp_buf_add(&word, "", 1);
    if (!word.failed)
        add_word(command, (const char *)word.data);
    command->failed = command->failed || word.failed;
    fp_buf_release(&word);
}

static const char *value_of(const struct fp_inquiry *inquiry, const char *name)
{
    for (size_t i = 0; i < inquiry->count; i++)
        if (strcmp(inquiry->parameters[i]->name, name) == 0)
            return inquiry->values[i];
    return NULL;
}

/* Returns how the command says a parameter. A trend is of a function, of a measure, or --by. */
static const char *option_of(const struct fp_inquiry *inquiry, size_t place)
{
    const struct fp_parameter *parameter = inquiry->parameters[place];
    const char *command = inquiry->question->command;
    const bool is_trend = command != NULL && strncmp(command, "trend", strlen("trend")) == 0;
    const char *by = is_trend ? value_of(inquiry, "by") : NULL;
    if (by != NULL && strcmp(parameter->name, "key") == 0)
        return strcmp(by, "measure") == 0 ? "--measure" : "";
    if (by != NULL && strcmp(parameter->name, "by") == 0 &&
        (strcmp(by, "measure") == 0 || strcmp(by, "function") == 0))
        return FP_OPTION_DROPPED;
    return parameter->option;
}

/* Appends the arguments without an option name, after all options. */
static void add_operands(struct fp_buf *command, const struct fp_inquiry *inquiry)
{
    bool ended = false;
    for (size_t i = 0; i < inquiry->count; i++) {
        const char *option = option_of(inquiry, i);
        if (inquiry->values[i] == NULL || option == NULL || option[0] != '\0')
            continue;
        if (inquiry->values[i][0] == '-' && !ended) {
            add(command, " --");
            ended = true;
        }
        add_word(command, inquiry->values[i]);
    }
}

static void write_command(struct fp_buf *command, const struct fp_inquiry *inquiry)
{
    fp_buf_addf(command, "fleetprof %s", inquiry->question->command);
    for (size_t i = 0; i < inquiry->count; i++) {
        const char *option = option_of(inquiry, i);
        if (inquiry->values[i] == NULL)
            continue;
        if (option == NULL) {
            fp_buf_clear(command); /* it cannot ask this */
            return;
        }
        if (option[0] == '\0' || strcmp(option, FP_OPTION_DROPPED) == 0)
            continue;
        fp_buf_addf(command, " %s", option);
        if (strcmp(option, "--exclude") == 0)
            add_exclusion(command, inquiry->parameters[i]->name, inquiry->values[i]);
        else
            add_word(command, inquiry->values[i]);
    }
    add_operands(command, inquiry);
}

bool fp_statement_init(struct fp_statement *statement, const struct fp_inquiry *inquiry,
                       unsigned rows)
{
    const struct fp_question *question = inquiry->question;
    *statement = (struct fp_statement){0};
    fp_buf_init(&statement->sql, STATEMENT_MAX);
    fp_buf_init(&statement->shown, STATEMENT_MAX);
    fp_buf_init(&statement->command, STATEMENT_MAX);
    add_both(statement, question->shape == FP_SHAPE_TREE ? "select " : "select * from ");
    add_both(statement, "fleetprof.");
    add_both(statement, question->relation);
    if (question->shape == FP_SHAPE_VIEW)
        add_conditions(statement, inquiry);
    else
        add_arguments(statement, inquiry);
    if (rows > 0)
        fp_buf_addf(&statement->sql, " limit %u", rows);
    if (question->command != NULL)
        write_command(&statement->command, inquiry);
    fp_buf_add(&statement->sql, "", 1);
    fp_buf_add(&statement->shown, "", 1);
    fp_buf_add(&statement->command, "", 1);
    return !statement->sql.failed && !statement->shown.failed && !statement->command.failed;
}

void fp_statement_release(struct fp_statement *statement)
{
    fp_buf_release(&statement->sql);
    fp_buf_release(&statement->shown);
    fp_buf_release(&statement->command);
}
