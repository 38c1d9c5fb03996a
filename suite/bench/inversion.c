/* SPDX-License-Identifier: Apache-2.0 */
#include "inversion.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/placement.h"

enum { LANE_WAIT, LANE_SECTION };

static struct {
    struct kdz_inversion how;
    const struct kdz_lock_ops *plain; /* without inheritance; NULL: kdz_mutex inherits */
    kdz_handle mutex;
    kdz_handle start_high;
    kdz_handle start_middle;
    volatile bool end;
    kdz_time begin;
    volatile kdz_time got;
    volatile uint8_t asked_on; /* the cores of these two stamps */
    volatile uint8_t got_on;
    /* The proof: what each thread did, in counts, and what H saw of them. */
    volatile bool owned;        /* L is in its section */
    volatile uint32_t sections; /* sections that L has finished */
    volatile uint32_t middles;  /* works that M has finished */
    volatile uint32_t asked;    /* locks that H has asked for */
    volatile bool owned_when_asked;
    volatile uint32_t sections_when_asked;
    volatile uint32_t middles_when_asked;
    volatile uint32_t sections_when_got;
    volatile uint32_t middles_when_got;
    volatile kdz_status status;
    volatile uint32_t through; /* turns that H has finished */
    bool apart;                /* H has a core of its own */
} v;

static void work(uint32_t turns)
{
    if (turns != 0) {
        kdz_arch_loop(turns);
    }
}

/* ---- the lock --------------------------------------------------------------------------------
 */
static void lock(void)
{
    (void)(v.plain != NULL ? v.plain->lock(v.mutex, KDZ_FOREVER)
                           : kdz_mutex_lock(v.mutex, KDZ_FOREVER));
}

static void unlock(void)
{
    (void)(v.plain != NULL ? v.plain->unlock(v.mutex) : kdz_mutex_unlock(v.mutex));
}

/* ---- the most urgent ------------------------------------------------------------------------- */
static void note_asking(void)
{
    v.owned_when_asked = v.owned;
    v.sections_when_asked = v.sections;
    v.middles_when_asked = v.middles;
    v.asked_on = kdz_thread_core();
    v.asked++;
}

static void note_got(kdz_status status)
{
    v.sections_when_got = v.sections;
    v.middles_when_got = v.middles;
    v.status = status;
    v.got_on = kdz_thread_core();
}

/* A lock that inherits. */
static void ask(void)
{
    const kdz_handle mutex = v.mutex;

    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status status = kdz_mutex_lock(mutex, KDZ_FOREVER);
    v.got = kdz_stamp(KDZ_END);
    note_got(status);
    v.begin = begin;
}

static void ask_plain(void)
{
    const struct kdz_lock_ops *plain = v.plain;
    const kdz_handle mutex = v.mutex;

    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status status = plain->lock(mutex, KDZ_FOREVER);
    v.got = kdz_stamp(KDZ_END);
    note_got(status);
    v.begin = begin;
}

static void high(void *unused)
{
    void (*const once)(void) = v.plain != NULL ? ask_plain : ask;

    (void)unused;
    for (;;) {
        (void)kdz_sem_take(v.start_high, KDZ_FOREVER);
        if (v.end) {
            break;
        }
        if (!v.apart) {
            (void)kdz_sem_give(v.start_middle); /* ready, and less urgent than this thread */
        }
        note_asking();
        once();
        unlock();
        v.through++;
    }
}

/* ---- the one between ------------------------------------------------------------------------- */
static void middle(void *unused)
{
    (void)unused;
    for (;;) {
        (void)kdz_sem_take(v.start_middle, KDZ_FOREVER);
        if (v.end) {
            break;
        }
        work(v.how.middle_turns);
        v.middles++;
    }
}

/* ---- the least urgent: it leads, because it runs when both others have come to rest ---------- */
static void section(void)
{
    lock();
    v.owned = true;
    (void)kdz_sem_give(v.start_high); /* H preempts, asks, and waits */
    work(v.how.section_turns);
    v.sections++;
    v.owned = false;
    unlock(); /* H preempts */
}

/* The same with H on another core. A function of its own: section() keeps its instructions. */
__attribute__((noinline)) static void section_apart(void)
{
    lock();
    v.owned = true;
    (void)kdz_sem_give(v.start_high);
    (void)kdz_quietly_until(&v.asked, v.sections + 1);
    (void)kdz_sem_give(v.start_middle); /* preempts, unless H has lent its rank */
    work(v.how.section_turns);
    v.sections++;
    v.owned = false;
    unlock();
    (void)kdz_quietly_until(&v.through, v.sections);
}

