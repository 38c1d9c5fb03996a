/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "kadenz/arming.h"
#include "kadenz/beside.h"

struct word {
    const char *first;
    size_t length;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; length 0 at its end. */
static struct word next_word(const char **at)
{
    struct word word;

    while (is_space(**at)) {
        (*at)++;
    }
    word.first = *at;
    while (**at != '\0' && !is_space(**at)) {
        (*at)++;
    }
    word.length = (size_t)(*at - word.first);
    return word;
}

static bool number_of(struct word digits, uint32_t *number)
{
    uint32_t value = 0;

    if (digits.length == 0) {
        return false;
    }
    for (size_t i = 0; i < digits.length; i++) {
        const char c = digits.first[i];
        uint32_t digit;

        if (c < '0' || c > '9') {
            return false;
        }
        digit = (uint32_t)(c - '0');
        if (value > (UINT32_MAX - digit) / 10u) {
            return false;
        }
        value = value * 10u + digit;
    }
    *number = value;
    return true;
}

/* The sentence of an error starts with the word it is about. */
static struct kdz_text refuse(struct kdz_plan_line *out, struct word about)
{
    struct kdz_text text = KDZ_TEXT_IN(out->reason);

    out->kind = KDZ_PLAN_ERROR;
    kdz_text_add(&text, "`");
    kdz_text_add_part(&text, about.first, about.length < 40 ? about.length : 40);
    kdz_text_add(&text, "`");
    return text;
}

static bool refuse_with(struct kdz_plan_line *out, struct word about, const char *why)
{
    struct kdz_text text = refuse(out, about);

    kdz_text_add(&text, why);
    return false;
}

static bool in_range(struct kdz_plan_line *out, struct word about, uint32_t value, uint32_t low,
                     uint32_t high)
{
    if (value >= low && value <= high) {
        return true;
    }
    struct kdz_text text = refuse(out, about);
    kdz_text_add(&text, ": from ");
    kdz_text_add_number(&text, low);
    kdz_text_add(&text, " to ");
    kdz_text_add_number(&text, high);
    return false;
}

static const struct kdz_bench *find(const struct kdz_benches *benches, struct word name)
{
    const struct kdz_bench *found = NULL;

    for (const struct kdz_bench *const *each = benches->first; each != benches->end; each++) {
        if (kdz_text_is(name.first, name.length, (*each)->name)) {
            found = *each;
        }
    }
    return found;
}

bool kdz_bench_replaced(const struct kdz_benches *benches, const struct kdz_bench *bench)
{
    size_t length = 0;

    while (bench->name[length] != '\0') {
        length++;
    }
    return find(benches, (struct word){bench->name, length}) != bench;
}

/* Which keys a line has given: a bit for each parameter, then those of the runner's own. */
#define SEEN_ID (1u << KDZ_PARAMS_MAX)
#define SEEN_SAMPLES (1u << (KDZ_PARAMS_MAX + 1))
#define SEEN_ARRIVALS (1u << (KDZ_PARAMS_MAX + 2))
#define SEEN_STATE (1u << (KDZ_PARAMS_MAX + 3)) /* the first one */
#define SEEN_AFTER (1u << (KDZ_PARAMS_MAX + 6))
#define SEEN_STEP (1u << (KDZ_PARAMS_MAX + 7))
#define SEEN_BESIDE (1u << (KDZ_PARAMS_MAX + 8)) /* the first one */

static bool number_in(struct kdz_plan_line *out, struct word pair, struct word digits,
                      const uint32_t bounds[2], uint32_t *value)
{
    if (!number_of(digits, value)) {
        return refuse_with(out, pair, ": not a number from 0 to 4294967295");
    }
    return in_range(out, pair, *value, bounds[0], bounds[1]);
}

/* The place of a word among those of a parameter. */
static bool word_in(struct kdz_plan_line *out, struct word pair, struct word given,
                    const struct kdz_param *param, uint32_t *value)
{
    struct kdz_text text;

    for (*value = 0; *value <= param->high; (*value)++) {
        if (kdz_text_is(given.first, given.length, param->words[*value])) {
            return true;
        }
    }
    text = refuse(out, pair);
    for (uint32_t i = 0; i <= param->high; i++) {
        kdz_text_add(&text, i == 0 ? ": one of " : ", ");
        kdz_text_add(&text, param->words[i]);
    }
    return false;
}

/* A parameter of the benchmark; `bit` names it among those of the line. */
static bool take_param(struct kdz_plan_line *out, struct kdz_point *point, struct word key,
                       struct word given, uint32_t *bit)
{
    const struct word pair = {key.first, key.length + 1 + given.length};
    const struct kdz_param *param = NULL;
    uint8_t i = 0;

