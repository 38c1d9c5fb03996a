/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "isa.h"

#include "registers.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x86-64. Linux, arch/x86/include/asm/cpu_entry_area.h: CPU_ENTRY_AREA_RO_IDT. */
#define IDT 0xFFFFFE0000000000u
#define VECTORS 256u
#define NMI 2u
#define FIRST_INTERRUPT 32u
#define SYSTEM_CALL_32 0x80u
#define PAGE_FAULT 14u
#define FETCHED 16u                   /* of a page fault's error code */
#define SPACE_X86 0x000FFFFFFFFFE000u /* of CR3: the address; bit 12 is page-table isolation's */

/* arm64. D1.10.2: vectors; D17.2.37: ESR_EL1. */
#define VECTOR_OFFSET 0x7FFu
#define IRQ_HERE 0x280u
#define FIQ_HERE 0x300u
#define SYNCHRONOUS_BELOW 0x400u
#define CLASS(esr) ((esr) >> 26u & 63u)
#define FETCH_BELOW 0x20u
#define SPACE_ARM 0x0000FFFFFFFFFFFEu /* of TTBR0_EL1 */

/* RISC-V Privileged Architecture: scause, satp. */
#define INTERRUPT (UINT64_C(1) << 63u)
#define FETCH_FAULT 1u
#define FETCH_PAGE_FAULT 12u
#define SPACE_RISCV 0x00000FFFFFFFFFFFu
/* The firmware works for the kernel, and belongs to it: OpenSBI on QEMU's virt. */
#define FIRMWARE 0x80000000u
#define FIRMWARE_BYTES 0x80000u

enum isa { X86, ARM, RISCV };
enum place { STACK, LINK, SPACE, BASE, OTHER_BASE, CAME_AT, CAUSE, VECTOR, USER_STACK, NUMBER };
#define PLACES (NUMBER + 1u)
#define GENERAL 31u /* registers of arm64 */

static const struct {
    const char *names[PLACES];
    const char *arguments[KDZ_ARGUMENTS];
    struct kdz_numbers numbers;
} isas[] = {
    [X86] = {{"rsp", NULL, "cr3", "gs_base", "k_gs_base", NULL, NULL, NULL, NULL, "rax"},
             {"rdi", "rsi", "rdx", "r10", "r8", "r9"},
             {60, 231, 15, 56, 435, 57, 58, 59, 322}},
    [ARM] = {{"sp", "x30", "TTBR0_EL1", NULL, NULL, "ELR_EL1", "ESR_EL1", "VBAR", "SP_EL0", "x8"},
             {"x0", "x1", "x2", "x3", "x4", "x5"},
             {93, 94, 139, 220, 435, UINT64_MAX, UINT64_MAX, 221, 281}},
    [RISCV] = {{"sp", "ra", "satp", "tp", "sscratch", "sepc", "scause", "stvec", NULL, "a7"},
               {"a0", "a1", "a2", "a3", "a4", "a5"},
               {93, 94, 139, 220, 435, UINT64_MAX, UINT64_MAX, 221, 281}},
};

static enum isa isa;
static struct qemu_plugin_register *handles[PLACES], *arguments[KDZ_ARGUMENTS], *general[GENERAL];
static GByteArray *buffer;
static uint64_t current_offset, noted_task;
static GHashTable *gates; /* x86-64: address of a handler -> its vector, and 1 */

static struct qemu_plugin_register *required(GArray *offered, const char *name)
{
    struct qemu_plugin_register *handle = kdz_register_of(offered, name);

    if (name != NULL && handle == NULL) {
        fprintf(stderr,
                "kadenz-calls: this core has no register `%s`: programs are counted on x86-64, "
                "arm64 and riscv64\n",
                name);
        _Exit(EXIT_FAILURE);
    }
    return handle;
}