static void prove(struct kdz_record *record, uint32_t turn)
{
    kdz_prove(record, v.asked == turn && v.owned_when_asked && v.sections_when_asked == turn - 1,
              "the most urgent thread did not find the mutex owned: no inversion");
    kdz_prove(record, v.middles_when_asked == turn - 1,
              "the middle thread had run before the mutex was asked for");
    kdz_prove(record, v.status == KDZ_OK && v.sections_when_got == turn,
              "the most urgent thread got the mutex before the section was over");
    kdz_prove(record, v.middles_when_got == (v.how.inherit ? turn - 1 : turn),
              v.how.inherit ? "the middle thread ran while the more urgent one waited"
                            : "the middle thread did not run while the more urgent one waited");
    kdz_prove(record, v.middles == turn, "the middle thread did not do its work once");
    kdz_prove_core(record, v.how.core_high, v.asked_on);
    kdz_prove_core(record, v.how.core_high, v.got_on);
    kdz_prove_core(record, v.how.core, kdz_thread_core());
}

static uint32_t section_alone(void)
{
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    work(v.how.section_turns);
    const kdz_time end = kdz_stamp(KDZ_END);

    return kdz_span(begin, end);
}

static void low(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    uint32_t wake = kdz_tick_now();

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint32_t alone = v.how.time_section ? section_alone() : 0;

        if (v.apart) {
            section_apart();
        } else {
            section();
        }
        /* Both others are more urgent or have finished: this runs when they wait again. */
        prove(record, n + 1);
        kdz_record_add(record, LANE_WAIT, kdz_span(v.begin, v.got));
        if (v.how.time_section) {
            kdz_record_add(record, LANE_SECTION, alone);
        }
        if (kdz_record_full(record, LANE_WAIT)) {
            kdz_record_drain(record);
            wake = kdz_tick_now();
        }
        if (v.how.period != 0 && kdz_delay_until(&wake, v.how.period) == KDZ_TIMEOUT) {
            record->lane[LANE_WAIT].overrun++;
            wake = kdz_tick_now();
        }
    }
    v.end = true;
    (void)kdz_sem_give(v.start_high);
    (void)kdz_sem_give(v.start_middle);
}

/* ---- set-up ---------------------------------------------------------------------------------- */
static kdz_status choose_lock(struct kdz_point *point)
{
    const bool lends = kdz_lack("priority-inheritance") == NULL;
    kdz_status status = KDZ_OK;

    v.plain = NULL;
    if (v.how.inherit) {
        status = kdz_need(&point->record, "priority-inheritance");
    } else if (lends) { /* the kernel's own mutex inherits: this needs one that does not */
        status = kdz_need(&point->record, "mutex-plain");
        v.plain = status == KDZ_OK ? kdz_mechanism("mutex-plain")->lock : NULL;
    }
    if (status != KDZ_OK) {
        return status;
    }
    v.mutex = v.plain != NULL ? v.plain->create(false, v.how.rank_high) : kdz_mutex_create();
    return v.mutex < 0 ? (kdz_status)v.mutex : KDZ_OK;
}

kdz_status kdz_inversion_setup(struct kdz_point *point, const struct kdz_inversion *how)
{
    kdz_status status;
    uint8_t core;

    v.how = *how;
    v.mutex = v.start_high = v.start_middle = KDZ_FAILED;
    v.end = v.owned = false;
    v.sections = v.middles = v.asked = v.through = 0;
    v.apart = kdz_side_by_side(how->core, how->core_high);
    v.status = KDZ_FAILED;
    if (how->rank_low >= how->rank_middle || how->rank_middle >= how->rank_high) {
        point->record.proof.reason = "an inversion requires rank_low < rank_middle < rank_high";
        return KDZ_INVALID;
    }
    status = kdz_core_for(how->core, &point->record, &core);
    if (status == KDZ_OK) {
        status = kdz_core_for(how->core_high, &point->record, &core);
    }
    if (status == KDZ_OK) {
        status = choose_lock(point);
    }
    if (status != KDZ_OK) {
        return status;
    }
    v.start_high = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (v.start_high < 0) {
        return (kdz_status)v.start_high;
    }
    v.start_middle = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    return v.start_middle < 0 ? (kdz_status)v.start_middle : KDZ_OK;
}

void kdz_inversion_measure(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"high", high, v.how.rank_high, v.how.core_high},
        {"middle", middle, v.how.rank_middle, v.how.core},
        {"low", low, v.how.rank_low, v.how.core},
    };

    kdz_parties_run(point, parties, sizeof parties / sizeof parties[0]);
}

void kdz_inversion_teardown(struct kdz_point *point)
{
    (void)point;
    if (v.start_middle >= 0) {
        kdz_sem_destroy(v.start_middle);
    }
    if (v.start_high >= 0) {
        kdz_sem_destroy(v.start_high);
    }
    if (v.mutex >= 0) {
        if (v.plain != NULL) {
            v.plain->destroy(v.mutex);
        } else {
            kdz_mutex_destroy(v.mutex);
        }
    }
}
