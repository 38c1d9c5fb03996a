/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest.h"

#include "isa.h"
#include "roles.h"
#include "stopwatch.h"
#include "symbols.h"
#include "tasks.h"

#include <elf.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGN 0x6B647Au /* a system call that Linux does not have: kernels/linux/guest/launch.c */
#define TEXT_MOST 4096u
#define WORDS_MOST 65536u /* arguments and variables of a program */
#define OBJECTS_MOST 4096u
#define HEADERS_MOST 256u

/* `address` is that of its file. A span has an `end`, a function has 0. */
struct function {
    uint64_t address, end;
    char *object; /* name of the library's file; NULL: the program */
};

struct block {
    uint64_t address;
    enum kdz_ending ending;
    uint32_t symbol;
    bool begins; /* a function that is not counted */
};

struct entry {
    const GArray *roles; /* of kdz_roles_at */
    uint64_t address;
    uint32_t symbol;
    const struct block *block;
};

struct vector {
    uint64_t kind, value;
};

static enum {
    BOOTS,  /* the guest's own programs run */
    BEGINS, /* the sign was given: the program is the next one there */
    LOADS,  /* the loader runs in it */
    COUNTS,
} phase;

static char *path; /* of the program */
static uint64_t file_entry;
static GArray *functions; /* struct function */
static uint64_t launcher, space, bias, entry, headers, header_count;
static qemu_plugin_u64 in_user, following;
static bool asks; /* a system call is next */
static struct kdz_place asked_at;
static uint32_t last_symbol; /* of the last block of the program */
static bool counts_program;  /* the processor is in the program's user mode */
static void (*translate_anew)(void);

static uint64_t now(void)
{
    return kdz_stopwatch_read(0).low;
}

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "kadenz-calls: %s\n", why);
    _Exit(EXIT_FAILURE);
}

bool kdz_guest_counts(void)
{
    return phase == COUNTS;
}

/* ---- the file of functions -------------------------------------------------------------------
 */
/* "program ENTRY PATH", then "ADDRESS BYTES END OBJECT" for each function; OBJECT is - for the
 * program. */
bool kdz_guest_take(char *text)
{
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    int end = 0;

    functions = g_array_new(FALSE, TRUE, sizeof(struct function));
    if (line == NULL || sscanf(line, "program %" SCNx64 " %n", &file_entry, &end) < 1 || end == 0) {
        return false;
    }
    path = g_strdup(line + end);
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        struct function function = {0};
        uint64_t bytes;
        end = 0;
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %n", &function.address, &bytes,
                   &function.end, &end) < 3 ||
            end == 0) {
            return false;
        }
        function.object = strcmp(line + end, "-") == 0 ? NULL : g_strdup(line + end);
        g_array_append_val(functions, function);
    }
    return true;
}

uint32_t kdz_guest_functions(void)
{
    return functions->len;
}

/* An object of the program lies at its addresses plus `offset`; NULL: the program itself. */
static void place_object(const char *object, uint64_t offset)
{
    kdz_symbols_place(object != NULL ? object : "-", offset);
    for (guint i = 0; i < functions->len; i++) {
        const struct function *function = &g_array_index(functions, struct function, i);
        if (g_strcmp0(function->object, object) == 0) {
            kdz_roles_add(i, function->address + offset,
                          function->end != 0 ? function->end + offset : 0);
        }
    }
}

/* ---- what the program has in its memory ------------------------------------------------------
 */
static uint64_t word_at(uint64_t address)
{
    uint64_t value = 0;

    return kdz_isa_read(address, &value, sizeof value) ? value : 0;
}

/* A text of the guest, cut at a page that is not there; in a static buffer. */
static const char *text_at(uint64_t address)
{
    static char text[TEXT_MOST];
    size_t length = 0;

    while (length + 1u < sizeof text && kdz_isa_read(address + length, &text[length], 1) &&
           text[length] != '\0') {
        length++;
    }
    text[length] = '\0';
    return text;
}

/* The auxiliary vector of a program that begins with the stack pointer `sp`: behind its arguments
 * and variables. 0 if there is none. System V gABI, AMD64 supplement, figure 3.9. */
