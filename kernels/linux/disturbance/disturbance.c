/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A planted regression: a kernel thread that every period_us works for busy_us without letting
 * anybody preempt it, as a driver does that holds the processor too long. A wake-up during
 * its work is late by the rest of that work, at most busy_us, under every scheduling policy and
 * kind of preemption. Never part of a measurement unless it was asked for, and then in its
 * manifest.
 */
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>

static unsigned int period_us = 10000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "time between two disturbances, in microseconds of CLOCK_MONOTONIC");

static unsigned int busy_us = 100;
module_param(busy_us, uint, 0444);
MODULE_PARM_DESC(busy_us, "length of each, less than the period");

static struct task_struct *thread;

static int disturb(void *unused)
{
    ktime_t next = ktime_add_us(ktime_get(), period_us);

    while (!kthread_should_stop()) {
        ktime_t end;

        set_current_state(TASK_INTERRUPTIBLE);
        schedule_hrtimeout(&next, HRTIMER_MODE_ABS);
        preempt_disable();
        end = ktime_add_us(ktime_get(), busy_us);
        while (ktime_before(ktime_get(), end))
            cpu_relax();
        preempt_enable();
        next = ktime_add_us(next, period_us);
    }
    return 0;
}

static int __init disturbance_init(void)
{
    if (period_us == 0 || busy_us >= period_us)
        return -EINVAL;
    thread = kthread_create(disturb, NULL, "kdz-disturbance");
    if (IS_ERR(thread))
        return PTR_ERR(thread);
    sched_set_fifo(thread);
    wake_up_process(thread);
    return 0;
}

static void __exit disturbance_exit(void)
{
    kthread_stop(thread);
}

module_init(disturbance_init);
module_exit(disturbance_exit);
MODULE_DESCRIPTION("kadenz: a disturbance of known period and length");
MODULE_LICENSE("GPL");
