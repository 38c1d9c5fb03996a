/* SPDX-License-Identifier: Apache-2.0
 *
 * Arms the board's timer before a sample, and keeps what came of it: when the request came, and
 * how long the handler and the thread took. The phase is measured, not assumed: the handler reads
 * the counter and, behind it, the timer, so code between the arming and BEGIN does not shift it.
 * The request seems earlier by the cycles between the two reads, and no latency is too short.
 *
 * Every other sample, at most, has an arrival: an interrupt changes the way of the next sample. An
 * arrival counts only if as many ticks of the kernel came as in the undisturbed samples.
 */
#include "kadenz/arming.h"

#include "kadenz/device.h"
#include "kadenz/suite.h"

#define WAIT_TURNS 1000000u
#define REPEATS 8u
#define DRAINED_EACH 512u /* samples: what was measured leaves before the end */

enum { PHASE, TO_HANDLER, TO_TASK, KINDS };
static const char *const kinds[KINDS] = {"phase", "handler", "task"};

volatile kdz_time kdz_arming_began;
struct kdz_arming kdz_arming = KDZ_ARMING_INITIAL;

static struct {
    const struct kdz_device *device; /* NULL: BEGIN does not arm */
    struct kdz_record *record;
    uint32_t begun;   /* samples */
    uint32_t later;   /* ticks of the device behind the first request that could be chosen */
    uint32_t repeats; /* of this one */
    uint32_t tick;    /* of the kernel, before BEGIN */
    uint32_t ticks;   /* that came in an undisturbed sample */
    uint32_t extent;  /* counts of the longest such sample */
    bool armed;       /* the sample that began last */
    bool over;        /* every arrival was tried, or none comes */
} a;

uint32_t (*kdz_arming_since)(void); /* before the handler is connected */

/* Of the interrupt. */
static volatile uint32_t handled;
static volatile uint32_t responded;
static uint32_t to_handler; /* ticks of the device */
static kdz_time handled_at;
static kdz_time responded_at;

void kdz_arming_handled(kdz_time at, uint32_t since)
{
    a.device->acknowledge();
    handled_at = at;
    to_handler = since;
    handled++;
}

void kdz_arming_responded(kdz_time at)
{
    responded_at = at;
    responded++;
}

/* The sample that ended has a value of each companion. */
static void accompany(uint32_t phase, uint32_t handler, uint32_t task)
{
    kdz_record_accompany(a.record, 0, PHASE, phase);
    kdz_record_accompany(a.record, 0, TO_HANDLER, handler);
    kdz_record_accompany(a.record, 0, TO_TASK, task);
}

static void end_samples(void)
{
    a.over = true;
    kdz_stop_requested = true;
}

/* The most that an undisturbed sample took. One with more ticks than another is longer by them. */
static void learn(uint32_t ticks, kdz_time end)
{
    const uint32_t span = kdz_span(kdz_arming_began, end);

    if (a.begun == 1 || ticks < a.ticks) {
        a.ticks = ticks;
        a.extent = span;
    } else if (ticks == a.ticks && span > a.extent) {
        a.extent = span;
    }
}

/* What the interrupt of the sample that ended took, if it counts. */
static void take(uint32_t ticks)
{
    const uint32_t unit = a.device->clock_ticks;
    const uint32_t behind = kdz_span(kdz_arming_began, handled_at);
    const uint32_t latency = to_handler * unit;
    const bool before = behind > KDZ_SPAN_MAX || behind <= latency;
    const bool unusual = !before && ticks != a.ticks;

    kdz_prove(a.record, to_handler < a.device->longest, "longer than the device can tell");
    if (!before && behind - latency > a.extent) {
        end_samples();
        accompany(0, 0, 0);
        return;
    }
    if (before || unusual) {
        accompany(0, 0, 0);
    } else {
        accompany(behind - latency, latency, latency + kdz_span(handled_at, responded_at));
    }
    if (unusual && a.repeats < REPEATS) {
        a.repeats++;
    } else {
        a.repeats = 0;
        a.later += kdz_arming.step;
    }
}

/* The benchmark enters the sample behind this call. What came before leaves, if it is much: the
 * next sample has no arrival. */
void kdz_arming_ended(kdz_time at)
{
    bool each;
    uint32_t ticks;

    if (a.device == NULL) {
        return;
    }
    each = a.record->lane[0].taken + 1u == a.begun;
    for (uint32_t more = a.armed ? WAIT_TURNS : 0; responded == 0 && more != 0; more--) {
    }
    ticks = kdz_tick_now() - a.tick;
    kdz_prove(a.record, each, "a sample of this benchmark is not from one BEGIN to one END");
    if (!each) {
        end_samples();
    } else if (a.armed) {
        const bool once = handled == 1 && responded == 1;

        kdz_prove(a.record, once, "the interrupt of the board's timer was not served exactly once");
        if (once) {
            take(ticks);
        } else {
            accompany(0, 0, 0);
            end_samples();
        }
    } else {
        if (a.begun <= kdz_arming.undisturbed) {
            learn(ticks, at);
        }
        accompany(0, 0, 0);
    }
    if (a.armed && a.record->lane[0].held >= DRAINED_EACH) {
        kdz_record_drain(a.record);
    }
    a.armed = false;
}

/* The request comes `later` ticks behind the end of this call, less a constant. */
static void arm(void)
{
    const uint32_t shortest = a.device->shortest;
    kdz_time armed;

    handled = responded = 0;
    a.armed = true;
    a.device->arm(shortest + a.later);
    armed = kdz_counter_stamp(0);
    while ((kdz_time)(kdz_counter_stamp(0) - armed) < shortest * a.device->clock_ticks) {
    }
}

void kdz_arming_before(void)
{
    const uint32_t behind = a.begun - kdz_arming.undisturbed;

    if (a.device == NULL) {
        return;
    }
    a.tick = kdz_tick_now();
    if (!a.over && a.begun > kdz_arming.undisturbed && behind % 2u == 1u) {
        arm();
    }
    a.begun++;
}

void kdz_arming_shape(struct kdz_shape *shape)
{
    if (shape->lanes == 1 && shape->companion_count == 0) {
        shape->companions = kinds;
        shape->companion_count = KINDS;
    }
}

kdz_status kdz_arming_begin(struct kdz_point *point)
{
    const struct kdz_device *device = kdz_board_device();

    if (point->record.companions != kinds) {
        point->record.proof.reason = "its samples have several lanes, or values beside them";
        return KDZ_UNSUPPORTED;
    }
    if (device == NULL) {
        point->record.proof.reason = "this board has no device that raises the suite's interrupt";
        return KDZ_UNSUPPORTED;
    }
    a.record = &point->record;
    a.begun = a.later = a.repeats = a.ticks = a.extent = 0;
    a.armed = a.over = false;
    handled = responded = 0;
    a.device = device;
    kdz_arming_since = device->since;
    return KDZ_OK;
}

void kdz_arming_end(void)
{
    if (a.device != NULL) {
        a.device->acknowledge(); /* of a sample without an END */
    }
    a.device = NULL;
}

void kdz_arming_close(void)
{
    if (a.over) {
        kdz_stop_requested = false;
        a.over = false;
    }
}
