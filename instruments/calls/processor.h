/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core whose calls are counted, an M-profile Arm or a RISC-V in machine mode: its registers,
 * its exceptions, and the instructions that mean more than others.
 */
#ifndef KDZ_PROCESSOR_H
#define KDZ_PROCESSOR_H

#include <qemu-plugin.h>

#include <stdbool.h>
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
    KDZ_ACT_ASKS,        /* semihosting: asks the emulator */
};

/* QEMU has made the core. Ends the process, with a message, for a core of another kind. */
void kdz_processor_init(void);

bool kdz_processor_is_arm(void);

uint64_t kdz_processor_sp(void);

/* The return address at a function's first instruction, as the register has it. */
uint64_t kdz_processor_link(void);

/* M-profile: the exception that is handled, 0 for none. RISC-V: 0. */
uint32_t kdz_processor_exception(void);

/* RISC-V: whether a trap begins at this address. */
bool kdz_processor_is_vector(uint64_t pc);

/* mtvec has another value from here on. */
void kdz_processor_forget_vector(void);

/* At the first instruction of a handler. */
struct kdz_interrupted kdz_processor_interrupted(void);

/* M-profile: whether a return address is that of an exception. */
bool kdz_processor_is_exception_return(uint64_t link);

/* At an instruction that asks: what no file decides, the operation for the time or for a name of
 * this machine; 0 if it is another one. */
uint32_t kdz_processor_asked(void);

/* The fault that the core handles, by its number there; 0 for none. */
uint32_t kdz_processor_fault(void);

enum kdz_act kdz_processor_act(const struct qemu_plugin_insn *instruction);

/* M-profile: whether the instruction may be a return from an exception. */
bool kdz_processor_may_return(const struct qemu_plugin_insn *instruction);

#endif
