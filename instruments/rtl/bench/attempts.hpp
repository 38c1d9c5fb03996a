/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes of an interrupt in a cycle: alone, to the end of the sample, or with a second one in
 * each cycle that can matter: a tick of the kernel, another request of its line, or the request of
 * another device that has the interrupt in common. The machine is where one of them may come first.
 * It comes, and from then on the other one is tried in every cycle, each in a state that is kept
 * before: the second until the thread has begun, the interrupt until the sample has ended. Of two
 * requests each is the interrupt once; a line that is still high has none. Of two devices it is
 * always the same one. On several cores the interrupt comes alone, and to one of them.
 *
 * Most of them meet the same state soon: while a core takes no interrupt, it makes no difference in
 * which cycle one came. So the state of the whole machine is compared, by a digest of 128 bits, in
 * the cycles from a request to the first one in which the core turns interrupts off. In an equal
 * state of the same cycle the marks come when they came before. How long mtime stood still is left
 * out of the digest, as long as nothing reads it and no second tick comes near.
 */
#ifndef KADENZ_RTL_ATTEMPTS_HPP
#define KADENZ_RTL_ATTEMPTS_HPP

#include "simulation.hpp"
#include "tried.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kadenz
{

/* First marks, in cycles of the machine, and how often they came; the thread's only behind the
 * handler's. */
struct Ends {
    std::uint64_t handler = 0, task = 0, end = 0;
    std::uint32_t handled = 0, responded = 0;

    void note(Mark mark);
};

/* The core that gets the interrupt of a sample. */
struct Interrupted {
    unsigned core;
    std::uint32_t flag; /* a word that its handler looks at; 0: none */
};
Interrupted interrupted_of(const Asked &asked, Mark begin, std::size_t cores);

class Attempts
{
  public:
    /* Of the process `number` of those that share `tried`. `begin`: of the sample, by the core that
     * runs it. */
    Attempts(Simulation &simulation, const Asked &asked, Mark begin, Tried &tried, unsigned number);
    /* An interrupt now; or all pairs of one and a second, whose first one comes now. */
    void now();

  private:
    enum Kind : unsigned { INTERRUPT, OTHER };

    struct Digest {
        std::uint64_t core = 0, machine = 0;
        bool operator==(const Digest &other) const
        {
            return core == other.core && machine == other.machine;
        }
    };
    struct Hash {
        std::size_t operator()(const Digest &digest) const
        {
            return static_cast<std::size_t>(digest.core ^ digest.machine);
        }
    };
    /* One that no other one follows: what came of it. */
    struct Last {
        std::uint64_t cycle;
        Met met;
        Ends ends;
        bool ended;
        std::uint32_t pc; /* where the core was last, if it came to no end */
    };
    /* From the first one on: digests of the cycles behind `from`, until it has been taken. */
    struct Line {
        std::uint64_t from = 0;
        std::vector<Digest> digests;
        std::vector<Last> seconds;
    };
    /* Marks from a state on: those of an outcome, but for those that came before the state. */
    struct Known {
        std::size_t outcome;
        std::uint32_t handled, responded;
    };
    /* When the core turns interrupts off for the first time. */
    class Fall
    {
      public:
        explicit Fall(const Core &core) : core_(core), on_(core.interrupts_on())
        {
        }
        bool came()
        {
            const bool before = on_;
            on_ = core_.interrupts_on();
            return before && !on_;
        }

      private:
        const Core &core_;
        bool on_;
    };

    void follow(Kind first);
    bool join(Line &line, const Line &known);
    Last raise_last(Kind kind, const Ends &before);
    bool run(Ends &ends, std::uint64_t request);
    bool are_all(const Ends &ends) const;
    bool look_up(Ends &ends, const Digest &digest) const;
    Met met() const;
    bool raise(Kind kind);
    bool is_over(Kind first, const Ends &ends) const;
    void account(Kind first, const Line &line, Met met);
    void enter(std::uint64_t interrupt, std::uint64_t second, const Last &last, Met met);
    Digest digest();
    void check_time();

    Simulation &simulation_;
    const Asked &asked_;
    std::uint64_t begin_;
    Interrupted interrupted_;
    Tried &tried_;
    Tried::Head &shared_;
    unsigned number_;
    bool by_time_;              /* states differ by how long mtime stood still */
    std::vector<Arrival> rows_; /* of this attempt */
    std::uint32_t lost_ = 0;    /* arrivals without an end, in it */
    Simulation::Snapshot outer_, inner_;
    Line last_[2]; /* of each kind: the last one that joined no other */
    std::unordered_map<Digest, Known, Hash> known_;
    std::vector<Ends> outcomes_;
    std::vector<std::uint8_t> bytes_;
    std::uint64_t deadline_ = 0; /* of the timer, before the tick */
    std::uint64_t tick_at_ = 0, looks_ = 0;
};

} // namespace kadenz

#endif
