/* SPDX-License-Identifier: Apache-2.0
 *
 * A debug module for one hart: "RISC-V External Debug Support" 0.13.2, chapter 3. It halts, resumes
 * and resets the hart, lets it execute abstract commands and a program buffer, and accesses memory
 * by the system bus while the hart runs.
 *
 * In debug mode the hart executes what the module answers to its fetches, and tells by stores how
 * far it is. No register of the hart is needed for that.
 */
#ifndef KADENZ_RTL_DEBUG_MODULE_HPP
#define KADENZ_RTL_DEBUG_MODULE_HPP

#include "machine.hpp"
#include "tap.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kadenz
{

class DebugModule final : public DebugBus, public Device
{
  public:
    explicit DebugModule(Machine &machine) : machine_(machine)
    {
        machine.attach(*this);
    }

    /* ---- the debugger's side: registers by dmi --------------------------------------------- */
    std::uint32_t read(std::uint32_t address) override;
    void write(std::uint32_t address, std::uint32_t value) override;

    /* ---- the hart's side ------------------------------------------------------------------- */
    bool access(const Request &request, Answer &answer) override;
    /* The level of its debug request. */
    bool wants_halt() const;
    /* It is in debug mode. */
    bool halted() const
    {
        return halted_;
    }
    /* The hart has to do something before the debugger's next access is answered. */
    bool waits() const
    {
        return busy() || resumes_ || (wants_halt() && !halted_);
    }
    /* ndmreset: the hart and its machine are held in reset. */
    bool resets() const
    {
        return resets_;
    }
    /* The hart was reset, by ndmreset or from outside. */
    void was_reset();

  private:
    static constexpr unsigned DATA_WORDS = 2, BUFFER_WORDS = 8;
    enum class Command { none, given, taken };
    enum Error : std::uint32_t { NONE, BUSY, NOT_SUPPORTED, EXCEPTION, HALT_RESUME };

    bool busy() const
    {
        return command_ != Command::none;
    }
    std::uint32_t status() const;
    std::uint32_t *argument(std::uint32_t address);
    void accessed(std::uint32_t address);
    void control(std::uint32_t value);
    void begin(std::uint32_t command);
    void fail(Error error);
    bool translate(std::uint32_t command);
    std::uint32_t fetched(std::uint32_t offset) const;
    void told(std::uint32_t offset);
    void use_bus(bool write);

    Machine &machine_;
    bool active_ = false, resets_ = false;
    bool halt_request_ = false, halt_after_reset_ = false;
    bool reset_seen_ = true;     /* by the debugger */
    bool halt_at_reset_ = false; /* the hart was reset, and has not halted since */
    bool inside_ = false;        /* the hart entered debug mode */
    bool halted_ = false, resumes_ = false, resumed_ = false;
    Command command_ = Command::none;
    std::vector<std::uint32_t> code_; /* of the command */
    bool saves_ = false;              /* the code puts s0 aside */
    std::uint32_t last_command_ = 0, automatic_ = 0, error_ = NONE;
    std::array<std::uint32_t, DATA_WORDS> data_{};
    std::array<std::uint32_t, BUFFER_WORDS> buffer_{};
    std::uint32_t aside_ = 0; /* the hart's s0 */
    std::uint32_t bus_control_ = 0, bus_address_ = 0, bus_data_ = 0;
};

} // namespace kadenz

#endif
