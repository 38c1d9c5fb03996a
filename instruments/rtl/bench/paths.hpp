/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core retires from BEGIN to END, with its cycles: a paths file as the scope writes it
 * (instruments/scope/README.md), in which each run is one instruction. Or what it retires from the
 * request of an interrupt to a mark.
 *
 * The cycles of an instruction end when it retires. Those in which the core sleeps belong to the
 * instruction before, which waits. A store acts on memory before it retires: a mark or a watched
 * word belongs to the next instruction that retires.
 */
#ifndef KADENZ_RTL_PATHS_HPP
#define KADENZ_RTL_PATHS_HPP

#include "core.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

namespace kadenz
{

class Paths
{
  public:
    explicit Paths(std::FILE *file);
    /* Stores to this word become tokens. */
    void watch(std::uint32_t address, std::uint32_t value);
    /* The one region begins with the request of an interrupt, and ends at this mark. */
    void follow_request(std::uint32_t mark);

    /* In the order of a cycle: what retired, then what memory did, then whether it slept. */
    void retired(const Retired &instruction, std::uint64_t cycle);
    void marked(std::uint32_t mark, std::uint64_t cycle);
    void stored(std::uint32_t address, std::uint32_t value);
    void slept(std::uint64_t cycles);
    /* The interrupt is requested; before what retires in this cycle. */
    void requested(std::uint64_t cycle);

    void close();

  private:
    using Token = std::array<std::uint64_t, 3>; /* kind and instructions, clock, value */
    using Piece = std::vector<std::uint32_t>;
    struct Word {
        std::uint32_t address, value;
    };

    void begin(std::uint64_t at);
    void end();
    void release();
    void append(std::uint32_t kind, std::uint32_t instructions, std::uint64_t clock,
                std::uint64_t value);
    void end_piece();
    void flush();
    void put(std::uint32_t kind, const std::vector<std::uint32_t> &words);
    void put_end(std::uint32_t kind, std::uint64_t cycle);
    bool opens(std::uint32_t mark) const;
    bool closes(std::uint32_t mark) const;

    std::FILE *file_;
    std::vector<Word> words_;
    std::map<Token, std::uint32_t> tokens_;
    std::map<Piece, std::uint32_t> pieces_;
    Piece piece_, path_;
    bool open_ = false, holding_ = false;
    Retired held_; /* retired last, and not yet written: it may be asleep */
    std::uint64_t held_cycles_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stored_, held_stored_; /* number, value */
    std::uint32_t mark_ = 0;                                                    /* 0: none */
    std::uint64_t mark_cycle_ = 0;
    std::uint32_t until_ = 0;               /* the mark after a request; 0: regions have BEGINs */
    std::uint64_t request_ = 0, delay_ = 0; /* cycles from a mark to the retirement of its store */
    bool waiting_ = false;                  /* nothing has retired since the request */
    bool handled_ = false;                  /* the handler has begun since */
    std::uint64_t instructions_ = 0, last_ = 0, slept_ = 0;
    bool state_known_ = false, interrupts_on_ = false;
};

} // namespace kadenz

#endif
