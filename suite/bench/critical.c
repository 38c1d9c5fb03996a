/* SPDX-License-Identifier: Apache-2.0 */
#include "critical.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

#define RANK_WAITER (KDZ_CRITICAL_RANK + 1u)

const struct kdz_param kdz_critical_params[1] = {{"waiter", 0, 0, 1}};

#define c kdz_critical

static void waiter(void *argument)
{
    (void)argument;
    c.waiter = kdz_thread_self();
    while (!c.over) {
        if (c.service->wait() == KDZ_OK) {
            c.woken++;
        }
    }
}

static void prepare(void)
{
    c.status = KDZ_OK;
    if (c.service->before != NULL) {
        c.service->before();
    }
}

static void caller(void *argument)
{
    struct kdz_point *const point = (struct kdz_point *)argument;
    const struct kdz_critical_service *const service = c.service;

    for (uint32_t i = 0; i < point->samples && !kdz_stop_requested; i++) {
        const uint32_t woken = c.woken;

        prepare();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status called = service->call();
        const kdz_time end = kdz_stamp(KDZ_END);

        if (service->after != NULL && !c.waits) {
            service->after();
        }
        kdz_prove(&point->record, called == KDZ_OK && c.status == KDZ_OK, "the call failed");
        kdz_prove(&point->record, !c.waits || c.woken == woken + 1u, "the waiter did not run once");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
    if (c.waits) {
        c.over = true;
        prepare();
        (void)service->call();
    }
}

kdz_status kdz_critical_setup(struct kdz_point *point, const struct kdz_critical_service *service)
{
    const bool choice = point->bench->param_count != 0;

    c.service = service;
    c.waits = service->wait != NULL && (!choice || KDZ_PARAM(point, 0) != 0);
    c.object = KDZ_FAILED;
    c.go = KDZ_FAILED;
    c.over = false;
    c.woken = 0;
    c.item = 1;
    if (kdz_clock()->on_target && !KDZ_STAMP_ARMS) {
        point->record.proof.reason = "the scope alone sees the sections of a call: kadenz profile "
                                     "critical";
        return KDZ_UNSUPPORTED;
    }
    if (service->create != NULL) {
        c.object = service->create();
        return c.object < 0 ? (kdz_status)c.object : KDZ_OK;
    }
    return KDZ_OK;
}

void kdz_critical_measure(struct kdz_point *point)
{
    const struct kdz_party first = {"waiter", waiter, RANK_WAITER, KDZ_ANY_CORE};
    const struct kdz_party second = {"caller", caller, KDZ_CRITICAL_RANK, KDZ_ANY_CORE};

    if (c.waits) {
        kdz_pair_run(point, &first, &second);
    } else {
        kdz_party_run(point, &second);
    }
}

void kdz_critical_teardown(struct kdz_point *point)
{
    (void)point;
    if (c.object >= 0) {
        c.service->destroy(c.object);
    }
}
