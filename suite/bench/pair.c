/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

#include "kadenz/thread_options.h"

#include "cores.h"

/* Turns of a loop between two looks, and looks between two questions for the time. */
#define QUIET_TURNS 16u
#define QUIET_ROUNDS 256u

static kdz_handle create(struct kdz_point *point, const struct kdz_party *party, bool process)
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
    const kdz_handle thread = bound != KDZ_OK ? (kdz_handle)bound : kdz_thread_create(&spec);

    if (bound != KDZ_OK) {
        kdz_prove(&point->record, false, "a thread of the benchmark cannot be bound to its core");
    } else if (thread < 0) {
        kdz_prove(&point->record, false, "the kernel could not create the benchmark's threads");
    }
    return thread;
}

void kdz_pair_run(struct kdz_point *point, const struct kdz_party *first,
                  const struct kdz_party *second)
{
    kdz_pair_run_apart(point, first, false, second);
}

void kdz_pair_run_apart(struct kdz_point *point, const struct kdz_party *first, bool process,
                        const struct kdz_party *second)
{
    const kdz_handle thread_1 = create(point, first, process);
    const kdz_handle thread_2 = thread_1 < 0 ? thread_1 : create(point, second, false);

    /* Without the other nobody would ever wake the first: the record is lost, and it stays. */
    if (thread_2 >= 0) {
        (void)kdz_thread_join(thread_1, KDZ_FOREVER);
        (void)kdz_thread_join(thread_2, KDZ_FOREVER);
    }
}

void kdz_parties_run(struct kdz_point *point, const struct kdz_party *parties, size_t count)
{
    kdz_handle threads[KDZ_PARTIES_MAX];

    for (size_t i = 0; i < count && i < KDZ_PARTIES_MAX; i++) {
        threads[i] = create(point, &parties[i], false);
        if (threads[i] < 0) {
            return;
        }
    }
    for (size_t i = 0; i < count && i < KDZ_PARTIES_MAX; i++) {
        (void)kdz_thread_join(threads[i], KDZ_FOREVER);
    }
}

void kdz_party_run(struct kdz_point *point, const struct kdz_party *party)
{
    const kdz_handle thread = create(point, party, false);

    if (thread >= 0) {
        (void)kdz_thread_join(thread, KDZ_FOREVER);
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
