/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls in the threads of a program of Linux. The kernel says which thread runs, so nothing is
 * guessed here: each thread has its open calls, and counts of its own.
 *
 * The instructions of a thread are the program's, the kernel's on its behalf (system calls and
 * faults), or those of interrupts that came meanwhile. A signal's handler is a level above what it
 * interrupted. What is executed while the thread does not run belongs to others.
 */
#ifndef KDZ_TASKS_H
#define KDZ_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a block ends, as far as calls are concerned. */
enum kdz_ending {
    KDZ_ENDS_PLAINLY,
    KDZ_ENDS_WITH_CALL,
    KDZ_ENDS_WITH_JUMP, /* a return, or a jump to an address that was computed */
};

enum kdz_cause {
    KDZ_BY_SYSTEM_CALL,
    KDZ_BY_INTERRUPT,
    KDZ_BY_FAULT,
    KDZ_BY_FETCH, /* a fault before the instruction started */
};

/* What the program did beside its calls. */
struct kdz_program_facts {
    uint64_t forked, replaced, threads;
};

/* `following` is called when calls are open, and when none is. `sigreturn` is the number of the
 * system call that ends a signal's handler. */
void kdz_tasks_start(size_t functions, void (*following)(bool on), uint64_t sigreturn);

/* A function's first instruction is next: its return address, and the stack pointer behind its
 * return. */
void kdz_tasks_enter(uint32_t function, uint64_t pc, uint64_t link, uint64_t frame, uint64_t now);
void kdz_tasks_begin_span(uint32_t span, uint64_t now);
void kdz_tasks_end_span(uint32_t span, uint64_t now);

/* From here on the function `symbol` (symbols.h) executes, if the program runs. Before all that is
 * said at an address. */
void kdz_tasks_at(uint32_t symbol, uint64_t now);

/* A block of the program's code begins. */
void kdz_tasks_block(uint64_t pc, enum kdz_ending ending);

/* It is the begin of a function that is not counted: called, if it is `elsewhere` than the block
 * before it, or that one ended with a call. */
void kdz_tasks_called(uint32_t symbol, bool elsewhere);

/* Whether the block before it may have been a return, and what then follows. */
bool kdz_tasks_may_have_returned(void);
void kdz_tasks_look_for_return(uint64_t pc, uint64_t sp, uint64_t now);

/* A system call is next. */
void kdz_tasks_system_call(uint64_t number);

/* The processor left user mode; the program's thread goes on at `pc` with `sp`. */
void kdz_tasks_enter_kernel(enum kdz_cause cause, uint64_t pc, uint64_t sp, uint64_t now);

/* The thread that runs and was entered as task 0 is this one. */
void kdz_tasks_name(uint64_t task);

/* The processor is in user mode: in the program's thread `task`, or elsewhere. */
void kdz_tasks_enter_program(uint64_t task, uint64_t pc, uint64_t sp, uint64_t now);
void kdz_tasks_enter_other(uint64_t now);

/* In the kernel: which task runs. True if it is a thread of the program, for which the functions
 * below are. */
bool kdz_tasks_run(uint64_t task, uint64_t now);

/* Whether the kernel works for the thread, and an interrupt that comes then, to go back to `pc`
 * with `sp`. */
bool kdz_tasks_in_kernel(void);
void kdz_tasks_interrupted(uint64_t pc, uint64_t sp, uint64_t now);

/* Whether such an interrupt goes back to `pc`, and that it may have done so. */
bool kdz_tasks_awaits(uint64_t pc);
void kdz_tasks_resume(uint64_t sp, uint64_t now);

/* The thread that runs ends. */
void kdz_tasks_exit(uint64_t now);

struct kdz_program_facts *kdz_tasks_facts(void);

/* Writes the tallies. */
void kdz_tasks_end(void);

#endif
