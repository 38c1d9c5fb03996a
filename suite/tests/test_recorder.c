/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples: where they are kept, when they leave, and that none is lost in silence.
 */
#include "fake.h"
#include "message.h"
#include "text.h"

static uint32_t values[9];
static struct kdz_record record;

static int start(void **state)
{
    (void)state;
    fake_reset();
    kdz_wire_reset();
    for (size_t i = 0; i < 9; i++) {
        values[i] = 77;
    }
    return 0;
}

static bool open_lanes(uint8_t lanes, uint32_t planned, size_t capacity)
{
    return kdz_record_open(&record, 4, &(struct kdz_shape){.lanes = lanes}, planned,
                           (struct kdz_storage){values, capacity}) == NULL;
}

static const char *const beside[] = {"cycle", "cpu"};

static bool open_with_companions(uint8_t lanes, uint8_t companions, uint32_t planned)
{
    const struct kdz_shape shape = {
        .lanes = lanes, .stem = "thread", .companions = beside, .companion_count = companions};

    return kdz_record_open(&record, 4, &shape, planned, (struct kdz_storage){values, 9}) == NULL;
}

static void test_lanes_share_the_storage_and_never_overlap(void **state)
{
    (void)state;
    assert_true(open_lanes(2, 100, 9));
    assert_int_equal(record.lane[0].capacity, 4);
    assert_int_equal(record.lane[1].capacity, 4);
    assert_ptr_equal(record.lane[0].values, values);
    assert_ptr_equal(record.lane[1].values, values + 4);
    assert_string_equal(record.lane[0].name, "core0");
    assert_string_equal(record.lane[1].name, "core1");
}

static void test_a_lane_without_room_is_refused(void **state)
{
    (void)state;
    assert_false(open_lanes(2, 1, 1));
    assert_false(open_lanes(0, 1, 9));
    assert_false(open_lanes(KDZ_LANES_MAX + 1, 1, 9));
    assert_int_equal(record.lane_count, 0);
}

static void test_only_what_is_planned_is_touched_beforehand(void **state)
{
    (void)state;
    assert_true(open_lanes(1, 3, 9));
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(values[i], i < 3 ? 0 : 77);
    }
}

static void expect_samples(size_t *at, uint8_t lane, uint32_t index, size_t count)
{
    struct fake_frame frame;

    assert_true(fake_next_frame(at, &frame));
    assert_int_equal(frame.type, KDZ_FRAME_SAMPLES);
    assert_int_equal(frame.body[2], lane);
    assert_int_equal(frame.body[4], index);
    assert_int_equal(frame.length, 8 + 4 * count);
}

static void test_a_full_lane_is_drained_and_the_place_is_reported(void **state)
{
    size_t at = 0;

    (void)state;
    assert_true(open_lanes(1, 10, 4));
    for (uint32_t i = 0; i < 10; i++) {
        assert_false(kdz_record_full(&record, 0));
        kdz_record_add(&record, 0, i);
        if (kdz_record_full(&record, 0)) {
            kdz_record_drain(&record);
        }
    }
    assert_int_equal(kdz_record_close(&record), 0);
    expect_samples(&at, 0, 0, 4);
    expect_samples(&at, 0, 4, 4);
    expect_samples(&at, 0, 8, 2);
    assert_int_equal(kdz_recorder()->drain_count, 2);
    assert_int_equal(kdz_recorder()->drains[0], 4);
    assert_int_equal(kdz_recorder()->drains[1], 8);
    assert_int_equal(record.lane[0].taken, 10);
}

static void test_a_long_lane_leaves_in_several_frames(void **state)
{
    static uint32_t many[2 * KDZ_SAMPLES_A_FRAME + 1];
    size_t at = 0;

    (void)state;
    assert_null(kdz_record_open(&record, 4, &(struct kdz_shape){.lanes = 1},
                                2 * KDZ_SAMPLES_A_FRAME + 1,
                                (struct kdz_storage){many, 2 * KDZ_SAMPLES_A_FRAME + 1}));
    for (uint32_t i = 0; i < 2 * KDZ_SAMPLES_A_FRAME + 1; i++) {
        kdz_record_add(&record, 0, i);
    }
    assert_int_equal(kdz_record_close(&record), 0);
    expect_samples(&at, 0, 0, KDZ_SAMPLES_A_FRAME);
    expect_samples(&at, 0, KDZ_SAMPLES_A_FRAME, KDZ_SAMPLES_A_FRAME);
    expect_samples(&at, 0, (2 * KDZ_SAMPLES_A_FRAME) & 0xff, 1);
}

