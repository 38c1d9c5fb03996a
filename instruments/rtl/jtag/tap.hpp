/* SPDX-License-Identifier: Apache-2.0
 *
 * A JTAG port (IEEE 1149.1) with the registers of a RISC-V debug transport module: IDCODE, dtmcs
 * and dmi; "RISC-V External Debug Support" 0.13.2, chapter 6.
 */
#ifndef KADENZ_RTL_TAP_HPP
#define KADENZ_RTL_TAP_HPP

#include <cstdint>

namespace kadenz
{

/* The other side of dmi: the registers of a debug module, by their addresses there. */
class DebugBus
{
  public:
    virtual ~DebugBus() = default;
    virtual std::uint32_t read(std::uint32_t address) = 0;
    virtual void write(std::uint32_t address, std::uint32_t value) = 0;
};

class Tap
{
  public:
    Tap(DebugBus &bus, std::uint32_t idcode) : bus_(bus), idcode_(idcode)
    {
    }

    /* The levels of the lines now. A rising clock takes a bit, a falling one shows the next. */
    void lines(bool tck, bool tms, bool tdi);
    bool tdo() const
    {
        return tdo_;
    }
    /* TRST */
    void reset();

  private:
    enum State : unsigned {
        RESET,
        IDLE,
        SELECT_DR,
        CAPTURE_DR,
        SHIFT_DR,
        EXIT1_DR,
        PAUSE_DR,
        EXIT2_DR,
        UPDATE_DR,
        SELECT_IR,
        CAPTURE_IR,
        SHIFT_IR,
        EXIT1_IR,
        PAUSE_IR,
        EXIT2_IR,
        UPDATE_IR,
    };

    void rise(bool tms, bool tdi);
    void capture();
    void update();

    DebugBus &bus_;
    std::uint32_t idcode_;
    State state_ = RESET;
    bool tck_ = false, tdo_ = false;
    std::uint32_t instruction_ = 0;
    std::uint64_t shifted_ = 0;            /* the register between TDI and TDO */
    unsigned length_ = 0;                  /* its bits */
    std::uint32_t address_ = 0, data_ = 0; /* of the last access by dmi */
};

} // namespace kadenz

#endif
