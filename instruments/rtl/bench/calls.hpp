/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycles of each call of some functions, in a firmware that knows nothing of it: a file of
 * calls (instruments/calls/README.md). Which call is executed is decided there, by strands.c; this
 * is the processor that it asks.
 *
 * An instruction begins when the one before it has retired, and ends when it retires itself. A call
 * is from the begin of its first instruction to the begin of the one that it returns to. Cycles in
 * which the core waits for an interrupt belong to its `wfi`.
 */
#ifndef KADENZ_RTL_CALLS_HPP
#define KADENZ_RTL_CALLS_HPP

#include "arguments.hpp"
#include "core.hpp"
#include "machine.hpp"
#include "rows.h"
#include "strands.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kadenz
{

class Calls
{
  public:
    /* Of the arguments calls, functions, until, text, and symbols with flows. There is one for a
     * process. */
    Calls(const Arguments &arguments, Machine &machine);

    /* In the order of a cycle: what retired, then what memory did, then whether the core slept. */
    void retired(const Core &core, std::uint64_t cycle);
    void cycle();
    void slept(std::uint64_t cycles);

    /* Whether the instruction or the text has come that ends it. */
    bool ended() const
    {
        return ended_;
    }

    /* Instructions that have retired. */
    std::uint64_t instructions() const
    {
        return instructions_;
    }

    /* Writes the end; `otherwise` is why, if nothing of this has come. */
    void close(const Core &core, kdz_end otherwise);

  private:
    /* What an address is of a function, or of a span; the ends come first. */
    enum Kind { END, BEGIN, ENTRY };
    struct Role {
        Kind kind;
        std::uint32_t number;
    };

    void read_functions(const std::string &file);
    void add(std::uint64_t address, Role role);
    void next(std::uint32_t pc, std::uint64_t now);
    void follow_to(std::uint32_t pc, std::uint64_t now);
    bool is_entry(std::uint32_t pc) const;
    void enter(std::uint32_t pc, std::uint64_t now);

    Machine &machine_;
    std::unordered_map<std::uint32_t, std::vector<Role>> roles_;
    std::vector<kdz_code> code_;
    bool has_until_ = false, ended_ = false;
    std::uint32_t until_ = 0;
    std::string text_, heard_; /* the last bytes of the console */
    std::uint64_t written_ = 0;
    kdz_end why_ = KDZ_END_ITSELF;
    std::string flows_;                 /* the file of them; empty: none are kept */
    std::uint32_t symbol_ = 0;          /* of the last instruction */
    std::uint32_t pc_ = 0, behind_ = 0; /* of the last instruction, and behind it */
    std::uint64_t instructions_ = 0, last_ = 0, slept_ = 0;
    bool waits_ = false;    /* it was wfi */
    bool returned_ = false; /* from a trap */
    bool set_stack_ = false;
};

} // namespace kadenz

#endif
