/* SPDX-License-Identifier: Apache-2.0
 *
 * Who goes first among several waiters of a channel or a notification: what its limits declare.
 */
#include "cases.h"

#define WAITERS 3
#define BYTES_MAX 16u

static const struct kdz_mechanism *waited_for;
static kdz_handle object;
static uint32_t bytes;

static bool create(const struct kdz_mechanism *mechanism)
{
    waited_for = mechanism;
    bytes = mechanism->limits.unit_bytes > 1 ? mechanism->limits.unit_bytes : 1u;
    object = mechanism->channel != NULL ? mechanism->channel->create(bytes, WAITERS)
                                        : mechanism->notify->create(false);
    return object >= 0 && bytes <= BYTES_MAX;
}

static void destroy(void)
{
    if (waited_for->channel != NULL) {
        waited_for->channel->destroy(object);
    } else {
        waited_for->notify->destroy(object);
    }
}

static void wait_and_say(void *letter)
{
    uint8_t item[BYTES_MAX];
    const kdz_status status = waited_for->channel != NULL
                                  ? waited_for->channel->receive(object, item, bytes, PATIENCE)
                                  : waited_for->notify->wait(object, PATIENCE);

    if (status == KDZ_OK) {
        kdz_case_log(*(const char *)letter);
    }
}

static void wake_one(void)
{
    static const uint8_t item[BYTES_MAX] = {1};

    if (waited_for->channel != NULL) {
        (void)waited_for->channel->send(object, item, bytes, PATIENCE);
    } else {
        (void)waited_for->notify->notify(object);
    }
    kdz_case_settle();
}

/* Three waiters with ranks in no order, woken `times` times. */
static const char *wake(const struct kdz_mechanism *mechanism, int times, const char *order,
                        const char *otherwise)
{
    static const char *const letters[WAITERS] = {"1", "2", "3"};
    static const uint8_t ranks[WAITERS] = {4, 8, 6};
    const char *reason = NULL;
    kdz_handle thread[WAITERS];

    if (!create(mechanism)) {
        return "it could not be created";
    }
    for (int i = 0; i < WAITERS; i++) {
        thread[i] = kdz_case_thread(wait_and_say, (void *)(uintptr_t)letters[i], ranks[i]);
        kdz_case_settle(); /* it waits now */
    }
    for (int i = 0; i < times; i++) {
        wake_one();
    }
    for (int i = 0; i < WAITERS; i++) {
        kdz_case_join(&reason, thread[i]);
    }
    expect(&reason, kdz_case_log_is(order), otherwise);
    destroy();
    return reason;
}

static const char *wakes_in_order(const struct kdz_mechanism *mechanism)
{
    return mechanism->limits.waiters == KDZ_WAITERS_BY_RANK
               ? wake(mechanism, WAITERS, "231", "waiters were not woken by rank")
               : wake(mechanism, WAITERS, "123", "waiters were not woken by arrival");
}

static const char *wakes_all(const struct kdz_mechanism *mechanism)
{
    return wake(mechanism, 1, "231", "one notification did not wake every waiter, by rank");
}

static bool has_waiters(const struct kdz_mechanism *mechanism)
{
    return (mechanism->channel != NULL || mechanism->notify != NULL) && kdz_case_ranks_hold();
}

static bool is_ordered(const struct kdz_mechanism *mechanism)
{
    return has_waiters(mechanism) && !mechanism->limits.wakes_all &&
           (mechanism->limits.waiters == KDZ_WAITERS_BY_RANK ||
            mechanism->limits.waiters == KDZ_WAITERS_BY_ARRIVAL);
}

static bool is_for_all(const struct kdz_mechanism *mechanism)
{
    return has_waiters(mechanism) && mechanism->limits.wakes_all;
}

struct kdz_promises kdz_promises_waiters(void)
{
    static const struct kdz_promise promises[] = {
        {"wakes its waiters in the declared order", is_ordered, wakes_in_order},
        {"wakes every waiter", is_for_all, wakes_all},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
