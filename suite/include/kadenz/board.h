/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board must offer: it starts, says something, raises an interrupt, and stops.
 * Nothing about threads. The folder boards/<name>/ implements it; board.toml describes it.
 */
#ifndef KADENZ_BOARD_H
#define KADENZ_BOARD_H

#include <stddef.h>
#include <stdint.h>

const char *kdz_board_name(void);
const char *kdz_arch_name(void); /* "riscv", "armv7m", "x86_64": from arch/ */

/* A loop of known length, from arch/: two instructions a turn, KDZ_ARCH_LOOP_INSTRUCTIONS, and the
 * same few around it for any number of turns. `turns` is 1 or more. A counter that is said to count
 * instructions is held against it (clock/instructions). */
#define KDZ_ARCH_LOOP_INSTRUCTIONS 2u
void kdz_arch_loop(uint32_t turns);

/* Clocks, console, interrupt controller. Called first, before the kernel starts. */
void kdz_board_init(void);

/* Rate of the timer that drives the kernel's tick, in Hz: what the kernel's port divides. */
uint32_t kdz_board_timer_hz(void);

/* ---- console: bytes both ways, polled, usable from a fault handler ----------------------------
 */
void kdz_console_write(const uint8_t *bytes, size_t count);
/* Before a fault is reported: stops the other cores. Boards with one core leave it out. */
void kdz_board_last_words(void);
int kdz_console_read(void); /* the next byte, or -1 when there is none yet */

/* The plan (what to run, see docs/reference/plan.md) when it was placed in memory beforehand: a
 * zero-terminated text in the board's plan page. NULL when the page is blank; the suite then reads
 * the plan from the console. Emulated targets use the page, because a byte that arrives on a
 * console arrives at no reproducible moment. */
const char *kdz_board_plan(void);

/* The pins of the instrument `pins` become outputs, both low. Only of boards that offer it, which
 * have kdz_board_marks.h: KDZ_BOARD_MARK_REGISTER, and KDZ_BOARD_MARK_BEGIN and …_END, each the
 * word that sets one pin and clears the other. */
void kdz_board_marks_init(void);

/* ---- software interrupt ------------------------------------------------------------------------
 * Raises it at once; kernels/ connects it. Acknowledge is called by the port on entry. */
void kdz_board_irq_raise(void);
void kdz_board_irq_acknowledge(void);

/* ---- memory for samples ------------------------------------------------------------------------
 * Reserved at link time, or at start and locked; never touched by the transport while timing. */
struct kdz_storage {
    uint32_t *values;
    size_t capacity; /* number of values */
};
struct kdz_storage kdz_board_storage(void);

size_t kdz_board_cores(void);

/* ---- the end -----------------------------------------------------------------------------------
 * Stops the machine. `code` is an exit code of docs/reference/exit-codes.md where the board can
 * give one to its surroundings. */
_Noreturn void kdz_board_halt(int code);

#endif