static void test_companions_follow_all_lanes_and_bear_their_names(void **state)
{
    static const char *const names[] = {"thread0", "thread1", "thread0:cycle", "thread1:cycle"};
    size_t at = 0;

    (void)state;
    assert_true(open_with_companions(2, 1, 4));
    assert_int_equal(record.lane_count, 2);
    assert_int_equal(kdz_record_series(&record), 4);
    for (size_t i = 0; i < 4; i++) {
        char room[48];
        struct kdz_text name = KDZ_TEXT_IN(room);

        kdz_record_name(&record, i, &name);
        assert_string_equal(room, names[i]);
    }
    kdz_record_add(&record, 1, 500);
    kdz_record_accompany(&record, 1, 0, 41);
    assert_int_equal(record.lane[3].values[0], 41);
    record.lane[1].missed = 3;
    assert_int_equal(kdz_record_close(&record), 4); /* of the lane that took nothing */
    assert_string_equal(kdz_record_companions_wrong(&record), "");
    expect_samples(&at, 1, 0, 1);
    expect_samples(&at, 3, 0, 1);
}

static void test_companions_of_two_lanes_stay_separate(void **state)
{
    (void)state;
    assert_false(open_with_companions(3, 2, 1)); /* nine lanes: more than this image has */
    assert_true(open_with_companions(2, 2, 1));
    for (uint8_t lane = 0; lane < 2; lane++) {
        kdz_record_add(&record, lane, lane);
        kdz_record_accompany(&record, lane, 0, 2u + 2u * lane);
        kdz_record_accompany(&record, lane, 1, 3u + 2u * lane);
    }
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(record.lane[i].values[0], i);
    }
}

static void test_a_companion_of_another_length_is_reported(void **state)
{
    (void)state;
    assert_true(open_with_companions(1, 1, 4));
    kdz_record_add(&record, 0, 7);
    assert_string_not_equal(kdz_record_companions_wrong(&record), "");
    kdz_record_accompany(&record, 0, 0, 0);
    assert_string_equal(kdz_record_companions_wrong(&record), "");
    kdz_record_accompany(&record, 0, 0, 0);
    assert_string_not_equal(kdz_record_companions_wrong(&record), "");
}

static void test_only_a_span_can_be_impossible(void **state)
{
    (void)state;
    assert_true(open_with_companions(1, 1, 4));
    kdz_record_add(&record, 0, 7);
    kdz_record_accompany(&record, 0, 0, UINT32_MAX);
    kdz_record_drain(&record);
    assert_int_equal(kdz_recorder()->impossible.value, 0);
}

static void test_nothing_held_is_no_drain(void **state)
{
    (void)state;
    assert_true(open_lanes(1, 10, 4));
    kdz_record_drain(&record);
    assert_int_equal(kdz_recorder()->drain_count, 0);
    assert_int_equal(fake_console.count, 0);
}

static void test_more_drains_than_can_be_listed_are_counted(void **state)
{
    (void)state;
    assert_true(open_lanes(1, 1000, 1));
    for (uint32_t i = 0; i < KDZ_DRAINS_MAX + 5; i++) {
        kdz_record_add(&record, 0, i);
        kdz_record_drain(&record);
    }
    assert_int_equal(kdz_recorder()->drain_count, KDZ_DRAINS_MAX + 5);
    assert_int_equal(kdz_recorder()->drains[KDZ_DRAINS_MAX - 1], KDZ_DRAINS_MAX);
}

static void test_what_was_never_asked_for_is_not_counted_as_missed(void **state)
{
    (void)state;
    assert_true(open_lanes(2, 4, 8));
    kdz_record_add(&record, 0, 1);
    kdz_record_add(&record, 0, 1);
    record.lane[0].missed = 1;
    assert_int_equal(kdz_record_close(&record), 1 + 4);
    assert_int_equal(record.lane[0].missed, 1);
    assert_int_equal(record.lane[1].missed, 0);
}

static void test_more_samples_than_planned_are_reported(void **state)
{
    (void)state;
    assert_true(open_lanes(1, 1, 8));
    kdz_record_add(&record, 0, 1);
    record.lane[0].missed = 1;
    assert_int_equal(kdz_record_close(&record), UINT32_MAX);
}

