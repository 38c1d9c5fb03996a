/* SPDX-License-Identifier: Apache-2.0
 *
 * Zephyr's timers: the callbacks run in the interrupt of the system clock.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

#define TIMERS_MAX 33

static struct {
    bool used;
    struct k_timer timer;
    uint32_t ticks;
    uint32_t again; /* 0: once */
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static void call_back(struct k_timer *timer)
{
    const uintptr_t place = (uintptr_t)k_timer_user_data_get(timer);

    timers[place].expired(timers[place].arg, NULL);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle place = 0; place < TIMERS_MAX; place++) {
        if (!timers[place].used) {
            timers[place].used = true;
            timers[place].ticks = ticks;
            timers[place].again = repeats ? ticks : 0;
            timers[place].expired = expired;
            timers[place].arg = arg;
            k_timer_init(&timers[place].timer, call_back, NULL);
            k_timer_user_data_set(&timers[place].timer, (void *)(uintptr_t)place);
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status start(kdz_handle timer)
{
    k_timer_start(&timers[timer].timer, kdz_zephyr_ticks(timers[timer].ticks),
                  kdz_zephyr_ticks(timers[timer].again));
    return KDZ_OK;
}

static kdz_status stop(kdz_handle timer)
{
    k_timer_stop(&timers[timer].timer);
    return KDZ_OK;
}

static void destroy(kdz_handle timer)
{
    k_timer_stop(&timers[timer].timer);
    timers[timer].used = false;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, true};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
