/* SPDX-License-Identifier: Apache-2.0 */
#include "crowd.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"

#define RANK_LETS_GO 6u
#define RANK_WAITS 8u
#define FIRST 1u

static const char *const until[] = {"last", "first"};

const struct kdz_param kdz_crowd_params[KDZ_CROWD_PARAMS] = {
    [KDZ_CROWD_WAITERS] = {"waiters", 2, 1, KDZ_CROWD_MAX},
    [KDZ_CROWD_UNTIL] = {"until", 0, 0, FIRST, until},
};

static struct {
    const struct kdz_crowd *ops;
    kdz_handle again; /* given once for each waiter and sample */
    uint32_t waiters;
    uint32_t stamps_at; /* the index of the thread that takes END, in order of return */
    volatile uint32_t places;
    volatile uint32_t returned; /* from their wait, in this sample */
    volatile uint32_t waiting;  /* about to wait, or waiting */
    volatile kdz_time end;
    volatile bool refused;
    volatile bool stop;
} c;

uint32_t kdz_crowd_waiters(const struct kdz_point *point)
{
    return point->bench->param_count > KDZ_CROWD_WAITERS ? KDZ_PARAM(point, KDZ_CROWD_WAITERS) : 1u;
}

static void one_of_the_crowd(void *unused)
{
    kdz_status (*const wait)(uint32_t) = c.ops->wait;
    const uint32_t place = c.places++;

    (void)unused;
    for (;;) {
        (void)kdz_sem_take(c.again, KDZ_FOREVER);
        if (c.stop) {
            return; /* not in a sample: the end of a thread costs more than a wake-up */
        }
        c.waiting++;
        const kdz_status status = wait(place);

        if (c.returned++ == c.stamps_at) {
            c.end = kdz_stamp(KDZ_END);
        }
        c.refused = c.refused || status != KDZ_OK;
        if (c.ops->leave != NULL) {
            (void)c.ops->leave();
        }
    }
}

/* Waits until `count` is `value`; false if it is not after a second. The crowd is more urgent and
 * on the same core, so `count` is right at once. Where ranks do not order threads, this sleeps. */
static bool comes_to(const volatile uint32_t *count, uint32_t value)
{
    const uint32_t from = kdz_tick_now();
    uint32_t wake = from;

    while (*count != value && kdz_tick_now() - from < kdz_tick_hz()) {
        (void)kdz_delay_until(&wake, kdz_period_ticks(1000));
    }
    return *count == value;
}

static void give_again(void)
{
    for (uint32_t i = 0; i < c.waiters; i++) {
        (void)kdz_sem_give(c.again);
    }
}

/* One sample; false when a thread is stuck. */
static bool let_go(struct kdz_point *point)
{
    kdz_status (*const release)(uint32_t) = c.ops->release;
    const uint32_t place = c.waiters;
    bool together;

    if (c.ops->prepare != NULL) {
        c.refused = c.ops->prepare() != KDZ_OK || c.refused;
    }
    c.waiting = c.returned = 0;
    give_again();
    together = comes_to(&c.waiting, c.waiters);
    kdz_prove(&point->record, together && c.returned == 0, "a thread did not wait");
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status released = release(place);

    together = comes_to(&c.returned, c.waiters);
    kdz_prove(&point->record, together, "not every waiting thread continued exactly once");
    kdz_prove(&point->record, released == KDZ_OK && !c.refused, "a call of the kernel failed");
    if (together) {
        kdz_keep(&point->record, 0, kdz_span(begin, c.end));
    }
    return together;
}

static void lets_go(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        if (!let_go(point)) {
            return;
        }
    }
    c.stop = true;
    give_again();
}

void kdz_crowd_measure(struct kdz_point *point, const struct kdz_crowd *crowd)
{
    struct kdz_party parties[KDZ_CROWD_MAX + 1u];
    const uint32_t waiters = kdz_crowd_waiters(point);
    const bool first = waiters > 1u && KDZ_PARAM(point, KDZ_CROWD_UNTIL) == FIRST;

    c.ops = crowd;
    c.waiters = waiters;
    c.stamps_at = first ? 0 : waiters - 1u;
    c.places = 0;
    c.refused = c.stop = false;
    c.again = kdz_sem_create(KDZ_SEM_COUNTING, KDZ_CROWD_MAX, 0);
    if (c.again < 0) {
        kdz_prove(&point->record, false, "a semaphore could not be created");
        return;
    }
    for (uint32_t i = 0; i < waiters; i++) {
        parties[i] = (struct kdz_party){"waits", one_of_the_crowd, RANK_WAITS, 0};
    }
    parties[waiters] = (struct kdz_party){"lets-go", lets_go, RANK_LETS_GO, 0};
    kdz_parties_run(point, parties, waiters + 1u);
    kdz_sem_destroy(c.again);
}
