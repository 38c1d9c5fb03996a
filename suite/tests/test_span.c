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
    assert_int_equal(kdz_span(0, UINT32_MAX - 1), UINT32_MAX - 1);
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

        assert_int_equal(kdz_span(1, four_seconds_and_more), UINT32_MAX);
        assert_int_equal(kdz_span(0, UINT32_MAX), UINT32_MAX);
        /* A clock that went back is no short span either. */
        assert_int_equal(kdz_span(10, 9), UINT32_MAX);
    } else {
        assert_int_equal(kdz_span(10, 9), UINT32_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_span_is_end_less_begin),
        cmocka_unit_test(test_a_counter_may_wrap_once),
        cmocka_unit_test(test_a_span_too_long_is_the_mark_of_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
