/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/mechanism.h"
#include "kadenz/bench.h"

#include "text.h"

/* Borders of the table that the linker collects (KDZ_MECHANISM). Weak: a port may have none. */
extern const struct kdz_mechanism *const __start_kdz_mechanisms[] __attribute__((weak));
extern const struct kdz_mechanism *const __stop_kdz_mechanisms[] __attribute__((weak));

/* Capabilities of a kernel that need no registration, unless its kernel.toml says why not. */
static const char *const every_kernels[] = {"threads", "policy-fifo", "time-out", "sem-strict"};

static char composed[112];

const struct kdz_mechanism *kdz_mechanism_at(size_t index)
{
    const struct kdz_mechanism *const *const each = __start_kdz_mechanisms + index;

    return each < __stop_kdz_mechanisms ? *each : NULL;
}

static const struct kdz_mechanism *find(const char *name, size_t length)
{
    const struct kdz_mechanism *each;

    for (size_t i = 0; (each = kdz_mechanism_at(i)) != NULL; i++) {
        if (kdz_text_is(name, length, each->name)) {
            return each;
        }
    }
    return NULL;
}

/* NULL when the mechanism can be had. */
static const char *why_missing(const char *name, size_t length)
{
    const struct kdz_mechanism *mechanism = find(name, length);
    struct kdz_text text;

    if (mechanism != NULL) {
        return mechanism->missing != NULL ? mechanism->missing() : NULL;
    }
    for (const struct kdz_lacking *each = kdz_lacking; each->name != NULL; each++) {
        if (kdz_text_is(name, length, each->name)) {
            return each->sentence;
        }
    }
    for (size_t i = 0; i < sizeof every_kernels / sizeof every_kernels[0]; i++) {
        if (kdz_text_is(name, length, every_kernels[i])) {
            return NULL;
        }
    }
    text = KDZ_TEXT_IN(composed);
    kdz_text_add(&text, "this kernel has no ");
    kdz_text_add_part(&text, name, length);
    return composed;
}

const struct kdz_mechanism *kdz_mechanism(const char *name)
{
    const size_t length = kdz_text_word(name);

    return why_missing(name, length) == NULL ? find(name, length) : NULL;
}

const char *kdz_lack(const char *names)
{
    const char *sentence = NULL;

    while (*names != '\0' && sentence == NULL) {
        const size_t length = kdz_text_word(names);

        sentence = length != 0 ? why_missing(names, length) : NULL;
        names += length;
        names += *names == ' ' ? 1 : 0;
    }
    return sentence;
}

const char *kdz_too_large(const struct kdz_mechanism *channel, uint32_t bytes)
{
    const struct kdz_limits *limits = &channel->limits;
    struct kdz_text text = KDZ_TEXT_IN(composed);

    kdz_text_add(&text, "a ");
    kdz_text_add(&text, channel->name);
    if (limits->max_bytes != 0 && bytes > limits->max_bytes) {
        kdz_text_add(&text, " of this kernel carries items of at most ");
        kdz_text_add_number(&text, limits->max_bytes);
        kdz_text_add(&text, " bytes");
        return composed;
    }
    if (limits->unit_bytes > 1 && bytes % limits->unit_bytes != 0) {
        kdz_text_add(&text, " of this kernel carries items in units of ");
        kdz_text_add_number(&text, limits->unit_bytes);
        kdz_text_add(&text, " bytes");
        return composed;
    }
    return NULL;
}

kdz_status kdz_need(struct kdz_record *record, const char *names)
{
    const char *sentence = kdz_lack(names);

    if (sentence == NULL) {
        return KDZ_OK;
    }
    record->proof.reason = sentence;
    return KDZ_UNSUPPORTED;
}