    while (i < point->bench->param_count &&
           !kdz_text_is(key.first, key.length, point->bench->params[i].name)) {
        i++;
    }
    if (i == point->bench->param_count) {
        return refuse_with(out, key, ": no such parameter of this benchmark");
    }
    param = &point->bench->params[i];
    *bit = 1u << i;
    if (param->words != NULL) {
        return word_in(out, pair, given, param, &point->value[i]);
    }
    return number_in(out, pair, given, (const uint32_t[]){param->low, param->high},
                     &point->value[i]);
}

/* The number of core/arrivals.c that a key names, where stamps arm a timer; NULL if it names none.
 */
static uint32_t *arming_of(struct word key, uint32_t *bit)
{
    if (kdz_text_is(key.first, key.length, "arrivals.after")) {
        *bit = SEEN_AFTER;
        return &kdz_arming.undisturbed;
    }
    if (kdz_text_is(key.first, key.length, "arrivals.step")) {
        *bit = SEEN_STEP;
        return &kdz_arming.step;
    }
    return NULL;
}

/* Which of kdz_beside_params a key names, where a thread works on another core; else their count.
 */
static size_t beside_of(struct word key)
{
    size_t place = 0;

    while (place < KDZ_BESIDE_PARAMS &&
           !kdz_text_is(key.first, key.length, kdz_beside_params[place].name)) {
        place++;
    }
    return place;
}

static bool take_beside(struct kdz_plan_line *out, struct word pair, struct word given,
                        size_t place)
{
    const struct kdz_param *const param = &kdz_beside_params[place];
    uint32_t *const value = &kdz_beside_value[place];

    if (param->words != NULL) {
        return word_in(out, pair, given, param, value);
    }
    return number_in(out, pair, given, (const uint32_t[]){param->low, param->high}, value);
}

/* The threads of the state that a key names; NULL if it names none. */
static uint8_t *threads_of(struct kdz_plan_line *out, struct word key)
{
    static const char *const names[KDZ_STATES] = {
        [KDZ_STATE_SLEEPERS] = "state.sleepers",
        [KDZ_STATE_WAKING] = "state.waking",
        [KDZ_STATE_READY] = "state.ready",
    };

    for (size_t i = 0; i < KDZ_STATES; i++) {
        if (kdz_text_is(key.first, key.length, names[i])) {
            return &out->threads[i];
        }
    }
    return NULL;
}

static bool take_key(struct kdz_plan_line *out, struct kdz_point *point, struct word pair,
                     uint32_t *seen)
{
    /* 65535 names records whose line gave no id (core/runner.c). */
    static const uint32_t ids[] = {0, UINT16_MAX - 1u};
    static const uint32_t counts[] = {1, UINT32_MAX};
    static const uint32_t switches[] = {0, 1};
    static const uint32_t state[] = {0, KDZ_STATE_THREADS};
    struct word key = {pair.first, 0};
    struct word given;
    uint8_t *threads;
    uint32_t *arming;
    uint32_t value = 0;
    uint32_t bit = 0;
    bool taken = true;

    while (key.length < pair.length && pair.first[key.length] != '=') {
        key.length++;
    }
    if (key.length == pair.length) {
        return refuse_with(out, pair, ": key=value expected");
    }
    given = (struct word){pair.first + key.length + 1, pair.length - key.length - 1};
    threads = threads_of(out, key);
    arming = KDZ_STAMP_ARMS ? arming_of(key, &bit) : NULL;
    if (kdz_text_is(key.first, key.length, "id")) {
        bit = SEEN_ID;
        taken = number_in(out, pair, given, ids, &value);
        point->id = taken ? (uint16_t)value : point->id;
    } else if (kdz_text_is(key.first, key.length, "samples")) {
        bit = SEEN_SAMPLES;
        taken = number_in(out, pair, given, counts, &value);
        point->samples = taken ? value : point->samples;
    } else if (kdz_text_is(key.first, key.length, "arrivals")) {
        bit = SEEN_ARRIVALS;
        taken = number_in(out, pair, given, switches, &value);
        out->arrivals = taken && value != 0;
    } else if (arming != NULL) {
        taken = number_in(out, pair, given, counts, arming);
    } else if (threads != NULL) {
        bit = SEEN_STATE << (threads - out->threads);
        taken = number_in(out, pair, given, state, &value);
        *threads = (uint8_t)value;
    } else if (KDZ_WORKS_BESIDE && beside_of(key) < KDZ_BESIDE_PARAMS) {
        bit = SEEN_BESIDE << beside_of(key);
        taken = take_beside(out, pair, given, beside_of(key));
    } else if (point->bench != NULL) { /* an unknown benchmark is what gets reported */
        taken = take_param(out, point, key, given, &bit);
    }
    if (!taken) {
        return false;
    }
    if ((*seen & bit) != 0) {
        return refuse_with(out, key, ": given twice");
    }
    *seen |= bit;
    return true;
}

static bool read_point(const char *at, const struct kdz_benches *benches, struct word name,
                       struct kdz_point *point, struct kdz_plan_line *out)
{
    uint32_t seen = 0;
    struct word pair;

