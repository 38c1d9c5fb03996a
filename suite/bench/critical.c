/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: one call of each service of the kernel, so that the scope finds the sections in it
 * with interrupts off or the scheduler locked (docs/explanation/critical.md). A sample is the whole
 * call; its sections are in the profile of the record, which no counter on the target can give.
 * With `waiter` a more urgent thread waits for the object, is woken by the call and waits again.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "pair.h"

#define RANK_CALLER 5u
#define RANK_WAITER 6u

enum { WAITER };
static const struct kdz_param params[] = {
    [WAITER] = {"waiter", 0, 0, 1},
};

#define c kdz_deadline_state.critical

struct kdz_critical_service {
    kdz_handle (*create)(void); /* NULL: it needs no object */
    void (*destroy)(kdz_handle object);
    void (*before)(void); /* brings the object into the state that the call finds */
    kdz_status (*call)(void);
    void (*after)(void);
    kdz_status (*wait)(void); /* of the waiter */
};

static kdz_status refuse(struct kdz_point *point, kdz_status status, const char *reason)
{
    point->record.proof.reason = reason;
    return status;
}

/* ---- semaphores, mutexes, queues --------------------------------------------------------------
 */
static kdz_handle semaphore(void)
{
    return kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
}

static kdz_status give(void)
{
    return kdz_sem_give(c.object);
}

static kdz_status take(void)
{
    return kdz_sem_take(c.object, KDZ_FOREVER);
}

static kdz_status lock(void)
{
    return kdz_mutex_lock(c.object, KDZ_FOREVER);
}

static kdz_status unlock(void)
{
    return kdz_mutex_unlock(c.object);
}

static kdz_handle queue(void)
{
    c.channel = kdz_mechanism("queue")->channel;
    return c.channel->create(sizeof c.item, 2);
}

static void destroy_queue(kdz_handle object)
{
    c.channel->destroy(object);
}

static kdz_status send(void)
{
    return c.channel->send(c.object, &c.item, sizeof c.item, KDZ_FOREVER);
}

static kdz_status receive(void)
{
    uint32_t item;

    return c.channel->receive(c.object, &item, sizeof item, KDZ_FOREVER);
}

/* Before and after a call: what it does, undone. Its status is the sample's proof. */
#define UNDO(name, of)                                                                             \
    static void name(void)                                                                         \
    {                                                                                              \
        c.status = of() == KDZ_OK ? c.status : KDZ_FAILED;                                         \
    }
UNDO(do_give, give)
UNDO(do_take, take)
UNDO(do_lock, lock)
UNDO(do_unlock, unlock)
UNDO(do_send, send)
UNDO(do_receive, receive)

/* ---- time and threads -------------------------------------------------------------------------
 */
static void from_now(void)
{
    c.tick = kdz_tick_now();
}

static kdz_status sleep_a_tick(void)
{
    return kdz_delay_until(&c.tick, 2);
}

static void nothing(void *unused)
{
    (void)unused;
}

static kdz_status create(void)
{
    const struct kdz_thread_spec spec = {
        .name = "created",
        .entry = nothing,
        .stack_bytes = KDZ_INTERFERENCE_STACK,
        .rank = RANK_CALLER - 1u,
        .core = KDZ_ANY_CORE,
    };

    c.thread = kdz_thread_create(&spec);
    return c.thread < 0 ? (kdz_status)c.thread : KDZ_OK;
}

static kdz_status join(void)
{
    return kdz_thread_join(c.thread, KDZ_FOREVER);
}

UNDO(do_create, create)
UNDO(do_join, join)

/* ---- the calls --------------------------------------------------------------------------------
 */
static const struct kdz_critical_service sem_give = {semaphore, kdz_sem_destroy, NULL,
                                                     give,      do_take,         take};
static const struct kdz_critical_service sem_take = {
    semaphore, kdz_sem_destroy, do_give, take, NULL, NULL};
static const struct kdz_critical_service mutex_lock = {
    kdz_mutex_create, kdz_mutex_destroy, NULL, lock, do_unlock, NULL};
static const struct kdz_critical_service mutex_unlock = {
    kdz_mutex_create, kdz_mutex_destroy, do_lock, unlock, NULL, NULL};
static const struct kdz_critical_service queue_send = {queue, destroy_queue, NULL,
                                                       send,  do_receive,    receive};
static const struct kdz_critical_service queue_receive = {queue,   destroy_queue, do_send,
                                                          receive, NULL,          NULL};
