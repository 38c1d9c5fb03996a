/* SPDX-License-Identifier: Apache-2.0
 *
 * An interrupt in a cycle of a sample: what is tried, and what came of it. Arrival is a row of the
 * file that arrivals.hpp describes.
 */
#ifndef KADENZ_RTL_ARRIVAL_HPP
#define KADENZ_RTL_ARRIVAL_HPP

#include <cstddef>
#include <cstdint>

namespace kadenz
{

constexpr std::size_t MOST_ROWS = 1u << 20u;
/* From its request on an arrival runs for so long and the length of the sample, at most. */
constexpr std::uint64_t MOST_CYCLES = 1'000'000;
/* After this number of arrivals without an end no further one is tried: each takes time. */
constexpr std::uint32_t MOST_LOST = 8;

/* Exit codes of a process that tries arrivals: it cannot fork, has more rows than that, or the disk
 * has no room for them. */
constexpr int EXIT_FORK = 2, EXIT_ROWS = 3, EXIT_FULL = 4;

/* What else comes, before an arrival or behind it: a tick of the kernel, another request of the
 * same line, or the request of another device that has the interrupt in common. */
enum Second : std::uint32_t { NONE, TICK, REQUEST, DEVICE };

/* Which arrivals are tried, and how. */
struct Asked {
    std::uint64_t sample = 0;      /* from 0: which BEGIN */
    std::uint64_t step = 1;        /* cycles between two arrivals */
    std::uint32_t lock = 0;        /* address of a word that rows show */
    Second second = NONE;          /* with this in each cycle, too */
    std::uint64_t only = 0;        /* this arrival alone, and in the machine itself; 0: all */
    std::uint64_t only_second = 0; /* with the second in this cycle; 0: without */
    /* Of several cores: the word of core 0 that tells the handler that the interrupt is no call of
     * another core, and the bytes from each core's word to the next one's. 0: there is none. */
    std::uint32_t flag = 0, flags_apart = 0;
    std::uint32_t elsewhere = 0; /* 1: the core behind the one that runs the service gets it */

    bool operator==(const Asked &other) const
    {
        return sample == other.sample && step == other.step && lock == other.lock &&
               second == other.second && only == other.only && only_second == other.only_second &&
               flag == other.flag && flags_apart == other.flags_apart &&
               elsewhere == other.elsewhere;
    }
};

/* What an arrival met. */
struct Met {
    std::uint32_t pc;
    std::uint32_t masked; /* 1: the core took no interrupt */
    std::uint32_t locked; /* the word that was named */
};

/* Of one mark: the most cycles from the request, over all seconds; that with which they came, in
 * cycles after BEGIN, 0 without one; and what the arrival met then. */
struct Latency {
    std::uint32_t cycles, second;
    Met met;

    /* The larger one; of two that are equal, that with the earlier second. */
    void add(const Latency &other)
    {
        if (other.cycles > cycles || (other.cycles == cycles && other.second < second)) {
            *this = other;
        }
    }
};

struct Arrival {
    enum State : std::uint32_t { NOT_TRIED, WHOLE, UNENDED, CRASHED };

    std::uint32_t phase; /* cycles after BEGIN in which the line rises, from 1 on */
    std::uint32_t state; /* enum State */
    std::uint32_t last;  /* where the core was last, if it came to no end; before a crash */
    std::uint32_t end;   /* cycles from BEGIN to END; 0 with seconds */
    std::uint32_t handled, responded; /* how often, until all have come; of pairs the most */
    std::uint32_t seconds;            /* that were tried with it */
    Latency handler, task;

    /* Of another second, or of another process. */
    void add(const Arrival &other);
};

} // namespace kadenz

#endif
