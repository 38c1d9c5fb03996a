/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames survive COBS whatever is in them, and numbers take their shortest form.
 */
#include "fake.h"
#include "message.h"
#include "msgpack.h"
#include "wire.h"

#include <string.h>

struct bytes {
    size_t count;
    uint8_t byte[KDZ_WIRE_BODY_MAX + 1];
};

static struct bytes sent;

static void copy(struct kdz_sink *sink, const void *context)
{
    const struct bytes *from = context;

    kdz_sink_bytes(sink, from->byte, from->count);
}

static int start(void **state)
{
    (void)state;
    fake_reset();
    kdz_wire_reset();
    return 0;
}

static void expect_same_back(void)
{
    static struct fake_frame frame;
    size_t at = 0;

    fake_console.count = 0;
    assert_null(kdz_wire_send(KDZ_FRAME_TEXT, copy, &sent));
    assert_true(fake_next_frame(&at, &frame));
    assert_int_equal(frame.length, sent.count);
    assert_memory_equal(frame.body, sent.byte, sent.count);
    assert_false(fake_next_frame(&at, &frame));
}

static void test_any_body_comes_back(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (size_t count = 0; count <= KDZ_WIRE_BODY_MAX; count += count < 800 ? 1 : 97) {
        for (unsigned zeros = 0; zeros < 4; zeros++) {
            sent.count = count;
            for (size_t i = 0; i < count; i++) {
                random = random * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
                /* none, all, many or few zeros */
                sent.byte[i] = zeros == 1                                ? 0
                               : zeros == 2 && (random >> 30) == 0       ? 0
                               : zeros == 3 && (random >> 16) % 300 == 0 ? 0
                                                                         : (uint8_t)(i % 255 + 1);
            }
            expect_same_back();
        }
    }
}

static void test_frames_are_numbered_from_zero(void **state)
{
    struct fake_frame frame;
    size_t at = 0;

    (void)state;
    sent.count = 3;
    for (int i = 0; i < 3; i++) {
        assert_null(kdz_wire_send(KDZ_FRAME_TEXT, copy, &sent));
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(fake_next_frame(&at, &frame));
        assert_int_equal(frame.sequence, i);
    }
    assert_int_equal(kdz_wire_frames(), 3);
}

static void send_too_much(void)
{
    static char text[KDZ_WIRE_BODY_MAX + 2];

    (void)memset(text, 'x', sizeof text - 1);
    kdz_message_text(text);
}

static void test_a_body_too_long_is_a_fault_and_no_frame(void **state)
{
    struct fake_frame frame;
    size_t at = 0;

    (void)state;
    assert_int_equal(fake_halts(send_too_much), 1);
    assert_true(fake_next_frame(&at, &frame));
    assert_int_equal(frame.type, KDZ_FRAME_FAULT);
    assert_true(fake_says(&frame, "exceeds 4096 bytes"));
    assert_false(fake_next_frame(&at, &frame));
}

/* ---- MessagePack: borders of each form, bytes from the specification's table ------------------
 */
struct packed {
    uint8_t count;
    uint8_t byte[9];
};

static struct packed wanted;
static uint64_t number;
static bool is_signed;

static void pack_number(struct kdz_sink *sink, const void *context)
{
    (void)context;
    if (is_signed) {
        kdz_pack_int(sink, (int32_t)number);
    } else {
        kdz_pack_uint(sink, number);
    }
}

static void expect_packed(uint64_t value, bool with_sign, struct packed expected)
{
    struct fake_frame frame;
    size_t at = 0;

    number = value;
    is_signed = with_sign;
    wanted = expected;
    fake_console.count = 0;
    assert_null(kdz_wire_send(KDZ_FRAME_TEXT, pack_number, NULL));
    assert_true(fake_next_frame(&at, &frame));
    assert_int_equal(frame.length, wanted.count);
    assert_memory_equal(frame.body, wanted.byte, wanted.count);
}

