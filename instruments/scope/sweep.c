/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sweep.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SERVER "qtest"
#define VERSION 2u
#define HEADER_BYTES 40u
#define REGISTERS_MOST 4u
#define LOST_MOST 8u    /* arrivals without an end, after which no further one is tried */
#define LONGEST 100000u /* instructions of a sample that is repeated for each arrival */

/* suite/include/kadenz/clock.h */
enum { BEGIN = 1, END = 2, HANDLED = 3, RESPONDED = 4, RECORD_CLOSE = 0x20000 };
enum extent { CUT_OFF, TRIED, GIVEN_UP, SHORT = 4, UNLIKE };
enum state { WHOLE = 1, UNENDED = 2 };

struct latency {
    uint32_t count, tick, pc, masked, locked;
};

struct row {
    uint32_t phase, state, last, end, handled, responded, ticks;
    struct latency handler, task;
};
_Static_assert(sizeof(struct row) == 17 * sizeof(uint32_t), "the file's row");

struct core_register {
    char name[32];
    uint64_t mask;
    uint64_t value; /* of `tick` */
    bool off_if_set;
    struct qemu_plugin_register *handle;
};

const char kdz_sweep_options[] =
    "; and arrivals=FILE, sample=N, step=N, raise=ADDRESS:VALUE, lock=ADDRESS, "
    "off-if-set=REGISTER:MASK, off-if-clear=REGISTER:MASK, tick=REGISTER:MASK:VALUE[:REGISTER]";

static struct {
    char file[64];
    uint64_t sample, step, lock, address, value;
    struct core_register off[REGISTERS_MOST];
    unsigned int off_count;
    struct core_register tick, vector; /* `vector` holds the one place where `tick` says so */
} asked = {.step = 1};

static uint64_t (*now)(unsigned int vcpu);
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 inside; /* 1 in a sample that is followed */
static GByteArray *buffer;
static int server = -1;

static struct {
    enum extent extent;
    uint64_t samples;       /* that began */
    uint64_t begin, length; /* of the sample, in instructions */
    uint64_t vector;        /* where a tick's handler begins; 0: not known yet */
    uint32_t phase;         /* of the next arrival; 0: none */
    bool ready;             /* the sample before had none and was as usual */
    bool calm;              /* the sample before had none */
    uint32_t settled;       /* samples without one, behind such samples */
    uint32_t unlike;        /* those of them that were not as usual */
    bool trying, ended;     /* in this sample */
    bool strayed; /* this sample went another way than the usual one, before its arrival */
    uint32_t ticks, usual_ticks;
    uint32_t lost;
    guint place; /* in `usual` */
    struct row row;
} sweep;
static GArray *usual; /* addresses of the instructions of the sample that has no arrival */
static GArray *rows;

/* ---- options ---------------------------------------------------------------------------------
 */
static bool number(const char **text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(*text, &end, 0);
    if (errno != 0 || end == *text || (*end != ':' && *end != '\0')) {
        return false;
    }
    *text = *end == ':' ? end + 1 : end;
    return true;
}

static bool name(const char **text, struct core_register *core_register)
{
    const size_t length = strcspn(*text, ":");

    if (length == 0 || length >= sizeof core_register->name) {
        return false;
    }
    memcpy(core_register->name, *text, length);
    *text += length + ((*text)[length] == ':' ? 1u : 0u);
    return true;
}

static bool take_off(const char *value, bool if_set)
{
    struct core_register *off = &asked.off[asked.off_count];

    if (asked.off_count == REGISTERS_MOST || !name(&value, off) || !number(&value, &off->mask)) {
        return false;
    }
    off->off_if_set = if_set;
    asked.off_count++;
    return *value == '\0';
}

static bool take_tick(const char *value)
{
    return name(&value, &asked.tick) && number(&value, &asked.tick.mask) &&
           number(&value, &asked.tick.value) && (*value == '\0' || name(&value, &asked.vector)) &&
           *value == '\0';
}

static bool take_file(const char *value)
{
    const bool fits = strlen(value) < sizeof asked.file;

    strncpy(asked.file, value, sizeof asked.file - 1);
    return fits;
}

