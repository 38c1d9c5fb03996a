/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/conformance.h"

#include "cases.h"

/* ---- what the cases share ---------------------------------------------------------------------
 */
#define LOG_MAX 16u

static struct {
    volatile char events[LOG_MAX];
    volatile uint32_t count;
} happened;

void kdz_case_log_clear(void)
{
    happened.count = 0;
}

void kdz_case_log(char event)
{
    const uint32_t at = happened.count;

    if (at < LOG_MAX) {
        happened.events[at] = event;
    }
    happened.count = at + 1;
}

bool kdz_case_log_is(const char *events)
{
    uint32_t count = 0;

    while (events[count] != '\0') {
        if (count >= happened.count || happened.events[count] != events[count]) {
            return false;
        }
        count++;
    }
    return happened.count == count;
}

kdz_handle kdz_case_thread(void (*entry)(void *), void *arg, uint8_t rank)
{
    return kdz_case_thread_on(kdz_lack("affinity") == NULL ? 0 : KDZ_ANY_CORE, entry, arg, rank);
}

kdz_handle kdz_case_thread_on(uint8_t core, void (*entry)(void *), void *arg, uint8_t rank)
{
    const struct kdz_thread_spec spec = {
        .name = "case",
        .entry = entry,
        .arg = arg,
        .rank = rank,
        .core = core,
    };
    return kdz_thread_create(&spec);
}

void kdz_case_join(const char **reason, kdz_handle thread)
{
    if (thread < 0) {
        expect(reason, false, "a thread could not be created");
    } else {
        expect(reason, kdz_thread_join(thread, PATIENCE) == KDZ_OK, "a thread did not end in time");
    }
}

void kdz_case_settle(void)
{
    uint32_t wake = kdz_tick_now();

    (void)kdz_delay_until(&wake, CASE_MOMENT);
}

/* ---- all cases --------------------------------------------------------------------------------
 */
static const char *not_applicable;

const char *kdz_case_not_applicable(const char *sentence)
{
    not_applicable = sentence;
    return sentence;
}

const char *kdz_case_lacks_cores(bool ordered)
{
    if (kdz_board_cores() < 2) {
        return kdz_case_not_applicable("this machine offers one core");
    }
    return !ordered || kdz_case_ranks_hold() ? NULL : kdz_case_not_applicable("no ranks hold here");
}

bool kdz_case_spin_until(const volatile bool *flag)
{
    const uint32_t start = kdz_tick_now();

    while (!*flag && kdz_tick_now() - start < CASE_MOMENT) {
    }
    return *flag;
}

static void begin(const char *name, const char *lack, kdz_conform_report report)
{
    not_applicable = lack;
    kdz_case_log_clear();
    report(name, KDZ_CONFORM_BEGINS, "");
}

static void tell(const char *name, const char *reason, kdz_conform_report report)
{
    if (reason == NULL) {
        report(name, KDZ_CONFORM_PASS, "");
    } else if (reason == not_applicable) {
        report(name, KDZ_CONFORM_NOT_APPLICABLE, reason);
    } else {
        report(name, KDZ_CONFORM_FAIL, reason);
    }
}

static void run(struct kdz_cases cases, kdz_conform_report report)
{
    for (size_t i = 0; i < cases.count; i++) {
        const struct kdz_case *each = &cases.first[i];
        const char *lack = kdz_lack("threads");

        lack = lack != NULL ? lack : kdz_lack(each->needs);

        begin(each->name, lack, report);
        tell(each->name, lack != NULL ? lack : each->run(), report);
    }
}

/* ---- the promises of each mechanism -----------------------------------------------------------
 */
#define NAME_MAX 96u

/* "queue carries items in their order". */
static const char *name_of(const struct kdz_mechanism *mechanism, const char *promise)
{
    static char name[NAME_MAX];
    const char *const parts[] = {mechanism->name, " ", promise};
    size_t length = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (const char *at = parts[i]; *at != '\0' && length + 1 < NAME_MAX; at++) {
            name[length++] = *at;
        }
    }
    name[length] = '\0';
    return name;
}

static void hold(struct kdz_promises promises, kdz_conform_report report)
{
    const struct kdz_mechanism *mechanism;

    for (size_t i = 0; (mechanism = kdz_mechanism_at(i)) != NULL; i++) {
        for (size_t j = 0; j < promises.count; j++) {
            const struct kdz_promise *promise = &promises.first[j];

            if (promise->concerns(mechanism)) {
                const char *name = name_of(mechanism, promise->text);

                begin(name, NULL, report);
                tell(name, promise->run(mechanism), report);
            }
        }
    }
}

void kdz_conformance(kdz_conform_report report)
{
    run(kdz_cases_threads(), report);
    run(kdz_cases_time(), report);
    run(kdz_cases_periodic(), report);
    run(kdz_cases_semaphores(), report);
    run(kdz_cases_mutexes(), report);
    run(kdz_cases_interrupts(), report);
    run(kdz_cases_processes(), report);
    run(kdz_cases_cores(), report);
    run(kdz_cases_cores_at_once(), report);
    hold(kdz_promises_timers(), report);
    hold(kdz_promises_channels(), report);
    hold(kdz_promises_notifications(), report);
    hold(kdz_promises_locks(), report);
    hold(kdz_promises_waiters(), report);
    hold(kdz_promises_memory(), report);
    hold(kdz_promises_callback_timers(), report);
    hold(kdz_promises_barriers(), report);
}
