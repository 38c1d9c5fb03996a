/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory with wait states, timer and software interrupts, console, and the register that ends a
 * run: the map of QEMU's machine `virt` by default, so that one image runs on both.
 */
#ifndef KADENZ_RTL_MACHINE_HPP
#define KADENZ_RTL_MACHINE_HPP

#include "core.hpp"
#include "paths.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace kadenz
{

struct Memory {
    std::string name; /* "rom" */
    std::uint32_t start = 0;
    std::uint32_t wait = 0; /* cycles that an access takes beyond the first */
    std::vector<std::uint8_t> bytes;
    bool shared = false;       /* one access at a time, of all buses; else one of each bus */
    std::uint64_t free_at = 0; /* the first cycle in which a shared one takes the next access */
};

struct Map {
    std::uint32_t uart = 0x10000000u;     /* transmit register of a 16550 */
    std::uint32_t clint = 0x02000000u;    /* msip, mtimecmp, mtime: SiFive's layout; and a line */
    std::uint32_t finisher = 0x00100000u; /* SiFive's test finisher */
    std::uint32_t locks = 0; /* a word each: a load that answers 1 has taken it, a store frees it */
};

/* A mark of the suite (suite/include/kadenz/clock.h), and the cycle in which it was stored. */
struct Mark {
    std::uint32_t value = 0; /* 0: none */
    std::uint64_t cycle = 0;
};
constexpr std::uint32_t BEGIN = 1u, END = 2u, HANDLED = 3u, RESPONDED = 4u;

/* A device beside those of the map. */
class Device
{
  public:
    virtual ~Device() = default;
    /* False where it has nothing: an access error. */
    virtual bool access(const Request &request, Answer &answer) = 0;
};

/* The `bytes` lowest bytes of a value, the lowest first. */
void put(std::FILE *file, std::uint64_t value, unsigned bytes);

class Machine
{
  public:
    Machine(std::vector<Memory> memories, Map map, unsigned cores, unsigned timer_divider);

    /* One cycle of all ports: two for each core, instructions before data. Of several that want a
     * shared memory one is served, in turn. */
    void cycle(const std::vector<Requests> &requests, std::vector<Answer> &answers);
    Interrupts interrupts(unsigned core) const;
    /* An access at once: of a debugger, too. */
    void perform(const Request &request, Answer &answer);
    void attach(Device &device)
    {
        attached_ = &device;
    }
    /* Devices as after power-on. Memory keeps its contents. */
    void reset();

    /* Cycles until two counts before the first timer interrupt, or until the line is raised; 0 if
     * that is near or past. */
    std::uint64_t until_timer() const;
    bool timer_set() const;
    void skip(std::uint64_t cycles)
    {
        now_ += cycles;
    }
    /* mtime stood still in the last cycle. */
    void hold()
    {
        held_++;
    }
    std::uint64_t now() const
    {
        return now_;
    }

    bool finished() const
    {
        return finished_;
    }
    int code() const
    {
        return code_;
    }
    std::uint64_t written() const
    {
        return written_;
    }
    std::uint32_t fault_address() const
    {
        return fault_address_;
    }

    Memory *memory_at(std::uint32_t address, std::uint32_t bytes);
    /* Stores to this word are written to `file` with their cycle, and with the misses that were
     * counted last if `with_misses`. */
    void watch(std::uint32_t address, std::FILE *file, bool with_misses);
    void end_watch();
    /* No store is written any more; marks are still seen. */
    void unwatch()
    {
        trace_ = nullptr;
    }
    /* The mark that was stored since the last call: two take more than a cycle. */
    Mark take_mark()
    {
        return std::exchange(mark_, Mark());
    }
    /* Raises a core's software interrupt, as a device does. */
    void raise(unsigned core)
    {
        msip_[core] = 1;
    }
    /* Whether a core has a software interrupt: one that is about to wake does not sleep on. */
    bool requested() const
    {
        return std::any_of(msip_.begin(), msip_.end(), [](auto word) { return (word & 1u) != 0; });
    }
    /* A word of memory now; 0 where there is none. */
    std::uint32_t word_at(std::uint32_t address);
    void counted(Misses misses)
    {
        misses_ = misses;
    }
    /* Marks and stores to watched words go to `paths` too. */
    void follow(Paths *paths)
    {
        paths_ = paths;
    }

  private:
    struct Port {
        bool busy = false;
        std::uint32_t left = 0;
        Request request;
    };

    bool take(Port &port, const Request &request);
    void serve(std::size_t number, const Request &request, Answer &answer);
    bool device(const Request &request, Answer &answer);
    std::uint32_t clint(std::uint32_t offset, const Request &request);
    std::uint32_t line(std::uint32_t offset, const Request &request);
    std::uint32_t lock(std::uint32_t offset, const Request &request);
    std::uint64_t mtime() const
    {
        return (now_ - held_) / divider_;
    }
    void mark(std::uint32_t value);
    void put_event(std::uint64_t count, std::uint32_t value);

    std::vector<Memory> memories_;
    Map map_;
    unsigned divider_;
    std::vector<Port> ports_;
    std::size_t first_ = 0; /* the port that is asked first in this cycle */
    std::size_t refused_ = 0;
    bool somebody_refused_ = false;
    std::uint32_t locked_ = 0; /* a bit each */
    std::vector<std::uint32_t> msip_;
    std::vector<std::uint64_t> mtimecmp_;
    /* A device that raises core 0's msip: a store of N to its word arms it for N cycles later; a
     * load tells the cycles since. */
    std::uint64_t line_at_ = UINT64_MAX;
    bool line_armed_ = false;
    std::uint64_t now_ = 0;
    std::uint64_t held_ = 0; /* cycles in which mtime stood still */
    Device *attached_ = nullptr;
    std::uint64_t written_ = 0; /* bytes of output */
    std::uint32_t fault_address_ = 0;
    bool finished_ = false;
    int code_ = 0;
    std::uint32_t watched_ = 0;
    std::FILE *trace_ = nullptr;
    std::uint64_t marks_ = 0;
    bool with_misses_ = false;
    Mark mark_;
    Misses misses_;
    Paths *paths_ = nullptr;
};

} // namespace kadenz

#endif