bool kdz_sweep_option(const char *option, const char *value)
{
    if (strcmp(option, "arrivals") == 0) {
        return take_file(value);
    }
    if (strcmp(option, "sample") == 0) {
        return number(&value, &asked.sample) && *value == '\0';
    }
    if (strcmp(option, "step") == 0) {
        return number(&value, &asked.step) && *value == '\0' && asked.step != 0;
    }
    if (strcmp(option, "lock") == 0) {
        return number(&value, &asked.lock) && *value == '\0';
    }
    if (strcmp(option, "raise") == 0) {
        return number(&value, &asked.address) && number(&value, &asked.value) && *value == '\0';
    }
    if (strcmp(option, "off-if-set") == 0) {
        return take_off(value, true);
    }
    if (strcmp(option, "off-if-clear") == 0) {
        return take_off(value, false);
    }
    return strcmp(option, "tick") == 0 && take_tick(value);
}

bool kdz_sweep_asked(void)
{
    return asked.file[0] != '\0';
}

bool kdz_sweep_start(uint64_t (*clock)(unsigned int vcpu))
{
    if (asked.address == 0 || asked.tick.name[0] == '\0') {
        fprintf(stderr, "kadenz-scope: arrivals need raise=ADDRESS:VALUE and tick=REGISTER:MASK:"
                        "VALUE\n");
        return false;
    }
    now = clock;
    board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    inside = qemu_plugin_scoreboard_u64(board);
    buffer = g_byte_array_new();
    usual = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    rows = g_array_new(FALSE, TRUE, sizeof(struct row));
    return true;
}

/* ---- the machine -----------------------------------------------------------------------------
 */
_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "kadenz-scope: %s: %s\n", what, strerror(errno));
    _Exit(EXIT_FAILURE);
}

static void find(struct core_register *core_register, const GArray *offered)
{
    for (guint i = 0; i < offered->len && core_register->name[0] != '\0'; i++) {
        const qemu_plugin_reg_descriptor *known =
            &g_array_index(offered, qemu_plugin_reg_descriptor, i);
        if (strcmp(known->name, core_register->name) == 0) {
            core_register->handle = known->handle;
            return;
        }
    }
    if (core_register->name[0] != '\0') {
        fprintf(stderr, "kadenz-scope: this core has no register `%s`\n", core_register->name);
        _Exit(EXIT_FAILURE);
    }
}

void kdz_sweep_vcpu_init(void)
{
    g_autoptr(GArray) offered = qemu_plugin_get_registers();

    for (unsigned int i = 0; i < asked.off_count; i++) {
        find(&asked.off[i], offered);
    }
    find(&asked.tick, offered);
    find(&asked.vector, offered);
}

static uint64_t low_bytes(const GByteArray *bytes)
{
    uint64_t value = 0;

    for (guint i = bytes->len < sizeof value ? bytes->len : sizeof value; i > 0; i--) {
        value = value << 8 | bytes->data[i - 1];
    }
    return value;
}

static uint64_t value_of(const struct core_register *core_register)
{
    g_byte_array_set_size(buffer, 0);
    if (qemu_plugin_read_register(core_register->handle, buffer) <= 0) {
        return 0;
    }
    return low_bytes(buffer);
}

static bool is_masked(void)
{
    for (unsigned int i = 0; i < asked.off_count; i++) {
        const bool set = (value_of(&asked.off[i]) & asked.off[i].mask) != 0;
        if (set == asked.off[i].off_if_set) {
            return true;
        }
    }
    return false;
}

static uint32_t locked(void)
{
    g_byte_array_set_size(buffer, 0);
    if (asked.lock == 0 || !qemu_plugin_read_memory_vaddr(asked.lock, buffer, sizeof(uint32_t))) {
        return 0;
    }
    return (uint32_t)low_bytes(buffer);
}

static int connected(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER};
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof address) != 0) {
        fail("the emulator's server for tests cannot be reached");
    }
    return client;
}

