/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks that cannot time anything are named; a sound one is not.
 */
#include "../bench/sound_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t reads;

static kdz_time sound(void)
{
    return (kdz_time)(reads++ * 7u);
}

/* kioxia2019: 0 or 1000 between two readings. */
static kdz_time coarse(void)
{
    return (kdz_time)(reads++ / 40u * 1000u);
}

static kdz_time back(void)
{
    return (kdz_time)(reads++ == 2000u ? 100u : reads + 1000u);
}

static kdz_time still(void)
{
    return 42;
}

static void a_sound_clock_passes(void **state)
{
    (void)state;
    reads = 0;
    assert_null(kdz_clock_unsound(sound));
}

static void a_clock_that_wraps_passes(void **state)
{
    (void)state;
    reads = UINT32_MAX / 7u - 100u;
    assert_null(kdz_clock_unsound(sound));
}

static void a_clock_that_steps_by_1000_is_named(void **state)
{
    (void)state;
    reads = 0;
    assert_string_equal(kdz_clock_unsound(coarse),
                        "the clock steps by 1000: every sample would be 0 or 1000");
}

static void a_clock_that_runs_backwards_is_named(void **state)
{
    (void)state;
    reads = 0;
    assert_string_equal(kdz_clock_unsound(back),
                        "the clock ran backwards: no time taken by it can be trusted");
}

static void a_clock_that_stands_still_is_named(void **state)
{
    (void)state;
    assert_non_null(kdz_clock_unsound(still));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_clock_passes),
        cmocka_unit_test(a_clock_that_wraps_passes),
        cmocka_unit_test(a_clock_that_steps_by_1000_is_named),
        cmocka_unit_test(a_clock_that_runs_backwards_is_named),
        cmocka_unit_test(a_clock_that_stands_still_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
