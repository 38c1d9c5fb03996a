/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrivals that a timer of the board raises: which samples have one, which companions, and that a
 * timer which never fires ends the record.
 */
#include "fake.h"
#include "kadenz/arming.h"
#include "kadenz/device.h"
#include "kadenz/suite.h"
#include "recorder.h"

#include <string.h>

#define EXTENT 40u /* counts of an undisturbed sample */
#define LATENCY 7u /* to the handler */
#define SWITCH 5u  /* from there to the thread */
#define ROOM 400u

volatile bool kdz_stop_requested;
static uint32_t armed_ticks, armed_count, acknowledged;
static bool fires, ticks_with_it;
static kdz_time request;

static void arm(uint32_t ticks)
{
    armed_ticks = ticks;
    armed_count++;
    request = fake_now + ticks;
}

static uint32_t since(void)
{
    return (uint32_t)(fake_now - request);
}

static void acknowledge(void)
{
    acknowledged++;
}

static const struct kdz_device timer = {"fake", 1, 0, 1000, arm, since, acknowledge};
static const struct kdz_device *device;

const struct kdz_device *kdz_board_device(void)
{
    return device;
}

/* ---- a service --------------------------------------------------------------------------------
 */
static uint32_t values[4 * ROOM];
static struct kdz_point point;

static kdz_status begin(size_t lanes)
{
    static const char *const names[] = {"all", "more"};
    struct kdz_shape shape = {.lanes = lanes, .names = names};

    kdz_arming_shape(&shape);
    assert_null(
        kdz_record_open(&point.record, 1, &shape, ROOM, (struct kdz_storage){values, 4 * ROOM}));
    return kdz_arming_begin(&point);
}

static int start(void **state)
{
    (void)state;
    fake_reset();
    (void)memset(&point, 0, sizeof point);
    kdz_stop_requested = false;
    kdz_arming = (struct kdz_arming){2, 1};
    device = &timer;
    fires = true;
    ticks_with_it = false;
    armed_count = acknowledged = 0;
    return 0;
}

/* A sample of EXTENT counts, with the interrupt where it comes. */
static void sample(void)
{
    const uint32_t before = armed_count;
    kdz_time first;
    kdz_time last;

    first = kdz_stamp(KDZ_BEGIN);
    if (armed_count != before && fires) {
        fake_tick += ticks_with_it ? 1u : 0u;
        fake_now = request + LATENCY;
        (void)kdz_stamp(KDZ_HANDLED);
        fake_now += SWITCH;
        (void)kdz_stamp(KDZ_RESPONDED);
    }
    fake_now = first + EXTENT > fake_now ? first + EXTENT : fake_now;
    last = kdz_stamp(KDZ_END);
    kdz_record_add(&point.record, 0, kdz_span(first, last));
}

static uint32_t value(size_t lane, uint32_t at)
{
    return point.record.lane[lane].values[at];
}

static void test_every_other_sample_is_armed_behind_those_without_an_arrival(void **state)
{
    (void)state;
    assert_int_equal(begin(1), KDZ_OK);
    for (unsigned i = 0; i < 9; i++) {
        const uint32_t before = armed_count;

        sample();
        assert_int_equal(armed_count - before, i >= 3 && i % 2 == 1);
    }
    kdz_arming_end();
    sample();
    assert_int_equal(armed_count, 3);
    assert_int_equal(point.record.proof.failed, 0);
}

static void test_a_request_behind_the_end_ends_the_samples(void **state)
{
    uint32_t phases = 0;

    (void)state;
    assert_int_equal(begin(1), KDZ_OK);
    for (unsigned i = 0; i < ROOM && !kdz_stop_requested; i++) {
        sample();
    }
    kdz_arming_end();
    assert_true(kdz_stop_requested);
    kdz_arming_close();
    assert_false(kdz_stop_requested);
    for (uint32_t i = 0; i < point.record.lane[0].taken; i++) {
        if (value(1, i) != 0) {
            assert_int_equal(value(1, i), ++phases);
            assert_int_equal(value(2, i), LATENCY);
            assert_int_equal(value(3, i), LATENCY + SWITCH);
        }
    }
    assert_int_equal(phases, EXTENT);
    assert_int_equal(acknowledged, armed_count + 1u);
}

static void test_an_arrival_with_a_tick_is_repeated(void **state)
{
    (void)state;
    assert_int_equal(begin(1), KDZ_OK);
    for (unsigned i = 0; i < 31; i++) {
        sample();
    }
    const uint32_t usual = armed_ticks;

    ticks_with_it = true;
    sample();
    sample();
    sample();
    assert_int_equal(armed_ticks, usual + 1u);
    ticks_with_it = false;
    sample();
    sample();
    assert_int_equal(armed_ticks, usual + 1u);
    sample();
    sample();
    assert_int_equal(armed_ticks, usual + 2u);
    kdz_arming_end();
}

static void test_a_timer_that_never_fires_fails_the_proof(void **state)
{
    (void)state;
    fires = false;
    assert_int_equal(begin(1), KDZ_OK);
    for (unsigned i = 0; i < 10 && !kdz_stop_requested; i++) {
        sample();
    }
    kdz_arming_end();
    assert_int_equal(point.record.proof.failed, 1);
    assert_string_equal(point.record.proof.reason,
                        "the interrupt of the board's timer was not served exactly once");
    assert_int_equal(armed_count, 1);
}

static void test_a_board_without_a_timer_has_no_such_record(void **state)
{
    (void)state;
    device = NULL;
    assert_int_equal(begin(1), KDZ_UNSUPPORTED);
    assert_string_equal(point.record.proof.reason,
                        "this board has no device that raises the suite's interrupt");
}

static void test_a_record_of_several_lanes_has_no_arrivals(void **state)
{
    (void)state;
    assert_int_equal(begin(2), KDZ_UNSUPPORTED);
    assert_string_equal(point.record.proof.reason,
                        "its samples have several lanes, or values beside them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_other_sample_is_armed_behind_those_without_an_arrival,
                               start),
        cmocka_unit_test_setup(test_a_request_behind_the_end_ends_the_samples, start),
        cmocka_unit_test_setup(test_an_arrival_with_a_tick_is_repeated, start),
        cmocka_unit_test_setup(test_a_timer_that_never_fires_fails_the_proof, start),
        cmocka_unit_test_setup(test_a_board_without_a_timer_has_no_such_record, start),
        cmocka_unit_test_setup(test_a_record_of_several_lanes_has_no_arrivals, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
