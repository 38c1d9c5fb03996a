/* SPDX-License-Identifier: Apache-2.0 */
#include "critical.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

#define RANK_WAITER (KDZ_CRITICAL_RANK + 1u)
#define RANK_HOLDER (KDZ_CRITICAL_RANK - 1u)
/* Of a wait that ends before; behind the sleepers of a state, so that a list in order of time is
 * walked past all of them (core/arrivals.c). */
#define LIMIT_S 1000u

enum wait { NONE, FOREVER, LIMITED };

const struct kdz_param kdz_critical_waiter[1] = {{"waiter", NONE, NONE, LIMITED}};
const struct kdz_param kdz_critical_blocks[1] = {{"blocks", NONE, NONE, LIMITED}};
const struct kdz_param kdz_critical_urgent[1] = {{"urgent", 0, 0, 1}};

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

/* It runs only while the caller waits. */
static void holder(void *argument)
{
    (void)argument;
    while (!c.over) {
        if (c.service->hold != NULL) {
            (void)c.service->hold();
        }
        c.released++;
        (void)c.service->release();
    }
}

static void prepare(void)
{
    void (*const before)(void) = c.blocks ? c.service->before_hold : c.service->before;

    c.status = KDZ_OK;
    if (before != NULL) {
        before();
    }
}

/* The thread beside the caller did its part in the call. */
static void prove(struct kdz_record *record, uint32_t woken, uint32_t released)
{
    kdz_prove(record, !c.waits || c.woken == woken + 1u, "the waiter did not run once");
    kdz_prove(record, !c.blocks || c.released == released + 1u, "the call did not wait");
}

static void caller(void *argument)
{
    struct kdz_point *const point = (struct kdz_point *)argument;
    const struct kdz_critical_service *const service = c.service;

    for (uint32_t i = 0; i < point->samples && !kdz_stop_requested; i++) {
        const uint32_t woken = c.woken;
        const uint32_t released = c.released;

        prepare();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status called = service->call();
        const kdz_time end = kdz_stamp(KDZ_END);

        if (service->after != NULL && !c.waits) {
            service->after();
        }
        kdz_prove(&point->record, called == KDZ_OK && c.status == KDZ_OK, "the call failed");
        prove(&point->record, woken, released);
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
    if (c.waits) {
        c.over = true;
        prepare();
        (void)service->call();
    }
    c.over = true;
}

kdz_status kdz_critical_setup(struct kdz_point *point, const struct kdz_critical_service *service)
{
    const bool choice = point->bench->param_count != 0;
    const uint32_t chosen = choice ? KDZ_PARAM(point, 0) : NONE;

    c.service = service;
    c.waits = service->wait != NULL && (!choice || chosen != NONE);
    c.blocks = service->release != NULL && chosen != NONE;
    c.limit = chosen == LIMITED ? LIMIT_S * kdz_tick_hz() : KDZ_FOREVER;
    c.urgent = chosen != NONE;
    c.released = 0;
    c.object = KDZ_FAILED;
    c.go = KDZ_FAILED;
    c.over = false;
    c.woken = 0;
    c.item = 1;
    if (c.blocks && kdz_board_cores() > 1) {
        point->record.proof.reason = "on several cores a less urgent thread does not wait until "
                                     "the call blocks";
        return KDZ_UNSUPPORTED;
    }
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
    const struct kdz_party holds = {"holder", holder, RANK_HOLDER, KDZ_ANY_CORE};
    const struct kdz_party second = {"caller", caller, KDZ_CRITICAL_RANK, KDZ_ANY_CORE};

    if (c.waits || c.blocks) {
        kdz_pair_run(point, c.waits ? &first : &holds, &second);
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
