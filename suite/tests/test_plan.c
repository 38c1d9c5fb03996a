/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of a plan's lines, and the errors for wrong ones.
 */
#include "fake.h"
#include "plan.h"

#include <string.h>

static const char *const words[] = {"fifo", "round-robin", "deadline"};
static const struct kdz_param params[] = {
    {"size_bytes", 60, 4, 600, NULL}, {"rank_a", 8, 1, 10, NULL}, {"policy", 0, 0, 2, words}};
static const struct kdz_bench queue = {.name = "itc/queue", .params = params, .param_count = 3};
static const struct kdz_bench queue_long = {.name = "itc/queue-round-trip"};
static const struct kdz_bench replaced = {.name = "itc/queue"};
static const struct kdz_bench *const table[] = {&replaced, &queue_long, &queue};
static const struct kdz_benches benches = {table, table + 3};

static struct kdz_point point;
static struct kdz_plan_line read;

static enum kdz_plan_kind kind_of(const char *line)
{
    (void)memset(&point, 0xa5, sizeof point);
    kdz_plan_read(line, &benches, &point, &read);
    return read.kind;
}

static void expect_refused(const char *line, const char *reason)
{
    assert_int_equal(kind_of(line), KDZ_PLAN_ERROR);
    assert_string_equal(read.reason, reason);
}

static void test_a_point_has_its_values_and_the_rest_by_default(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=3 samples=1000 rank_a=7"), KDZ_PLAN_POINT);
    assert_ptr_equal(point.bench, &queue);
    assert_int_equal(point.id, 3);
    assert_int_equal(point.samples, 1000);
    assert_int_equal(point.value[0], 60);
    assert_int_equal(point.value[1], 7);
}

static void test_an_interrupt_may_arrive_where_the_line_says_so(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=3 arrivals=1 samples=4"), KDZ_PLAN_POINT);
    assert_true(read.arrivals);
    assert_int_equal(kind_of("itc/queue id=3 samples=4"), KDZ_PLAN_POINT);
    assert_false(read.arrivals);
}

static void test_a_state_has_its_threads_where_an_interrupt_may_arrive(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=3 state.ready=8 samples=4 arrivals=1 state.sleepers=2"),
                     KDZ_PLAN_POINT);
    assert_int_equal(read.threads[KDZ_STATE_SLEEPERS], 2);
    assert_int_equal(read.threads[KDZ_STATE_WAKING], 0);
    assert_int_equal(read.threads[KDZ_STATE_READY], 8);
    assert_int_equal(kind_of("itc/queue id=3 arrivals=1 samples=4"), KDZ_PLAN_POINT);
    assert_int_equal(read.threads[KDZ_STATE_READY], 0);
    expect_refused("itc/queue id=3 samples=4 state.waking=1",
                   "`itc/queue`: a state needs `arrivals=1`");
    expect_refused("itc/queue id=3 samples=4 arrivals=1 state.waking=9",
                   "`state.waking=9`: from 0 to 8");
    expect_refused("itc/queue id=3 samples=4 arrivals=1 state.waking=1 state.waking=1",
                   "`state.waking`: given twice");
    expect_refused("itc/queue id=3 samples=4 arrivals=1 state.asleep=1",
                   "`state.asleep`: no such parameter of this benchmark");
}

static void test_of_one_name_the_later_benchmark_counts(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=3 samples=1"), KDZ_PLAN_POINT);
    assert_ptr_equal(point.bench, &queue);
    assert_true(kdz_bench_replaced(&benches, &replaced));
    assert_false(kdz_bench_replaced(&benches, &queue));
    assert_false(kdz_bench_replaced(&benches, &queue_long));
}

static void test_a_word_is_its_place_among_the_words(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=3 samples=1 policy=deadline"), KDZ_PLAN_POINT);
    assert_int_equal(point.value[2], 2);
    expect_refused("itc/queue id=3 samples=1 policy=dead",
                   "`policy=dead`: one of fifo, round-robin, deadline");
    expect_refused("itc/queue id=3 samples=1 policy=2",
                   "`policy=2`: one of fifo, round-robin, deadline");
    expect_refused("itc/queue id=3 samples=1 policy=fifo policy=fifo", "`policy`: given twice");
}

static void test_a_name_is_taken_whole(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue-round-trip id=0 samples=1"), KDZ_PLAN_POINT);
    assert_ptr_equal(point.bench, &queue_long);
    assert_int_equal(kind_of("itc/queu id=0 samples=1"), KDZ_PLAN_ERROR);
}

