/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts the instructions of each call of some functions, in a firmware that knows nothing of it: a
 * QEMU TCG plugin (API v4).
 *
 *   -plugin libkadenz-calls.so,calls=FILE,functions=FILE[,until=ADDRESS][,limit=NS]
 *           [,console=FILE,text=FILE][,progress=FILE][,symbols=FILE,flows=FILE][,guest=on]
 *
 * `functions` has the addresses and the bytes of their code, one a line, and spans with their first
 * and their end; `calls` is written (rows.h). The emulator ends when the instruction at `until` is
 * next, when `console`, which another device writes, has the bytes of `text`, or after `limit` of
 * virtual time. `progress` has three numbers of 64 bits: the virtual time, in ns, which stands
 * still while no instruction is executed; what another process writes there to end the emulator,
 * anything but 0; and the last semihosting call that was answered from this machine, 0 for none.
 * `symbols` has address and bytes of each function of the image, by address; `flows` is written:
 * where the instructions of the calls went (flows.h).
 *
 * With guest=on the machine is a guest with Linux, and the functions are those of one program of
 * it (guest.h).
 */
#include "flows.h"
#include "guest.h"
#include "isa.h"
#include "qemu.h"
#include "roles.h"
#include "rows.h"
#include "stopwatch.h"
#include "strands.h"
#include "symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <qemu-plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VIRTUAL_CLOCK 1 /* QEMU_CLOCK_VIRTUAL of include/qemu/timer.h */
#define CLOCK "qemu_clock_get_ns"
#define SLICE 1024u /* instructions between two looks at clock and console */
#define READ_BYTES 4096u
#define PROGRESS_BYTES (3u * sizeof(int64_t))

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct block {
    uint64_t address, end;
    uint32_t symbol;
    bool may_return; /* its last instruction, from an exception */
    bool begins;     /* a function that is not counted */
};

struct entry {
    const GArray *roles; /* of kdz_roles_at */
    uint64_t address;
    uint32_t symbol;
    const struct block *block;
};

static struct {
    const char *calls, *functions, *console, *text, *progress, *symbols, *flows;
    uint64_t until, limit;
    bool has_until, guest;
} asked;

static GArray *code; /* struct kdz_code, by number */
static GString *text, *seen;
static int console = -1;
static volatile int64_t *progress; /* the time, whether to end, the call of semihosting */
static int64_t (*virtual_ns)(int clock);
static qemu_plugin_u64 following, slice;
static const struct block *last;
static uint64_t last_address;
static bool ended;
static qemu_plugin_id_t plugin;

static uint64_t now(unsigned int vcpu)
{
    return kdz_stopwatch_read(vcpu).low;
}

/* ---- the end ---------------------------------------------------------------------------------
 */
static void end(unsigned int vcpu, enum kdz_end why, uint32_t fault)
{
    if (ended) {
        return;
    }
    ended = true;
    if (asked.guest) {
        kdz_guest_end();
    } else {
        kdz_strands_end();
    }
    if (asked.flows != NULL && !kdz_flows_write(asked.flows)) {
        fprintf(stderr, "kadenz-calls: %s cannot be written: %s\n", asked.flows, strerror(errno));
        _Exit(EXIT_FAILURE);
    }
    kdz_rows_append(KDZ_ROW_END, (uint32_t)why, last_address, fault, now(vcpu));
    kdz_rows_close();
}

static void end_now(unsigned int vcpu, enum kdz_end why)
{
    end(vcpu, why, asked.guest ? 0 : kdz_processor_fault());
    _Exit(EXIT_SUCCESS);
}

/* Whether the console has the text; only what came since the last look is read. */
static bool text_came(void)
{
    char bytes[READ_BYTES];

    if (console < 0) {
        console = open(asked.console, O_RDONLY | O_CLOEXEC);
    }
    for (ssize_t count; (count = read(console, bytes, sizeof bytes)) > 0;) {
        g_string_append_len(seen, bytes, count);
        if (memmem(seen->str, seen->len, text->str, text->len) != NULL) {
            return true;
        }
        if (seen->len >= text->len) {
            g_string_erase(seen, 0, (gssize)(seen->len - text->len + 1u));
        }
    }
    return false;
}

static void on_shutdown(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    end(0, text != NULL && text_came() ? KDZ_END_TEXT : KDZ_END_ITSELF, 0);
}