/* Returns when the emulator has done it: its other thread does, while this one waits. */
static void write_word(uint64_t address, uint64_t value)
{
    char text[64];
    size_t length = (size_t)snprintf(text, sizeof text, "writel 0x%llx 0x%llx\n",
                                     (unsigned long long)address, (unsigned long long)value);
    size_t done = 0;

    server = server < 0 ? connected() : server;
    if (send(server, text, length, MSG_NOSIGNAL) != (ssize_t)length) {
        fail("the emulator's server for tests is gone");
    }
    do {
        const ssize_t came = recv(server, text + done, sizeof text - 1 - done, 0);
        if (came < 0 && errno == EINTR) {
            continue;
        }
        if (came <= 0) {
            fail("the emulator's server for tests is gone");
        }
        done += (size_t)came;
    } while (memchr(text, '\n', done) == NULL && done < sizeof text - 1);
    if (strncmp(text, "OK", 2) != 0) {
        fprintf(stderr, "kadenz-scope: the emulator does not raise an interrupt: %.*s\n", (int)done,
                text);
        _Exit(EXIT_FAILURE);
    }
}

/* ---- one sample ------------------------------------------------------------------------------
 */
/* A tick is counted where its handler begins: where the first one was seen, unless a register says
 * it. Later on another interrupt may return to the handler. */
static void look_for_tick(uint64_t pc)
{
    if (sweep.vector != 0 && pc != sweep.vector) {
        return;
    }
    if ((value_of(&asked.tick) & asked.tick.mask) == asked.tick.value) {
        sweep.vector = sweep.vector == 0 ? pc : sweep.vector;
        sweep.ticks++;
    }
}

/* Until the arrival, each instruction is that of the usual sample. */
static void compare(uint64_t pc)
{
    if (sweep.samples == asked.sample + 1) {
        g_array_append_val(usual, pc);
    } else if (sweep.place >= usual->len || g_array_index(usual, uint64_t, sweep.place) != pc) {
        sweep.strayed = true;
    }
    sweep.place++;
}

static void on_instruction(unsigned int vcpu, void *place)
{
    const uint64_t pc = (uint64_t)(uintptr_t)place;
    struct row *row = &sweep.row;

    look_for_tick(pc);
    row->last = (uint32_t)pc;
    if (row->phase != 0 || sweep.ended) {
        return;
    }
    compare(pc);
    if (sweep.trying && !sweep.strayed && now(vcpu) - sweep.begin == sweep.phase) {
        const struct latency met = {
            .pc = (uint32_t)pc, .masked = is_masked() ? 1u : 0u, .locked = locked()};

        row->phase = sweep.phase;
        row->handler = row->task = met;
        write_word(asked.address, asked.value);
    }
}

void kdz_sweep_block(struct qemu_plugin_tb *block)
{
    const size_t count = qemu_plugin_tb_n_insns(block);

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

        qemu_plugin_register_vcpu_insn_exec_cond_cb(
            instruction, on_instruction, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE, inside, 0,
            (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction));
    }
}

static void next(void)
{
    sweep.phase += (uint32_t)asked.step;
    if (sweep.phase > sweep.length) {
        sweep.extent = TRIED;
    } else if (sweep.lost == LOST_MOST) {
        sweep.extent = GIVEN_UP;
    }
}

/* The sample before this moment is over: its arrival is whole, lost, or to be tried again. */
static void settle(void)
{
    const bool as_many_ticks = sweep.ticks == sweep.usual_ticks;
    const bool as_usual = !sweep.strayed && sweep.place == usual->len;
    struct row *row = &sweep.row;

    if (sweep.samples == asked.sample + 1) {
        sweep.usual_ticks = sweep.ticks;
        if (sweep.length > LONGEST) {
            fprintf(stderr,
                    "kadenz-scope: a sample of %llu instructions is too long to be repeated for "
                    "each arrival: name a shorter service, or a simulated core and --step\n",
                    (unsigned long long)sweep.length);
            _Exit(EXIT_FAILURE);
        }
        sweep.phase = sweep.length != 0 ? 1u : 0u;
    }
    sweep.ready = sweep.phase != 0 && !sweep.trying && as_usual && as_many_ticks;
    if (sweep.calm && !sweep.trying && as_many_ticks) {
        sweep.settled++;
        sweep.unlike += as_usual ? 0u : 1u;
    }
    sweep.calm = !sweep.trying;
    if (sweep.trying && row->phase != 0 && as_many_ticks) {
        row->state = sweep.ended && row->handled != 0 && row->responded != 0 ? WHOLE : UNENDED;
        g_array_append_val(rows, *row);
        sweep.lost += row->state == UNENDED ? 1u : 0u;
        next();
    }
}

