/* SPDX-License-Identifier: Apache-2.0
 *
 * What is timed depends on who has the higher rank. Task 1 higher (the default): its send does
 * not switch; the reply holds the switch to task 2, its receive and send, and the switch back.
 * Task 2 higher: it answers during task 1's send, so itc/<channel> times a receive alone.
 */
#include "itc_round_trip.h"

#include "kadenz/carries.h"
#include "kadenz/fault.h"
#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"
#include "kadenz/processes.h"
#include "kadenz/suite.h"
#include "last.h"

#ifndef KDZ_MESSAGE_BYTES_MAX
#error "board.cmake defines KDZ_MESSAGE_BYTES_MAX, the largest message of itc/"
#endif

/* Anything that fits beside 95 and 90 of yoo2024, section 4.1, and 8 and 7 of section 3.1. */
#define RANK_HIGH (KDZ_RANK_MAIN - 1u)

const struct kdz_param kdz_round_trip_params[KDZ_ROUND_TRIP_PARAMS] = {
    /* The proof puts a sequence number into the first four bytes. */
    [KDZ_ROUND_TRIP_SIZE_BYTES] = {"size_bytes", 60, 4, KDZ_MESSAGE_BYTES_MAX},
    [KDZ_ROUND_TRIP_PERIOD_US] = {"period_us", 10000, 0, 1000000},
    [KDZ_ROUND_TRIP_RANK_A] = {"rank_a", 8, 1, RANK_HIGH},
    [KDZ_ROUND_TRIP_RANK_B] = {"rank_b", 7, 1, RANK_HIGH},
    [KDZ_ROUND_TRIP_CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [KDZ_ROUND_TRIP_CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},
    /* 1: task 2 is a process of its own. */
    [KDZ_ROUND_TRIP_PROCESSES] = {"processes", 0, 0, 1},
};

KDZ_SHARED static struct {
    const struct kdz_channel_ops *ops;
    struct kdz_point *point;
    kdz_handle there; /* task 1 to task 2 */
    kdz_handle back;
    kdz_handle task_a;
    kdz_handle task_b;
    struct kdz_stay stay_a;
    struct kdz_stay stay_b;
    uint32_t bytes;
    volatile uint32_t last; /* task 2 ends after this number of messages: last.h */
    enum kdz_round_trip_part part;
    volatile kdz_time arrived; /* one way: stamp of task 2 */
    volatile uint8_t arrived_on;
    /* Aligned as any structure that is sent would be: copying by words or by bytes is a factor of
     * five, and where the linker happens to put an array must not decide it. */
    _Alignas(8) uint8_t sent[KDZ_MESSAGE_BYTES_MAX];
    _Alignas(8) uint8_t received[KDZ_MESSAGE_BYTES_MAX];
    _Alignas(8) uint8_t passed_on[KDZ_MESSAGE_BYTES_MAX];
} trip;

/* ---- the proof: each message differs from the one before in every byte ------------------------
 */
static void compose(uint32_t sequence)
{
    for (uint32_t i = 0; i < 4; i++) {
        trip.sent[i] = (uint8_t)(sequence >> (8u * i));
    }
    for (uint32_t i = 4; i < trip.bytes; i++) {
        trip.sent[i] = (uint8_t)(sequence + i);
    }
}

static bool same(void)
{
    uint8_t difference = 0;

    for (uint32_t i = 0; i < trip.bytes; i++) {
        difference |= (uint8_t)(trip.sent[i] ^ trip.received[i]);
    }
    return difference == 0;
}

/* ---- one round trip: true when both calls succeeded -------------------------------------------
 */
static bool time_reply(uint32_t *span)
{
    const struct kdz_channel_ops *ops = trip.ops;
    const kdz_handle back = trip.back;
    const uint32_t bytes = trip.bytes;
    const kdz_status sent = ops->send(trip.there, trip.sent, bytes, KDZ_FOREVER);
    kdz_status received;
    kdz_time begin;
    kdz_time end;

    begin = kdz_stamp(KDZ_BEGIN);
    received = ops->receive(back, trip.received, bytes, KDZ_FOREVER);
    end = kdz_stamp(KDZ_END);
    *span = kdz_span(begin, end);
    return sent == KDZ_OK && received == KDZ_OK;
}

static bool time_whole(uint32_t *span)
{
    const struct kdz_channel_ops *ops = trip.ops;
    const kdz_handle there = trip.there;
    const kdz_handle back = trip.back;
    const uint32_t bytes = trip.bytes;
    kdz_status sent;
    kdz_status received;
    kdz_time begin;
    kdz_time end;

    begin = kdz_stamp(KDZ_BEGIN);
    sent = ops->send(there, trip.sent, bytes, KDZ_FOREVER);
    received = ops->receive(back, trip.received, bytes, KDZ_FOREVER);
    end = kdz_stamp(KDZ_END);
    *span = kdz_span(begin, end);
    return sent == KDZ_OK && received == KDZ_OK;
}

/* The clock is stopped by task 2; the way back only tells that it is ready again. */
static bool time_one_way(uint32_t *span)
{
    const struct kdz_channel_ops *ops = trip.ops;
    const kdz_handle there = trip.there;
    const uint32_t bytes = trip.bytes;
    kdz_status sent;
    kdz_status received;
    kdz_time begin;

    begin = kdz_stamp(KDZ_BEGIN);
    sent = ops->send(there, trip.sent, bytes, KDZ_FOREVER);
    received = ops->receive(trip.back, trip.received, bytes, KDZ_FOREVER);
    *span = kdz_span(begin, trip.arrived);
    return sent == KDZ_OK && received == KDZ_OK;
}

/* ---- the tasks --------------------------------------------------------------------------------
 */
static void task_1(void *unused)
{
    struct kdz_record *record = &trip.point->record;
    const uint32_t samples = trip.point->samples;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(trip.point, KDZ_ROUND_TRIP_PERIOD_US));
    bool (*const once)(uint32_t *) = trip.part == KDZ_ROUND_TRIP_REPLY   ? time_reply
                                     : trip.part == KDZ_ROUND_TRIP_WHOLE ? time_whole
                                                                         : time_one_way;
    uint32_t wake;

    (void)unused;
    /* The main thread's go, sent when the record is open. */
    kdz_prove(record,
              trip.ops->receive(trip.back, trip.received, trip.bytes, KDZ_FOREVER) == KDZ_OK,
              "the go of the main thread did not arrive");
    wake = kdz_tick_now();
    for (uint32_t i = 0; i < samples && trip.last == KDZ_NO_LAST; i++) {
        const uint8_t began_on = kdz_thread_core();
        uint32_t span = 0;
        bool passed;

        compose(i + 1); /* from 1: memory that nobody wrote is zero */
        if (i + 1 == samples || kdz_stop_requested) {
            trip.last = i + 1;
        }
        passed = once(&span);
        kdz_prove(record, passed, "sending or receiving returned an error");
        kdz_prove(record, same(), "the reply differs from the message");
        kdz_prove_core(record, KDZ_PARAM(trip.point, KDZ_ROUND_TRIP_CORE_A), began_on);
        if (trip.part == KDZ_ROUND_TRIP_ONE_WAY) {
            kdz_prove_core(record, KDZ_PARAM(trip.point, KDZ_ROUND_TRIP_CORE_B), trip.arrived_on);
        }
        kdz_record_add(record, 0, span);
        if (kdz_record_full(record, 0) && trip.last == KDZ_NO_LAST) {
            kdz_record_drain(record);
            wake = kdz_tick_now();
        }
        if (period != 0 && kdz_delay_until(&wake, period) == KDZ_TIMEOUT) {
            record->lane[0].overrun++;
            wake = kdz_tick_now();
        }
    }
}

