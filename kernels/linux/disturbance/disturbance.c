/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A planted regression, every period_us for busy_us. Never part of a measurement unless it was
 * asked for, and then in its manifest.
 *
 * By a thread: it works without letting anybody preempt it, as a driver does that holds the
 * processor too long. A wake-up during its work is late by the rest of that work, at most busy_us,
 * under every scheduling policy and kind of preemption.
 *
 * With timer=1, in the callback of a timer that expires at ticks, as the flush of the routing cache
 * in cereia2011 was. Whom it delays, and by how much, is up to the kernel.
 */
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timer.h>

static unsigned int period_us = 10000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "time between two disturbances, in microseconds of CLOCK_MONOTONIC");

static unsigned int busy_us = 100;
module_param(busy_us, uint, 0444);
MODULE_PARM_DESC(busy_us, "length of each, less than the period");

static bool timer;
module_param(timer, bool, 0444);
MODULE_PARM_DESC(timer, "in the callback of a timer, its period in whole ticks");

static struct task_struct *thread;
static struct timer_list callback;

static void work(void)
{
    const ktime_t end = ktime_add_us(ktime_get(), busy_us);

    while (ktime_before(ktime_get(), end))
        cpu_relax();
}

static void on_timer(struct timer_list *unused)
{
    callback.expires += usecs_to_jiffies(period_us);
    add_timer(&callback);
    work();
}

static int disturb(void *unused)
{
    ktime_t next = ktime_add_us(ktime_get(), period_us);

    while (!kthread_should_stop()) {
        set_current_state(TASK_INTERRUPTIBLE);
        schedule_hrtimeout(&next, HRTIMER_MODE_ABS);
        preempt_disable();
        work();
        preempt_enable();
        next = ktime_add_us(next, period_us);
    }
    return 0;
}

static int __init disturbance_init(void)
{
    if (period_us == 0 || busy_us >= period_us)
        return -EINVAL;
    if (timer) {
        timer_setup(&callback, on_timer, TIMER_PINNED);
        callback.expires = jiffies + usecs_to_jiffies(period_us);
        add_timer(&callback);
        return 0;
    }
    thread = kthread_create(disturb, NULL, "kdz-disturbance");
    if (IS_ERR(thread))
        return PTR_ERR(thread);
    sched_set_fifo(thread);
    wake_up_process(thread);
    return 0;
}

static void __exit disturbance_exit(void)
{
    if (timer)
        timer_delete_sync(&callback);
    else
        kthread_stop(thread);
}

module_init(disturbance_init);
module_exit(disturbance_exit);
MODULE_DESCRIPTION("kadenz: a disturbance of known period and length");
MODULE_LICENSE("GPL");