static void on_until(unsigned int vcpu, void *unused)
{
    (void)unused;
    last_address = asked.until;
    end_now(vcpu, KDZ_END_UNTIL);
}

static void on_slice(unsigned int vcpu, void *address)
{
    qemu_plugin_u64_set(slice, vcpu, 0);
    last_address = (uint64_t)(uintptr_t)address;
    if (text != NULL && text_came()) {
        end_now(vcpu, KDZ_END_TEXT);
    }
    if (virtual_ns == NULL) {
        return;
    }
    const int64_t ns = virtual_ns(VIRTUAL_CLOCK);
    if (progress != NULL) {
        progress[0] = ns;
    }
    if (progress != NULL && progress[1] != 0) {
        end_now(vcpu, KDZ_END_STOPPED);
    }
    if (asked.limit != 0 && ns >= (int64_t)asked.limit) {
        end_now(vcpu, KDZ_END_LIMIT);
    }
}

/* ---- what is executed ------------------------------------------------------------------------
 */
static void follow(bool on)
{
    qemu_plugin_u64_set(following, 0, on ? 1 : 0);
}

static void on_block(unsigned int vcpu, void *data)
{
    const struct block *block = data;
    const bool inside = last != NULL && last->symbol == block->symbol;
    const struct kdz_block reached = {
        block->address, block->symbol,
        block->begins && (!inside || (kdz_processor_link() & ~UINT64_C(1)) == last->end)};

    kdz_strands_block(&reached, last != NULL && last->may_return, now(vcpu));
    last = block;
}

static void on_entry(unsigned int vcpu, void *data)
{
    const struct entry *entry = data;

    kdz_strands_at(entry->symbol, now(vcpu));
    for (guint i = 0; i < entry->roles->len; i++) {
        const struct kdz_role *role = &g_array_index(entry->roles, struct kdz_role, i);
        switch (role->kind) {
        case KDZ_ROLE_ENTRY:
            kdz_strands_enter(role->number, entry->address, now(vcpu));
            break;
        case KDZ_ROLE_BEGIN:
            kdz_strands_begin_span(role->number, entry->address, now(vcpu));
            break;
        case KDZ_ROLE_END:
            kdz_strands_end_span(role->number, now(vcpu));
            break;
        }
    }
    last = entry->block;
}

static void before_stack(unsigned int vcpu, void *unused)
{
    (void)vcpu;
    (void)unused;
    kdz_strands_before_stack();
}

static void after_stack(unsigned int vcpu, void *unused)
{
    (void)unused;
    kdz_strands_after_stack(now(vcpu));
}

static void on_mret(unsigned int vcpu, void *unused)
{
    (void)vcpu;
    (void)unused;
    kdz_strands_leave_trap();
}

static void on_vector(unsigned int vcpu, void *unused)
{
    (void)vcpu;
    (void)unused;
    kdz_processor_forget_vector();
}

/* Before a call of semihosting is answered: none reaches a file or a program of this machine. */
static void on_ask(unsigned int vcpu, void *address)
{
    const uint32_t refused = kdz_processor_refused((uint64_t)(uintptr_t)address);

    if (refused != 0) {
        last_address = (uint64_t)(uintptr_t)address;
        end(vcpu, KDZ_END_REFUSED, refused);
        _Exit(EXIT_SUCCESS);
    }
    const uint32_t operation = kdz_processor_asked();
    if (operation != 0 && progress != NULL) {
        progress[2] = operation;
    }
}

static void while_following(struct qemu_plugin_insn *instruction, qemu_plugin_vcpu_udata_cb_t act)
{
    qemu_plugin_register_vcpu_insn_exec_cond_cb(instruction, act, QEMU_PLUGIN_CB_R_REGS,
                                                QEMU_PLUGIN_COND_NE, following, 0, NULL);
}

static uint32_t word_of(const struct qemu_plugin_insn *instruction)
{
    uint32_t word = 0;

    (void)qemu_plugin_insn_data(instruction, &word, sizeof word);
    return word;
}

static enum kdz_act watch(struct qemu_plugin_insn *instruction)
{
    const uint32_t word = word_of(instruction);
    const size_t bytes = qemu_plugin_insn_size(instruction);
    const enum kdz_act act = kdz_processor_act(word, bytes);

