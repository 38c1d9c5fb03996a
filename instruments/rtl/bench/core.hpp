/* SPDX-License-Identifier: Apache-2.0
 *
 * What a verilated core shows to the bench. A folder of cores/ implements it for its bus.
 *
 * A clock cycle has two halves. low() gives the core the answers of the cycle before and its
 * interrupts, and returns what it asks of memory. high() gives it what memory says now, and lets
 * the clock rise.
 */
#ifndef KADENZ_RTL_CORE_HPP
#define KADENZ_RTL_CORE_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace kadenz
{

struct Request {
    bool valid = false;
    bool write = false;
    std::uint8_t lanes = 0xf; /* bytes of the word that are written */
    std::uint32_t address = 0;
    std::uint32_t data = 0;
};

struct Answer {
    bool granted = false;  /* taken in this cycle */
    bool answered = false; /* `data` and `error` are valid in this cycle */
    bool error = false;
    std::uint32_t data = 0;
};

struct Requests {
    Request instruction;
    Request data;
};

struct Interrupts {
    bool software = false;
    bool timer = false;
};

/* An instruction that has left the pipeline. */
struct Retired {
    std::uint32_t pc = 0;
    bool interrupts_on = false; /* mstatus.MIE before it */
    bool behind_trap = false;   /* the one before it trapped, and did not retire */
};

/* What tells which call is executed: registers behind the instruction that retired last. */
struct Registers {
    std::uint32_t ra = 0, sp = 0;
    std::uint32_t mtvec = 0, mepc = 0, mcause = 0;
};

/* The caches of a core that an order is for. */
struct Caches {
    bool instruction = false;
    bool data = false;
};

/* Lines that have come into the caches, whether the core needed them in the end or not. */
struct Misses {
    std::uint64_t instruction = 0;
    std::uint64_t data = 0;
};

class Core
{
  public:
    virtual ~Core() = default;
    virtual void reset(std::uint32_t hart, std::uint32_t entry) = 0;
    virtual Requests low(Interrupts interrupts) = 0;
    virtual void high(const Answer &instruction, const Answer &data) = 0;
    /* Waits for an interrupt, and nothing else happens in it. */
    virtual bool asleep() const = 0;
    virtual std::uint32_t pc() const = 0;
    /* Whether it takes interrupts now (mstatus.MIE). */
    virtual bool interrupts_on() const
    {
        return false;
    }
    /* Whether what retires is always shown as many cycles after a store acts on memory
     * (`retires` in core.toml). */
    virtual bool shows_retired() const
    {
        return false;
    }
    /* After low(): what retired in the last cycle; null: nothing. */
    virtual const Retired *retired() const
    {
        return nullptr;
    }
    /* Whether it has retired() and registers() (`calls` in core.toml). */
    virtual bool shows_calls() const
    {
        return false;
    }
    /* After low(). */
    virtual Registers registers() const
    {
        return {};
    }
    /* Whether it counts the lines of its caches (`misses` in core.toml). */
    virtual bool counts_misses() const
    {
        return false;
    }
    /* After low(): the lines that came in the cycles before. */
    virtual Misses misses() const
    {
        return {};
    }
    /* Makes lines of its caches invalid. Both write through, so that nothing is lost. */
    virtual void flush(Caches caches)
    {
        (void)caches;
    }
    /* Time jumped ahead by `cycles` while it slept. When it wakes, its mcycle has counted
     * them, and the cycles in which its clock stood still: mcycle of all cores stays in step. */
    virtual void skipped(std::uint64_t cycles) = 0;
    /* Its whole state as bytes, equal for equal states; and back. */
    virtual void save(std::vector<std::uint8_t> &state)
    {
        (void)state;
        throw std::runtime_error("this core cannot be copied");
    }
    virtual void restore(const std::vector<std::uint8_t> &state)
    {
        (void)state;
    }
    /* A debug module wants it in debug mode. A core without one is never asked. */
    virtual void debug_request(bool wanted)
    {
        (void)wanted;
    }
};

std::unique_ptr<Core> make_core();

} // namespace kadenz

#endif
