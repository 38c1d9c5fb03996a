/* SPDX-License-Identifier: Apache-2.0
 *
 * What interference/, workload/taskset, critical/, mix/, memory/ and irq/device-… keep while they
 * run: one memory, because one benchmark runs at a time and a board may have 16 KiB. Undefined when
 * a set-up begins.
 */
#ifndef KDZ_BENCH_DEADLINE_STATE_H
#define KDZ_BENCH_DEADLINE_STATE_H

#include "interference.h"

#define KDZ_TASKSET_MAX 6u

struct kdz_taskset_task {
    uint32_t period;
    uint32_t turns;
    uint32_t job; /* the next one, from 0 */
};

struct kdz_critical_service;
struct kdz_mix;
struct kdz_device;

union kdz_deadline_state {
    struct {
        struct {
            struct kdz_sleepers group;
            kdz_handle thread[KDZ_INTERFERENCE_TASKS_MAX];
            volatile uint32_t woken[KDZ_INTERFERENCE_TASKS_MAX];
            volatile bool over;
        } sleepers;
        union {
            struct { /* interference/job */
                struct kdz_record *record;
                uint32_t samples;
                uint32_t start;
                volatile uint32_t jobs;
                volatile bool over;
            } own;
            struct { /* interference/sleep, interference/blocking */
                struct kdz_record *record;
                uint32_t samples;
                uint32_t start;
                uint64_t turns_time; /* of a number of turns, without what is around any number */
                uint32_t step;       /* turns from sample to sample */
                uint32_t turns;      /* before the first sample's call */
                uint32_t tick;       /* counted just before the call */
                kdz_time begin;      /* of the call */
                volatile uint32_t calls;
                volatile bool over;
            } swept;
        };
    };
    struct { /* workload/taskset */
        struct kdz_record *record;
        uint32_t samples;
        uint32_t start;  /* a tick that has passed */
        kdz_time origin; /* when it was due */
        uint32_t count;
        volatile uint32_t ended; /* jobs of all tasks */
        struct kdz_taskset_task task[KDZ_TASKSET_MAX];
    } set;
    struct { /* critical/ */
        const struct kdz_critical_service *service;
        union { /* the calls of the object, where they are a table's */
            const struct kdz_channel_ops *channel;
            const struct kdz_notify_ops *notify;
            const struct kdz_callback_timer_ops *timer;
            const struct kdz_memory_ops *memory;
        };
        void *block;   /* that is allocated */
        uint32_t tick; /* of the last sleep's end */
        uint32_t item;
        kdz_handle object;
        kdz_handle go;              /* the semaphore that sends the waiter to a mutex */
        kdz_handle thread;          /* that a call created */
        volatile kdz_handle waiter; /* the waiter itself */
        kdz_status status;          /* of the steps around the last call */
        bool waits;
        bool blocks;
        bool urgent;
        uint32_t limit; /* of a wait, in ticks */
        volatile uint32_t woken;
        volatile uint32_t released; /* by the less urgent thread */
        volatile uint32_t handled;  /* interrupts */
        volatile bool over;
    } critical;
    struct {                       /* mix/ */
        const struct kdz_mix *mix; /* being measured */
        union {                    /* the calls of the object, where they are a table's */
            const struct kdz_memory_ops *memory;
            const struct kdz_channel_ops *channel;
        };
        kdz_handle object;
        volatile uint32_t done;
        volatile bool over;
    } mixed;
    struct { /* mix/round-robin */
        kdz_handle go;
        kdz_handle finished;
        uint32_t half;            /* workloads of each thread in a batch */
        volatile uint32_t others; /* that the other thread has done */
        uint32_t sum_other;
    } turns;
    struct { /* memory/ */
        uint8_t *from;
        uint8_t *to;
    } blocks;
    struct { /* irq/device-… */
        const struct kdz_device *device;
        kdz_handle sem;
        volatile kdz_status given;
        volatile uint32_t since; /* the request, in ticks of the device */
        volatile uint32_t entered;
        volatile uint32_t woken;
        volatile uint32_t limit;
    } requests;
};

extern union kdz_deadline_state kdz_deadline_state;

#endif
