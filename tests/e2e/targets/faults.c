/* SPDX-License-Identifier: Apache-2.0
 *
 * Benchmarks that go wrong, each in one way, for tests/e2e. Built in with KDZ_EXTRA_BENCH.
 */
#include "kadenz/bench.h"

#include "kadenz/fault.h"

#define STACK_BYTES 1024u
/* What FreeRTOS paints an unused stack with (tskSTACK_FILL_BYTE). */
#define PAINT 0xa5a5a5a5u

static void add(struct kdz_point *point, bool proven)
{
    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_time end = kdz_stamp(KDZ_END);

        if (proven) {
            kdz_prove(&point->record, true, "");
        }
        kdz_record_add(&point->record, 0, kdz_span(begin, end));
        if (kdz_record_full(&point->record, 0)) {
            kdz_record_drain(&point->record);
        }
    }
}

static void good(struct kdz_point *point)
{
    add(point, true);
}

static void no_proof(struct kdz_point *point)
{
    add(point, false);
}

static void wrong_proof(struct kdz_point *point)
{
    add(point, true);
    kdz_prove(&point->record, false, "the message was another one");
}

/* As a thread of two does that takes its stamp before the other one asks it to. */
static void backwards(struct kdz_point *point)
{
    kdz_time end;
    kdz_time begin;

    point->samples--; /* the rest as they should be */
    add(point, true);
    point->samples++;
    end = kdz_stamp(KDZ_END);
    begin = kdz_stamp(KDZ_BEGIN);
    kdz_record_add(&point->record, 0, kdz_span(begin, end));
}

static void hang(struct kdz_point *point)
{
    volatile bool forever = true;

    (void)point;
    while (forever) {
    }
}

/* One instruction that jumps to itself. */
static __attribute__((noinline)) void stuck(struct kdz_point *point)
{
    (void)point;
    for (;;) {
        __asm__ volatile("");
    }
}

static volatile uint32_t result;

static __attribute__((noinline)) uint32_t step(uint32_t value)
{
    return value % 7u != 0 ? value * 1664525u + 1013904223u : value / 7u + 3u;
}

/* Works without end, in two functions. */
static __attribute__((noinline)) void busy(struct kdz_point *point)
{
    (void)point;
    for (;;) {
        result = step(result);
    }
}

static void assertion(struct kdz_point *point)
{
    static const struct kdz_register registers[] = {{"pc", 0x20010123u}};

    (void)point;
    kdz_fault(KDZ_FAULT_ASSERT, "queue.c:1234", registers, 1);
}

static void exception(struct kdz_point *point)
{
    (void)point;
    __builtin_trap(); /* an instruction no core knows */
}

/* Uses its stack to the last word and not one further: what lies behind belongs to somebody. */
static void use_stack(void *arg)
{
    /* Some way below this function's own frame, where nothing has been yet. */
    volatile uint32_t *word = (volatile uint32_t *)__builtin_frame_address(0) - 64;

    (void)arg;
    while (*word == PAINT) {
        *word-- = 1;
    }
}

static void overflow(struct kdz_point *point)
{
    const struct kdz_thread_spec spec = {
        .name = "greedy",
        .entry = use_stack,
        .stack_bytes = STACK_BYTES,
        .rank = 5,
        .core = KDZ_ANY_CORE,
    };
    const kdz_handle thread = kdz_thread_create(&spec);
    uint32_t wake = kdz_tick_now();

    (void)point;
    kdz_prove(&point->record, thread >= 0, "no thread");
    (void)kdz_delay_until(&wake, 100); /* the kernel looks at stacks when nobody runs */
    (void)kdz_thread_join(thread, KDZ_FOREVER);
}

#define BENCH(ident, word, function)                                                               \
    static const struct kdz_bench ident = {                                                        \
        .name = word,                                                                              \
        .begins = "a",                                                                             \
        .ends = "b",                                                                               \
        .source = "tests",                                                                         \
        .lane_count = 1,                                                                           \
        .measure = function,                                                                       \
    };                                                                                             \
    KDZ_BENCH(ident)

BENCH(fault_good, "fault/good", good);
BENCH(fault_no_proof, "fault/no-proof", no_proof);
BENCH(fault_wrong_proof, "fault/wrong-proof", wrong_proof);
BENCH(fault_backwards, "fault/backwards", backwards);
BENCH(fault_hang, "fault/hang", hang);
BENCH(fault_stuck, "fault/stuck", stuck);
BENCH(fault_busy, "fault/busy", busy);
BENCH(fault_assert, "fault/assert", assertion);
BENCH(fault_exception, "fault/exception", exception);
BENCH(fault_overflow, "fault/overflow", overflow);
