/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a state: how many and how urgent, and that they end with the record.
 */
#include "arrivals.h"
#include "fake.h"
#include "kadenz/mechanism.h"

#include <limits.h>
#include <string.h>

/* ---- a kernel that runs a thread where a test says so -----------------------------------------
 */
KDZ_HAS(interrupt, "interrupt");

static unsigned semaphores, threads, room, of_rank[KDZ_RANK_MAX + 1];
static uint32_t timeouts[8];
static unsigned timeout_count;
static bool runs_ready; /* a service lets the least urgent thread run */

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    (void)kind;
    (void)max;
    (void)initial;
    semaphores++;
    return 3;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    (void)sem;
    assert_true(timeout_count < sizeof timeouts / sizeof timeouts[0]);
    timeouts[timeout_count++] = timeout_ticks;
    return KDZ_OK;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    (void)sem;
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
    if (threads == room) {
        return KDZ_NO_MEMORY;
    }
    threads++;
    of_rank[spec->rank]++;
    if (strcmp(spec->name, "sleeper") == 0 || (runs_ready && strcmp(spec->name, "ready") == 0)) {
        spec->entry(NULL);
    }
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
    (void)handler;
    return KDZ_OK;
}

/* ---- a record ---------------------------------------------------------------------------------
 */
static const struct kdz_bench bench = {.name = "fake/service"};
static struct kdz_point point;

static int start(void **state)
{
    (void)state;
    fake_reset();
    (void)memset(&point, 0, sizeof point);
    (void)memset(of_rank, 0, sizeof of_rank);
    point.bench = &bench;
    point.record.proof.reason = "";
    room = UINT_MAX;
    timeout_count = 0;
    runs_ready = false;
    return 0;
}

static kdz_status begin(uint8_t sleepers, uint8_t waking, uint8_t ready)
{
    return kdz_arrivals_begin(&point, (const uint8_t[KDZ_STATES]){sleepers, waking, ready});
}

static void end_with(kdz_status status)
{
    assert_int_equal(kdz_arrivals_end(&point), status);
    assert_int_equal(threads, 0);
    assert_int_equal(semaphores, 0);
}

static void end(void)
{
    end_with(KDZ_OK);
}

static void test_a_state_is_more_threads_that_end_with_the_record(void **state)
{
    (void)state;
    assert_int_equal(begin(3, 2, 8), KDZ_OK);
    assert_int_equal(of_rank[KDZ_RANK_MAX], 4); /* with the responder */
    assert_int_equal(of_rank[KDZ_RANK_MAIN - 1u], 2);
    assert_int_equal(of_rank[1], 8);
    end();
    assert_int_equal(point.record.proof.failed, 0);
}

static void test_without_a_state_the_responder_is_alone(void **state)
{
    (void)state;
    assert_int_equal(begin(0, 0, 0), KDZ_OK);
    assert_int_equal(threads, 1);
    assert_int_equal(semaphores, 1);
    end();
}

static void test_sleepers_sleep_for_minutes_each_until_another_tick(void **state)
{
    (void)state;
    assert_int_equal(begin(3, 0, 0), KDZ_OK);
    assert_int_equal(timeout_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(timeouts[i], (100u + i) * kdz_tick_hz());
    }
    end();
}

static void test_a_thread_that_cannot_be_created_says_why(void **state)
{
    (void)state;
    room = 4;
    assert_int_equal(begin(8, 0, 0), KDZ_NO_MEMORY);
    assert_string_equal(point.record.proof.reason,
                        "the kernel has no room for a thread of the state, or refuses it");
    end();
}

static void test_a_service_that_lets_a_ready_thread_run_has_no_such_state(void **state)
{
    (void)state;
    runs_ready = true;
    assert_int_equal(begin(0, 0, 1), KDZ_OK);
    end_with(KDZ_UNSUPPORTED);
    assert_int_equal(point.record.proof.failed, 0);
    assert_string_equal(
        point.record.proof.reason,
        "a thread that was to stay ready ran: the service lets less urgent ones run");
}

static void test_a_proof_that_failed_besides_is_what_counts(void **state)
{
    (void)state;
    runs_ready = true;
    assert_int_equal(begin(0, 0, 1), KDZ_OK);
    point.record.proof.failed = 1;
    point.record.proof.reason = "the value did not arrive";
    end();
    assert_string_equal(point.record.proof.reason, "the value did not arrive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_state_is_more_threads_that_end_with_the_record, start),
        cmocka_unit_test_setup(test_without_a_state_the_responder_is_alone, start),
        cmocka_unit_test_setup(test_sleepers_sleep_for_minutes_each_until_another_tick, start),
        cmocka_unit_test_setup(test_a_thread_that_cannot_be_created_says_why, start),
        cmocka_unit_test_setup(test_a_service_that_lets_a_ready_thread_run_has_no_such_state,
                               start),
        cmocka_unit_test_setup(test_a_proof_that_failed_besides_is_what_counts, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
