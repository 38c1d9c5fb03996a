// SPDX-License-Identifier: Apache-2.0
#include "tap.hpp"

namespace kadenz
{
namespace
{

constexpr unsigned IR_BITS = 5, WORD_BITS = 32, ADDRESS_BITS = 7;
constexpr std::uint32_t IDCODE = 0x01, DTMCS = 0x10, DMI = 0x11; /* instructions; others: bypass */
constexpr std::uint64_t IR_CAPTURED = 0x01;                      /* the standard wants ...01 */

/* dtmcs: version 0.13, no wait in Run-Test/Idle, no error is pending. */
constexpr std::uint32_t DTMCS_VALUE = 1u | ADDRESS_BITS << 4u;

/* dmi: address, data, operation. Each is done at once, so that none is refused. */
constexpr unsigned DMI_BITS = ADDRESS_BITS + WORD_BITS + 2u;
constexpr std::uint64_t OPERATION = 3, READ = 1, WRITE = 2;

} // namespace

void Tap::reset()
{
    state_ = RESET;
    instruction_ = IDCODE;
}

void Tap::lines(bool tck, bool tms, bool tdi)
{
    if (tck && !tck_) {
        rise(tms, tdi);
    } else if (!tck && tck_) {
        tdo_ = (shifted_ & 1u) != 0;
    }
    tck_ = tck;
}

void Tap::rise(bool tms, bool tdi)
{
    /* The next state by TMS: 0 left, 1 right. */
    static constexpr State next[][2] = {
        {IDLE, RESET},           /* RESET */
        {IDLE, SELECT_DR},       /* IDLE */
        {CAPTURE_DR, SELECT_IR}, /* SELECT_DR */
        {SHIFT_DR, EXIT1_DR},    /* CAPTURE_DR */
        {SHIFT_DR, EXIT1_DR},    /* SHIFT_DR */
        {PAUSE_DR, UPDATE_DR},   /* EXIT1_DR */
        {PAUSE_DR, EXIT2_DR},    /* PAUSE_DR */
        {SHIFT_DR, UPDATE_DR},   /* EXIT2_DR */
        {IDLE, SELECT_DR},       /* UPDATE_DR */
        {CAPTURE_IR, RESET},     /* SELECT_IR */
        {SHIFT_IR, EXIT1_IR},    /* CAPTURE_IR */
        {SHIFT_IR, EXIT1_IR},    /* SHIFT_IR */
        {PAUSE_IR, UPDATE_IR},   /* EXIT1_IR */
        {PAUSE_IR, EXIT2_IR},    /* PAUSE_IR */
        {SHIFT_IR, UPDATE_IR},   /* EXIT2_IR */
        {IDLE, SELECT_DR},       /* UPDATE_IR */
    };

    if (state_ == CAPTURE_DR) {
        capture();
    } else if (state_ == CAPTURE_IR) {
        shifted_ = IR_CAPTURED;
        length_ = IR_BITS;
    } else if (state_ == SHIFT_DR || state_ == SHIFT_IR) {
        shifted_ = shifted_ >> 1u | std::uint64_t{tdi} << (length_ - 1u);
    }
    state_ = next[state_][tms ? 1 : 0];
    if (state_ == UPDATE_DR) {
        update();
    } else if (state_ == UPDATE_IR) {
        instruction_ = static_cast<std::uint32_t>(shifted_);
    } else if (state_ == RESET) {
        reset();
    }
}

void Tap::capture()
{
    length_ = WORD_BITS;
    if (instruction_ == IDCODE) {
        shifted_ = idcode_;
    } else if (instruction_ == DTMCS) {
        shifted_ = DTMCS_VALUE;
    } else if (instruction_ == DMI) {
        length_ = DMI_BITS;
        shifted_ = std::uint64_t{address_} << (WORD_BITS + 2u) | std::uint64_t{data_} << 2u;
    } else {
        length_ = 1;
        shifted_ = 0;
    }
}

void Tap::update()
{
    if (instruction_ != DMI) {
        return;
    }
    address_ = static_cast<std::uint32_t>(shifted_ >> (WORD_BITS + 2u));
    data_ = static_cast<std::uint32_t>(shifted_ >> 2u);
    if ((shifted_ & OPERATION) == READ) {
        data_ = bus_.read(address_);
    } else if ((shifted_ & OPERATION) == WRITE) {
        bus_.write(address_, data_);
    }
}

} // namespace kadenz
