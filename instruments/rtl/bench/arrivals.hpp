/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample with an interrupt in every cycle of it: before each cycle the machine's state is kept,
 * the software interrupt is raised, the machine runs on until the sample's end and until the
 * handler and the thread that it wakes have begun, and goes back to the state that was kept. With a
 * tick as well, all pairs are tried (attempts.hpp). The suite's half is suite/core/arrivals.c. A
 * single arrival can also be raised in the machine itself: its marks are in the trace then.
 *
 * Processes of their own do this, one for each processor, while the simulation waits at the end of
 * the sample. Each of them runs through the whole sample, and takes the cycles that no other one
 * has taken. One that crashes costs the arrival that it tried; another goes on behind it.
 *
 * The file, little-endian: "KDZARRIV", u32 version, u32 bytes of this header (40), u32 bytes of a
 * row, u32 enum Extent, u64 cycles of the sample, u64 cycles between two arrivals that were tried;
 * then the rows of the arrivals that were tried, in their order. An arrival that has no row met a
 * core that slept, and time that was skipped.
 */
#ifndef KADENZ_RTL_ARRIVALS_HPP
#define KADENZ_RTL_ARRIVALS_HPP

#include "simulation.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include <sys/types.h>

namespace kadenz
{

/* What an arrival met. */
struct Met {
    std::uint32_t pc;
    std::uint32_t masked; /* 1: the core took no interrupt */
    std::uint32_t locked; /* the word that was named */
};

/* Of one mark: the most cycles from the request, over all
 * ticks; the tick with which they came, in
 * cycles after BEGIN, 0 without one; and what the arrival met then. */
struct Latency {
    std::uint32_t cycles, tick;
    Met met;

    /* The larger one; of two that are equal, that with the earlier tick. */
    void add(const Latency &other)
    {
        if (other.cycles > cycles || (other.cycles == cycles && other.tick < tick)) {
            *this = other;
        }
    }
};

struct Arrival {
    std::uint32_t phase; /* cycles after BEGIN in which the line rises, from 1 on */
    std::uint32_t state; /* enum State */
    std::uint32_t last;  /* where the core was last, if it came to no end; before a crash */
    std::uint32_t end;   /* cycles from BEGIN to END; 0 with ticks */
    std::uint32_t handled, responded; /* how often, until all have come; with ticks at most */
    std::uint32_t ticks;              /* that were tried with it */
    Latency handler, task;

    /* Of another tick, or of another process. */
    void add(const Arrival &other);
};

class Arrivals
{
  public:
    /* What of the sample was tried: it was cut off, it was seen to its end, it was seen to its end
     * and too many arrivals had none, or it has a tick itself and was to be tried with one. */
    enum Extent : std::uint32_t { CUT_OFF, TRIED, GIVEN_UP, HAS_TICK };
    enum State : std::uint32_t { NOT_TRIED, WHOLE, UNENDED, CRASHED };
    static constexpr std::size_t MOST_ROWS = 1u << 20u;
    /* From its request on an arrival runs for so long and the length of the sample, at most. */
    static constexpr std::uint64_t MOST_CYCLES = 1'000'000;
    /* After this number of arrivals without an end no further one is tried: each takes time. */
    static constexpr std::uint32_t MOST_LOST = 8;
    static constexpr int EXIT_ROWS = 3; /* of a process: more rows than that */

    struct Asked {
        std::uint64_t sample = 0;    /* from 0: which BEGIN */
        std::uint64_t step = 1;      /* cycles between two arrivals */
        std::uint32_t lock = 0;      /* address of a word that rows show */
        bool ticks = false;          /* with a tick in each cycle, too */
        std::uint64_t only = 0;      /* this arrival alone, and in the machine itself; 0: all */
        std::uint64_t only_tick = 0; /* with a tick in this cycle; 0: without */
    };

    Arrivals(Simulation &simulation, const Asked &asked);
    ~Arrivals();
    Arrivals(const Arrivals &) = delete;
    Arrivals &operator=(const Arrivals &) = delete;

    /* A cycle of the simulation. At the end of the sample it waits for all arrivals, unless
     * `stopped`. */
    void step(const std::function<bool()> &stopped);
    /* Writes the rows. */
    void close(std::FILE *file);

    /* Memory that all processes share. */
    struct Shared {
        std::atomic<std::uint32_t> lost;  /* arrivals without an end */
        std::atomic<std::uint32_t> timed; /* what follows a tick depends on its moment */
        std::atomic<std::uint32_t> has_tick;
        std::atomic<std::uint64_t> longest; /* last cycle of the sample after BEGIN, with a tick */
    };

  private:
    void raise_only(std::uint64_t phase);
    void start();
    [[noreturn]] void manage();
    void try_all(bool by_time);
    pid_t fork_one(unsigned number, bool by_time);
    [[noreturn]] void walk(unsigned number, bool by_time);
    void wait(const std::function<bool()> &stopped);
    void end_processes();
    std::size_t used_rows() const;
    std::vector<Arrival> rows() const;

    Simulation &simulation_;
    Asked asked_;
    unsigned processes_;
    /* Shared with the processes: counts, the owners of the cycles, the phase that each one tries,
     * and rows of each one. */
    Shared *shared_;
    std::atomic<std::uint8_t> *taken_;
    std::uint32_t *tries_;
    Arrival *rows_;
    pid_t manager_ = 0;
    std::uint64_t seen_ = 0; /* BEGINs */
    std::uint64_t begin_ = 0, cycles_ = 0;
    std::uint64_t deadline_ = 0; /* of the timer, at BEGIN */
    bool open_ = false, whole_ = false;
};

} // namespace kadenz

#endif
