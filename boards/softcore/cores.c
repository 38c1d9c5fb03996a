/* SPDX-License-Identifier: Apache-2.0
 *
 * Several cores: each has a software interrupt in the CLINT, and its number in mhartid. They share
 * the locks of instruments/rtl. A core's one software interrupt serves calls from other cores and
 * what the core raises itself; a flag each tells which.
 */
#include "kadenz/cores.h"
#include "kadenz/board.h"

#define UART_TRANSMIT (*(volatile uint8_t *)KDZ_SOFTCORE_UART)
#define CLINT_MSIP(core) (((volatile uint32_t *)KDZ_SOFTCORE_CLINT)[core])
#define LOCK(number) (((volatile uint32_t *)KDZ_SOFTCORE_LOCKS)[number])

/* Memory is ordered with the devices: another core sees what came before. */
#define ORDER() __asm__ volatile("fence" : : : "memory")

static struct {
    volatile uint32_t called;
    volatile uint32_t raised;
} reasons[KDZ_SOFTCORE_CORES];

/* For the core that begins (cores.S). */
extern void *volatile kdz_cores_stack_top;
void kdz_cores_begin(void);

void *volatile kdz_cores_stack_top;
static void (*volatile entry_of_next)(void);

size_t kdz_board_cores(void)
{
    return KDZ_SOFTCORE_CORES;
}

uint8_t kdz_core_id(void)
{
    uint32_t id;

    __asm__ volatile("csrr %0, mhartid" : "=r"(id));
    return (uint8_t)id;
}

/* ---- start ----------------------------------------------------------------------------------- */
void kdz_core_start(uint8_t core, void (*entry)(void), void *stack_top)
{
    kdz_cores_stack_top = stack_top;
    entry_of_next = entry;
    CLINT_MSIP(core) = 1;
    while (entry_of_next != NULL) { /* a call that came before it has begun would be lost */
    }
}

/* The first C of another core, on its own stack. */
void kdz_cores_begin(void)
{
    void (*const entry)(void) = entry_of_next;

    kdz_board_irq_acknowledge();
    entry_of_next = NULL;
    entry();
}

/* ---- output, and the end --------------------------------------------------------------------- */
#define NOBODY UINT8_MAX
#define SPEAKER_LOCK (KDZ_CORE_LOCKS - 1u) /* of the board itself; taken once */
#define STOP_TURNS 10000u                  /* a core with its interrupts off is not waited for */

static volatile uint8_t speaker = NOBODY; /* the core that reports a fault */
static volatile bool stopped[KDZ_SOFTCORE_CORES];

/* A core ends here when another one reports a fault. */
static void give_way(uint8_t core)
{
    while (speaker != NOBODY && speaker != core) {
        stopped[core] = true;
    }
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    const uint8_t core = kdz_core_id();

    for (size_t i = 0; i < count; i++) {
        give_way(core);
        UART_TRANSMIT = bytes[i];
    }
}

void kdz_board_last_words(void)
{
    if (speaker == kdz_core_id()) {
        return;
    }
    kdz_core_lock(SPEAKER_LOCK);
    speaker = kdz_core_id();
    for (uint8_t core = 0; core < KDZ_SOFTCORE_CORES; core++) {
        for (uint32_t turn = 0; core != speaker && !stopped[core] && turn < STOP_TURNS; turn++) {
            kdz_core_call(core);
        }
    }
}

/* ---- locks ----------------------------------------------------------------------------------- */
void kdz_core_lock(uint8_t lock)
{
    while (LOCK(lock) == 0) { /* a load that reads 1 has taken it */
    }
    ORDER();
}

void kdz_core_unlock(uint8_t lock)
{
    ORDER();
    LOCK(lock) = 0;
}

/* ---- the software interrupt ------------------------------------------------------------------ */
void kdz_core_call(uint8_t core)
{
    reasons[core].called = 1;
    ORDER();
    CLINT_MSIP(core) = 1;
}

void kdz_board_irq_raise(void)
{
    const uint8_t core = kdz_core_id();

    reasons[core].raised = 1;
    CLINT_MSIP(core) = 1;
    (void)CLINT_MSIP(core); /* until the store has arrived: the interrupt comes before the return */
}

void kdz_board_irq_acknowledge(void)
{
    const uint8_t core = kdz_core_id();

    CLINT_MSIP(core) = 0;
    (void)CLINT_MSIP(core); /* as above: else the interrupt could be taken twice */
}

/* Only what was seen is cleared: another core may set it at any moment. */
static bool take(volatile uint32_t *reason)
{
    const bool given = *reason != 0;

    if (given) {
        *reason = 0;
    }
    return given;
}

struct kdz_core_reasons kdz_core_answer(void)
{
    const uint8_t core = kdz_core_id();
    struct kdz_core_reasons why;

    /* First: a reason that comes after it is looked at has an interrupt of its own. */
    kdz_board_irq_acknowledge();
    give_way(core);
    why.called = take(&reasons[core].called);
    why.raised = take(&reasons[core].raised);
    return why;
}
