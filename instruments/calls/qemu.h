/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the plugin alone asks of the processor.
 */
#ifndef KDZ_QEMU_H
#define KDZ_QEMU_H

#include "processor.h"

/* QEMU has made the core. Ends the process, with a message, for a core of another kind. */
void kdz_processor_init(void);

/* mtvec has another value from here on. */
void kdz_processor_forget_vector(void);

/* Whether the instruction asks the emulator: semihosting. */
bool kdz_processor_asks(uint32_t word, size_t bytes);

/* At an instruction that asks: what no file decides, the operation for the time or for a name of
 * this machine; 0 if it is another one. */
uint32_t kdz_processor_asked(void);

/* At such an instruction: the operation, if it would reach a file or a program of this machine; 0
 * if it is answered. */
uint32_t kdz_processor_refused(uint64_t pc);

/* The fault that the core handles, by its number there; 0 for none. */
uint32_t kdz_processor_fault(void);

/* An instruction of 2 or 4 bytes, as memory has it. */
enum kdz_act kdz_processor_act(uint32_t word, size_t bytes);

/* M-profile: whether the instruction may be a return from an exception. */
bool kdz_processor_may_return(uint32_t word, size_t bytes);

#endif
