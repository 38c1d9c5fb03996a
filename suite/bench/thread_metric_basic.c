/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/basic: no service of the kernel. A thread walks a table and changes each word by
 * its neighbours of the turn before: what the core and the compiler make of it, to hold the others
 * against. Thread-Metric's table has 1,024 words; this one has 64, walked 16 times, so that it fits
 * a board of 16 KiB.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

#define WORDS 64u
#define WALKS 16u

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 7u

static volatile uint32_t table[WORDS];

__attribute__((noinline)) static void walk(uint32_t turn)
{
    for (uint32_t pass = 0; pass < WALKS; pass++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            table[i] = (table[i] * 3u) ^ (turn + i);
        }
    }
}

KDZ_TM_LEADER(, walk(kdz_tm.count[0]);, table[WORDS - 1u] != table[0])

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_windows, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_samples, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    kdz_tm_clear(1);
    for (uint32_t i = 0; i < WORDS; i++) {
        table[i] = i;
    }
    return KDZ_OK;
}

KDZ_TM_BENCHES(basic, "thread-metric/basic", "sem-counting threads", "walks of 1,024 words",
               "before a walk of 1,024 words", "its end", setup, NULL);