static void test_the_first_span_that_cannot_be_is_kept_when_it_leaves(void **state)
{
    const uint32_t backwards = kdz_span(637151, 0);

    (void)state;
    assert_true(open_lanes(2, 8, 4));
    kdz_record_add(&record, 1, KDZ_SPAN_MAX);
    kdz_record_drain(&record);
    assert_int_equal(kdz_recorder()->impossible.value, 0);
    kdz_record_add(&record, 1, 5);
    kdz_record_add(&record, 1, backwards);
    kdz_record_add(&record, 1, UINT32_MAX);
    kdz_record_drain(&record);
    assert_int_equal(kdz_recorder()->impossible.value, backwards);
    assert_int_equal(kdz_recorder()->impossible.lane, 1);
    assert_int_equal(kdz_recorder()->impossible.sample, 2);
    assert_true(open_lanes(1, 4, 4));
    assert_int_equal(kdz_recorder()->impossible.value, 0);
}

static void test_a_span_fits_as_long_as_the_clock_does_not_wrap_twice(void **state)
{
    const uint32_t ticks_a_wrap = (uint32_t)(((uint64_t)1 << 32) * kdz_tick_hz() / fake_clock.hz);
    const bool wide = sizeof(kdz_time) > sizeof(uint32_t);

    (void)state;
    assert_true(kdz_span_fits(0));
    assert_true(kdz_span_fits(ticks_a_wrap));
    assert_int_equal(kdz_span_fits(ticks_a_wrap + 1), wide);
    fake_clock.hz = 0; /* under the scope the target has no clock */
    assert_true(kdz_span_fits(UINT32_MAX));
}

static void test_under_the_scope_no_samples_are_sent(void **state)
{
    (void)state;
    fake_clock.on_target = false;
    assert_true(open_lanes(1, 3, 2));
    for (int i = 0; i < 3; i++) {
        kdz_record_add(&record, 0, 0);
        if (kdz_record_full(&record, 0)) {
            kdz_record_drain(&record);
        }
    }
    assert_int_equal(kdz_record_close(&record), 0);
    assert_int_equal(record.lane[0].taken, 3);
    assert_int_equal(fake_console.count, 0);
}

static void test_under_the_scope_what_was_counted_is_sent(void **state)
{
    struct fake_frame frame;
    size_t at = 0;

    (void)state;
    fake_clock.on_target = false;
    assert_true(open_with_companions(1, 1, 3));
    for (uint32_t i = 0; i < 3; i++) {
        kdz_record_add(&record, 0, 0);
        kdz_record_accompany(&record, 0, 0, 70 + i);
    }
    assert_int_equal(kdz_record_close(&record), 0);
    expect_samples(&at, 1, 0, 3);
    assert_false(fake_next_frame(&at, &frame));
}

static void test_the_first_failed_proof_keeps_its_reason(void **state)
{
    (void)state;
    assert_true(open_lanes(1, 3, 2));
    kdz_prove(&record, true, "never");
    kdz_prove(&record, false, "first");
    kdz_prove(&record, false, "second");
    assert_int_equal(record.proof.checked, 3);
    assert_int_equal(record.proof.failed, 2);
    assert_string_equal(record.proof.reason, "first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_lanes_share_the_storage_and_never_overlap, start),
        cmocka_unit_test_setup(test_a_lane_without_room_is_refused, start),
        cmocka_unit_test_setup(test_only_what_is_planned_is_touched_beforehand, start),
        cmocka_unit_test_setup(test_a_full_lane_is_drained_and_the_place_is_reported, start),
        cmocka_unit_test_setup(test_a_long_lane_leaves_in_several_frames, start),
        cmocka_unit_test_setup(test_companions_follow_all_lanes_and_bear_their_names, start),
        cmocka_unit_test_setup(test_companions_of_two_lanes_stay_separate, start),
        cmocka_unit_test_setup(test_a_companion_of_another_length_is_reported, start),
        cmocka_unit_test_setup(test_only_a_span_can_be_impossible, start),
        cmocka_unit_test_setup(test_nothing_held_is_no_drain, start),
        cmocka_unit_test_setup(test_more_drains_than_can_be_listed_are_counted, start),
        cmocka_unit_test_setup(test_what_was_never_asked_for_is_not_counted_as_missed, start),
        cmocka_unit_test_setup(test_more_samples_than_planned_are_reported, start),
        cmocka_unit_test_setup(test_the_first_span_that_cannot_be_is_kept_when_it_leaves, start),
        cmocka_unit_test_setup(test_a_span_fits_as_long_as_the_clock_does_not_wrap_twice, start),
        cmocka_unit_test_setup(test_under_the_scope_no_samples_are_sent, start),
        cmocka_unit_test_setup(test_under_the_scope_what_was_counted_is_sent, start),
        cmocka_unit_test_setup(test_the_first_failed_proof_keeps_its_reason, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
