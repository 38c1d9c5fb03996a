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
    const struct kdz_thread_spec spec = {
        .name = "case",
        .entry = entry,
        .arg = arg,
        .rank = rank,
        .core = (kdz_capabilities() & KDZ_CAP_AFFINITY) != 0 ? 0 : KDZ_ANY_CORE,
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
static void run(struct kdz_cases cases, kdz_conform_report report)
{
    for (size_t i = 0; i < cases.count; i++) {
        const struct kdz_case *each = &cases.first[i];
        const char *reason;

        if ((each->needs & ~kdz_capabilities()) != 0) {
            report(each->name, KDZ_CONFORM_NOT_APPLICABLE,
                   "the port declares that the kernel has no such thing");
            continue;
        }
        kdz_case_log_clear();
        reason = each->run();
        if (reason == NULL) {
            report(each->name, KDZ_CONFORM_PASS, "");
        } else if (reason[0] == '\0') {
            report(each->name, KDZ_CONFORM_NOT_APPLICABLE, "the kernel has nothing of this kind");
        } else {
            report(each->name, KDZ_CONFORM_FAIL, reason);
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
    run(kdz_cases_channels(), report);
    run(kdz_cases_notifications(), report);
    run(kdz_cases_interrupts(), report);
}