    point->bench = find(benches, name);
    point->samples = 0;
    for (uint8_t i = 0; point->bench != NULL && i < point->bench->param_count; i++) {
        point->value[i] = point->bench->params[i].initial;
    }
    for (pair = next_word(&at); pair.length != 0; pair = next_word(&at)) {
        if (!take_key(out, point, pair, &seen)) {
            return false;
        }
    }
    if (point->bench == NULL) {
        return refuse_with(out, name, ": no such benchmark in this image");
    }
    if ((seen & SEEN_ID) == 0) {
        return refuse_with(out, name, ": `id=` is missing");
    }
    if ((seen & SEEN_SAMPLES) == 0) {
        return refuse_with(out, name, ": `samples=` is missing");
    }
    if (seen >= SEEN_STATE && !out->arrivals) {
        return refuse_with(out, name, ": a state needs `arrivals=1`");
    }
    return true;
}

void kdz_plan_read(const char *line, const struct kdz_benches *benches, struct kdz_point *point,
                   struct kdz_plan_line *out)
{
    static const struct {
        const char *word;
        enum kdz_plan_kind kind;
    } commands[] = {
        {"list", KDZ_PLAN_LIST},
        {"conformance", KDZ_PLAN_CONFORMANCE},
        {"end", KDZ_PLAN_END},
    };
    const struct word name = next_word(&line);

    out->kind = KDZ_PLAN_EMPTY;
    out->name = name.first;
    out->name_length = name.length;
    out->reason[0] = '\0';
    out->arrivals = false;
    if (KDZ_STAMP_ARMS) {
        kdz_arming = (struct kdz_arming)KDZ_ARMING_INITIAL;
    }
    if (KDZ_WORKS_BESIDE) {
        for (size_t i = 0; i < KDZ_BESIDE_PARAMS; i++) {
            kdz_beside_value[i] = kdz_beside_params[i].initial;
        }
    }
    for (size_t i = 0; i < KDZ_STATES; i++) {
        out->threads[i] = 0;
    }
    point->bench = NULL;
    point->samples = 0;
    if (name.length == 0 || name.first[0] == '#') {
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (kdz_text_is(name.first, name.length, commands[i].word)) {
            out->kind = commands[i].kind;
            if (next_word(&line).length != 0) {
                (void)refuse_with(out, name, ": stands alone on its line");
            }
            return;
        }
    }
    if (read_point(line, benches, name, point, out)) {
        out->kind = KDZ_PLAN_POINT;
    }
}