static uint64_t auxiliary(uint64_t sp)
{
    const uint64_t count = word_at(sp);
    uint64_t place = sp + 8u * (count + 2u), steps = 0;

    if (count == 0 || count > WORDS_MOST) {
        return 0;
    }
    while (word_at(place) != 0 && steps++ < WORDS_MOST) {
        place += 8u;
    }
    return place + 8u;
}

static uint64_t auxiliary_value(uint64_t vectors, uint64_t kind)
{
    struct vector vector = {0};

    for (unsigned int i = 0; i < HEADERS_MOST; i++) {
        if (!kdz_isa_read(vectors + i * sizeof vector, &vector, sizeof vector) ||
            vector.kind == AT_NULL) {
            return 0;
        }
        if (vector.kind == kind) {
            return vector.value;
        }
    }
    return 0;
}

/* The loader's list of objects, by the program's DT_DEBUG: System V gABI, chapter 5; glibc,
 * link.h. 0 for a static program. */
static uint64_t link_map(void)
{
    for (uint64_t i = 0; i < header_count && i < HEADERS_MOST; i++) {
        Elf64_Phdr header = {0};
        if (!kdz_isa_read(headers + i * sizeof header, &header, sizeof header) ||
            header.p_type != PT_DYNAMIC) {
            continue;
        }
        for (uint64_t k = 0; k < header.p_memsz / sizeof(Elf64_Dyn); k++) {
            Elf64_Dyn dynamic = {0};
            (void)kdz_isa_read(bias + header.p_vaddr + k * sizeof dynamic, &dynamic,
                               sizeof dynamic);
            if (dynamic.d_tag == DT_DEBUG) {
                return dynamic.d_un.d_ptr != 0 ? word_at(dynamic.d_un.d_ptr + 8u) : 0;
            }
        }
    }
    return 0;
}

static void place_objects(void)
{
    uint64_t object = link_map();

    place_object(NULL, bias);
    for (unsigned int i = 0; object != 0 && i < OBJECTS_MOST; i++) {
        const uint64_t offset = word_at(object);
        const char *name = text_at(word_at(object + 8u));
        if (i > 0 && *name != '\0') { /* the first is the program */
            place_object(name, offset);
        }
        object = word_at(object + 24u);
    }
}

/* ---- the begin -------------------------------------------------------------------------------
 */
static void follow(bool on)
{
    qemu_plugin_u64_set(following, 0, on ? 1 : 0);
}

static void count_from_here(void)
{
    if (!kdz_isa_prepare()) {
        fail("this kernel hides its table of interrupts, or its pointer to the current task");
    }
    place_objects();
    kdz_tasks_start(functions->len, follow, kdz_isa_numbers()->sigreturn);
    phase = COUNTS;
    qemu_plugin_u64_set(in_user, 0, 0);
    translate_anew();
}

static void on_program_entry(unsigned int vcpu, void *unused)
{
    (void)vcpu;
    (void)unused;
    if (phase == LOADS && kdz_isa_space() == space) {
        count_from_here();
    }
}

/* A block of user mode, after the sign: whether it is the first of the program. */
static void on_user_block(unsigned int vcpu, void *data)
{
    const uint64_t pc = (uint64_t)(uintptr_t)data;

    (void)vcpu;
    if (phase != BEGINS || kdz_isa_space() == launcher) {
        return;
    }
    const uint64_t vectors = auxiliary(kdz_isa_sp());
    const uint64_t name = vectors != 0 ? auxiliary_value(vectors, AT_EXECFN) : 0;
    if (name == 0 || strcmp(text_at(name), path) != 0) {
        return;
    }
    space = kdz_isa_space();
    entry = auxiliary_value(vectors, AT_ENTRY);
    headers = auxiliary_value(vectors, AT_PHDR);
    header_count = auxiliary_value(vectors, AT_PHNUM);
    bias = entry - file_entry;
    phase = LOADS;
    qemu_plugin_u64_set(in_user, 0, 0);
    if (pc == entry) {
        count_from_here();
    }
}