static const struct kdz_critical_service sleeping = {NULL,         NULL, from_now,
                                                     sleep_a_tick, NULL, NULL};
static const struct kdz_critical_service creating = {NULL, NULL, NULL, create, do_join, NULL};
static const struct kdz_critical_service joining = {NULL, NULL, do_create, join, NULL, NULL};

static bool has_waiter(const struct kdz_point *point)
{
    return point->bench->param_count != 0 && KDZ_PARAM(point, WAITER) != 0;
}

static void waiter(void *argument)
{
    (void)argument;
    while (!c.over) {
        if (c.service->wait() == KDZ_OK) {
            c.woken++;
        }
    }
}

static void caller(void *argument)
{
    struct kdz_point *const point = (struct kdz_point *)argument;
    const struct kdz_critical_service *const service = c.service;
    const bool waits = has_waiter(point);

    for (uint32_t i = 0; i < c.samples && !kdz_stop_requested; i++) {
        const uint32_t woken = c.woken;

        c.status = KDZ_OK;
        if (service->before != NULL) {
            service->before();
        }
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status called = service->call();
        const kdz_time end = kdz_stamp(KDZ_END);

        if (service->after != NULL && !waits) {
            service->after();
        }
        kdz_prove(c.record, called == KDZ_OK && c.status == KDZ_OK, "the call failed");
        kdz_prove(c.record, !waits || c.woken == woken + 1u, "the waiter did not run once");
        kdz_keep(c.record, 0, kdz_span(begin, end));
    }
    if (waits) {
        c.over = true;
        (void)service->call();
    }
}

static kdz_status set_up(struct kdz_point *point, const struct kdz_critical_service *service)
{
    c.service = service;
    c.record = &point->record;
    c.samples = point->samples;
    c.object = KDZ_FAILED;
    c.over = false;
    c.woken = 0;
    c.item = 1;
    if (kdz_clock()->on_target) {
        return refuse(point, KDZ_UNSUPPORTED,
                      "the scope alone sees the sections of a call: kadenz profile critical");
    }
    if (service->create != NULL) {
        c.object = service->create();
        return c.object < 0 ? (kdz_status)c.object : KDZ_OK;
    }
    return KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party first = {"waiter", waiter, RANK_WAITER, KDZ_ANY_CORE};
    const struct kdz_party second = {"caller", caller, RANK_CALLER, KDZ_ANY_CORE};

    if (has_waiter(point)) {
        kdz_pair_run(point, &first, &second);
    } else {
        kdz_party_run(point, &second);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (c.object >= 0) {
        c.service->destroy(c.object);
    }
}

#define BENCH(ident, word, of, what, needed, with_waiter)                                          \
    static kdz_status setup_##ident(struct kdz_point *point)                                       \
    {                                                                                              \
        return set_up(point, &(of));                                                               \
    }                                                                                              \
                                                                                                   \
    static const struct kdz_bench critical_##ident = {                                             \
        .name = "critical/" word,                                                                  \
        .begins = "before " what,                                                                  \
        .ends = "its return; the sections in it are in the profile",                               \
        .source = "kadenz",                                                                        \
        .needs = needed,                                                                           \
        .params = params,                                                                          \
        .param_count = (with_waiter) ? sizeof params / sizeof params[0] : 0u,                      \
        .lane_count = 1,                                                                           \
        .setup = setup_##ident,                                                                    \
        .measure = measure,                                                                        \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    KDZ_BENCH(critical_##ident)

BENCH(semaphore_give, "semaphore-give", sem_give, "the give of a semaphore", "sem-counting threads",
      true);
BENCH(semaphore_take, "semaphore-take", sem_take, "the take of a semaphore that was given",
      "sem-counting threads", false);
BENCH(mutex_lock, "mutex-lock", mutex_lock, "the lock of a free mutex", "mutex threads", false);
BENCH(mutex_unlock, "mutex-unlock", mutex_unlock, "the unlock of a mutex", "mutex threads", false);
BENCH(queue_send, "queue-send", queue_send, "a send of 4 bytes", "queue threads", true);
BENCH(queue_receive, "queue-receive", queue_receive, "a receive of 4 bytes that were sent",
      "queue threads", false);
BENCH(sleep, "sleep", sleeping, "a sleep until the second next tick", "threads", false);
BENCH(thread_create, "thread-create", creating, "the creation of a less urgent thread", "threads",
      false);
BENCH(thread_join, "thread-join", joining,
      "the wait for a less urgent thread, which runs and is deleted", "threads", false);
