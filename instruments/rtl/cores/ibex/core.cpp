// SPDX-License-Identifier: Apache-2.0
//
// Ibex on the bench. Its bus takes a request in one cycle and has the answer in a later one.
#include "core.hpp"
#include "snapshot.hpp"

#include "Vcore.h"
#include "Vcore___024root.h"

namespace kadenz
{
namespace
{

constexpr std::uint32_t BOOT_OFFSET = 0x80u; /* the first instruction is there (Ibex manual) */
constexpr int RESET_CYCLES = 8;

class Ibex final : public Core
{
  public:
    void reset(std::uint32_t hart, std::uint32_t entry) override
    {
        beside_.instruction = beside_.data = Answer();
        beside_.stopped = 0;
        core_.hart_id = hart;
        core_.boot_address = entry - BOOT_OFFSET;
        core_.reset_n = 1; /* it falls: the reset is asynchronous, and the clock may be gated */
        clock(0);
        core_.reset_n = 0;
        for (int i = 0; i < RESET_CYCLES; i++) {
            clock(0);
            clock(1);
        }
        core_.reset_n = 1;
    }

    Requests low(Interrupts interrupts) override
    {
        core_.irq_software = interrupts.software;
        core_.irq_timer = interrupts.timer;
        core_.instr_rvalid = beside_.instruction.answered;
        core_.instr_rdata = beside_.instruction.data;
        core_.instr_err = beside_.instruction.error;
        core_.data_rvalid = beside_.data.answered;
        core_.data_rdata = beside_.data.data;
        core_.data_err = beside_.data.error;
        clock(0);
        look_at_retired();
        Requests requests;
        requests.instruction.valid = core_.instr_req != 0;
        requests.instruction.address = core_.instr_addr;
        requests.data.valid = core_.data_req != 0;
        requests.data.write = core_.data_we != 0;
        requests.data.lanes = core_.data_be;
        requests.data.address = core_.data_addr;
        requests.data.data = core_.data_wdata;
        return requests;
    }

    void high(const Answer &instruction, const Answer &data) override
    {
        core_.instr_gnt = instruction.granted;
        core_.data_gnt = data.granted;
        beside_.instruction = instruction;
        beside_.data = data;
        count_sleep();
        clock(1);
    }

    bool asleep() const override
    {
        return core_.asleep != 0;
    }

    std::uint32_t pc() const override
    {
        return core_.rootp->kdz_core__DOT__core__DOT__u_ibex_core__DOT__pc_id;
    }

    bool interrupts_on() const override
    {
        return core_.rootp
                   ->kdz_core__DOT__core__DOT__u_ibex_core__DOT__cs_registers_i__DOT__csr_mstatus_mie_o !=
               0;
    }

    bool shows_retired() const override
    {
        return true;
    }

    const Retired *retired() const override
    {
        return beside_.has_retired ? &beside_.retired : nullptr;
    }

    bool shows_calls() const override
    {
        return true;
    }

    /* retired() is one cycle late, and so what the instruction wrote is there. */
    Registers registers() const override
    {
        const auto &root = *core_.rootp;
        Registers now;
        now.ra =
            root.kdz_core__DOT__core__DOT__gen_regfile_ff__DOT__register_file_i__DOT__g_rf_flops__BRA__1__KET____DOT__rf_reg_q;
        now.sp =
            root.kdz_core__DOT__core__DOT__gen_regfile_ff__DOT__register_file_i__DOT__g_rf_flops__BRA__2__KET____DOT__rf_reg_q;
        now.mtvec =
            root.kdz_core__DOT__core__DOT__u_ibex_core__DOT__cs_registers_i__DOT__csr_mtvec_o;
        now.mepc = root.kdz_core__DOT__core__DOT__u_ibex_core__DOT__cs_registers_i__DOT__csr_mepc_o;
        /* Of Ibex's own form: external, internal, and five bits. */
        const std::uint32_t cause =
            root.kdz_core__DOT__core__DOT__u_ibex_core__DOT__cs_registers_i__DOT__mcause_q;
        now.mcause = ((cause & 0x60u) != 0 ? 0x80000000u : 0u) | (cause & 0x1fu);
        return now;
    }

    void skipped(std::uint64_t cycles) override
    {
        beside_.stopped += cycles;
    }

    void save(std::vector<std::uint8_t> &state) override
    {
        snapshots_.save(core_, beside_, state);
    }

    void restore(const std::vector<std::uint8_t> &state) override
    {
        snapshots_.restore(core_, beside_, state);
    }

    void debug_request(bool wanted) override
    {
        core_.debug_req = wanted;
    }

  private:
    /* Its clock, and with it mcycle, stands still while it sleeps. Before the clock rises, the
     * output tells whether the core will see it. */
    void count_sleep()
    {
        if (core_.asleep != 0) {
            beside_.stopped++;
        } else if (beside_.stopped != 0) {
            core_.rootp
                ->kdz_core__DOT__core__DOT__u_ibex_core__DOT__cs_registers_i__DOT__mcycle_counter_i__DOT__counter_q +=
                beside_.stopped;
            beside_.stopped = 0;
        }
    }

    /* The interface is one cycle late, and stands still while the core sleeps. MIE of the cycle
     * before is not yet changed by the instruction. */
    void look_at_retired()
    {
        beside_.has_retired = core_.retired != 0 && core_.retired_order != beside_.order;
        if (beside_.has_retired) {
            beside_.order = core_.retired_order;
            beside_.retired = {core_.retired_pc, beside_.interrupts_on, false};
        }
        beside_.interrupts_on = interrupts_on();
    }

    void clock(unsigned level)
    {
        core_.clk = level & 1u;
        core_.eval();
    }

    struct Beside {
        Answer instruction, data;
        Retired retired;
        bool has_retired = false, interrupts_on = false;
        std::uint64_t order = UINT64_MAX; /* of the instruction that retired last */
        std::uint64_t stopped = 0;        /* cycles that mcycle lacks */
    };

    Vcore core_;
    Beside beside_;
    Snapshots<Vcore, Beside> snapshots_;
};

} // namespace

std::unique_ptr<Core> make_core()
{
    return std::make_unique<Ibex>();
}

} // namespace kadenz