static void test_numbers_take_their_shortest_form(void **state)
{
    (void)state;
    expect_packed(0, false, (struct packed){1, {0x00}});
    expect_packed(127, false, (struct packed){1, {0x7f}});
    expect_packed(128, false, (struct packed){2, {0xcc, 0x80}});
    expect_packed(255, false, (struct packed){2, {0xcc, 0xff}});
    expect_packed(256, false, (struct packed){3, {0xcd, 1, 0}});
    expect_packed(65535, false, (struct packed){3, {0xcd, 0xff, 0xff}});
    expect_packed(65536, false, (struct packed){5, {0xce, 0, 1, 0, 0}});
    expect_packed(UINT32_MAX, false, (struct packed){5, {0xce, 0xff, 0xff, 0xff, 0xff}});
    expect_packed(1ull << 32, false, (struct packed){9, {0xcf, 0, 0, 0, 1, 0, 0, 0, 0}});
    expect_packed(UINT64_MAX, false,
                  (struct packed){9, {0xcf, 255, 255, 255, 255, 255, 255, 255, 255}});
    expect_packed((uint64_t)-1, true, (struct packed){1, {0xff}});
    expect_packed((uint64_t)-32, true, (struct packed){1, {0xe0}});
    expect_packed((uint64_t)-33, true, (struct packed){2, {0xd0, 0xdf}});
    expect_packed((uint64_t)-128, true, (struct packed){2, {0xd0, 0x80}});
    expect_packed((uint64_t)-129, true, (struct packed){3, {0xd1, 0xff, 0x7f}});
    expect_packed((uint64_t)-32768, true, (struct packed){3, {0xd1, 0x80, 0x00}});
    expect_packed((uint64_t)-32769, true, (struct packed){5, {0xd2, 0xff, 0xff, 0x7f, 0xff}});
    expect_packed((uint64_t)INT32_MIN, true, (struct packed){5, {0xd2, 0x80, 0, 0, 0}});
    expect_packed(200, true, (struct packed){2, {0xcc, 200}});
}

static void pack_lengths(struct kdz_sink *sink, const void *context)
{
    static char text[300];

    (void)context;
    (void)memset(text, 'a', sizeof text - 1);
    kdz_pack_array(sink, 15);
    kdz_pack_array(sink, 16);
    kdz_pack_map(sink, 15);
    kdz_pack_map(sink, 16);
    kdz_pack_text(sink, NULL);
    kdz_pack_text(sink, text + 299 - 31);
    kdz_pack_text(sink, text + 299 - 32);
    kdz_pack_text(sink, text + 299 - 256);
}

static void test_lengths_take_their_shortest_form(void **state)
{
    static const uint8_t heads[] = {0x9f, 0xdc, 0, 16, 0x8f, 0xde, 0, 16, 0xa0, 0xbf};
    struct fake_frame frame;
    size_t at = 0;

    (void)state;
    assert_null(kdz_wire_send(KDZ_FRAME_TEXT, pack_lengths, NULL));
    assert_true(fake_next_frame(&at, &frame));
    assert_memory_equal(frame.body, heads, sizeof heads);
    assert_int_equal(frame.body[10 + 31], 0xd9);
    assert_int_equal(frame.body[10 + 31 + 1], 32);
    assert_int_equal(frame.body[10 + 31 + 2 + 32], 0xda);
    assert_int_equal(frame.body[10 + 31 + 2 + 32 + 1], 1);
    assert_int_equal(frame.body[10 + 31 + 2 + 32 + 2], 0);
    assert_int_equal(frame.length, 10 + 31 + 2 + 32 + 3 + 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_any_body_comes_back, start),
        cmocka_unit_test_setup(test_frames_are_numbered_from_zero, start),
        cmocka_unit_test_setup(test_a_body_too_long_is_a_fault_and_no_frame, start),
        cmocka_unit_test_setup(test_numbers_take_their_shortest_form, start),
        cmocka_unit_test_setup(test_lengths_take_their_shortest_form, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
