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
    bool shared = false; /* one access at a time, of all buses; else one of each bus */
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
    unsigned core = 0; /* whose bus stored it */
};
constexpr std::uint32_t BEGIN = 1u, END = 2u, HANDLED = 3u, RESPONDED = 4u;
/* HANDLED, in a handler that serves the other device: no target stores it. */
constexpr std::uint32_t OTHER_HANDLED = 5u;

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

/* What of a machine changes while it runs, but for the bytes of its memories. */
struct MachineState {
    struct Port {
        bool busy = false;
        std::uint32_t left = 0;
        Request request;
    };

    std::vector<Port> ports;
    std::vector<std::uint64_t>
        free_at;              /* of each memory: when a shared one takes an access again */
    std::size_t first = 0;    /* the port that is asked first in this cycle */
    std::uint32_t locked = 0; /* a bit each */
    std::vector<std::uint32_t> msip;
    std::vector<std::uint64_t> mtimecmp;
    /* A device that raises core 0's msip: a store of N to its word arms it for N cycles later; a
     * load tells the cycles since. */
    std::uint64_t line_at = UINT64_MAX;
    bool line_armed = false;
    /* Another device that has core 0's software interrupt in common. An acknowledgement is of its
     * request, where it has one; the next handler's mark is then of this device. */
    bool other_waits = false, other_served = false;
    std::uint64_t now = 0;
    std::uint64_t held = 0;    /* cycles in which mtime stood still */
    std::uint64_t written = 0; /* bytes of output */
    std::uint32_t fault_address = 0;
    bool finished = false;
    int code = 0;
    Mark mark;
    Misses misses;
    std::uint64_t contents = 0; /* a digest of the stores to memory: of what they left there */
    std::uint64_t looks = 0;    /* loads of mtime */
};

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
        state_.now += cycles;
    }
    /* mtime stood still in the last cycle. */
    void hold()
    {
        state_.held++;
    }
    std::uint64_t now() const
    {
        return state_.now;
    }

    bool finished() const
    {
        return state_.finished;
    }
    int code() const
    {
        return state_.code;
    }
    std::uint64_t written() const
    {
        return state_.written;
    }
    std::uint8_t last_written() const
    {
        return last_written_;
    }
    std::uint32_t fault_address() const
    {
        return state_.fault_address;
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
        return std::exchange(state_.mark, Mark());
    }
    /* Raises a core's software interrupt, as a device does. */
    void raise(unsigned core)
    {
        state_.msip[core] = 1;
    }
    /* The same where the handler looks for a reason: a device stores 1 to this word before. */
    void raise(unsigned core, std::uint32_t flag)
    {
        Request request;
        request.valid = request.write = true;
        request.address = flag;
        request.data = 1;
        Answer answer;
        perform(request, answer);
        raise(core);
    }
    /* The same for the other device of core 0's. */
    void raise_other()
    {
        state_.other_waits = true;
    }
    /* Whether a core has a software interrupt: one that is about to wake does not sleep on. */
    bool requested() const
    {
        return state_.other_waits || std::any_of(state_.msip.begin(), state_.msip.end(),
                                                 [](auto word) { return (word & 1u) != 0; });
    }
    /* A word of memory now; 0 where there is none. */
    std::uint32_t word_at(std::uint32_t address);
    void counted(Misses misses)
    {
        state_.misses = misses;
    }
    /* Marks and stores to watched words go to `paths` too. */
    void follow(Paths *paths)
    {
        paths_ = paths;
    }

    /* Its state now. To go back to it, it must be an ancestor of the state at that time: a state
     * that was kept later is lost then. */
    struct Snapshot {
        MachineState state;
        std::size_t stores = 0;
    };
    void keep(Snapshot &snapshot);
    void back(const Snapshot &snapshot);
    /* Lets the timer of core 0 come now: time goes on from its moment, or was held until now. False
     * if it is not set, or past. */
    bool tick();
    /* Digest of the whole state; `with_held`: of how long mtime stood still, too. */
    std::uint64_t digest(bool with_held) const;
    /* Ticks of mtime in some cycles. */
    std::uint64_t ticks_in(std::uint64_t cycles) const
    {
        return cycles / divider_;
    }
    /* Loads of mtime so far. */
    std::uint64_t looks() const
    {
        return state_.looks;
    }
    /* The moment of core 0's next timer interrupt, as it is written in its register. */
    std::uint64_t deadline() const
    {
        return state_.mtimecmp[0];
    }

  private:
    using Port = MachineState::Port;

    struct Before { /* a word of memory before a store */
        std::uint8_t *place;
        std::uint32_t word;
    };

    bool take(Port &port, const Request &request);
    void serve(std::size_t number, const Request &request, Answer &answer);
    bool device(const Request &request, Answer &answer);
    std::uint32_t clint(std::uint32_t offset, const Request &request);
    std::uint32_t msip(std::size_t core, const Request &request);
    std::uint32_t line(std::uint32_t offset, const Request &request);
    std::uint32_t lock(std::uint32_t offset, const Request &request);
    std::uint64_t mtime() const
    {
        return (state_.now - state_.held) / divider_;
    }
    void mark(std::uint32_t value);
    void put_event(std::uint64_t count, std::uint32_t value);

    std::vector<Memory> memories_;
    Map map_;
    unsigned divider_;
    MachineState state_;
    std::size_t refused_ = 0;
    unsigned serving_ = 0; /* the core of the port that is served */
    bool somebody_refused_ = false;
    Device *attached_ = nullptr;
    std::uint32_t watched_ = 0;
    std::FILE *trace_ = nullptr;
    std::uint64_t marks_ = 0;
    std::uint8_t last_written_ = 0;
    bool with_misses_ = false;
    Paths *paths_ = nullptr;
    bool keeps_ = false; /* what stores overwrite */
    std::vector<Before> before_;
};

} // namespace kadenz

#endif
