/* SPDX-License-Identifier: Apache-2.0 */
#include "arrivals.h"

#include "text.h"

#include "kadenz/arming.h"
#include "kadenz/beside.h"

#define INTERRUPT "interrupt"
/* After each record, and before the 1,000 s of a timer of critical/: where a kernel keeps time-outs
 * in order, its walk to that one passes all sleepers. */
#define FAR_S 100u
/* Of a port's pool: the build of a board with room for states says so. */
#ifndef KDZ_THREADS_MAX
#define KDZ_THREADS_MAX 1
#endif

static struct {
    kdz_handle sem;
    kdz_handle responder;
    bool connected;
    volatile bool over;
} arrivals = {KDZ_FAILED, KDZ_FAILED, false, false};

static struct {
    kdz_handle threads[KDZ_THREADS_MAX];
    uint8_t count;
    kdz_handle awake; /* ends the sleepers */
    uint8_t sleepers;
    volatile bool ran; /* a thread that was to stay ready */
} held = {.awake = KDZ_FAILED};

static void handle(struct kdz_isr *isr)
{
    (void)kdz_stamp(KDZ_HANDLED);
    (void)kdz_sem_give_from_isr(arrivals.sem, isr);
}

static void respond(void *unused)
{
    (void)unused;
    while (kdz_sem_take(arrivals.sem, KDZ_FOREVER) == KDZ_OK && !arrivals.over) {
        (void)kdz_stamp(KDZ_RESPONDED);
    }
}

/* Whether `word` is one of the names, which are parted by spaces. */
static bool is_among(const char *word, const char *names)
{
    while (names != NULL && *names != '\0') {
        const size_t length = kdz_text_word(names);

        if (kdz_text_is(names, length, word)) {
            return true;
        }
        names += names[length] == ' ' ? length + 1 : length;
    }
    return false;
}

/* ---- states -----------------------------------------------------------------------------------
 */
static void sleep_far(void *unused)
{
    const uint32_t far_s = FAR_S + held.sleepers++;

    (void)unused;
    (void)kdz_sem_take(held.awake, far_s * kdz_tick_hz());
}

static void wake_each_tick(void *unused)
{
    uint32_t tick = kdz_tick_now();

    (void)unused;
    while (!arrivals.over) {
        (void)kdz_delay_until(&tick, 1);
    }
}

static void stay_ready(void *unused)
{
    (void)unused;
    held.ran = held.ran || !arrivals.over;
}

static const struct kdz_thread_spec state_threads[KDZ_STATES] = {
    /* It sleeps before its creation returns. */
    [KDZ_STATE_SLEEPERS] = {"sleeper", sleep_far, .rank = KDZ_RANK_MAX, .core = KDZ_ANY_CORE},
    /* It sleeps again before a service goes on. */
    [KDZ_STATE_WAKING] = {"waking", wake_each_tick, .rank = KDZ_RANK_MAIN - 1u,
                          .core = KDZ_ANY_CORE},
    [KDZ_STATE_READY] = {"ready", stay_ready, .rank = 1, .core = KDZ_ANY_CORE},
};

static kdz_status hold(struct kdz_point *point, const uint8_t threads[KDZ_STATES])
{
    if (threads[KDZ_STATE_SLEEPERS] != 0) {
        held.awake = kdz_sem_create(KDZ_SEM_COUNTING, KDZ_STATE_THREADS, 0);
        if (held.awake < 0) {
            return (kdz_status)held.awake;
        }
    }
    for (size_t state = 0; state < KDZ_STATES; state++) {
        for (uint32_t i = 0; i < threads[state]; i++) {
            const kdz_handle thread = held.count < KDZ_THREADS_MAX
                                          ? kdz_thread_create(&state_threads[state])
                                          : (kdz_handle)KDZ_NO_MEMORY;

            if (thread < 0) {
                point->record.proof.reason =
                    "the kernel has no room for a thread of the state, or refuses it";
                return (kdz_status)thread;
            }
            held.threads[held.count++] = thread;
        }
    }
    return KDZ_OK;
}

/* Every thread ends, those of a state that was not complete as well. A service that lets the ready
 * ones run has no such state. */
static kdz_status let_go(struct kdz_point *point)
{
    kdz_status status = KDZ_OK;

    if (held.ran && point->record.proof.failed == 0) {
        point->record.proof.reason =
            "a thread that was to stay ready ran: the service lets less urgent ones run";
        status = KDZ_UNSUPPORTED;
    }
    held.ran = false;
    for (; held.sleepers != 0; held.sleepers--) {
        (void)kdz_sem_give(held.awake);
    }
    while (held.count != 0) {
        (void)kdz_thread_join(held.threads[--held.count], KDZ_FOREVER);
    }
    if (held.awake >= 0) {
        kdz_sem_destroy(held.awake);
        held.awake = KDZ_FAILED;
    }
    return status;
}

/* ---- the interrupt ----------------------------------------------------------------------------
 */
kdz_status kdz_arrivals_begin(struct kdz_point *point, const uint8_t threads[KDZ_STATES])
{
    struct kdz_thread_spec responder = {
        .name = "responder",
        .entry = respond,
        .rank = KDZ_RANK_MAX,
        .core = KDZ_ANY_CORE,
    };
    kdz_status status = kdz_need(&point->record, INTERRUPT " sem-counting threads");

    arrivals.over = false;
    if (status != KDZ_OK) {
        return status;
    }
    if (is_among(INTERRUPT, point->bench->needs)) {
        point->record.proof.reason = "it uses the interrupt itself that is to arrive";
        return KDZ_UNSUPPORTED;
    }
    arrivals.sem =
        kdz_sem_create(kdz_lack("sem-binary") == NULL ? KDZ_SEM_BINARY : KDZ_SEM_COUNTING, 1, 0);
    if (arrivals.sem < 0) {
        return (kdz_status)arrivals.sem;
    }
    arrivals.responder = kdz_thread_create(&responder);
    if (arrivals.responder < 0) {
        return (kdz_status)arrivals.responder;
    }
    status = hold(point, threads);
    if (status != KDZ_OK) {
        return status;
    }
    if (KDZ_STAMP_ARMS) {
        status = kdz_arming_begin(point);
        if (status != KDZ_OK) {
            return status;
        }
    }
    if (KDZ_WORKS_BESIDE) {
        status = kdz_beside_begin(point);
        if (status != KDZ_OK) {
            return status;
        }
    }
    arrivals.connected = true;
    return kdz_irq_connect(handle);
}

kdz_status kdz_arrivals_end(struct kdz_point *point)
{
    kdz_status status;

    if (KDZ_STAMP_ARMS) {
        kdz_arming_end();
    }
    if (KDZ_WORKS_BESIDE) {
        kdz_beside_end(point);
    }
    if (arrivals.connected) {
        (void)kdz_irq_connect(NULL);
        arrivals.connected = false;
    }
    arrivals.over = true;
    status = let_go(point);
    if (arrivals.responder >= 0) {
        (void)kdz_sem_give(arrivals.sem);
        (void)kdz_thread_join(arrivals.responder, KDZ_FOREVER);
        arrivals.responder = KDZ_FAILED;
    }
    if (arrivals.sem >= 0) {
        kdz_sem_destroy(arrivals.sem);
        arrivals.sem = KDZ_FAILED;
    }
    return status;
}