void kdz_isa_init(void)
{
    g_autoptr(GArray) offered = qemu_plugin_get_registers();

    buffer = g_byte_array_new();
    isa = kdz_register_of(offered, "rip") != NULL         ? X86
          : kdz_register_of(offered, "TTBR0_EL1") != NULL ? ARM
                                                          : RISCV;
    for (unsigned int i = 0; i < PLACES; i++) {
        handles[i] = required(offered, isas[isa].names[i]);
    }
    for (unsigned int i = 0; i < KDZ_ARGUMENTS; i++) {
        arguments[i] = required(offered, isas[isa].arguments[i]);
    }
    for (unsigned int i = 0; isa == ARM && i < GENERAL; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "x%u", i);
        general[i] = required(offered, name);
    }
}

static uint64_t value_of(struct qemu_plugin_register *handle)
{
    uint64_t value = 0;

    g_byte_array_set_size(buffer, 0);
    const int size = qemu_plugin_read_register(handle, buffer);
    if (size > 0 && size <= 8) {
        memcpy(&value, buffer->data, (size_t)size); /* targets are little-endian */
    }
    return value;
}

static uint64_t read_place(enum place place)
{
    return value_of(handles[place]);
}

bool kdz_isa_read(uint64_t address, void *to, size_t bytes)
{
    if (!qemu_plugin_read_memory_vaddr(address, buffer, bytes) || buffer->len < bytes) {
        return false;
    }
    memcpy(to, buffer->data, bytes);
    return true;
}

static uint64_t word_at(uint64_t address)
{
    uint64_t value = 0;

    return kdz_isa_read(address, &value, sizeof value) ? value : 0;
}

bool kdz_isa_is_kernel(uint64_t address)
{
    return address >> 63u != 0 ||
           (isa == RISCV && address >= FIRMWARE && address < FIRMWARE + FIRMWARE_BYTES);
}

void kdz_isa_set_current(uint64_t offset)
{
    current_offset = offset;
}

/* The table of gates: Intel SDM 3A, figure 6-8. */
static bool read_gates(void)
{
    uint8_t table[VECTORS][16];

    if (!kdz_isa_read(IDT, table, sizeof table)) {
        return false;
    }
    gates = g_hash_table_new(NULL, NULL);
    for (unsigned int vector = 0; vector < VECTORS; vector++) {
        uint16_t low, middle;
        uint32_t high;
        memcpy(&low, &table[vector][0], sizeof low);
        memcpy(&middle, &table[vector][6], sizeof middle);
        memcpy(&high, &table[vector][8], sizeof high);
        const uint64_t handler = (uint64_t)high << 32u | (uint64_t)middle << 16u | low;
        if (kdz_isa_is_kernel(handler)) {
            g_hash_table_insert(gates, (gpointer)(uintptr_t)handler, GUINT_TO_POINTER(vector + 1u));
        }
    }
    return g_hash_table_size(gates) > FIRST_INTERRUPT;
}

bool kdz_isa_prepare(void)
{
    return isa != X86 || (current_offset != 0 && read_gates());
}

uint64_t kdz_isa_task(void)
{
    if (isa == ARM) {
        return noted_task;
    }
    const uint64_t base = read_place(BASE);
    if (isa == X86) { /* swapgs exchanges the two on the way into the kernel and back */
        return word_at((kdz_isa_is_kernel(base) ? base : read_place(OTHER_BASE)) + current_offset);
    }
    const uint64_t scratch = read_place(OTHER_BASE); /* in user mode, and for an instruction */
    return kdz_isa_is_kernel(scratch) ? scratch : base;
}

bool kdz_isa_note_task(unsigned int source)
{
    const uint64_t value = source < GENERAL ? value_of(general[source]) : 0;

    if (!kdz_isa_is_kernel(value)) {
        return false; /* back to the stack of user mode */
    }
    noted_task = value;
    return true;
}

uint64_t kdz_isa_space(void)
{
    static const uint64_t masks[] = {SPACE_X86, SPACE_ARM, SPACE_RISCV};

    return read_place(SPACE) & masks[isa];
}

