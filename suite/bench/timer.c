/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"

#define FAR_S 1000u /* longer than any record */
/* A tick that is shorter tells moments finely enough without waiting for its beginning. */
#define LONG_TICK_HZ 20000u

const char *const kdz_timer_others[2] = {
    [KDZ_OTHERS_LATER] = "later",
    [KDZ_OTHERS_TOGETHER] = "together",
};

struct kdz_timers kdz_timers;

static void much_later(void *arg, struct kdz_isr *isr)
{
    (void)arg;
    (void)isr;
    kdz_timers.too_early++;
}

static kdz_status add(uint32_t ticks, bool repeats, void (*expired)(void *arg, struct kdz_isr *isr))
{
    const kdz_handle timer = kdz_timers.ops->create(ticks, repeats, expired, NULL);

    if (timer > INT8_MAX) {
        kdz_timers.ops->destroy(timer);
        return KDZ_NO_MEMORY;
    }
    if (timer >= 0) {
        kdz_timers.timer[kdz_timers.made++] = (int8_t)timer;
    }
    return timer < 0 ? (kdz_status)timer : KDZ_OK;
}

static kdz_status add_all(struct kdz_point *point, bool repeats,
                          void (*due)(void *arg, struct kdz_isr *isr))
{
    const bool together = KDZ_PARAM(point, KDZ_TIMER_OTHERS) == KDZ_OTHERS_TOGETHER;
    kdz_status status = KDZ_OK;

    for (uint32_t i = 1; i < KDZ_PARAM(point, KDZ_TIMER_ARMED) && status == KDZ_OK; i++) {
        status = together ? add(kdz_timers.ticks, repeats, due)
                          : add(FAR_S * kdz_tick_hz(), false, much_later);
        if (status == KDZ_OK && !together) {
            status = kdz_timers.ops->start(kdz_timers.timer[i - 1u]);
        }
    }
    kdz_timers.together = together ? KDZ_PARAM(point, KDZ_TIMER_ARMED) : 1u;
    return status == KDZ_OK ? add(kdz_timers.ticks, repeats, due) : status;
}

kdz_status kdz_timers_setup(struct kdz_point *point, bool repeats,
                            void (*due)(void *arg, struct kdz_isr *isr))
{
    kdz_status status;

    kdz_timers = (struct kdz_timers){
        .ops = kdz_mechanism("callback-timer")->callback_timer,
        .ticks = kdz_period_ticks(KDZ_PARAM(point, KDZ_TIMER_AFTER_US)),
        .expired = kdz_sem_create(KDZ_SEM_COUNTING, UINT16_MAX, 0),
    };
    if (kdz_timers.expired < 0) {
        return (kdz_status)kdz_timers.expired;
    }
    status = add_all(point, repeats, due);
    if (status == KDZ_NO_MEMORY) {
        point->record.proof.reason = "the kernel has no room for that number of timers: arm fewer";
    }
    return status;
}

void kdz_timers_teardown(struct kdz_point *point)
{
    (void)point;
    for (uint32_t i = 0; i < kdz_timers.made; i++) {
        kdz_timers.ops->destroy(kdz_timers.timer[i]);
    }
    if (kdz_timers.expired >= 0) {
        kdz_sem_destroy(kdz_timers.expired);
    }
}

void kdz_timers_start_others(void)
{
    uint32_t now = kdz_tick_now();

    if (kdz_tick_hz() < LONG_TICK_HZ) {
        (void)kdz_delay_until(&now, 1);
    }
    for (uint32_t i = 1; i < kdz_timers.together; i++) {
        (void)kdz_timers.ops->start(kdz_timers.timer[i - 1u]);
    }
}

void kdz_timers_count(struct kdz_isr *isr)
{
    if (++kdz_timers.called % kdz_timers.together != 0) {
        return;
    }
    if (kdz_timers.ops->in_interrupt) {
        (void)kdz_sem_give_from_isr(kdz_timers.expired, isr);
    } else {
        (void)kdz_sem_give(kdz_timers.expired);
    }
}

bool kdz_timers_wait(void)
{
    return kdz_sem_take(kdz_timers.expired, kdz_timers.ticks + kdz_tick_hz()) == KDZ_OK;
}
