// SPDX-License-Identifier: Apache-2.0
//
// The coherent VexRiscv cluster on the bench: one model with two cores inside. Each core fetches
// lines by a burst (BMB): the bench is asked for its words one by one. The data bus behind the
// coherence is Wishbone, and appears as that of core 0.
#include "core.hpp"

#include "Vcore.h"
#include "Vcore_Cluster.h"
#include "Vcore_VexRiscv.h"
#include "Vcore_VexRiscv_1.h"

#include <array>
#include <stdexcept>

namespace kadenz
{
namespace
{

constexpr unsigned CORES = 2;
constexpr unsigned WFI = 2;                        /* of EnvCtrlEnum in the Verilog */
constexpr std::uint32_t RESET_VECTOR = 0x80000080; /* as Cluster.scala has it */
constexpr unsigned RESET_CYCLES = 8;
constexpr unsigned HELD_CYCLES = 10'000; /* the cluster holds its own reset for about 4,200 */

/* Inputs and outputs of a core's fetch bus. */
struct Wires {
    CData *command_valid, *command_ready, *answer_valid, *answer_ready, *answer_last, *answer_error;
    IData *address, *data;
    CData *length;
    CData *software, *timer;
};

struct Inside {
    CData *valid, *control, *wake;
    IData *pc;
    QData *cycles;
};

template <class Module> Inside inside_of(Module &module)
{
    return {&module.execute_arbitration_isValid, &module.execute_ENV_CTRL,
            &module.execute_CsrPlugin_wfiWake, &module.decode_to_execute_PC,
            &module.CsrPlugin_mcycle};
}

/* A line on its way to a core: `wanted` words to be read, `owed` words to be given. */
struct Line {
    std::uint32_t address = 0, wanted = 0, owed = 0, word = 0;
    bool ready = false; /* `word` is offered to the core */
    bool error = false;
};

class Cluster
{
  public:
    Cluster()
        : wires_{{{&core_.fetch_0_cmd_valid, &core_.fetch_0_cmd_ready, &core_.fetch_0_rsp_valid,
                   &core_.fetch_0_rsp_ready, &core_.fetch_0_rsp_payload_last,
                   &core_.fetch_0_rsp_payload_fragment_opcode,
                   &core_.fetch_0_cmd_payload_fragment_address,
                   &core_.fetch_0_rsp_payload_fragment_data,
                   &core_.fetch_0_cmd_payload_fragment_length, &core_.software_0, &core_.timer_0},
                  {&core_.fetch_1_cmd_valid, &core_.fetch_1_cmd_ready, &core_.fetch_1_rsp_valid,
                   &core_.fetch_1_rsp_ready, &core_.fetch_1_rsp_payload_last,
                   &core_.fetch_1_rsp_payload_fragment_opcode,
                   &core_.fetch_1_cmd_payload_fragment_address,
                   &core_.fetch_1_rsp_payload_fragment_data,
                   &core_.fetch_1_cmd_payload_fragment_length, &core_.software_1, &core_.timer_1}}},
          inside_{inside_of(*core_.Cluster->body_cores_0_cpu_logic_cpu),
                  inside_of(*core_.Cluster->body_cores_1_cpu_logic_cpu)}
    {
    }

    void reset(std::uint32_t entry)
    {
        if (entry != RESET_VECTOR) {
            throw std::runtime_error("the image does not begin at 0x80000080, as this core does");
        }
        core_.body_debugCd_external_reset = 1;
        for (unsigned i = 0; i < RESET_CYCLES; i++) {
            clock(0);
            clock(1);
        }
        core_.body_debugCd_external_reset = 0;
        for (unsigned i = 0; i < HELD_CYCLES; i++) { /* until the first core fetches */
            clock(0);
            if (core_.fetch_0_cmd_valid != 0 || core_.fetch_1_cmd_valid != 0) {
                return;
            }
            clock(1);
        }
        throw std::runtime_error("the cluster does not leave its reset");
    }

    /* All inputs of the cycle; interrupts of core 1 are those that it had in the cycle before. */
    void low()
    {
        for (unsigned i = 0; i < CORES; i++) {
            const Line &line = lines_[i];
            *wires_[i].command_ready = line.owed == 0;
            *wires_[i].answer_valid = line.ready;
            *wires_[i].answer_last = line.owed == 1;
            *wires_[i].answer_error = line.error;
            *wires_[i].data = line.word;
        }
        core_.data_ACK = core_.data_ERR = 0;
        clock(0);
    }