static void begin(unsigned int vcpu)
{
    const bool followed = sweep.samples >= asked.sample;

    if (sweep.samples > asked.sample && sweep.extent == CUT_OFF) {
        settle();
    }
    sweep.row = (struct row){0};
    sweep.trying = sweep.ready && sweep.extent == CUT_OFF;
    sweep.ticks = 0;
    sweep.place = 0;
    sweep.ended = sweep.strayed = false;
    if (asked.vector.name[0] != '\0') {
        sweep.vector = value_of(&asked.vector) & ~UINT64_C(3);
    }
    sweep.begin = now(vcpu);
    qemu_plugin_u64_set(inside, vcpu, followed && sweep.extent == CUT_OFF ? 1 : 0);
    sweep.samples++;
}

/* It is not followed from where nothing more is to come. */
static void see_end(unsigned int vcpu)
{
    const bool responded = !sweep.trying || sweep.row.phase == 0 || sweep.row.responded != 0;

    if (sweep.ended && responded) {
        qemu_plugin_u64_set(inside, vcpu, 0);
    }
}

/* The record ends. A service that goes another way in most samples has no usual one. */
static void close_sweep(unsigned int vcpu)
{
    qemu_plugin_u64_set(inside, vcpu, 0);
    if (sweep.samples > asked.sample && sweep.extent == CUT_OFF) {
        settle();
        sweep.extent = sweep.extent == CUT_OFF ? SHORT : sweep.extent;
    }
    if (sweep.unlike * 2 > sweep.settled) {
        sweep.extent = UNLIKE;
    }
}

static void reach(unsigned int vcpu, struct latency *latency, uint32_t *times)
{
    if ((*times)++ == 0) {
        latency->count = (uint32_t)(now(vcpu) - sweep.begin - sweep.row.phase);
    }
    see_end(vcpu);
}

bool kdz_sweep_mark(unsigned int vcpu, uint32_t mark)
{
    switch (mark) {
    case BEGIN:
        begin(vcpu);
        return false;
    case END:
        sweep.ended = true;
        sweep.row.end = (uint32_t)(now(vcpu) - sweep.begin);
        if (sweep.samples == asked.sample + 1) {
            sweep.length = sweep.row.end;
        }
        see_end(vcpu);
        return false;
    case HANDLED:
        reach(vcpu, &sweep.row.handler, &sweep.row.handled);
        return true;
    case RESPONDED:
        reach(vcpu, &sweep.row.task, &sweep.row.responded);
        return true;
    default:
        if ((mark & RECORD_CLOSE) != 0) {
            close_sweep(vcpu);
        }
        return false;
    }
}

/* ---- the file --------------------------------------------------------------------------------
 */
void kdz_sweep_end(void)
{
    const uint32_t sizes[] = {VERSION, HEADER_BYTES, sizeof(struct row), sweep.extent};
    const uint64_t counts[] = {sweep.length, asked.step};
    FILE *file;

    if (!kdz_sweep_asked()) {
        return;
    }
    file = fopen(asked.file, "wbe");
    if (file == NULL || fwrite("KDZARRIV", 8, 1, file) != 1 ||
        fwrite(sizes, sizeof sizes, 1, file) != 1 || fwrite(counts, sizeof counts, 1, file) != 1 ||
        fwrite(rows->data, sizeof(struct row), rows->len, file) != rows->len || fclose(file) != 0) {
        fail("the arrivals could not be written. Free some space and run again");
    }
}
