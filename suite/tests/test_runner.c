/* SPDX-License-Identifier: Apache-2.0
 *
 * From a plan to frames: what the lab may rely on.
 */
#include "fake.h"
#include "kadenz/bench.h"
#include "kadenz/conformance.h"
#include "kadenz/suite.h"
#include "message.h"

#include <stdio.h>
#include <string.h>

/* ---- a kernel with one semaphore, one thread and one interrupt --------------------------------
 */
KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);
static void (*responder)(void *argument);
static uint8_t responder_rank;
static kdz_status connecting;
static unsigned permits, semaphores, threads;
static uint32_t marks[4];
static unsigned mark_count;

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    (void)kind;
    assert_int_equal(max, 1);
    permits = initial;
    semaphores++;
    return 3;
}

/* Without a permit the responder would wait: the fake ends it. */
kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    (void)sem;
    (void)timeout_ticks;
    if (mark_count < 4) {
        marks[mark_count++] = fake_mark;
    }
    return permits == 0 ? KDZ_TIMEOUT : (permits--, KDZ_OK);
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    (void)sem;
    permits++;
    return KDZ_OK;
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr;
    return kdz_sem_give(sem);
}

void kdz_sem_destroy(kdz_handle sem)
{
    (void)sem;
    semaphores--;
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    responder = spec->entry;
    responder_rank = spec->rank;
    threads++;
    return 5;
}

kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    (void)thread;
    (void)timeout_ticks;
    threads--;
    return KDZ_OK;
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return handler != NULL ? connecting : KDZ_OK;
}

/* ---- benchmarks that do one thing each --------------------------------------------------------
 */
static enum {
    WELL,
    UNPROVED,
    DISPROVED,
    TOO_FEW,
    TOO_MANY,
    ALL_MISSED,
    BACKWARDS,
    STOPPED,
    BROKEN
} behaviour;
static kdz_status setup_status;
static const char *set_up_needs;
static unsigned measured;
static unsigned torn_down;
static uint32_t open_mark;

static kdz_status setup(struct kdz_point *point)
{
    if (kdz_need(&point->record, set_up_needs) != KDZ_OK) {
        return KDZ_UNSUPPORTED;
    }
    if (setup_status == KDZ_FAILED) {
        point->record.proof.reason = "the clock ran backwards";
        kdz_stop_requested = true;
    }
    if (setup_status == KDZ_DENIED) {
        kdz_explain("denied: ask the administrator");
    }
    return setup_status;
}

