/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"

#include <stdio.h>
#include <string.h>

struct fake_console fake_console;
const char *fake_page;
const char *fake_typed;
struct kdz_clock fake_clock;
const char *fake_denied;
size_t fake_capacity;
kdz_time fake_now;
uint32_t fake_mark;
uint32_t fake_tick;

static uint32_t storage[8];
static jmp_buf halted;
static int halt_code;

void fake_reset(void)
{
    fake_console.count = 0;
    fake_page = NULL;
    fake_typed = "";
    fake_clock = (struct kdz_clock){"fake", 5000000000u, 32, true};
    fake_denied = "there are no flags today";
    fake_capacity = sizeof storage / sizeof storage[0];
    fake_now = 0;
    fake_mark = 0;
    fake_tick = 7;
}

int fake_halts(void (*call)(void))
{
    if (setjmp(halted) != 0) {
        return halt_code;
    }
    call();
    return -1;
}

/* ---- board ------------------------------------------------------------------------------------
 */
const char *kdz_board_name(void)
{
    return "bench-top";
}

const char *kdz_arch_name(void)
{
    return "none";
}

uint32_t kdz_board_timer_hz(void)
{
    return 32768;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    assert_true(fake_console.count + count <= sizeof fake_console.bytes);
    (void)memcpy(fake_console.bytes + fake_console.count, bytes, count);
    fake_console.count += count;
}

int kdz_console_read(void)
{
    static bool waited;

    waited = !waited; /* a console often has nothing yet */
    if (waited) {
        return -1;
    }
    return *fake_typed == '\0' ? '\n' : *fake_typed++;
}

const char *kdz_board_plan(void)
{
    return fake_page;
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){storage, fake_capacity};
}

size_t kdz_board_cores(void)
{
    return 2;
}

void kdz_board_last_words(void)
{
}

_Noreturn void kdz_board_halt(int code)
{
    halt_code = code;
    longjmp(halted, 1);
}

const struct kdz_clock *kdz_clock(void)
{
    return &fake_clock;
}

/* ---- kernel -----------------------------------------------------------------------------------
 */
static const char *why_no_flags(void)
{
    return fake_denied;
}

KDZ_HAS(yield, "yield");
KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_maximum, "sem-maximum");
KDZ_HAS_UNLESS(flags, "flags", why_no_flags);

const struct kdz_lacking kdz_lacking[] = {{"suspend", "a fake suspends nobody"}, {NULL, NULL}};

const char *kdz_kernel_name(void)
{
    return "Fake";
}

const char *kdz_kernel_version(void)
{
    return "V1.2";
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {{"tick_rate", "1000"}, {"asserts", "off"}};

    *count = 2;
    return settings;
}

uint32_t kdz_tick_hz(void)
{
    return 1000;
}

uint32_t kdz_tick_now(void)
{
    return fake_tick;
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake += period_ticks;
    return KDZ_OK;
}

/* Counts down, as TOPPERS does, and below zero, as none does: signed numbers have to travel. */
int32_t kdz_rank_native(uint8_t rank)
{
    return rank == 8 ? -200 : -(int32_t)rank;
}

const char *kdz_fault_thread(void)
{
    return "task 1";
}

/* ---- golden frames ----------------------------------------------------------------------------
 */
size_t fake_golden(const char *name, uint8_t *bytes, size_t size)
{
    char path[512];
    FILE *file;
    size_t count;

    (void)snprintf(path, sizeof path, "%s/%s.bin", KDZ_GOLDEN, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s is not there: run tests/golden/make.py", path);
    }
    count = fread(bytes, 1, size, file);
    (void)fclose(file);
    return count;
}

/* ---- a decoder, bit by bit where the suite's encoder uses a table -----------------------------
 */
static uint32_t crc32_of(const uint8_t *bytes, size_t count)
{
    uint32_t state = 0xffffffffu;

    for (size_t i = 0; i < count; i++) {
        state ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            state = (state >> 1) ^ ((state & 1u) != 0 ? 0xedb88320u : 0u);
        }
    }
    return ~state;
}

static size_t uncobs(const uint8_t *from, size_t count, uint8_t *to)
{
    size_t length = 0;

    for (size_t at = 0; at < count;) {
        const uint8_t code = from[at];

        assert_true(code != 0 && at + code <= count);
        (void)memcpy(to + length, from + at + 1, code - 1u);
        length += code - 1u;
        at += code;
        if (code != 0xff && at < count) {
            to[length++] = 0;
        }
    }
    return length;
}

static uint32_t le(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;

    while (count-- != 0) {
        value = (value << 8) | bytes[count];
    }
    return value;
}

bool fake_next_frame(size_t *at, struct fake_frame *frame)
{
    static uint8_t raw[4200];
    size_t end;
    size_t length;

    while (*at < fake_console.count && fake_console.bytes[*at] == 0) {
        (*at)++;
    }
    if (*at == fake_console.count) {
        return false;
    }
    for (end = *at; end < fake_console.count && fake_console.bytes[end] != 0; end++) {
    }
    assert_true(end < fake_console.count); /* every frame ends with a zero */
    length = uncobs(fake_console.bytes + *at, end - *at, raw);
    *at = end;
    assert_true(length >= 12);
    assert_int_equal(le(raw + length - 4, 4), crc32_of(raw, length - 4));
    frame->type = raw[0];
    frame->sequence = le(raw + 2, 4);
    frame->length = le(raw + 6, 2);
    assert_int_equal(frame->length, length - 12);
    (void)memcpy(frame->body, raw + 8, frame->length);
    return true;
}

bool fake_says(const struct fake_frame *frame, const char *text)
{
    const size_t length = strlen(text);

    for (size_t at = 0; at + length <= frame->length; at++) {
        if (memcmp(frame->body + at, text, length) == 0) {
            return true;
        }
    }
    return false;
}
