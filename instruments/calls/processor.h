/* SPDX-License-Identifier: Apache-2.0
 *
 * The core whose calls are counted, an M-profile Arm or a RISC-V in machine mode: its registers,
 * its exceptions, and the instructions that mean more than others. Two implement it: processor.c of
 * QEMU, and ../rtl/bench/calls.cpp of a simulated core.
 */
#ifndef KDZ_PROCESSOR_H
#define KDZ_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an exception interrupted: where it goes on, with which stack, in which exception. */
struct kdz_interrupted {
    uint64_t pc, sp;
    uint32_t exception; /* M-profile: its number; 0 for a thread */
};

/* What a single instruction does beside what all do. */
enum kdz_act {
    KDZ_ACT_NONE,
    KDZ_ACT_SETS_STACK,  /* to a value of its own: a switch of threads, or a longjmp */
    KDZ_ACT_LEAVES_TRAP, /* mret */
    KDZ_ACT_SETS_VECTOR, /* writes mtvec */
};

bool kdz_processor_is_arm(void);

uint64_t kdz_processor_sp(void);

/* The return address at a function's first instruction, as the register has it. */
uint64_t kdz_processor_link(void);

/* M-profile: the exception that is handled, 0 for none. RISC-V: 0. */
uint32_t kdz_processor_exception(void);

/* RISC-V: whether a trap begins at this address. */
bool kdz_processor_is_vector(uint64_t pc);

/* At the first instruction of a handler. */
struct kdz_interrupted kdz_processor_interrupted(void);

/* M-profile: whether a return address is that of an exception. */
bool kdz_processor_is_exception_return(uint64_t link);

#endif
