/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample with an interrupt in every cycle of it: before each cycle the machine's state is kept,
 * the software interrupt is raised, the machine runs on until the sample's end and until the
 * handler and the thread that it wakes have begun, and goes back to the state that was kept. Of
 * several cores the one that stored BEGIN gets the interrupt, or the next one. With a
 * tick or another request as well, all pairs are tried (attempts.hpp). The suite's half is
 * suite/core/arrivals.c. A single arrival can also be raised in the machine itself: its marks are
 * in the trace then.
 *
 * Processes of their own do this, one for each processor, while the simulation waits at the end of
 * the sample. Each of them runs through the whole sample, and takes the cycles that no other one
 * has taken. One that crashes costs the arrival that it tried; another goes on behind it. What they
 * have tried may be in a file, and a later bench goes on with it (tried.hpp).
 *
 * The file, little-endian: "KDZARRIV", u32 version, u32 bytes of this header (40), u32 bytes of a
 * row, u32 enum Extent, u64 cycles of the sample, u64 cycles between two arrivals that were tried;
 * then the rows of the arrivals that were tried, in their order. An arrival that has no row met a
 * core that slept, and time that was skipped.
 */
#ifndef KADENZ_RTL_ARRIVALS_HPP
#define KADENZ_RTL_ARRIVALS_HPP

#include "attempts.hpp"
#include "simulation.hpp"
#include "tried.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include <sys/types.h>

namespace kadenz
{

class Arrivals
{
  public:
    /* What of the sample was tried: it was cut off, it was seen to its end, it was seen to its end
     * and too many arrivals had none, or it has a tick itself and was to be tried with one. */
    enum Extent : std::uint32_t { CUT_OFF, TRIED, GIVEN_UP, HAS_TICK };
    /* `tried`: file of the arrivals that are tried, "" for none. */
    Arrivals(Simulation &simulation, const Asked &asked, const std::string &tried);
    ~Arrivals();
    Arrivals(const Arrivals &) = delete;
    Arrivals &operator=(const Arrivals &) = delete;

    /* A cycle of the simulation. At the end of the sample it waits for all arrivals, unless
     * `stopped`. */
    void step(const std::function<bool()> &stopped);
    /* Writes the rows. */
    void close(std::FILE *file);

  private:
    /* The cycle of an arrival, and where the core was then; 0: none yet. */
    struct Attempt {
        std::uint32_t phase, pc;
    };

    Interrupted interrupted() const;
    void raise_only(std::uint64_t phase);
    void start();
    [[noreturn]] void manage();
    void try_all();
    pid_t fork_one(unsigned number);
    [[noreturn]] void walk(unsigned number);
    void wait(const std::function<bool()> &stopped);
    void end_processes();

    Simulation &simulation_;
    Asked asked_;
    unsigned processes_;
    /* Shared with the processes: what they have tried, the owners of the cycles, and what each one
     * tries. */
    Tried tried_;
    std::atomic<std::uint8_t> *taken_;
    Attempt *attempts_;
    pid_t manager_ = 0;
    std::uint64_t seen_ = 0; /* BEGINs */
    Mark begin_;
    std::uint64_t cycles_ = 0;
    std::uint64_t planned_ = 0;  /* arrivals */
    std::uint64_t deadline_ = 0; /* of the timer, at BEGIN */
    bool open_ = false, whole_ = false;
};

} // namespace kadenz

#endif
