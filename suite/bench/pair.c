/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/pair.h"

#include "kadenz/thread_options.h"

#include "kadenz/placement.h"

/* Turns of a loop between two looks, and looks between two questions for the time. */
#define QUIET_TURNS 16u
#define QUIET_ROUNDS 256u

KDZ_SHARED static struct kdz_stay stays[KDZ_PARTIES_MAX];
/* The argument of all that are bound: one point is measured at a time. */
KDZ_SHARED static struct kdz_point *measured;

static void run_bound(void *arg)
{
    struct kdz_stay *const stay = (struct kdz_stay *)arg;

    stay->began_on = kdz_thread_core();
    stay->entry(measured);
    stay->ended_on = kdz_thread_core();
}

kdz_handle kdz_party_create(struct kdz_point *point, const struct kdz_party *party, bool process,
                            struct kdz_stay *stay)
{
    const struct kdz_thread_options apart = {.process = true};
    struct kdz_thread_spec spec = {
        .name = party->name,
        .entry = party->entry,
        .arg = point,
        .rank = party->rank,
        .options = process ? &apart : NULL,
    };
    const kdz_status bound = kdz_core_for(party->core, &point->record, &spec.core);

    if (bound != KDZ_OK) {
        return (kdz_handle)bound;
    }
    stay->core = spec.core;
    if (stay->core != KDZ_ANY_CORE) {
        stay->entry = spec.entry;
        measured = point;
        spec.entry = run_bound;
        spec.arg = stay;
    }
    return kdz_thread_create(&spec);
}

void kdz_party_prove(struct kdz_record *record, const struct kdz_stay *stay)
{
    kdz_prove_core(record, stay->core, stay->began_on);
    kdz_prove_core(record, stay->core, stay->ended_on);
}

static kdz_handle create(struct kdz_point *point, const struct kdz_party *party, bool process,
                         size_t place)
{
    const kdz_handle thread = kdz_party_create(point, party, process, &stays[place]);

    if (thread < 0) {
        kdz_prove(&point->record, false,
                  "the kernel could not create the benchmark's threads, or not bind them");
    }
    return thread;
}

/* Waits for the ends of all, in their order. */
static void join(struct kdz_point *point, const kdz_handle *threads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)kdz_thread_join(threads[i], KDZ_FOREVER);
    }
    for (size_t i = 0; i < count; i++) {
        kdz_party_prove(&point->record, &stays[i]);
    }
}

void kdz_pair_run(struct kdz_point *point, const struct kdz_party *first,
                  const struct kdz_party *second)
{
    kdz_pair_run_apart(point, first, false, second);
}

void kdz_pair_run_apart(struct kdz_point *point, const struct kdz_party *first, bool process,
                        const struct kdz_party *second)
{
    kdz_handle threads[2];

    threads[0] = create(point, first, process, 0);
    threads[1] = threads[0] < 0 ? threads[0] : create(point, second, false, 1);
    /* Without the other nobody would ever wake the first: the record is lost, and it stays. */
    if (threads[1] >= 0) {
        join(point, threads, 2);
    }
}

void kdz_parties_run(struct kdz_point *point, const struct kdz_party *parties, size_t count)
{
    kdz_handle threads[KDZ_PARTIES_MAX];

    for (size_t i = 0; i < count && i < KDZ_PARTIES_MAX; i++) {
        threads[i] = create(point, &parties[i], false, i);
        if (threads[i] < 0) {
            return;
        }
    }
    join(point, threads, count < KDZ_PARTIES_MAX ? count : KDZ_PARTIES_MAX);
}

void kdz_party_run(struct kdz_point *point, const struct kdz_party *party)
{
    const kdz_handle thread = create(point, party, false, 0);

    if (thread >= 0) {
        join(point, &thread, 1);
    }
}

bool kdz_quietly_until(const volatile uint32_t *count, uint32_t value)
{
    const uint32_t from = kdz_tick_now();

    for (uint32_t round = 1; *count != value; round++) {
        if (round % QUIET_ROUNDS == 0 && kdz_tick_now() - from > kdz_tick_hz()) {
            return *count == value;
        }
        kdz_arch_loop(QUIET_TURNS);
    }
    return true;
}

kdz_sem_kind kdz_pair_semaphore(void)
{
    return kdz_lack("sem-binary") == NULL ? KDZ_SEM_BINARY : KDZ_SEM_COUNTING;
}

void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value)
{
    kdz_record_add(record, lane, value);
    if (kdz_record_full(record, lane)) {
        kdz_record_drain(record);
    }
}