static void on_sign(unsigned int vcpu, void *unused)
{
    (void)vcpu;
    (void)unused;
    if (phase != BOOTS || kdz_isa_system_call() != SIGN) {
        return;
    }
    kdz_isa_set_current(kdz_isa_argument(0));
    launcher = kdz_isa_space();
    phase = BEGINS;
    qemu_plugin_u64_set(in_user, 0, 1);
}

static void translate_before(struct qemu_plugin_tb *translated)
{
    const uint64_t address = qemu_plugin_tb_vaddr(translated);

    if (kdz_isa_is_kernel(address)) {
        return;
    }
    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_user_block, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, in_user, 0,
                                              (void *)(uintptr_t)address);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(translated); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
        if (phase == BOOTS && kdz_isa_is_system_call(instruction)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_sign, QEMU_PLUGIN_CB_R_REGS,
                                                   NULL);
        }
        if (phase == LOADS && qemu_plugin_insn_vaddr(instruction) == entry) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_program_entry,
                                                   QEMU_PLUGIN_CB_R_REGS, NULL);
        }
    }
}

/* ---- the program runs ------------------------------------------------------------------------
 */
static void on_way_to_user(unsigned int vcpu, void *data)
{
    const struct block *block = data;

    qemu_plugin_u64_set(in_user, vcpu, 1);
    asks = false;
    counts_program = kdz_isa_space() == space;
    if (counts_program) {
        kdz_tasks_enter_program(kdz_isa_task(), block->address, kdz_isa_sp(), now());
    } else {
        kdz_tasks_enter_other(now());
    }
}

static void on_way_to_kernel(unsigned int vcpu, void *data)
{
    const struct block *block = data;

    qemu_plugin_u64_set(in_user, vcpu, 0);
    if (!counts_program) {
        return;
    }
    const enum kdz_cause cause = asks ? KDZ_BY_SYSTEM_CALL : kdz_isa_cause(block->address);
    const struct kdz_place place = asks ? asked_at : kdz_isa_left(cause);
    kdz_tasks_enter_kernel(cause, place.pc, place.sp, now());
    asks = false;
}

static void on_block(unsigned int vcpu, void *data)
{
    const struct block *block = data;

    (void)vcpu;
    if (!counts_program) {
        return;
    }
    kdz_tasks_block(block->address, block->ending);
    kdz_tasks_at(block->symbol, now());
    if (kdz_tasks_may_have_returned()) {
        kdz_tasks_look_for_return(block->address, kdz_isa_sp(), now());
    }
    if (block->begins) {
        kdz_tasks_called(block->symbol, block->symbol != last_symbol);
    }
    last_symbol = block->symbol;
}

static void on_kernel_block(unsigned int vcpu, void *data)
{
    const struct block *block = data;
    const uint64_t pc = block->address;

    (void)vcpu;
    if (!kdz_tasks_run(kdz_isa_task(), now())) {
        return;
    }
    if (kdz_tasks_in_kernel()) {
        if (kdz_isa_is_interrupt(pc)) {
            const struct kdz_place place = kdz_isa_interrupted();
            kdz_tasks_interrupted(place.pc, place.sp, now());
        }
    } else if (kdz_tasks_awaits(pc)) {
        kdz_tasks_resume(kdz_isa_sp(), now());
    }
}

static void on_entry(unsigned int vcpu, void *data)
{
    const struct entry *at = data;

    if (!counts_program) {
        return;
    }
    if (qemu_plugin_u64_get(following, vcpu) == 0) {
        kdz_tasks_block(at->block->address, at->block->ending);
    }
    kdz_tasks_at(at->symbol, now());
    last_symbol = at->symbol;
    for (guint i = 0; i < at->roles->len; i++) {
        const struct kdz_role *role = &g_array_index(at->roles, struct kdz_role, i);
        if (role->kind == KDZ_ROLE_ENTRY) {
            const struct kdz_place back = kdz_isa_return();
            kdz_tasks_enter(role->number, at->address, back.pc, back.sp, now());
        } else if (role->kind == KDZ_ROLE_BEGIN) {
            kdz_tasks_begin_span(role->number, now());
        } else {
            kdz_tasks_end_span(role->number, now());
        }
    }
}