    if (kdz_processor_asks(word, bytes)) {
        qemu_plugin_register_vcpu_insn_exec_cb(
            instruction, on_ask, QEMU_PLUGIN_CB_R_REGS,
            (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction));
    }
    switch (act) {
    case KDZ_ACT_SETS_STACK:
        while_following(instruction, before_stack);
        break;
    case KDZ_ACT_LEAVES_TRAP:
        while_following(instruction, on_mret);
        break;
    case KDZ_ACT_SETS_VECTOR:
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_vector, QEMU_PLUGIN_CB_NO_REGS,
                                               NULL);
        break;
    case KDZ_ACT_NONE:
        break;
    }
    return act;
}

/* All before the stopwatch: a callback sees the count without its own instruction. QEMU keeps
 * translations until its cache is full, and what they point to for as long as it runs. */
static enum kdz_act watch_instruction(struct qemu_plugin_insn *instruction,
                                      const struct block *block)
{
    const uint64_t address = qemu_plugin_insn_vaddr(instruction);
    const GArray *at = kdz_roles_at(address);

    if (at != NULL) {
        struct entry *entry = g_new(struct entry, 1);
        *entry = (struct entry){at, address, kdz_symbols_at(address), block};
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_entry, QEMU_PLUGIN_CB_R_REGS, entry);
    }
    if (asked.has_until && address == asked.until) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_until, QEMU_PLUGIN_CB_R_REGS, NULL);
    }
    return watch(instruction);
}

/* Only before the last instruction of a block may the clock be read. */
static void look_at_clock(struct qemu_plugin_tb *translated)
{
    struct qemu_plugin_insn *final =
        qemu_plugin_tb_get_insn(translated, qemu_plugin_tb_n_insns(translated) - 1u);

    qemu_plugin_register_vcpu_insn_exec_cond_cb(final, on_slice, QEMU_PLUGIN_CB_R_REGS,
                                                QEMU_PLUGIN_COND_GE, slice, SLICE,
                                                (void *)(uintptr_t)qemu_plugin_insn_vaddr(final));
}

/* Of a guest the blocks are counted for the next look at the clock: a boot has billions of
 * instructions. */
static void on_guest_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *translated)
{
    (void)id;
    kdz_guest_translate(translated);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(translated, QEMU_PLUGIN_INLINE_ADD_U64, slice,
                                                      1);
    look_at_clock(translated);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *translated)
{
    const size_t count = qemu_plugin_tb_n_insns(translated);
    struct qemu_plugin_insn *final = qemu_plugin_tb_get_insn(translated, count - 1u);
    struct block *block = g_new(struct block, 1);
    bool behind = false; /* an instruction that sets the stack pointer */

    (void)id;
    *block = (struct block){
        .address = qemu_plugin_tb_vaddr(translated),
        .end = qemu_plugin_insn_vaddr(final) + qemu_plugin_insn_size(final),
        .may_return = kdz_processor_may_return(word_of(final), qemu_plugin_insn_size(final))};
    block->symbol = kdz_symbols_at(block->address);
    block->begins =
        kdz_symbols_is_begin(block->symbol, block->address) && !kdz_roles_is_entry(block->address);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(translated, on_block, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, following, 0, block);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
        if (behind) {
            while_following(instruction, after_stack);
        }
        behind = watch_instruction(instruction, block) == KDZ_ACT_SETS_STACK;
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                            slice, 1);
    }
    look_at_clock(translated);
    kdz_stopwatch_block(translated);
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int vcpu)
{
    (void)id;
    (void)vcpu;
    if (asked.guest) {
        kdz_isa_init();
    } else {
        kdz_processor_init();
    }
    kdz_stopwatch_vcpu_init();
}

static void watch_all(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_tb_trans_cb(id, asked.guest ? on_guest_translate : on_translate);
    qemu_plugin_register_atexit_cb(id, on_shutdown, NULL);
}

/* Nothing that was translated is executed any more. */
static void restart(void)
{
    qemu_plugin_reset(plugin, watch_all);
}

/* ---- arguments -------------------------------------------------------------------------------
 */
static bool number_of(const char *value, uint64_t *number)
{
    char *rest;

    errno = 0;
    *number = strtoull(value, &rest, 0);
    return errno == 0 && rest != value && *rest == '\0';
}

