// SPDX-License-Identifier: Apache-2.0
//
// VexRiscv with caches on the bench. Its buses are Wishbone: a request is held until its answer.
#include "core.hpp"
#include "snapshot.hpp"

#include "Vcore.h"
#include "Vcore_VexRiscv.h"

namespace kadenz
{
namespace
{

constexpr int RESET_CYCLES = 8;
constexpr unsigned WFI = 2;           /* of EnvCtrlEnum in the Verilog */
constexpr unsigned LAST_OF_BURST = 7; /* Wishbone's CTI */
constexpr unsigned LINES = 128;       /* of each cache */
constexpr std::uint32_t TAG_VALID = 1u;
constexpr unsigned RA = 1, SP = 2;

class VexRiscv final : public Core
{
  public:
    void reset(std::uint32_t hart, std::uint32_t entry) override
    {
        (void)hart; /* mhartid is always 0 */
        misses_ = Misses();
        core_.externalResetVector = entry;
        core_.reset = 1;
        for (int i = 0; i < RESET_CYCLES; i++) {
            clock(0);
            clock(1);
        }
        core_.reset = 0;
    }

    Requests low(Interrupts interrupts) override
    {
        core_.softwareInterrupt = interrupts.software;
        core_.timerInterrupt = interrupts.timer;
        core_.iBusWishbone_ACK = 0;
        core_.dBusWishbone_ACK = 0;
        clock(0);
        look_at_retired();
        Requests requests;
        requests.instruction.valid = core_.iBusWishbone_CYC != 0 && core_.iBusWishbone_STB != 0;
        requests.instruction.address = core_.iBusWishbone_ADR << 2u;
        requests.data.valid = core_.dBusWishbone_CYC != 0 && core_.dBusWishbone_STB != 0;
        requests.data.write = core_.dBusWishbone_WE != 0;
        requests.data.lanes = core_.dBusWishbone_SEL;
        requests.data.address = core_.dBusWishbone_ADR << 2u;
        requests.data.data = core_.dBusWishbone_DAT_MOSI;
        return requests;
    }

    void high(const Answer &instruction, const Answer &data) override
    {
        core_.iBusWishbone_ACK = instruction.answered;
        core_.iBusWishbone_DAT_MISO = instruction.data;
        core_.iBusWishbone_ERR = instruction.answered && instruction.error;
        core_.dBusWishbone_ACK = data.answered;
        core_.dBusWishbone_DAT_MISO = data.data;
        core_.dBusWishbone_ERR = data.answered && data.error;
        count_lines(instruction, data);
        clock(1);
    }

    bool asleep() const override
    {
        const auto &inside = *core_.VexRiscv;
        return inside.execute_arbitration_isValid != 0 && inside.execute_ENV_CTRL == WFI &&
               inside.execute_CsrPlugin_wfiWake == 0;
    }

    /* Of the oldest instruction in the pipeline: a jump may leave a younger one behind. */
    std::uint32_t pc() const override
    {
        const auto &inside = *core_.VexRiscv;
        if (inside.writeBack_arbitration_isValid != 0) {
            return inside.lastStagePc;
        }
        if (inside.memory_arbitration_isValid != 0) {
            return inside.execute_to_memory_PC;
        }
        return inside.execute_arbitration_isValid != 0 ? inside.decode_to_execute_PC
                                                       : inside.IBusCachedPlugin_decodePc_pcReg;
    }

    bool interrupts_on() const override
    {
        return core_.VexRiscv->CsrPlugin_mstatus_MIE != 0;
    }

    const Retired *retired() const override
    {
        return has_retired_ ? &retired_ : nullptr;
    }

    bool shows_calls() const override
    {
        return true;
    }

    Registers registers() const override
    {
        const auto &inside = *core_.VexRiscv;
        Registers now;
        now.ra = inside.RegFilePlugin_regFile[RA];
        now.sp = inside.RegFilePlugin_regFile[SP];
        now.mtvec = inside.CsrPlugin_mtvec_base << 2u | inside.CsrPlugin_mtvec_mode;
        now.mepc = inside.CsrPlugin_mepc;
        now.mcause = static_cast<std::uint32_t>(inside.CsrPlugin_mcause_interrupt) << 31u |
                     inside.CsrPlugin_mcause_exceptionCode;
        return now;
    }

    bool counts_misses() const override
    {
        return true;
    }

    Misses misses() const override
    {
        return misses_;
    }

    void flush(Caches caches) override
    {
        auto &inside = *core_.VexRiscv;
        for (unsigned line = 0; line < LINES; line++) {
            if (caches.instruction) {
                inside.IBusCachedPlugin_cache__DOT__ways_0_tags[line] &= ~TAG_VALID;
            }
            if (caches.data) {
                inside.dataCache_1__DOT__ways_0_tags[line] &= ~TAG_VALID;
            }
        }
    }

    /* Its clock runs on while it waits. */
    void skipped(std::uint64_t cycles) override
    {
        core_.VexRiscv->CsrPlugin_mcycle += cycles;
    }

    void save(std::vector<std::uint8_t> &state) override
    {
        snapshots_.save(core_, misses_, state);
    }

    void restore(const std::vector<std::uint8_t> &state) override
    {
        snapshots_.restore(core_, misses_, state);
    }

  private:
    /* Both caches fetch a line word by word, from its first to its last. The bus of instructions
     * fetches nothing else. That of data ends bursts with lines, and stores and devices have none.
     */
    void count_lines(const Answer &instruction, const Answer &data)
    {
        if (instruction.answered && core_.iBusWishbone_CTI == LAST_OF_BURST) {
            misses_.instruction++;
        }
        if (data.answered && core_.dBusWishbone_CTI == LAST_OF_BURST) {
            misses_.data++;
        }
    }

    /* The clock rises only in high(), when memory has answered: what was in the last stage before
     * has retired if the core counted it. */
    void look_at_retired()
    {
        const auto &inside = *core_.VexRiscv;
        has_retired_ = inside.CsrPlugin_minstret == counted_ + 1u;
        counted_ = inside.CsrPlugin_minstret;
        trapped_ = trapped_ || inside.CsrPlugin_hadException != 0;
        if (has_retired_) {
            retired_ = {in_last_stage_, false, trapped_};
            trapped_ = false;
        }
        in_last_stage_ = inside.lastStagePc;
    }

    void clock(unsigned level)
    {
        core_.clk = level & 1u;
        core_.eval();
    }

    Vcore core_;
    Misses misses_;
    Retired retired_; /* not kept: of calls alone, which nothing copies */
    bool has_retired_ = false, trapped_ = false;
    std::uint32_t in_last_stage_ = 0;
    std::uint64_t counted_ = 0;
    Snapshots<Vcore, Misses> snapshots_;
};

} // namespace

std::unique_ptr<Core> make_core()
{
    return std::make_unique<VexRiscv>();
}

} // namespace kadenz