static void test_keys_come_in_any_order_and_space(void **state)
{
    (void)state;
    assert_int_equal(kind_of(" \t itc/queue   size_bytes=4 samples=4294967295\tid=65534 \r"),
                     KDZ_PLAN_POINT);
    assert_int_equal(point.samples, UINT32_MAX);
    assert_int_equal(point.id, 65534);
    assert_int_equal(point.value[0], 4);
}

static void test_commands_stand_alone(void **state)
{
    (void)state;
    assert_int_equal(kind_of("list"), KDZ_PLAN_LIST);
    assert_int_equal(kind_of("conformance\r"), KDZ_PLAN_CONFORMANCE);
    assert_int_equal(kind_of(" end "), KDZ_PLAN_END);
    expect_refused("list all", "`list`: stands alone on its line");
}

static void test_comments_and_nothing_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(kind_of(""), KDZ_PLAN_EMPTY);
    assert_int_equal(kind_of(" \t\r"), KDZ_PLAN_EMPTY);
    assert_int_equal(kind_of("# itc/queue id=3"), KDZ_PLAN_EMPTY);
}

static void test_a_wrong_line_says_what_is_wrong(void **state)
{
    (void)state;
    expect_refused("itc/pipe id=1 samples=1", "`itc/pipe`: no such benchmark in this image");
    expect_refused("itc/pipe id=1 samples=1 any=1", "`itc/pipe`: no such benchmark in this image");
    expect_refused("itc/queue id=1", "`itc/queue`: `samples=` is missing");
    expect_refused("itc/queue samples=1", "`itc/queue`: `id=` is missing");
    expect_refused("itc/queue id=1 samples=0", "`samples=0`: from 1 to 4294967295");
    expect_refused("itc/queue id=65535 samples=1", "`id=65535`: from 0 to 65534");
    expect_refused("itc/queue id=1 samples=1 size=4",
                   "`size`: no such parameter of this benchmark");
    expect_refused("itc/queue id=1 samples=1 size_bytes=3", "`size_bytes=3`: from 4 to 600");
    expect_refused("itc/queue id=1 samples=1 size_bytes=601", "`size_bytes=601`: from 4 to 600");
    expect_refused("itc/queue id=1 samples=1 size_bytes=4 size_bytes=4",
                   "`size_bytes`: given twice");
    expect_refused("itc/queue id=1 samples=1 arrivals=2", "`arrivals=2`: from 0 to 1");
    expect_refused("itc/queue id=1 samples=1 arrivals=1 arrivals=1", "`arrivals`: given twice");
    expect_refused("itc/queue id=1 id=2 samples=1", "`id`: given twice");
    expect_refused("itc/queue id samples=1", "`id`: key=value expected");
}

static void test_a_malformed_number_is_refused(void **state)
{
    static const char *const wrong[] = {"id=",   "id=-1",         "id=0x1",
                                        "id=1k", "id=4294967296", "id=99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[96] = "itc/queue samples=1 ";

        (void)strcat(line, wrong[i]);
        assert_int_equal(kind_of(line), KDZ_PLAN_ERROR);
        assert_non_null(strstr(read.reason, "not a number from 0 to 4294967295"));
    }
}

static void test_a_reason_fits_however_long_the_word(void **state)
{
    char line[KDZ_PLAN_LINE_BYTES];

    (void)state;
    (void)memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    assert_int_equal(kind_of(line), KDZ_PLAN_ERROR);
    assert_true(strlen(read.reason) < sizeof read.reason);
    assert_int_equal(read.name_length, sizeof line - 1);
}

static void test_the_id_is_known_before_the_error(void **state)
{
    (void)state;
    assert_int_equal(kind_of("itc/queue id=7 samples=1 nonsense=1"), KDZ_PLAN_ERROR);
    assert_int_equal(point.id, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_point_has_its_values_and_the_rest_by_default),
        cmocka_unit_test(test_an_interrupt_may_arrive_where_the_line_says_so),
        cmocka_unit_test(test_a_state_has_its_threads_where_an_interrupt_may_arrive),
        cmocka_unit_test(test_of_one_name_the_later_benchmark_counts),
        cmocka_unit_test(test_a_word_is_its_place_among_the_words),
        cmocka_unit_test(test_a_name_is_taken_whole),
        cmocka_unit_test(test_keys_come_in_any_order_and_space),
        cmocka_unit_test(test_commands_stand_alone),
        cmocka_unit_test(test_comments_and_nothing_are_skipped),
        cmocka_unit_test(test_a_wrong_line_says_what_is_wrong),
        cmocka_unit_test(test_a_malformed_number_is_refused),
        cmocka_unit_test(test_a_reason_fits_however_long_the_word),
        cmocka_unit_test(test_the_id_is_known_before_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