static bool take(const char *argument)
{
    const char *value = strchr(argument, '=');
    const size_t length = value == NULL ? 0 : (size_t)(value++ - argument);
    const struct {
        const char *name;
        const char **file;
    } files[] = {{"calls", &asked.calls},       {"functions", &asked.functions},
                 {"console", &asked.console},   {"text", &asked.text},
                 {"progress", &asked.progress}, {"symbols", &asked.symbols},
                 {"flows", &asked.flows}};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (length == strlen(files[i].name) && strncmp(argument, files[i].name, length) == 0) {
            *files[i].file = value;
            return true;
        }
    }
    if (strcmp(argument, "guest=on") == 0) {
        asked.guest = true;
        return true;
    }
    if (length == 5 && strncmp(argument, "until", length) == 0) {
        asked.has_until = number_of(value, &asked.until);
        return asked.has_until;
    }
    return length == 5 && strncmp(argument, "limit", length) == 0 &&
           number_of(value, &asked.limit) && asked.limit != 0;
}

static bool take_line(const char *line)
{
    struct kdz_code function = {0};

    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &function.address, &function.bytes,
               &function.end) < 2) {
        return false;
    }
    kdz_roles_add(code->len, function.address, function.end);
    g_array_append_val(code, function);
    return true;
}

/* The functions' addresses, and the text. */
static bool read_files(void)
{
    char *bytes = NULL;
    gsize size = 0;

    kdz_roles_start();
    code = g_array_new(FALSE, FALSE, sizeof(struct kdz_code));
    if (!g_file_get_contents(asked.functions, &bytes, NULL, NULL)) {
        return false;
    }
    if (asked.guest && !kdz_guest_take(bytes)) {
        return false;
    }
    char *line = asked.guest ? NULL : strtok(bytes, "\n");
    for (; line != NULL; line = strtok(NULL, "\n")) {
        if (!take_line(line)) {
            return false;
        }
    }
    g_free(bytes);
    if (asked.text == NULL) {
        return true;
    }
    if (!g_file_get_contents(asked.text, &bytes, &size, NULL) || size == 0) {
        return false;
    }
    text = g_string_new_len(bytes, (gssize)size);
    seen = g_string_new(NULL);
    g_free(bytes);
    return true;
}

/* Memory of a file, so that a look at it costs no call. */
static bool open_progress(void)
{
    const int file = open(asked.progress, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    void *memory = MAP_FAILED;

    if (file >= 0 && ftruncate(file, PROGRESS_BYTES) == 0) {
        memory = mmap(NULL, PROGRESS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        close(file);
    }
    progress = memory == MAP_FAILED ? NULL : memory;
    return progress != NULL;
}

static bool refuse(const char *why)
{
    fprintf(stderr, "kadenz-calls: %s\n", why);
    return false;
}

static bool prepare(const qemu_info_t *info)
{
    if (asked.calls == NULL || asked.functions == NULL ||
        (asked.console == NULL) != (asked.text == NULL) ||
        (asked.symbols == NULL) != (asked.flows == NULL)) {
        return refuse("needs calls=FILE and functions=FILE, and console=FILE with text=FILE, and "
                      "symbols=FILE with flows=FILE");
    }
    if (!info->system_emulation || info->system.smp_vcpus != 1) {
        return refuse("needs a machine with one core. Use -smp 1");
    }
    if (!read_files()) {
        return refuse("cannot read the functions, or the text");
    }
    *(void **)&virtual_ns = dlsym(RTLD_DEFAULT, CLOCK);
    if ((asked.limit != 0 || asked.progress != NULL) && virtual_ns == NULL) {
        return refuse("this QEMU does not show its clock: it has no " CLOCK);
    }
    if (asked.symbols != NULL && !kdz_symbols_read(asked.symbols)) {
        return refuse("cannot read the symbols");
    }
    if (asked.symbols != NULL) {
        kdz_flows_start(asked.guest ? kdz_guest_functions() : code->len);
    }
    if (!kdz_rows_open(asked.calls) || (asked.progress != NULL && !open_progress())) {
        return refuse("cannot write the calls. Name files in a writable folder");
    }
    return true;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!take(argv[i])) {
            fprintf(stderr,
                    "kadenz-calls: unknown argument %s. Known: calls=FILE, functions=FILE, "
                    "until=ADDRESS, limit=NS, console=FILE, text=FILE, progress=FILE, "
                    "symbols=FILE, flows=FILE, guest=on\n",
                    argv[i]);
            return -1;
        }
    }
    if (!prepare(info) || !kdz_stopwatch_start()) {
        return -1;
    }
    following = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
    slice = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
    kdz_strands_start((const struct kdz_code *)(void *)code->data, code->len, follow);
    kdz_guest_start(restart);
    plugin = id;
    watch_all(id);
    return 0;
}
