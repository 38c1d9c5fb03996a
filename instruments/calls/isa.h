/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The processor of a guest with Linux, x86-64, arm64 or riscv64: who runs on it, how it comes into
 * the kernel, and which instructions call, return and ask the kernel.
 */
#ifndef KDZ_ISA_H
#define KDZ_ISA_H

#include "tasks.h"

#include <qemu-plugin.h>

#include <stdbool.h>
#include <stdint.h>

#define KDZ_ARGUMENTS 6u

struct kdz_place {
    uint64_t pc, sp;
};

/* QEMU has made the core. Ends the process, with a message, for a core of another kind. */
void kdz_isa_init(void);

/* Whether code there is the kernel's, which has the upper half of the addresses, or the firmware's
 * below it. */
bool kdz_isa_is_kernel(uint64_t address);

/* Where the kernel has the pointer to its current task: an offset in the memory of each processor,
 * which the guest reads in /proc/kallsyms. x86-64 alone: others have it in a register. */
void kdz_isa_set_current(uint64_t offset);

/* What is read once the kernel has set it up: where interrupts begin. False if it is not there. */
bool kdz_isa_prepare(void);

/* Which task the kernel's pointer shows, in any mode. On arm64 it is in a register that has another
 * use in user mode: the task is noted before each instruction that sets it, of a register. False if
 * no task goes there. */
uint64_t kdz_isa_task(void);
bool kdz_isa_sets_task(const struct qemu_plugin_insn *instruction, unsigned int *source);
bool kdz_isa_note_task(unsigned int source);

/* In user mode: the page tables. */
uint64_t kdz_isa_space(void);

uint64_t kdz_isa_sp(void);

/* At a function's first instruction: where it returns to, and the stack pointer behind that. */
struct kdz_place kdz_isa_return(void);

/* Before the instruction of a system call: its number, or an argument from 0 on. */
uint64_t kdz_isa_system_call(void);
uint64_t kdz_isa_argument(unsigned int number);

/* At the first block in the kernel after user mode: why, if it was no system call, and where it
 * goes back to. */
enum kdz_cause kdz_isa_cause(uint64_t pc);
struct kdz_place kdz_isa_left(enum kdz_cause cause);

/* Whether an interrupt of the kernel begins at `pc`, and where it goes back to. */
bool kdz_isa_is_interrupt(uint64_t pc);
struct kdz_place kdz_isa_interrupted(void);

bool kdz_isa_is_system_call(const struct qemu_plugin_insn *instruction);
enum kdz_ending kdz_isa_ending(const struct qemu_plugin_insn *last);

/* Numbers of system calls. */
struct kdz_numbers {
    uint64_t exit, exit_group, sigreturn, clone, clone3, fork, vfork, execve, execveat;
};
const struct kdz_numbers *kdz_isa_numbers(void);

/* Memory of the guest. False if it is not there. */
bool kdz_isa_read(uint64_t address, void *to, size_t bytes);

#endif
