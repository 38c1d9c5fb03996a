/* SPDX-License-Identifier: Apache-2.0
 *
 * RM0090, section 3.5.2 “Adaptive real-time memory accelerator”: 64 lines of code and 8 of data, of
 * 128 bits each, the least recently used one replaced; the line behind the current one is
 * prefetched. The manual does not say whether a prefetched line stays in the cache, so both are
 * followed, and the interval spans them. On a miss it gives the wait states as the least.
 */
#include "art.h"

#include <string.h>

#define FLASH_END 0x10000000u /* code memory below; what is above never waits */
#define VECTORS 0x08000000u
#define CODE_LINES 64u
#define DATA_LINES 8u
#define WORDS (KDZ_ART_LINE / 4u)
#define NO_LINE UINT64_MAX

struct kdz_cycles kdz_art_wait, kdz_art_busy, kdz_art_kept, kdz_art_on;

/* Lines, the last used first. */
struct lines {
    uint64_t line[CODE_LINES];
    unsigned used, size;
};

static struct lines code[2] = {{.size = CODE_LINES}, {.size = CODE_LINES}}; /* by `kept` */
static struct lines data = {.size = DATA_LINES};

/* Of the line in execution: */
static uint64_t current = NO_LINE;
static bool jumped;            /* to the line that is fetched next */
static uint32_t words = WORDS; /* from where the core came into it, to its end */
static bool delayed;           /* a read of data may have delayed the prefetch */

/* Finds a line and makes it the last used one. A line that is not there is added if `add`. */
static bool look_up(struct lines *in, uint64_t line, bool add)
{
    unsigned at = 0;

    while (at < in->used && in->line[at] != line) {
        at++;
    }
    const bool found = at < in->used;
    if (!found && !add) {
        return false;
    }
    if (!found) {
        at = in->used < in->size ? in->used++ : in->size - 1u;
    }
    memmove(&in->line[1], &in->line[0], at * sizeof in->line[0]);
    in->line[0] = line;
    return found;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A read of the flash that another one may hold up: at most as long as a read takes. */
static struct kdz_cycles missed(void)
{
    return (struct kdz_cycles){
        kdz_art_wait.low + least(kdz_art_busy.low, kdz_art_wait.low),
        kdz_art_wait.high + least(kdz_art_busy.high, kdz_art_wait.high),
    };
}

/* The prefetch began with the current line. The core takes a word in a cycle at most. */
static struct kdz_cycles late(void)
{
    const uint32_t takes = kdz_art_wait.high + 1u;

    if (jumped || delayed) {
        return (struct kdz_cycles){0, kdz_art_wait.high};
    }
    return (struct kdz_cycles){0, takes > words ? takes - words : 0u};
}

/* The least and the most: with the accelerator, and without. */
static struct kdz_cycles either(struct kdz_cycles on, struct kdz_cycles off)
{
    return (struct kdz_cycles){kdz_art_on.high != 0 ? on.low : off.low,
                               kdz_art_on.low != 0 ? on.high : off.high};
}

static struct kdz_cycles of_line(uint64_t line, bool next)
{
    struct kdz_cycles cost = {UINT32_MAX, 0};

    for (uint32_t kept = 0; kept < 2u; kept++) {
        const bool hit = look_up(&code[kept], line, kept != 0 || !next);
        const struct kdz_cycles one = hit ? kdz_exactly(0) : next ? late() : missed();
        if (kdz_art_kept.low <= kept && kept <= kdz_art_kept.high) {
            cost.low = least(cost.low, one.low);
            cost.high = one.high > cost.high ? one.high : cost.high;
        }
    }
    return cost;
}

void kdz_art_jump(uint64_t target)
{
    jumped = target - target % KDZ_ART_LINE != current;
    words = (uint32_t)(KDZ_ART_LINE - target % KDZ_ART_LINE + 3u) / 4u;
}

struct kdz_cycles kdz_art_fetch(uint64_t line)
{
    struct kdz_cycles cost = kdz_exactly(0);

    if (line < FLASH_END) {
        cost = either(of_line(line, line == current + KDZ_ART_LINE), missed());
    }
    if (!jumped) {
        words = WORDS;
    }
    current = line;
    jumped = delayed = false;
    return cost;
}

struct kdz_cycles kdz_art_load(uint64_t address)
{
    const uint64_t line = address - address % KDZ_ART_LINE;

    if (address >= FLASH_END) {
        return kdz_exactly(0);
    }
    const bool hit = look_up(&data, line, true);
    delayed = delayed || !hit || kdz_art_on.low == 0;
    return either(hit ? kdz_exactly(0) : missed(), missed());
}

struct kdz_cycles kdz_art_vector(uint32_t number)
{
    const uint64_t address = VECTORS + 4u * (uint64_t)number;
    const struct kdz_cycles cost =
        either(of_line(address - address % KDZ_ART_LINE, false), missed());

    return (struct kdz_cycles){0, cost.high};
}
