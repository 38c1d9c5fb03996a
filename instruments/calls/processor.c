/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processor.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Armv7-M Architecture Reference Manual (DDI 0403E): B1.4.2 (IPSR), B1.5.8 (EXC_RETURN), B1.5.7
 * (the stacked frame). */
#define EXCEPTION_MASK 0x1FFu
#define EXCEPTION_RETURN 0xFFFFFF00u
#define RETURNS_TO_PROCESS_STACK 4u
#define FRAME_WITHOUT_FLOATS 16u
#define FRAME_BYTES 0x20u
#define FLOAT_BYTES 0x48u
#define FRAME_PC 0x18u
#define ALIGNED 0x200u /* of the stacked xPSR: 4 bytes more */
#define HARD_FAULT 3u
#define USAGE_FAULT 6u

/* Semihosting for AArch32 and AArch64, sections 3 and 6: the instruction of M-profile, and calls
 * that QEMU answers from this machine. */
#define BKPT_AB 0xBEABu
#define SYS_TMPNAM 0x0Du /* with the number of QEMU's process */
#define SYS_CLOCK 0x10u
#define SYS_TIME 0x11u
#define SYS_ELAPSED 0x30u

/* RISC-V Privileged Architecture: mtvec, mcause. */
#define VECTORED 1u
#define VECTORS 64u
#define INTERRUPTS_ON 8u /* mstatus.MIE */
#define CSR_MTVEC 0x305u
#define MRET 0x30200073u
#define EBREAK 0x00100073u
#define SP 2u
#define FP 8u

enum place { STACK, LINK, STATE, PROCESS_STACK, VECTOR, CAME_AT, CAUSE, STATUS, ARGUMENT, PLACES };
static const char *const arm_names[PLACES] = {"sp", "lr", "xpsr", "psp", NULL,
                                              NULL, NULL, NULL,   "r0"};
static const char *const riscv_names[PLACES] = {"sp",   "ra",     NULL,      NULL, "mtvec",
                                                "mepc", "mcause", "mstatus", "a0"};
static struct qemu_plugin_register *handles[PLACES];
static GByteArray *buffer;
static bool arm;
static uint64_t vector;
static bool knows_vector;

static struct qemu_plugin_register *handle_of(GArray *offered, const char *name)
{
    for (guint i = 0; name != NULL && i < offered->len; i++) {
        const qemu_plugin_reg_descriptor *entry =
            &g_array_index(offered, qemu_plugin_reg_descriptor, i);
        if (strcmp(entry->name, name) == 0) {
            return entry->handle;
        }
    }
    return NULL;
}

void kdz_processor_init(void)
{
    g_autoptr(GArray) offered = qemu_plugin_get_registers();
    const char *const *names;

    buffer = g_byte_array_new();
    arm = handle_of(offered, "xpsr") != NULL;
    names = arm ? arm_names : riscv_names;
    for (unsigned int i = 0; i < PLACES; i++) {
        handles[i] = handle_of(offered, names[i]);
        if (names[i] != NULL && handles[i] == NULL) {
            fprintf(stderr,
                    "kadenz-calls: this core has no register `%s`: calls are counted on "
                    "M-profile Arm and on RISC-V\n",
                    names[i]);
            _Exit(EXIT_FAILURE);
        }
    }
}

bool kdz_processor_is_arm(void)
{
    return arm;
}

static uint64_t read_place(enum place place)
{
    uint64_t value = 0;

    g_byte_array_set_size(buffer, 0);
    const int size = qemu_plugin_read_register(handles[place], buffer);
    if (size > 0 && size <= 8) {
        memcpy(&value, buffer->data, (size_t)size); /* targets are little-endian */
    }
    return value;
}

static uint64_t read_memory(uint64_t address)
{
    uint32_t value = 0;

    if (qemu_plugin_read_memory_vaddr(address, buffer, sizeof value)) {
        memcpy(&value, buffer->data, sizeof value);
    }
    return value;
}

uint64_t kdz_processor_sp(void)
{
    return read_place(STACK);
}

uint64_t kdz_processor_link(void)
{
    return read_place(LINK);
}

uint32_t kdz_processor_exception(void)
{
    return arm ? (uint32_t)read_place(STATE) & EXCEPTION_MASK : 0;
}

bool kdz_processor_is_vector(uint64_t pc)
{
    if (arm) {
        return false;
    }
    if (!knows_vector) {
        vector = read_place(VECTOR);
        knows_vector = true;
    }
    const uint64_t base = vector & ~UINT64_C(3);
    if ((vector & VECTORED) == 0 || pc < base || pc - base >= VECTORS * 4u) {
        return pc == base;
    }
    /* A table may be short, with code behind it: an entry is that of the last interrupt's cause. */
    const uint64_t cause = read_place(CAUSE);
    const bool interrupted = cause >> 31u != 0; /* bit 31, or 63 of RV64 */
    return pc - base == (interrupted ? 4u * (cause & (VECTORS - 1u)) : 0u);
}

void kdz_processor_forget_vector(void)
{
    knows_vector = false;
}