uint64_t kdz_isa_sp(void)
{
    return read_place(STACK);
}

struct kdz_place kdz_isa_return(void)
{
    const uint64_t sp = read_place(STACK);

    if (isa == X86) {
        return (struct kdz_place){word_at(sp), sp + sizeof sp};
    }
    return (struct kdz_place){read_place(LINK), sp};
}

uint64_t kdz_isa_system_call(void)
{
    return read_place(NUMBER);
}

uint64_t kdz_isa_argument(unsigned int number)
{
    return value_of(arguments[number]);
}

/* The vector of a gate, or VECTORS. */
static unsigned int vector_at(uint64_t pc)
{
    const guint vector = GPOINTER_TO_UINT(g_hash_table_lookup(gates, (gpointer)(uintptr_t)pc));

    return vector == 0 ? VECTORS : vector - 1u;
}

static bool interrupts(unsigned int vector)
{
    return vector == NMI ||
           (vector >= FIRST_INTERRUPT && vector < VECTORS && vector != SYSTEM_CALL_32);
}

enum kdz_cause kdz_isa_cause(uint64_t pc)
{
    if (isa == X86) {
        const unsigned int vector = vector_at(pc);
        const bool fetch = vector == PAGE_FAULT && (word_at(read_place(STACK)) & FETCHED) != 0;
        return interrupts(vector) ? KDZ_BY_INTERRUPT : fetch ? KDZ_BY_FETCH : KDZ_BY_FAULT;
    }
    const uint64_t cause = read_place(CAUSE);
    if (isa == ARM) {
        const bool fetch = CLASS(cause) == FETCH_BELOW;
        return (pc & VECTOR_OFFSET) != SYNCHRONOUS_BELOW ? KDZ_BY_INTERRUPT
               : fetch                                   ? KDZ_BY_FETCH
                                                         : KDZ_BY_FAULT;
    }
    const bool fetch = cause == FETCH_FAULT || cause == FETCH_PAGE_FAULT;
    return (cause & INTERRUPT) != 0 ? KDZ_BY_INTERRUPT : fetch ? KDZ_BY_FETCH : KDZ_BY_FAULT;
}

/* Of the frame that the processor pushed: Intel SDM 3A, figure 6-9. */
static struct kdz_place of_frame(bool has_code)
{
    const uint64_t frame = read_place(STACK) + (has_code ? 8u : 0u);

    return (struct kdz_place){word_at(frame), word_at(frame + 24u)};
}

struct kdz_place kdz_isa_left(enum kdz_cause cause)
{
    if (isa == X86) {
        /* The processor aligns the stack to 16 bytes, and pushes five words, or six. */
        return of_frame(cause != KDZ_BY_INTERRUPT && (read_place(STACK) & 15u) == 0);
    }
    return (struct kdz_place){read_place(CAME_AT), read_place(isa == ARM ? USER_STACK : STACK)};
}

bool kdz_isa_is_interrupt(uint64_t pc)
{
    if (isa == X86) {
        return interrupts(vector_at(pc));
    }
    if (isa == ARM) {
        const uint64_t offset = pc & VECTOR_OFFSET;
        return (offset == IRQ_HERE || offset == FIQ_HERE) && read_place(VECTOR) == pc - offset;
    }
    return pc == (read_place(VECTOR) & ~UINT64_C(3)) && (read_place(CAUSE) & INTERRUPT) != 0;
}

struct kdz_place kdz_isa_interrupted(void)
{
    if (isa == X86) {
        return of_frame(false);
    }
    return (struct kdz_place){read_place(CAME_AT), read_place(STACK)};
}

const struct kdz_numbers *kdz_isa_numbers(void)
{
    return &isas[isa].numbers;
}

/* ---- instructions ----------------------------------------------------------------------------
 */
