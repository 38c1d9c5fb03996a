/* SPDX-License-Identifier: Apache-2.0 */
#include "migration.h"

#include "kadenz/thread_options.h"

#include "kadenz/period.h"
#include "kadenz/placement.h"
#include "loop_speed.h"

/* Of each load in turn: the study's "heavy work" has a loop of 2 ms. */
#define LOAD_US 2000u
/* It is done in pieces, so that it ends soon when the benchmark does. */
#define PIECES 100u
#define LOADS 2u

const char *const kdz_migrations[KDZ_MIGRATIONS] = {
    [KDZ_MIGRATE_NONE] = "none", [KDZ_MIGRATE_WATCH] = "watch",     [KDZ_MIGRATE_MOVE] = "move",
    [KDZ_MIGRATE_LOAD] = "load", [KDZ_MIGRATE_SUSPEND] = "suspend",
};

static struct {
    struct kdz_migration how;
    kdz_handle thread[LOADS]; /* the mover, or the loads */
    kdz_handle turn[LOADS];   /* by semaphores */
    volatile uint32_t whose;  /* turn it is, by suspending */
    uint32_t piece;           /* turns of the loop */
    volatile uint32_t done;   /* moves, or turns of a load */
    volatile uint32_t failed;
    volatile bool end;
} g;

kdz_status kdz_migration_check(struct kdz_point *point, uint32_t how, bool bound)
{
    kdz_status status = KDZ_OK;

    if (how == KDZ_MIGRATE_NONE) {
        return KDZ_OK;
    }
    status = kdz_two_cores(&point->record);
    if (status == KDZ_OK) {
        status = kdz_need(&point->record, "affinity");
    }
    if (status == KDZ_OK && how == KDZ_MIGRATE_SUSPEND) {
        status = kdz_need(&point->record, "suspend");
    }
    if (status == KDZ_OK && how != KDZ_MIGRATE_WATCH && bound) {
        point->record.proof.reason = "`migrate` needs threads that are bound to no core: set "
                                     "`threads`, and no `core`";
        return KDZ_INVALID;
    }
    return status;
}

/* ---- move --------------------------------------------------------------------------------------
 */
static void move(void *unused)
{
    uint32_t wake = g.how.start;
    uint8_t core = 0;

    (void)unused;
    (void)kdz_delay_until(&wake, g.how.lead + g.how.period / 2u);
    while (!g.end) {
        core = (uint8_t)((core + 1u) % kdz_board_cores());
        for (uint8_t i = 0; i < g.how.count; i++) {
            const kdz_status moved = kdz_thread_move(g.how.threads[i], core);

            /* In the first round all are there; later one may have ended. */
            g.failed += moved != KDZ_OK && g.done == 0 ? 1u : 0u;
        }
        g.done++;
        (void)kdz_delay_until(&wake, g.how.period);
    }
}

/* ---- load --------------------------------------------------------------------------------------
 */
static void work(void)
{
    for (uint32_t i = 0; i < PIECES && !g.end; i++) {
        kdz_arch_loop(g.piece);
    }
    g.done++;
}

static void load(void *number)
{
    const uint32_t own = (uint32_t)(uintptr_t)number;

    while (!g.end) {
        (void)kdz_sem_take(g.turn[own], KDZ_FOREVER);
        work();
        (void)kdz_sem_give(g.turn[1u - own]);
    }
}

/* The other one has suspended itself 2 ms ago, when it had resumed this one. */
static void load_suspended(void *number)
{
    const uint32_t own = (uint32_t)(uintptr_t)number;

    while (!g.end) {
        while (g.whose != own && !g.end) {
            (void)kdz_thread_suspend();
        }
        work();
        g.whose = 1u - own;
        (void)kdz_thread_resume(g.thread[1u - own]);
    }
}

/* ---- both ---------------------------------------------------------------------------------------
 */
static kdz_handle start(const char *name, void (*entry)(void *), uint32_t number, uint8_t core)
{
    const struct kdz_thread_spec spec = {
        .name = name,
        .entry = entry,
        .arg = (void *)(uintptr_t)number,
        .rank = (uint8_t)(g.how.rank + 1u),
        .core = core,
    };

    return kdz_thread_create(&spec);
}

static bool start_loads(void)
{
    const bool suspend = g.how.how == KDZ_MIGRATE_SUSPEND;

    g.piece = kdz_loop_turns(LOAD_US) / PIECES + 1u;
    for (uint8_t i = 0; i < LOADS && !suspend; i++) {
        g.turn[i] = kdz_sem_create(KDZ_SEM_COUNTING, LOADS, i == 0 ? 1 : 0);
        if (g.turn[i] < 0) {
            return false;
        }
    }
    for (uint8_t i = 0; i < LOADS; i++) {
        g.thread[i] = start("load", suspend ? load_suspended : load, i, i);
        if (g.thread[i] < 0) {
            return false;
        }
    }
    return true;
}

void kdz_migration_start(struct kdz_point *point, const struct kdz_migration *how)
{
    bool started = true;

    g.how = *how;
    g.end = false;
    g.done = g.failed = g.whose = 0;
    for (uint8_t i = 0; i < LOADS; i++) {
        g.thread[i] = g.turn[i] = KDZ_FAILED;
    }
    if (how->how == KDZ_MIGRATE_MOVE) {
        g.thread[0] = start("mover", move, 0, 0);
        started = g.thread[0] >= 0;
    } else if (how->how == KDZ_MIGRATE_LOAD || how->how == KDZ_MIGRATE_SUSPEND) {
        started = start_loads();
    }
    kdz_prove(&point->record, started, "the kernel could not create what makes threads migrate");
}

/* A resume that comes before its suspend is lost: it is repeated until the thread has ended. */
static void join(kdz_handle thread)
{
    if (g.how.how == KDZ_MIGRATE_SUSPEND) {
        while (kdz_thread_join(thread, 1) == KDZ_TIMEOUT) {
            (void)kdz_thread_resume(thread);
        }
    } else {
        (void)kdz_thread_join(thread, KDZ_FOREVER);
    }
}

void kdz_migration_end(struct kdz_point *point)
{
    g.end = true;
    for (uint8_t i = 0; i < LOADS; i++) {
        if (g.turn[i] >= 0) {
            (void)kdz_sem_give(g.turn[i]);
        }
    }
    for (uint8_t i = 0; i < LOADS; i++) {
        if (g.thread[i] >= 0) {
            join(g.thread[i]);
        }
    }
    for (uint8_t i = 0; i < LOADS; i++) {
        if (g.turn[i] >= 0) {
            kdz_sem_destroy(g.turn[i]);
        }
    }
    if (g.how.how != KDZ_MIGRATE_NONE && g.how.how != KDZ_MIGRATE_WATCH) {
        kdz_prove(&point->record, g.done != 0, "nothing made the threads migrate");
        kdz_prove(&point->record, g.failed == 0, "a thread could not be moved to another core");
    }
}