struct kdz_interrupted kdz_processor_interrupted(void)
{
    if (!arm) {
        return (struct kdz_interrupted){read_place(CAME_AT), read_place(STACK), 0};
    }
    const uint64_t link = read_place(LINK);
    if (!kdz_processor_is_exception_return(link)) {
        return (struct kdz_interrupted){0};
    }
    const uint64_t frame =
        read_place((link & RETURNS_TO_PROCESS_STACK) != 0 ? PROCESS_STACK : STACK);
    const uint64_t state = read_memory(frame + FRAME_PC + 4u);
    const uint64_t floats = (link & FRAME_WITHOUT_FLOATS) != 0 ? 0u : FLOAT_BYTES;
    return (struct kdz_interrupted){
        .pc = read_memory(frame + FRAME_PC) & ~UINT64_C(1),
        .sp = frame + FRAME_BYTES + floats + ((state & ALIGNED) != 0 ? 4u : 0u),
        .exception = (uint32_t)state & EXCEPTION_MASK,
    };
}

bool kdz_processor_is_exception_return(uint64_t link)
{
    return arm && link >= EXCEPTION_RETURN;
}

uint32_t kdz_processor_asked(void)
{
    const uint64_t operation = read_place(ARGUMENT);

    switch (operation) {
    case SYS_TMPNAM:
    case SYS_CLOCK:
    case SYS_TIME:
    case SYS_ELAPSED:
        return (uint32_t)operation;
    default:
        return 0;
    }
}

uint32_t kdz_processor_fault(void)
{
    if (arm) {
        const uint32_t exception = kdz_processor_exception();
        return exception >= HARD_FAULT && exception <= USAGE_FAULT ? exception : 0;
    }
    const uint64_t cause = read_place(CAUSE);
    /* Instruction and memory faults are 0 to 2 and 4 to 7; 3 is a breakpoint, from 8 on calls. A
     * cause of 0 is also that of a core without a trap so far. */
    const bool fault = cause >= 1u && cause <= 7u && cause != 3u;
    return fault && (read_place(STATUS) & INTERRUPTS_ON) == 0 ? (uint32_t)cause : 0;
}

static uint32_t word_of(const struct qemu_plugin_insn *instruction)
{
    uint32_t word = 0;

    (void)qemu_plugin_insn_data(instruction, &word, sizeof word);
    return word;
}

/* The RISC-V Instruction Set Manual, tables 24.1 and 16.7. */
static bool riscv_sets_stack(uint32_t word, size_t size)
{
    const uint32_t to = (word >> 7) & 31u, from = (word >> 15) & 31u;

    if (to != SP) {
        return false;
    }
    if (size == 2) {
        const uint32_t source = (word >> 2) & 31u;
        const bool moves = (word & 0xF003u) == 0x8002u && source != 0 && source != FP; /* c.mv */
        return moves || (word & 0xE003u) == 0x4002u;                                   /* c.lwsp */
    }
    switch (word & 0x7Fu) {
    case 0x03u: /* loads */
    case 0x17u: /* auipc */
    case 0x37u: /* lui */
    case 0x73u: /* CSRs */
        return true;
    case 0x13u: /* addi and its like */
        return from != SP && from != FP;
    default:
        return false;
    }
}

static enum kdz_act riscv_act(uint32_t word, size_t size)
{
    if (size == 4 && word == MRET) {
        return KDZ_ACT_LEAVES_TRAP;
    }
    if (size == 4 && word == EBREAK) {
        return KDZ_ACT_ASKS;
    }
    if (riscv_sets_stack(word, size)) {
        return KDZ_ACT_SETS_STACK;
    }
    const bool system = size == 4 && (word & 0x7Fu) == 0x73u && ((word >> 12) & 3u) != 0;
    return system && word >> 20 == CSR_MTVEC ? KDZ_ACT_SETS_VECTOR : KDZ_ACT_NONE;
}

/* The first half-word is the low one. r7 and r11 are frame pointers. */
static enum kdz_act arm_act(uint32_t word, size_t size)
{
    const uint32_t first = word & 0xFFFFu, second = word >> 16;

    if (size == 2 && first == BKPT_AB) {
        return KDZ_ACT_ASKS;
    }
    if (size == 2) {
        const uint32_t source = (first >> 3) & 15u;
        const bool moves = (first & 0xFF87u) == 0x4685u && source != 7u && source != 11u;
        return moves ? KDZ_ACT_SETS_STACK : KDZ_ACT_NONE;
    }
    const bool loads = (first & 0xFFF0u) == 0xF850u || (first & 0xFFF0u) == 0xF8D0u;
    const bool special = (first & 0xFFF0u) == 0xF380u && (second & 0xFFFEu) == 0x8808u;
    return (loads && second >> 12 == 13u) || special ? KDZ_ACT_SETS_STACK : KDZ_ACT_NONE;
}

enum kdz_act kdz_processor_act(const struct qemu_plugin_insn *instruction)
{
    const size_t size = qemu_plugin_insn_size(instruction);
    const uint32_t word = word_of(instruction);

    return arm ? arm_act(word, size) : riscv_act(word, size);
}

bool kdz_processor_may_return(const struct qemu_plugin_insn *instruction)
{
    const uint32_t word = word_of(instruction), first = word & 0xFFFFu, second = word >> 16;

    if (!arm) {
        return false;
    }
    if (qemu_plugin_insn_size(instruction) == 2) {
        return (first & 0xFF87u) == 0x4700u || (first & 0xFF00u) == 0xBD00u;
    }
    const bool several = (first & 0xFE50u) == 0xE810u && (second & 0x8000u) != 0;
    const bool single = (first & 0xFF70u) == 0xF850u && second >> 12 == 15u;
    return several || single;
}
