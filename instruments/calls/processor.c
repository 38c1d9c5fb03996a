/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu.h"

#include "machine_mode.h"
#include "registers.h"

#include <glib.h>
#include <qemu-plugin.h>
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

/* Semihosting for AArch32 and AArch64, sections 3 and 6, and RISC-V Semihosting: the instructions,
 * and calls that QEMU answers from this machine. */
#define BKPT_AB 0xBEABu
#define EBREAK 0x00100073u
#define SYS_TMPNAM 0x0Du /* with the number of QEMU's process */
#define SYS_CLOCK 0x10u
#define SYS_TIME 0x11u
#define SYS_ELAPSED 0x30u
/* Calls that reach a file or a program of this machine. */
#define SYS_OPEN 0x01u
#define SYS_REMOVE 0x0Eu
#define SYS_RENAME 0x0Fu
#define SYS_SYSTEM 0x12u
#define EBREAK_BEFORE 0x01F01013u /* of RISC-V: slli x0, x0, 31 */
#define EBREAK_BEHIND 0x40705013u /* srai x0, x0, 7 */

enum place {
    STACK,
    LINK,
    STATE,
    PROCESS_STACK,
    VECTOR,
    CAME_AT,
    CAUSE,
    STATUS,
    ARGUMENT,
    PARAMETER,
    PLACES
};
static const char *const arm_names[PLACES] = {"sp", "lr", "xpsr", "psp", NULL,
                                              NULL, NULL, NULL,   "r0",  "r1"};
static const char *const riscv_names[PLACES] = {"sp",   "ra",     NULL,      NULL, "mtvec",
                                                "mepc", "mcause", "mstatus", "a0", "a1"};
static struct qemu_plugin_register *handles[PLACES];
static GByteArray *buffer;
static bool arm;
static uint64_t vector;
static bool knows_vector;

void kdz_processor_init(void)
{
    g_autoptr(GArray) offered = qemu_plugin_get_registers();
    const char *const *names;

    buffer = g_byte_array_new();
    arm = kdz_register_of(offered, "xpsr") != NULL;
    names = arm ? arm_names : riscv_names;
    for (unsigned int i = 0; i < PLACES; i++) {
        handles[i] = kdz_register_of(offered, names[i]);
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
    return kdz_riscv_is_vector(pc, vector, read_place(CAUSE));
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

bool kdz_processor_asks(uint32_t word, size_t bytes)
{
    return arm ? bytes == 2 && (word & 0xFFFFu) == BKPT_AB : bytes == 4 && word == EBREAK;
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

static bool is_text_at(uint64_t address, const char *text)
{
    const size_t bytes = strlen(text) + 1u;

    return qemu_plugin_read_memory_vaddr(address, buffer, bytes) &&
           memcmp(buffer->data, text, bytes) == 0;
}

uint32_t kdz_processor_refused(uint64_t pc)
{
    const uint64_t operation = read_place(ARGUMENT);

    if (!arm && (read_memory(pc - 4u) != EBREAK_BEFORE || read_memory(pc + 4u) != EBREAK_BEHIND)) {
        return 0;
    }
    if (operation == SYS_OPEN) {
        const uint64_t name = read_memory(read_place(PARAMETER));
        const bool is_console =
            is_text_at(name, ":tt") || is_text_at(name, ":semihosting-features");
        return is_console ? 0 : SYS_OPEN;
    }
    return operation == SYS_REMOVE || operation == SYS_RENAME || operation == SYS_SYSTEM
               ? (uint32_t)operation
               : 0;
}

uint32_t kdz_processor_fault(void)
{
    if (arm) {
        const uint32_t exception = kdz_processor_exception();
        return exception >= HARD_FAULT && exception <= USAGE_FAULT ? exception : 0;
    }
    return kdz_riscv_fault(read_place(CAUSE), read_place(STATUS));
}

/* The first half-word is the low one. r7 and r11 are frame pointers. */
static enum kdz_act arm_act(uint32_t word, size_t size)
{
    const uint32_t first = word & 0xFFFFu, second = word >> 16;

    if (size == 2) {
        const uint32_t source = (first >> 3) & 15u;
        const bool moves = (first & 0xFF87u) == 0x4685u && source != 7u && source != 11u;
        return moves ? KDZ_ACT_SETS_STACK : KDZ_ACT_NONE;
    }
    const bool loads = (first & 0xFFF0u) == 0xF850u || (first & 0xFFF0u) == 0xF8D0u;
    const bool special = (first & 0xFFF0u) == 0xF380u && (second & 0xFFFEu) == 0x8808u;
    return (loads && second >> 12 == 13u) || special ? KDZ_ACT_SETS_STACK : KDZ_ACT_NONE;
}

enum kdz_act kdz_processor_act(uint32_t word, size_t bytes)
{
    return arm ? arm_act(word, bytes) : kdz_riscv_act(word, bytes);
}

bool kdz_processor_may_return(uint32_t word, size_t bytes)
{
    const uint32_t first = word & 0xFFFFu, second = word >> 16;

    if (!arm) {
        return false;
    }
    if (bytes == 2) {
        return (first & 0xFF87u) == 0x4700u || (first & 0xFF00u) == 0xBD00u;
    }
    const bool several = (first & 0xFE50u) == 0xE810u && (second & 0x8000u) != 0;
    const bool single = (first & 0xFF70u) == 0xF850u && second >> 12 == 15u;
    return several || single;
}