static void measure(struct kdz_point *point)
{
    uint32_t count = point->samples;

    measured++;
    open_mark = fake_mark;
    if (connected != NULL) { /* the interrupt arrives now */
        connected(NULL);
        responder(NULL);
    }
    if (behaviour == BROKEN) {
        point->record.breach =
            (struct kdz_breach){true, 0, 41, 1234, 1000, "the trace was stopped"};
    }
    if (behaviour == TOO_FEW || behaviour == STOPPED || behaviour == BROKEN) {
        kdz_stop_requested = behaviour == STOPPED;
        count--;
    } else if (behaviour == TOO_MANY) {
        count++;
    } else if (behaviour == ALL_MISSED) {
        point->record.lane[0].missed = count;
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        kdz_record_add(&point->record, 0, behaviour == BACKWARDS ? kdz_span(637151, i) : i);
        if (behaviour != UNPROVED) {
            kdz_prove(&point->record, behaviour != DISPROVED, "it did not happen");
        }
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    torn_down++;
}

static const struct kdz_param params[] = {{"size_bytes", 60, 4, 600}};
static const struct kdz_bench fake_count = {
    .name = "fake/count",
    .begins = "b",
    .ends = "e",
    .source = "s",
    .params = params,
    .param_count = 1,
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(fake_count);

static const struct kdz_bench fake_suspend = {
    .name = "fake/suspend",
    .begins = "b",
    .ends = "e",
    .source = "s",
    .needs = "yield suspend mutex",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(fake_suspend);

static const struct kdz_bench fake_self_timed = {
    .name = "fake/self-timed",
    .begins = "b",
    .ends = "e",
    .source = "s",
    .self_timed = true,
    .measure = measure,
};
KDZ_BENCH(fake_self_timed);

static const struct kdz_bench fake_interrupted = {
    .name = "fake/interrupted",
    .begins = "b",
    .ends = "e",
    .source = "s",
    .needs = "yield interrupt",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(fake_interrupted);

void kdz_conformance(kdz_conform_report report)
{
    report("one holds", KDZ_CONFORM_BEGINS, "");
    report("one holds", KDZ_CONFORM_PASS, "");
    report("one does not", KDZ_CONFORM_FAIL, "because");
    report("one is not there", KDZ_CONFORM_NOT_APPLICABLE, "never was");
}

/* ---- running ----------------------------------------------------------------------------------
 */
static struct fake_frame frame;
static size_t at;

static int start(void **state)
{
    (void)state;
    fake_reset();
    behaviour = WELL;
    setup_status = KDZ_OK;
    set_up_needs = "";
    measured = torn_down = 0;
    connected = NULL;
    connecting = KDZ_OK;
    mark_count = 0;
    kdz_stop_requested = false;
    return 0;
}

static void suite(void)
{
    kdz_suite_main(NULL);
}

/* Runs the plan and leaves `frame` on the frame after HELLO. */
static void run(const char *plan)
{
    fake_page = plan;
    assert_int_equal(fake_halts(suite), 0);
    at = 0;
    assert_int_equal(fake_console.bytes[0], 0); /* ends what stood on the line before */
    assert_true(fake_next_frame(&at, &frame));
    assert_int_equal(frame.type, KDZ_FRAME_HELLO);
    assert_true(fake_next_frame(&at, &frame));
}

static void next(enum kdz_frame_type type)
{
    assert_true(fake_next_frame(&at, &frame));
    assert_int_equal(frame.type, type);
}

static void expect_end(const char *status, const char *reason)
{
    assert_int_equal(frame.type, KDZ_FRAME_BEGIN);
    do {
        assert_true(fake_next_frame(&at, &frame));
    } while (frame.type == KDZ_FRAME_SAMPLES);
    assert_int_equal(frame.type, KDZ_FRAME_END);
    assert_true(fake_says(&frame, status));
    assert_true(fake_says(&frame, reason));
}

static void test_a_point_is_begin_samples_end(void **state)
{
    (void)state;
    run("fake/count id=5 samples=3\nend\n");
    assert_int_equal(frame.type, KDZ_FRAME_BEGIN);
    assert_true(fake_says(&frame, "size_bytes"));
    assert_true(fake_says(&frame, "\xa3"
                                  "all"));
    next(KDZ_FRAME_SAMPLES);
    assert_int_equal(frame.length, 8 + 12);
    next(KDZ_FRAME_END);
    assert_true(fake_says(&frame, "\xa6status\xa2ok"));
    next(KDZ_FRAME_DONE);
    assert_true(fake_says(&frame, "records\x01"));
    assert_true(fake_says(&frame, "frames\x05"));
    assert_false(fake_next_frame(&at, &frame));
    assert_int_equal(open_mark, KDZ_MARK_RECORD_OPEN | 5u);
    assert_int_equal(fake_mark, KDZ_MARK_RECORD_CLOSE | 5u);
    assert_int_equal(torn_down, 1);
}

static void test_a_wrong_line_fails_and_the_next_one_runs(void **state)
{
    (void)state;
    run("no/such id=1 samples=1\nfake/count id=2 samples=1 size_bytes=3\nfake/count id=3 "
        "samples=1\n");
    expect_end("failed", "`no/such`: no such benchmark in this image");
    next(KDZ_FRAME_BEGIN);
    expect_end("failed", "`size_bytes=3`: from 4 to 600");
    next(KDZ_FRAME_BEGIN);
    expect_end("ok", "");
    next(KDZ_FRAME_DONE);
    assert_int_equal(measured, 1);
}

static void test_a_line_too_long_fails(void **state)
{
    char plan[400];

    (void)state;
    (void)memset(plan, ' ', sizeof plan);
    (void)memcpy(plan, "fake/count", 10);
    (void)snprintf(plan + 380, 20, "\nend");
    run(plan);
    expect_end("failed", "longer than 255 characters");
    next(KDZ_FRAME_DONE);
}

static void test_a_plan_may_be_typed(void **state)
{
    (void)state;
    fake_typed = "# by hand\r\nfake/count id=9 samples=1\r\nend\r\n";
    run(NULL);
    expect_end("ok", "");
    next(KDZ_FRAME_DONE);
}

static size_t empty_frames(void)
{
    size_t count = 0;

    for (size_t i = 1; i < fake_console.count; i++) {
        count += fake_console.bytes[i - 1] == 0 && fake_console.bytes[i] == 0;
    }
    return count;
}

/* A UART holds few bytes: whoever sends the plan waits until a line is asked for. */
static void test_each_typed_line_is_asked_for_by_an_empty_frame(void **state)
{
    (void)state;
    fake_typed = "fake/count id=9 samples=1\nfake/count id=10 samples=1\nend\n";
    run(NULL);
    assert_int_equal(empty_frames(), 3);
    fake_console.count = 0;
    run("fake/count id=9 samples=1\n");
    assert_int_equal(empty_frames(), 0); /* a page is there already */
}

static void expect_not_applicable(const char *plan, const char *reason)
{
    run(plan);
    expect_end("n/a", reason);
    next(KDZ_FRAME_DONE);
    assert_int_equal(measured, 0);
}

static void test_a_missing_ability_is_reported_in_the_kernels_own_sentence(void **state)
{
    (void)state;
    expect_not_applicable("fake/suspend id=1 samples=1\n", "a fake suspends nobody");
}

static void test_set_up_may_need_more_and_says_what(void **state)
{
    (void)state;
    set_up_needs = "yield flags";
    expect_not_applicable("fake/count id=1 samples=1\n", "there are no flags today");
    assert_int_equal(torn_down, 1);
    fake_denied = NULL;
    fake_console.count = 0;
    run("fake/count id=1 samples=1\n");
    expect_end("ok", "");
}

static void test_self_timed_is_not_applicable_under_the_scope(void **state)
{
    (void)state;
    fake_clock.on_target = false;
    expect_not_applicable("fake/self-timed id=1 samples=1\n", "under the scope");
}

static void test_an_unsupported_setup_is_not_applicable(void **state)
{
    (void)state;
    setup_status = KDZ_UNSUPPORTED;
    expect_not_applicable("fake/count id=1 samples=1\n", "does not support");
    assert_int_equal(torn_down, 1);
}

static void test_a_failed_setup_is_torn_down_and_says_why(void **state)
{
    (void)state;
    setup_status = KDZ_DENIED;
    run("fake/count id=1 samples=1\n");
    expect_end("failed", "denied: ask the administrator");
    assert_int_equal(measured, 0);
    assert_int_equal(torn_down, 1);
    setup_status = KDZ_NO_MEMORY; /* an old explanation does not stick to a new error */
    fake_console.count = 0;
    run("fake/count id=1 samples=1\n");
    expect_end("failed", "memory, a pool or a limit of the kernel is exhausted");
}

static void expect_verdict(int what, const char *status, const char *reason)
{
    fake_console.count = 0;
    behaviour = what;
    run("fake/count id=1 samples=3\n");
    expect_end(status, reason);
}

static void test_a_record_without_proof_is_invalid(void **state)
{
    (void)state;
    expect_verdict(UNPROVED, "invalid", "proved nothing");
    expect_verdict(DISPROVED, "invalid", "it did not happen");
}

static void test_accounting_that_does_not_add_up_is_invalid(void **state)
{
    (void)state;
    expect_verdict(TOO_FEW, "invalid", "neither taken nor missed");
    expect_verdict(TOO_MANY, "invalid", "more samples than planned");
    expect_verdict(ALL_MISSED, "invalid", "every planned sample was missed");
}

static void test_an_end_before_its_begin_makes_the_record_invalid(void **state)
{
    (void)state;
    expect_verdict(BACKWARDS, "invalid",
                   sizeof(kdz_time) == 4
                       ? "sample 0 of lane all is no span: END came 637151 clock counts before "
                         "BEGIN, or half the range of the clock after it"
                       : "sample 0 of lane all is no span: END came before BEGIN");
}

static void test_a_stop_keeps_what_was_measured(void **state)
{
    (void)state;
    behaviour = STOPPED;
    run("fake/count id=1 samples=3\nfake/count id=2 samples=3\n");
    expect_end("ok", "stopped on request");
    assert_false(fake_says(&frame, "missed\x01"));
    next(KDZ_FRAME_DONE);
    assert_int_equal(measured, 1);
}

static void test_a_setup_that_ends_the_run_gives_the_reason(void **state)
{
    (void)state;
    setup_status = KDZ_FAILED;
    run("fake/count id=1 samples=3\nfake/count id=2 samples=3\nend\n");
    expect_end("failed", "the clock ran backwards");
    next(KDZ_FRAME_DONE);
    assert_int_equal(measured, 0);
    assert_int_equal(torn_down, 1);
}

static void test_a_sample_above_the_limit_ends_a_record_that_stays_good(void **state)
{
    (void)state;
    behaviour = BROKEN;
    run("fake/count id=1 samples=3\nend\n");
    expect_end("ok", "ended by its limit of 1000 us: all took 1234 us in cycle 41; the trace was "
                     "stopped");
}

static void test_no_room_for_a_lane_fails(void **state)
{
    (void)state;
    fake_capacity = 0;
    run("fake/count id=1 samples=3\n");
    expect_end("failed", "no room for this benchmark's lanes");
}

static void test_list_names_every_benchmark_and_why_not(void **state)
{
    (void)state;
    run("list\n");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(frame.type, KDZ_FRAME_BENCH);
        if (fake_says(&frame, "fake/suspend")) {
            assert_true(fake_says(&frame, "available\xc2"));
            assert_true(fake_says(&frame, "a fake suspends nobody"));
        } else {
            assert_true(fake_says(&frame, "available\xc3"));
        }
        assert_true(fake_next_frame(&at, &frame));
    }
    assert_int_equal(frame.type, KDZ_FRAME_DONE);
}

static void test_conformance_is_reported_case_by_case(void **state)
{
    (void)state;
    run("conformance\n");
    assert_int_equal(frame.type, KDZ_FRAME_CASE); /* before it runs */
    assert_true(fake_says(&frame, "case\xa9one holds"));
    next(KDZ_FRAME_CONFORM);
    assert_true(fake_says(&frame, "result\xa4pass"));
    next(KDZ_FRAME_CONFORM);
    assert_true(fake_says(&frame, "result\xa4"
                                  "fail\xa6reason\xa7"
                                  "because"));
    next(KDZ_FRAME_CONFORM);
    assert_true(fake_says(&frame, "result\xa3n/a"));
    next(KDZ_FRAME_DONE);
}

static void expect_undone(void)
{
    assert_null(connected);
    assert_int_equal(semaphores, 0);
    assert_int_equal(threads, 0);
}

static void test_an_interrupt_that_arrives_is_marked_and_wakes_the_most_urgent_thread(void **state)
{
    (void)state;
    run("fake/count id=5 samples=3 arrivals=1\nend\n");
    expect_end("ok", "");
    assert_int_equal(responder_rank, KDZ_RANK_MAX);
    assert_int_equal(mark_count, 2); /* of the two takes, before each of which was a mark */
    assert_int_equal(marks[0], KDZ_HANDLED);
    assert_int_equal(marks[1], KDZ_RESPONDED);
    assert_int_equal(torn_down, 1);
    expect_undone();
}

static void test_without_arrivals_nothing_is_connected(void **state)
{
    (void)state;
    run("fake/count id=5 samples=3\nend\n");
    expect_end("ok", "");
    assert_int_equal(mark_count, 0);
    expect_undone();
}

static void test_a_benchmark_of_the_interrupt_lets_none_arrive(void **state)
{
    (void)state;
    expect_not_applicable("fake/interrupted id=1 samples=1 arrivals=1\n",
                          "it uses the interrupt itself that is to arrive");
    expect_undone();
}

static void test_an_interrupt_that_cannot_be_connected_fails_the_record(void **state)
{
    (void)state;
    connecting = KDZ_NO_MEMORY;
    run("fake/count id=1 samples=1 arrivals=1\n");
    expect_end("failed", "memory, a pool or a limit of the kernel is exhausted");
    assert_int_equal(measured, 0);
    assert_int_equal(torn_down, 1);
    expect_undone();
}

static void test_notes_wait_for_hello(void **state)
{
    (void)state;
    kdz_note("running without SCHED_FIFO");
    run("end\n");
    assert_int_equal(frame.type, KDZ_FRAME_TEXT);
    assert_true(fake_says(&frame, "running without SCHED_FIFO"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: before any other HELLO. */
        cmocka_unit_test_setup(test_notes_wait_for_hello, start),
        cmocka_unit_test_setup(
            test_an_interrupt_that_arrives_is_marked_and_wakes_the_most_urgent_thread, start),
        cmocka_unit_test_setup(test_without_arrivals_nothing_is_connected, start),
        cmocka_unit_test_setup(test_a_benchmark_of_the_interrupt_lets_none_arrive, start),
        cmocka_unit_test_setup(test_an_interrupt_that_cannot_be_connected_fails_the_record, start),
        cmocka_unit_test_setup(test_a_point_is_begin_samples_end, start),
        cmocka_unit_test_setup(test_a_wrong_line_fails_and_the_next_one_runs, start),
        cmocka_unit_test_setup(test_a_line_too_long_fails, start),
        cmocka_unit_test_setup(test_a_plan_may_be_typed, start),
        cmocka_unit_test_setup(test_each_typed_line_is_asked_for_by_an_empty_frame, start),
        cmocka_unit_test_setup(test_a_missing_ability_is_reported_in_the_kernels_own_sentence,
                               start),
        cmocka_unit_test_setup(test_set_up_may_need_more_and_says_what, start),
        cmocka_unit_test_setup(test_self_timed_is_not_applicable_under_the_scope, start),
        cmocka_unit_test_setup(test_an_unsupported_setup_is_not_applicable, start),
        cmocka_unit_test_setup(test_a_failed_setup_is_torn_down_and_says_why, start),
        cmocka_unit_test_setup(test_a_record_without_proof_is_invalid, start),
        cmocka_unit_test_setup(test_accounting_that_does_not_add_up_is_invalid, start),
        cmocka_unit_test_setup(test_an_end_before_its_begin_makes_the_record_invalid, start),
        cmocka_unit_test_setup(test_a_stop_keeps_what_was_measured, start),
        cmocka_unit_test_setup(test_a_setup_that_ends_the_run_gives_the_reason, start),
        cmocka_unit_test_setup(test_a_sample_above_the_limit_ends_a_record_that_stays_good, start),
        cmocka_unit_test_setup(test_no_room_for_a_lane_fails, start),
        cmocka_unit_test_setup(test_list_names_every_benchmark_and_why_not, start),
        cmocka_unit_test_setup(test_conformance_is_reported_case_by_case, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