static void task_2(void *unused)
{
    const struct kdz_channel_ops *ops = trip.ops;
    const uint32_t bytes = trip.bytes;
    uint32_t served = 0;

    (void)unused;
    do {
        (void)ops->receive(trip.there, trip.passed_on, bytes, KDZ_FOREVER);
        (void)ops->send(trip.back, trip.passed_on, bytes, KDZ_FOREVER);
    } while (++served != trip.last);
}

static void task_2_one_way(void *unused)
{
    const struct kdz_channel_ops *ops = trip.ops;
    const uint32_t bytes = trip.bytes;
    uint32_t served = 0;

    (void)unused;
    do {
        (void)ops->receive(trip.there, trip.passed_on, bytes, KDZ_FOREVER);
        trip.arrived = kdz_stamp(KDZ_END);
        trip.arrived_on = kdz_thread_core();
        (void)ops->send(trip.back, trip.passed_on, bytes, KDZ_FOREVER);
    } while (++served != trip.last);
}

/* ---- set-up -----------------------------------------------------------------------------------
 */
kdz_status kdz_round_trip_setup(struct kdz_point *point, const char *channel,
                                enum kdz_round_trip_part part)
{
    const struct kdz_party second = {"task 2",
                                     part == KDZ_ROUND_TRIP_ONE_WAY ? task_2_one_way : task_2,
                                     (uint8_t)KDZ_PARAM(point, KDZ_ROUND_TRIP_RANK_B),
                                     (uint8_t)KDZ_PARAM(point, KDZ_ROUND_TRIP_CORE_B)};
    const struct kdz_party first = {"task 1", task_1,
                                    (uint8_t)KDZ_PARAM(point, KDZ_ROUND_TRIP_RANK_A),
                                    (uint8_t)KDZ_PARAM(point, KDZ_ROUND_TRIP_CORE_A)};
    const struct kdz_mechanism *mechanism = kdz_mechanism(channel);
    kdz_status status;
    bool process;

