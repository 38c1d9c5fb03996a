/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled for stamps of 32 and of 64 bits.
 */
#include "fake.h"
#include "kadenz/record.h"

static void test_a_span_is_end_less_begin(void **state)
{
    (void)state;
    assert_int_equal(kdz_span(100, 100), 0);
    assert_int_equal(kdz_span(100, 350), 250);
}

static void test_a_counter_may_wrap_once(void **state)
{
    (void)state;
    assert_int_equal(kdz_span((kdz_time)-10, 5), 15);
}

static void test_a_span_too_long_is_the_mark_of_overflow(void **state)
{
    (void)state;
    if (sizeof(kdz_time) == 8) {
        const kdz_time four_seconds_and_more = (kdz_time)5000000000u;

        assert_int_equal(kdz_span(1, four_seconds_and_more), KDZ_SPAN_TOO_LONG);
    }
}

static void test_an_end_before_its_begin_is_no_span(void **state)
{
    (void)state;
    assert_true(kdz_span(10, 9) > KDZ_SPAN_MAX);
    assert_true(kdz_span(637151, 0) > KDZ_SPAN_MAX);
    assert_true(kdz_span(5, (kdz_time)-10) > KDZ_SPAN_MAX); /* and the counter wrapped */
    if (sizeof(kdz_time) == 8) {
        assert_int_equal(kdz_span(10, 9), KDZ_SPAN_BACKWARDS);
    } else {
        assert_int_equal(kdz_span(637151, 0), 4294330145u);
    }
}

static void test_the_longest_span_is_a_span(void **state)
{
    (void)state;
    assert_int_equal(kdz_span(7, (kdz_time)7 + KDZ_SPAN_MAX), KDZ_SPAN_MAX);
    assert_true(kdz_span(7, (kdz_time)8 + KDZ_SPAN_MAX) > KDZ_SPAN_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_span_is_end_less_begin),
        cmocka_unit_test(test_a_counter_may_wrap_once),
        cmocka_unit_test(test_a_span_too_long_is_the_mark_of_overflow),
        cmocka_unit_test(test_an_end_before_its_begin_is_no_span),
        cmocka_unit_test(test_the_longest_span_is_a_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
