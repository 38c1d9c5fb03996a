/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample with an interrupt in every cycle of it: before each cycle the process forks, the child
 * raises the software interrupt, runs on until the sample's end and until the handler and the
 * thread that it wakes have begun, and leaves a row. The parent goes on as if nothing had been.
 * The suite's half is suite/core/arrivals.c. A single arrival can also be raised in the machine
 * itself: its marks are in the trace then.
 *
 * The file, little-endian: "KDZARRIV", u32 version, u32 bytes of this header (40), u32 bytes of a
 * row, u32 enum Extent, u64 cycles of the sample, u64 cycles between two
 * arrivals that were tried; then the rows of the arrivals that were tried, in their order. An
 * arrival that has no row met a core that slept, and time that was skipped.
 */
#ifndef KADENZ_RTL_ARRIVALS_HPP
#define KADENZ_RTL_ARRIVALS_HPP

#include "simulation.hpp"

#include <cstdint>
#include <cstdio>
#include <map>

#include <sys/types.h>

namespace kadenz
{

struct Arrival {
    std::uint32_t phase; /* cycles after BEGIN in which the line rises: 1 … cycles of the sample */
    std::uint32_t state;         /* enum State */
    std::uint32_t pc;            /* then; where the child was last, if it did not come to its end */
    std::uint32_t masked;        /* 1: the core took no interrupt then */
    std::uint32_t locked;        /* the word that was named, then */
    std::uint32_t handler, task; /* cycles to their marks */
    std::uint32_t end;           /* cycles from BEGIN to END */
    std::uint32_t handled, responded; /* how often, until all three have come */
};

class Arrivals
{
  public:
    /* What of the sample was tried: it was cut off, it was seen to its end, or it was seen to its
     * end and too many arrivals had none. */
    enum Extent : std::uint32_t { CUT_OFF, TRIED, GIVEN_UP };
    enum State : std::uint32_t { RUNS, WHOLE, UNENDED, CRASHED };

    struct Asked {
        std::uint64_t sample = 0; /* from 0: which BEGIN */
        std::uint64_t step = 1;   /* cycles between two arrivals */
        std::uint32_t lock = 0;   /* address of a word that rows show */
        std::uint64_t only = 0;   /* this arrival alone, and in the machine itself; 0: all */
    };

    Arrivals(Simulation &simulation, const Asked &asked);
    ~Arrivals();
    Arrivals(const Arrivals &) = delete;
    Arrivals &operator=(const Arrivals &) = delete;

    /* A cycle of the simulation, and of each child that begins before it. */
    void step();
    /* Waits for the children and writes their rows. */
    void close(std::FILE *file);

  private:
    void attempt();
    [[noreturn]] void be_child(Arrival &row);
    void wait_for_one();
    bool give_up();

    Simulation &simulation_;
    Asked asked_;
    Arrival *rows_; /* shared with the children */
    std::uint32_t count_ = 0, lost_ = 0;
    std::uint64_t seen_ = 0; /* BEGINs */
    std::uint64_t begin_ = 0, cycles_ = 0;
    bool open_ = false, whole_ = false;
    unsigned most_;                           /* children at a time */
    std::map<pid_t, std::uint32_t> children_; /* the row of each */
};

} // namespace kadenz

#endif
