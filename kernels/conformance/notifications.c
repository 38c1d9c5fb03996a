/* SPDX-License-Identifier: Apache-2.0
 *
 * Every notification: it is kept, it waits, it wakes the more urgent at once.
 */
#include "cases.h"

#define COUNT 3u

static const struct kdz_notify_ops *ops;
static kdz_handle object;
static bool keeps_one;

static const char *counts_and_times_out(void)
{
    const char *reason = NULL;
    uint32_t start;

    expect(&reason, ops->wait(object, 0) == KDZ_TIMEOUT, "a new object let a wait through");
    start = kdz_tick_now();
    expect(&reason, ops->wait(object, kdz_case_ms(5)) == KDZ_TIMEOUT,
           "a wait without a notification succeeded");
    expect(&reason, kdz_tick_now() - start >= kdz_case_ms(4), "a wait ended before its time");
    expect(&reason, kdz_tick_now() - start < kdz_case_ms(5) + PATIENCE,
           "a wait ended far after its time");
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, ops->notify(object) == KDZ_OK, "a notification failed");
    }
    for (uint32_t i = 0; i < (keeps_one ? 1u : COUNT); i++) {
        expect(&reason, ops->wait(object, 0) == KDZ_OK, "a notification before the wait was lost");
    }
    expect(&reason, ops->wait(object, 0) == KDZ_TIMEOUT,
           "more waits passed than notifications were kept");
    return reason;
}

static void wait_and_say(void *arg)
{
    (void)arg;
    if (ops->wait(object, PATIENCE) == KDZ_OK) {
        kdz_case_log('h');
    }
}

static void notify_and_say(void *arg)
{
    (void)arg;
    (void)ops->notify(object);
    kdz_case_log('l');
}

static const char *wakes_the_more_urgent(void)
{
    const char *reason = NULL;
    const kdz_handle high = kdz_case_thread(wait_and_say, NULL, 8);
    kdz_handle low;

    kdz_case_settle(); /* it waits now */
    low = kdz_case_thread(notify_and_say, NULL, 4);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    expect(&reason, kdz_case_log_is("hl"),
           "the notifier ran on before the more urgent thread it had woken");
    return reason;
}

/* Each part has an object of its own: a signal has one waiter only. */
static const char *part(const char *(*test)(void))
{
    const char *reason;

    object = ops->create(false);
    if (object < 0) {
        return "an object could not be created";
    }
    reason = test();
    ops->destroy(object);
    return reason;
}

static const char *destroy_frees(void)
{
    const char *reason = NULL;

    for (int round = 0; round < 100 && reason == NULL; round++) {
        object = ops->create(false);
        expect(&reason, object >= 0, "creating and destroying used the pool up");
        if (object >= 0) {
            ops->destroy(object);
        }
    }
    return reason;
}

static const char *is_kept_and_wakes(const struct kdz_mechanism *mechanism)
{
    const char *reason;

    ops = mechanism->notify;
    keeps_one = mechanism->limits.keeps_one;
    reason = part(counts_and_times_out);
    if (reason == NULL) {
        reason = part(wakes_the_more_urgent);
    }
    return reason != NULL ? reason : destroy_frees();
}

/* ---- from an interrupt ------------------------------------------------------------------------
 */
static void notify_in_handler(struct kdz_isr *isr)
{
    (void)ops->notify_from_isr(object, isr);
}

static void raise_and_say(void *arg)
{
    (void)arg;
    kdz_board_irq_raise();
    kdz_case_log('l');
}

static const char *interrupt_wakes_the_more_urgent(void)
{
    const char *reason = NULL;
    kdz_handle high;

    expect(&reason, kdz_irq_connect(notify_in_handler) == KDZ_OK,
           "the handler could not be connected");
    high = kdz_case_thread(wait_and_say, NULL, 8);
    kdz_case_settle();
    kdz_case_join(&reason, kdz_case_thread(raise_and_say, NULL, 4));
    kdz_case_join(&reason, high);
    expect(&reason, kdz_case_log_is("hl"),
           "the interrupted thread ran on before the more urgent one that was woken");
    (void)kdz_irq_connect(NULL);
    return reason;
}

static const char *notifies_from_an_interrupt(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->notify;
    return part(interrupt_wakes_the_more_urgent);
}

static bool is_notification(const struct kdz_mechanism *mechanism)
{
    return mechanism->notify != NULL;
}

static bool takes_interrupts(const struct kdz_mechanism *mechanism)
{
    return is_notification(mechanism) && mechanism->notify->notify_from_isr != NULL &&
           kdz_lack("interrupt") == NULL;
}

struct kdz_promises kdz_promises_notifications(void)
{
    static const struct kdz_promise promises[] = {
        {"is kept and wakes", is_notification, is_kept_and_wakes},
        {"notifies from an interrupt", takes_interrupts, notifies_from_an_interrupt},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