    trip.ops = mechanism->channel;
    trip.point = point;
    trip.bytes = KDZ_PARAM(point, KDZ_ROUND_TRIP_SIZE_BYTES);
    trip.last = KDZ_NO_LAST;
    trip.part = part;
    trip.there = trip.back = trip.task_a = trip.task_b = KDZ_FAILED;

    status =
        kdz_processes_for(KDZ_PARAM(point, KDZ_ROUND_TRIP_PROCESSES), &point->record, &process);
    if (status == KDZ_OK) {
        status = kdz_carries(mechanism, trip.bytes, &point->record);
    }
    if (status != KDZ_OK) {
        return status;
    }
    trip.there = trip.ops->create(trip.bytes, 1);
    if (trip.there < 0) {
        return (kdz_status)trip.there;
    }
    trip.back = trip.ops->create(trip.bytes, 1);
    if (trip.back < 0) {
        return (kdz_status)trip.back;
    }
    trip.task_b = kdz_party_create(point, &second, process, &trip.stay_b);
    if (trip.task_b < 0) {
        return (kdz_status)trip.task_b;
    }
    trip.task_a = kdz_party_create(point, &first, false, &trip.stay_a);
    return trip.task_a < 0 ? (kdz_status)trip.task_a : KDZ_OK;
}

static void join_task_2(void)
{
    if (kdz_thread_join(trip.task_b, 5u * kdz_tick_hz()) != KDZ_OK) {
        kdz_fault(KDZ_FAULT_ASSERT, "task 2 of an itc benchmark did not end", NULL, 0);
    }
    trip.task_b = KDZ_FAILED;
}

void kdz_round_trip_measure(struct kdz_point *point)
{
    (void)trip.ops->send(trip.back, trip.sent, trip.bytes, KDZ_FOREVER);
    (void)kdz_thread_join(trip.task_a, KDZ_FOREVER);
    join_task_2();
    kdz_party_prove(&point->record, &trip.stay_a);
    kdz_party_prove(&point->record, &trip.stay_b);
}

void kdz_round_trip_teardown(struct kdz_point *point)
{
    (void)point;
    if (trip.task_b >= 0) {
        /* Set-up stopped half-way: task 2 waits for a message that task 1 will not send. */
        trip.last = 1;
        (void)trip.ops->send(trip.there, trip.sent, trip.bytes, KDZ_FOREVER);
        join_task_2();
    }
    if (trip.back >= 0) {
        trip.ops->destroy(trip.back);
    }
    if (trip.there >= 0) {
        trip.ops->destroy(trip.there);
    }
}