static uint32_t word_of(const struct qemu_plugin_insn *instruction)
{
    uint32_t word = 0;

    (void)qemu_plugin_insn_data(instruction, &word, sizeof word);
    return word;
}

bool kdz_isa_is_system_call(const struct qemu_plugin_insn *instruction)
{
    const uint32_t word = word_of(instruction);

    switch (isa) {
    case X86:
        return qemu_plugin_insn_size(instruction) == 2 && (word & 0xFFFFu) == 0x050Fu;
    case ARM:
        return (word & 0xFFE0001Fu) == 0xD4000001u; /* svc */
    default:
        return word == 0x73u; /* ecall */
    }
}

bool kdz_isa_sets_task(const struct qemu_plugin_insn *instruction, unsigned int *source)
{
    const uint32_t word = word_of(instruction);

    *source = word & 31u;
    return isa == ARM && (word & 0xFFFFFFE0u) == 0xD5184100u; /* msr sp_el0 */
}

static enum kdz_ending x86_ending(const struct qemu_plugin_insn *last)
{
    uint8_t bytes[16] = {0};
    const size_t size = MIN(qemu_plugin_insn_size(last), sizeof bytes - 1u);
    size_t i = 0;

    (void)qemu_plugin_insn_data(last, bytes, size);
    while (i < size && (memchr("\x66\x67\x2E\x3E\xF2\xF3\x64\x65", bytes[i], 8) != NULL ||
                        (bytes[i] & 0xF0u) == 0x40u)) {
        i++;
    }
    const unsigned int kind = bytes[i + 1u] >> 3u & 7u; /* of FF: 2, 3 call, 4, 5 jump */
    if (bytes[i] == 0xE8u || (bytes[i] == 0xFFu && (kind == 2u || kind == 3u))) {
        return KDZ_ENDS_WITH_CALL;
    }
    const bool jumps = bytes[i] == 0xFFu && (kind == 4u || kind == 5u);
    return bytes[i] == 0xC3u || bytes[i] == 0xC2u || jumps ? KDZ_ENDS_WITH_JUMP : KDZ_ENDS_PLAINLY;
}

/* Arm ARM C4.1.65: unconditional branches. */
static enum kdz_ending arm_ending(uint32_t word)
{
    const bool computed = (word & 0xFE000000u) == 0xD6000000u;

    if ((word & 0xFC000000u) == 0x94000000u || (computed && (word >> 21u & 3u) == 1u)) {
        return KDZ_ENDS_WITH_CALL; /* bl, blr */
    }
    return computed ? KDZ_ENDS_WITH_JUMP : KDZ_ENDS_PLAINLY; /* br, ret */
}

/* The RISC-V Instruction Set Manual, table 2.1: ra and t0 link. */
static enum kdz_ending riscv_ending(uint32_t word, size_t size)
{
    const uint32_t to = word >> 7u & 31u, opcode = word & 0x7Fu;

    if (size == 2) {
        const bool jumps = (word & 0xE07Fu) == 0x8002u && to != 0; /* c.jr, c.jalr */
        return !jumps                  ? KDZ_ENDS_PLAINLY
               : (word & 0x1000u) != 0 ? KDZ_ENDS_WITH_CALL
                                       : KDZ_ENDS_WITH_JUMP;
    }
    const bool links = to == 1u || to == 5u;
    if (links && (opcode == 0x6Fu || opcode == 0x67u)) {
        return KDZ_ENDS_WITH_CALL;
    }
    return opcode == 0x67u ? KDZ_ENDS_WITH_JUMP : KDZ_ENDS_PLAINLY;
}

enum kdz_ending kdz_isa_ending(const struct qemu_plugin_insn *last)
{
    switch (isa) {
    case X86:
        return x86_ending(last);
    case ARM:
        return arm_ending(word_of(last));
    default:
        return riscv_ending(word_of(last), qemu_plugin_insn_size(last));
    }
}
