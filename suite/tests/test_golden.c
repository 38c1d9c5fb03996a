/* SPDX-License-Identifier: Apache-2.0
 *
 * What the suite sends is, byte for byte, what tests/golden says.
 */
#include "../core/wire.c" /* for the sequence number of its frames */

#include "fake.h"
#include "fault.h"
#include "message.h"

#include <stdio.h>

static const struct kdz_param params[] = {
    {"size_bytes", 60, 4, 600},
    {"rank_a", 8, 1, 10},
    {"rank", 3, 1, 10},
};

static const struct kdz_bench bench = {
    .name = "fake/count",
    .begins = "before the count",
    .ends = "after the count",
    .source = "none",
    .params = params,
    .param_count = 3,
};

static const char *const words[] = {"fifo", "round-robin", "deadline"};
static const struct kdz_param params_words[] = {
    {"size_bytes", 60, 4, 600},
    {"rank_a", 8, 1, 10},
    {"rank", 3, 1, 10},
    {"policy", 0, 0, 2, words},
};

static const struct kdz_bench bench_words = {
    .name = "fake/count",
    .begins = "before the count",
    .ends = "after the count",
    .source = "none",
    .params = params_words,
    .param_count = 4,
};

static uint32_t values[8];

static struct kdz_point a_point(void)
{
    struct kdz_point point = {.bench = &bench, .id = 258, .samples = 70000, .value = {128, 8, 3}};

    assert_null(kdz_record_open(&point.record, 258, &(struct kdz_shape){.lanes = 2}, 70000,
                                (struct kdz_storage){values, 8}));
    return point;
}

static void expect_golden(const char *name)
{
    uint8_t golden[4300];
    const size_t count = fake_golden(name, golden, sizeof golden);

    assert_int_equal(fake_console.count, count);
    assert_memory_equal(fake_console.bytes, golden, count);
}

static int start(void **state)
{
    (void)state;
    fake_reset();
    kdz_wire_reset();
    return 0;
}

static void test_hello_is_the_golden_frame(void **state)
{
    (void)state;
    kdz_message_hello();
    expect_golden("hello");
}

static void test_bench_is_the_golden_frame(void **state)
{
    (void)state;
    line.frames = 1;
    kdz_message_bench(&bench, "");
    expect_golden("bench");
}

static void test_begin_is_the_golden_frame(void **state)
{
    const struct kdz_point point = a_point();

    (void)state;
    line.frames = 2;
    kdz_message_begin(&point, bench.name);
    expect_golden("begin");
}

static void test_words_are_the_golden_frames(void **state)
{
    struct kdz_point point = a_point();

    (void)state;
    line.frames = 24;
    kdz_message_bench(&bench_words, "");
    expect_golden("bench-words");
    fake_console.count = 0;
    point.bench = &bench_words;
    point.value[3] = 2;
    kdz_message_begin(&point, bench.name);
    expect_golden("begin-words");
}

static void test_begin_with_companions_is_the_golden_frame(void **state)
{
    static const char *const beside[] = {"cycle", "cpu"};
    const struct kdz_shape shape = {.lanes = 2, .companions = beside, .companion_count = 2};
    struct kdz_point point = a_point();

    (void)state;
    assert_null(kdz_record_open(&point.record, 258, &shape, 70000,
                                (struct kdz_storage){values, sizeof values / sizeof values[0]}));
    line.frames = 12;
    kdz_message_begin(&point, bench.name);
    expect_golden("begin-companions");
}

static void test_samples_are_the_golden_frame(void **state)
{
    static const uint32_t sent[] = {0, 1, 255, 256, 0x01020304, 0xfffffffe};

    (void)state;
    line.frames = 3;
    kdz_message_samples(258, 1, 65536, sent, 6);
    expect_golden("samples-u4");
}

static void test_end_is_the_golden_frame(void **state)
{
    struct kdz_point point = a_point();
    static const char reason[] = "the reply differs from what was sent";

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        kdz_record_add(&point.record, 0, i);
        kdz_prove(&point.record, i != 1, reason);
    }
    kdz_record_drain(&point.record);
    point.record.lane[0].missed = 69997;
    point.record.lane[1].missed = 70000;
    assert_int_equal(kdz_record_close(&point.record), 0);
    fake_console.count = 0;
    line.frames = 6;
    kdz_message_end(&point.record, "invalid", reason);
    expect_golden("end");
}

static void test_text_is_the_golden_frame(void **state)
{
    (void)state;
    line.frames = 7;
    kdz_message_text("Gr\xc3\xbc\xc3\x9f"
                     "e: 5 \xc2\xb5s");
    expect_golden("text");
}

static void test_an_empty_text_is_the_golden_frame(void **state)
{
    (void)state;
    line.frames = 8;
    kdz_message_text("");
    expect_golden("text-empty");
}

static void test_fault_is_the_golden_frame(void **state)
{
    static const struct kdz_register registers[] = {{"pc", 0x20010000}, {"sp", 0x80003ff0}};

    (void)state;
    line.frames = 9;
    kdz_fault_frame(KDZ_FAULT_EXCEPTION, "load access fault", "task 1", registers, 2);
    expect_golden("fault");
}

static void test_conform_is_the_golden_frame(void **state)
{
    (void)state;
    line.frames = 10;
    kdz_message_conform("a mutex excludes", "fail", "two were inside");
    expect_golden("conform");
}

static void test_case_is_the_golden_frame(void **state)
{
    (void)state;
    line.frames = 13;
    kdz_message_case("a mutex excludes");
    expect_golden("case");
}

static void test_done_counts_itself(void **state)
{
    (void)state;
    line.frames = 11; /* and this one is the twelfth */
    kdz_message_done(1);
    expect_golden("done");
}

/* Lengths around the borders of COBS blocks: 254 bytes without a zero, and twice that. */
static void test_cobs_blocks_end_where_they_should(void **state)
{
    static const unsigned lengths[] = {248, 249, 250, 251, 252, 496, 497, 498, 499, 500};
    char text[512];
    char name[16];

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (unsigned at = 0; at < lengths[i]; at++) {
            text[at] = (char)(33 + at % 90);
        }
        text[lengths[i]] = '\0';
        (void)snprintf(name, sizeof name, "text-%u", lengths[i]);
        fake_console.count = 0;
        line.frames = 0x01010101;
        kdz_message_text(text);
        expect_golden(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_hello_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_bench_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_begin_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_words_are_the_golden_frames, start),
        cmocka_unit_test_setup(test_begin_with_companions_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_samples_are_the_golden_frame, start),
        cmocka_unit_test_setup(test_end_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_text_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_an_empty_text_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_fault_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_conform_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_case_is_the_golden_frame, start),
        cmocka_unit_test_setup(test_done_counts_itself, start),
        cmocka_unit_test_setup(test_cobs_blocks_end_where_they_should, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