    Request fetch(unsigned number) const
    {
        const Line &line = lines_[number];
        Request request;
        request.valid = line.wanted != 0 && (!line.ready || *wires_[number].answer_ready != 0);
        request.address = line.address;
        return request;
    }

    Request data() const
    {
        Request request;
        request.valid = core_.data_CYC != 0 && core_.data_STB != 0;
        request.write = core_.data_WE != 0;
        request.lanes = core_.data_SEL;
        request.address = core_.data_ADR << 2u;
        request.data = core_.data_DAT_MOSI;
        return request;
    }

    void fetched(unsigned number, const Answer &answer)
    {
        Line &line = lines_[number];
        const Wires &wires = wires_[number];
        if (line.ready && *wires.answer_ready != 0) {
            line.ready = false;
            line.owed--;
        }
        if (answer.answered) {
            line.word = answer.data;
            line.error = answer.error;
            line.ready = true;
            line.address += 4u;
            line.wanted--;
        }
        if (*wires.command_valid != 0 && *wires.command_ready != 0) {
            line.address = *wires.address;
            line.wanted = line.owed = (*wires.length + 1u) / 4u;
        }
    }

    /* Of the one data bus; the core sees it when the clock rises. */
    void answer(const Answer &data)
    {
        core_.data_ACK = data.answered && !data.error;
        core_.data_ERR = data.answered && data.error;
        core_.data_DAT_MISO = data.data;
    }

    void high()
    {
        clock(1);
    }

    void interrupt(unsigned number, Interrupts interrupts)
    {
        *wires_[number].software = interrupts.software;
        *wires_[number].timer = interrupts.timer;
    }

    const Inside &inside(unsigned number) const
    {
        return inside_[number];
    }

    bool fetching(unsigned number) const
    {
        return lines_[number].owed != 0;
    }

  private:
    void clock(unsigned level)
    {
        core_.body_debugCd_external_clk = level & 1u;
        core_.eval();
    }

    Vcore core_;
    std::array<Wires, CORES> wires_;
    std::array<Inside, CORES> inside_;
    std::array<Line, CORES> lines_;
};

/* One of its cores. The bench calls them in turn: the first lets the clock fall, the last rise. */
class Part final : public Core
{
  public:
    Part(std::shared_ptr<Cluster> cluster, unsigned number)
        : cluster_(std::move(cluster)), number_(number)
    {
    }

    void reset(std::uint32_t hart, std::uint32_t entry) override
    {
        if (hart == 0) {
            cluster_->reset(entry);
        }
    }

    Requests low(Interrupts interrupts) override
    {
        cluster_->interrupt(number_, interrupts);
        Requests requests;
        if (number_ == 0) {
            cluster_->low();
            requests.data = cluster_->data();
        }
        requests.instruction = cluster_->fetch(number_);
        return requests;
    }

    void high(const Answer &instruction, const Answer &data) override
    {
        if (number_ == 0) {
            cluster_->answer(data);
        }
        cluster_->fetched(number_, instruction);
        if (number_ + 1 == CORES) {
            cluster_->high();
        }
    }

    bool asleep() const override
    {
        const Inside &inside = cluster_->inside(number_);
        return *inside.valid != 0 && *inside.control == WFI && *inside.wake == 0 &&
               !cluster_->fetching(number_);
    }

    std::uint32_t pc() const override
    {
        return *cluster_->inside(number_).pc;
    }

    /* Its clock runs on while it waits. */
    void skipped(std::uint64_t cycles) override
    {
        *cluster_->inside(number_).cycles += cycles;
    }

  private:
    std::shared_ptr<Cluster> cluster_;
    unsigned number_;
};

} // namespace

/* The bench makes its cores in the order of their numbers. They own the cluster together: it must
 * not outlive main, when Verilator's own objects are gone. */
std::unique_ptr<Core> make_core()
{
    static std::weak_ptr<Cluster> known;
    static unsigned made = 0;
    if (made == CORES) {
        throw std::runtime_error("the cluster has two cores");
    }
    const std::shared_ptr<Cluster> cluster = made == 0 ? std::make_shared<Cluster>() : known.lock();
    known = cluster;
    return std::make_unique<Part>(cluster, made++);
}

} // namespace kadenz