/* clone(2): a process of its own, unless it shares the memory as a thread does. */
static void note(uint64_t number)
{
    static const uint64_t as_thread = 0x00010000u; /* CLONE_THREAD */
    const struct kdz_numbers *const numbers = kdz_isa_numbers();
    struct kdz_program_facts *const facts = kdz_tasks_facts();
    uint64_t flags = as_thread;

    if (number == numbers->clone) {
        flags = kdz_isa_argument(0);
    } else if (number == numbers->clone3) {
        flags = word_at(kdz_isa_argument(0));
    } else if (number == numbers->fork || number == numbers->vfork) {
        flags = 0;
    } else if (number == numbers->execve || number == numbers->execveat) {
        facts->replaced++;
    }
    facts->forked += (flags & as_thread) == 0 ? 1u : 0u;
}

static void on_system_call(unsigned int vcpu, void *address)
{
    (void)vcpu;
    if (!counts_program) {
        return;
    }
    const uint64_t number = kdz_isa_system_call();
    asks = true;
    asked_at = (struct kdz_place){(uint64_t)(uintptr_t)address, kdz_isa_sp()};
    kdz_tasks_system_call(number);
    note(number);
    if (number == kdz_isa_numbers()->exit || number == kdz_isa_numbers()->exit_group) {
        kdz_tasks_exit(now());
    }
}

static void on_task(unsigned int vcpu, void *source)
{
    (void)vcpu;
    if (kdz_isa_note_task(GPOINTER_TO_UINT(source))) {
        kdz_tasks_name(kdz_isa_task());
    }
}

static void watch_kernel(struct qemu_plugin_tb *translated, struct block *block)
{
    unsigned int source;

    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_way_to_kernel, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, in_user, 0, block);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_kernel_block, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, following, 0, block);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(translated); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
        if (kdz_isa_sets_task(instruction, &source)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_task, QEMU_PLUGIN_CB_R_REGS,
                                                   GUINT_TO_POINTER(source));
        }
    }
}

static void watch_user(struct qemu_plugin_tb *translated, struct block *block)
{
    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_way_to_user, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_EQ, in_user, 0, block);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_block, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, following, 0, block);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(translated); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
        const uint64_t address = qemu_plugin_insn_vaddr(instruction);
        const GArray *at = kdz_roles_at(address);
        if (at != NULL) {
            struct entry *known = g_new(struct entry, 1);
            *known = (struct entry){at, address, kdz_symbols_at(address), block};
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_entry, QEMU_PLUGIN_CB_R_REGS,
                                                   known);
        }
        if (kdz_isa_is_system_call(instruction)) {
            qemu_plugin_register_vcpu_insn_exec_cb(
                instruction, on_system_call, QEMU_PLUGIN_CB_R_REGS, (void *)(uintptr_t)address);
        }
    }
}

/* Callbacks come before the count of their instruction. QEMU keeps translations until its cache is
 * full, and what they point to for as long as it runs. */
void kdz_guest_translate(struct qemu_plugin_tb *translated)
{
    if (phase != COUNTS) {
        translate_before(translated);
        return;
    }
    const size_t count = qemu_plugin_tb_n_insns(translated);
    struct block *block = g_new(struct block, 1);
    *block =
        (struct block){.address = qemu_plugin_tb_vaddr(translated),
                       .ending = kdz_isa_ending(qemu_plugin_tb_get_insn(translated, count - 1u))};
    block->symbol = kdz_symbols_at(block->address);
    block->begins =
        kdz_symbols_is_begin(block->symbol, block->address) && !kdz_roles_is_entry(block->address);
    if (kdz_isa_is_kernel(block->address)) {
        watch_kernel(translated, block);
    } else {
        watch_user(translated, block);
    }
    kdz_stopwatch_block(translated);
}

void kdz_guest_start(void (*restart)(void))
{
    in_user = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
    following = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
    translate_anew = restart;
}

void kdz_guest_end(void)
{
    if (phase == COUNTS) {
        kdz_tasks_end();
    }
}
