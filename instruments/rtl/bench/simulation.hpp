/* SPDX-License-Identifier: Apache-2.0
 *
 * Equal cores and their machine, cycle by cycle. Idle time is skipped: while all cores wait for an
 * interrupt, time goes on to the next one of the timer.
 */
#ifndef KADENZ_RTL_SIMULATION_HPP
#define KADENZ_RTL_SIMULATION_HPP

#include "calls.hpp"
#include "core.hpp"
#include "machine.hpp"
#include "paths.hpp"

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kadenz
{

class Simulation
{
  public:
    Simulation(Machine machine, unsigned cores)
        : machine_(std::move(machine)), requests_(cores), answers_(2u * cores)
    {
        for (unsigned hart = 0; hart < cores; hart++) {
            cores_.push_back(make_core());
        }
        counts_misses_ = !cores_.empty() && cores_[0]->counts_misses();
    }

    Machine &machine()
    {
        return machine_;
    }

    std::size_t cores() const
    {
        return cores_.size();
    }

    Core &core(unsigned hart)
    {
        return *cores_[hart];
    }

    /* All cores begin at `entry`. */
    void reset(std::uint32_t entry)
    {
        for (unsigned hart = 0; hart < cores_.size(); hart++) {
            cores_[hart]->reset(hart, entry);
        }
        asleep_ = skipped_here_ = 0;
    }

    /* From now on what the core retires is written to `paths`. */
    void follow(Paths &paths)
    {
        if (cores_.size() != 1 || !cores_[0]->shows_retired()) {
            throw std::runtime_error("--paths: this core does not show what it retires");
        }
        paths_ = &paths;
        machine_.follow(&paths);
    }

    /* From now on its calls are counted. */
    void follow(Calls &calls)
    {
        if (cores_.size() != 1 || !cores_[0]->shows_calls()) {
            throw std::runtime_error("--calls: needs one core that shows its registers");
        }
        calls_ = &calls;
    }

    /* Whenever a sample begins, each core starts with these caches empty. */
    void flush_at_begin(Caches caches)
    {
        flushed_ = caches;
    }

    /* Whether the cores count the lines of their caches. */
    bool counts_misses() const
    {
        return counts_misses_;
    }

    /* Requests the software interrupt of a core; `flag`: a word that its handler looks at, 0 for
     * none. */
    void request(unsigned core, std::uint32_t flag)
    {
        if (flag != 0) {
            machine_.raise(core, flag);
        } else {
            machine_.raise(core);
        }
        if (paths_ != nullptr) {
            paths_->requested(machine_.now());
        }
    }

    /* The state of all. To go back to it, it must be an ancestor of the state at that time. */
    struct Snapshot {
        Machine::Snapshot machine;
        std::vector<std::vector<std::uint8_t>> cores;
        Mark mark;
        std::vector<Answer> answers;
        std::uint64_t clocked = 0, skipped = 0, asleep = 0, skipped_here = 0;
    };

    void keep(Snapshot &snapshot)
    {
        machine_.keep(snapshot.machine);
        snapshot.cores.resize(cores_.size());
        for (std::size_t i = 0; i < cores_.size(); i++) {
            cores_[i]->save(snapshot.cores[i]);
        }
        snapshot.mark = mark_;
        snapshot.answers = answers_;
        snapshot.clocked = clocked_;
        snapshot.skipped = skipped_;
        snapshot.asleep = asleep_;
        snapshot.skipped_here = skipped_here_;
    }

    void back(const Snapshot &snapshot)
    {
        machine_.back(snapshot.machine);
        for (std::size_t i = 0; i < cores_.size(); i++) {
            cores_[i]->restore(snapshot.cores[i]);
        }
        mark_ = snapshot.mark;
        answers_ = snapshot.answers;
        clocked_ = snapshot.clocked;
        skipped_ = snapshot.skipped;
        asleep_ = snapshot.asleep;
        skipped_here_ = snapshot.skipped_here;
    }

    void step()
    {
        bool asleep = true;
        for (unsigned i = 0; i < cores_.size(); i++) {
            requests_[i] = cores_[i]->low(machine_.interrupts(i));
        }
        if (counts_misses_) {
            count_misses();
        }
        if (paths_ != nullptr && cores_[0]->retired() != nullptr) {
            paths_->retired(*cores_[0]->retired(), machine_.now());
        }
        if (calls_ != nullptr && cores_[0]->retired() != nullptr) {
            calls_->retired(*cores_[0], machine_.now());
        }
        machine_.cycle(requests_, answers_);
        mark_ = machine_.take_mark();
        for (unsigned i = 0; i < cores_.size(); i++) {
            cores_[i]->high(answers_[2 * i], answers_[2 * i + 1]);
            if (mark_.value == BEGIN) {
                cores_[i]->flush(flushed_);
            }
            asleep = asleep && cores_[i]->asleep();
        }
        clocked_++;
        if (asleep && paths_ != nullptr) {
            paths_->slept(1);
        }
        if (calls_ != nullptr) {
            calls_->cycle();
            calls_->slept(asleep ? 1 : 0);
        }
        if (!asleep) {
            asleep_ = skipped_here_ = 0;
        } else if (++asleep_ >= ASLEEP_CYCLES && skipped_here_ == 0 && !machine_.requested()) {
            skip(machine_.until_timer());
        }
    }

    /* The mark of the last cycle. */
    Mark marked() const
    {
        return mark_;
    }

    std::uint64_t clocked() const
    {
        return clocked_;
    }
    std::uint64_t skipped() const
    {
        return skipped_;
    }
    /* Cycles since all cores wait. */
    std::uint64_t asleep() const
    {
        return asleep_;
    }

    void say_where() const
    {
        for (unsigned i = 0; i < cores_.size(); i++) {
            std::cerr << "core " << i << " pc 0x" << std::hex << cores_[i]->pc() << std::dec
                      << (cores_[i]->asleep() ? " asleep" : "") << '\n';
        }
        if (machine_.fault_address() != 0) {
            std::cerr << "last access without memory: 0x" << std::hex << machine_.fault_address()
                      << std::dec << '\n';
        }
    }

  private:
    static constexpr unsigned ASLEEP_CYCLES = 16; /* for so long: time may be skipped */

    void skip(std::uint64_t cycles)
    {
        machine_.skip(cycles);
        for (const auto &core : cores_) {
            core->skipped(cycles);
        }
        if (paths_ != nullptr) {
            paths_->slept(cycles);
        }
        if (calls_ != nullptr) {
            calls_->slept(cycles);
        }
        skipped_here_ = cycles;
        skipped_ += cycles;
    }

    void count_misses()
    {
        Misses all;
        for (const auto &core : cores_) {
            all.instruction += core->misses().instruction;
            all.data += core->misses().data;
        }
        machine_.counted(all);
    }

    Machine machine_;
    Mark mark_;
    bool counts_misses_ = false;
    Caches flushed_;
    Paths *paths_ = nullptr;
    Calls *calls_ = nullptr;
    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<Requests> requests_;
    std::vector<Answer> answers_;
    std::uint64_t clocked_ = 0, skipped_ = 0, asleep_ = 0, skipped_here_ = 0;
};

} // namespace kadenz

#endif
