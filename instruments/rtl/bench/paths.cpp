// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"

#include <algorithm>

namespace kadenz
{
namespace
{

enum Chunk : std::uint32_t { TOKEN = 1, PIECE, BEGIN, PATH, END, LAST };
enum Kind : std::uint32_t { RUN = 1, STORE = 0x10, STATE = 0x20 };
constexpr std::uint32_t MARK_BEGIN = 1, MARK_END = 2,
                        MARK_HANDLED = 3; /* suite/include/kadenz/clock.h */
constexpr std::uint32_t VERSION = 1, HEADER_BYTES = 32;
constexpr std::uint32_t MIE = 0x8; /* of mstatus */
/* A piece ends where its first token comes again, unless it is too short. */
constexpr std::size_t PIECE_LEAST = 16, PIECE_MOST = 1024, PATH_MOST = 4096;

std::uint32_t low(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value);
}

std::uint32_t high(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value >> 32u);
}

void write(std::FILE *file, const std::vector<std::uint32_t> &words)
{
    for (const std::uint32_t word : words) {
        for (unsigned shift = 0; shift < 32u; shift += 8u) {
            std::fputc(static_cast<int>(word >> shift & 0xffu), file);
        }
    }
}

} // namespace

Paths::Paths(std::FILE *file) : file_(file)
{
    std::fputs("KDZPATHS", file_);
    write(file_, {VERSION, HEADER_BYTES, 0, 0, 0, 0}); /* regions are from BEGIN to END */
}

void Paths::watch(std::uint32_t address, std::uint32_t value)
{
    words_.push_back({address & ~3u, value});
}

void Paths::follow_request(std::uint32_t mark)
{
    until_ = mark;
}

bool Paths::opens(std::uint32_t mark) const
{
    return until_ == 0 && mark == MARK_BEGIN;
}

bool Paths::closes(std::uint32_t mark) const
{
    return until_ == 0 ? mark == MARK_END : mark == until_ && handled_;
}

void Paths::marked(std::uint32_t mark, std::uint64_t cycle)
{
    handled_ = handled_ || mark == MARK_HANDLED;
    if (mark == MARK_BEGIN || closes(mark)) {
        mark_ = mark;
        mark_cycle_ = cycle;
    }
}

void Paths::requested(std::uint64_t cycle)
{
    request_ = cycle;
    waiting_ = true;
    handled_ = false; /* by it: of another request before */
}

void Paths::stored(std::uint32_t address, std::uint32_t value)
{
    for (std::uint32_t number = 0; number < words_.size(); number++) {
        if (words_[number].address == address) {
            words_[number].value = value;
            stored_.emplace_back(number, value);
        }
    }
}

void Paths::slept(std::uint64_t cycles)
{
    slept_ += cycles;
}

void Paths::retired(const Retired &instruction, std::uint64_t cycle)
{
    /* Cycles of an instruction end when it retires, that of a mark too: both ends of the region are
     * later than the request and the mark by `delay_`. */
    if (waiting_ && cycle > request_ + delay_) {
        waiting_ = false;
        last_ = request_ + delay_;
        begin(request_);
    }
    instructions_++;
    if (open_) {
        const std::uint64_t passed = cycle - last_;
        const std::uint64_t waited = holding_ ? std::min(slept_, passed) : 0;
        held_cycles_ += waited;
        release();
        held_ = instruction;
        held_cycles_ = passed - waited;
        held_stored_ = stored_;
        holding_ = true;
    }
    last_ = cycle;
    slept_ = 0;
    stored_.clear();
    if (closes(mark_) && open_) {
        end();
    } else if (opens(mark_) && !open_) {
        begin(mark_cycle_);
    } else if (mark_ == MARK_BEGIN) {
        delay_ = cycle - mark_cycle_;
    }
    mark_ = 0;
}

void Paths::begin(std::uint64_t at)
{
    put_end(BEGIN, at);
    open_ = true;
    holding_ = state_known_ = false;
    for (std::uint32_t number = 0; number < words_.size(); number++) {
        append(STORE + number, 0, 0, words_[number].value);
    }
}

void Paths::end()
{
    release();
    flush();
    open_ = false;
    put_end(END, mark_cycle_);
}

/* Writes the instruction that is held. */
void Paths::release()
{
    if (!holding_) {
        return;
    }
    if (!state_known_ || held_.interrupts_on != interrupts_on_) {
        state_known_ = true;
        interrupts_on_ = held_.interrupts_on;
        append(STATE, 0, 0, interrupts_on_ ? MIE : 0);
    }
    append(RUN, 1, held_cycles_, held_.pc);
    for (const auto &[number, value] : held_stored_) {
        append(STORE + number, 0, 0, value);
    }
    holding_ = false;
}

void Paths::append(std::uint32_t kind, std::uint32_t instructions, std::uint64_t clock,
                   std::uint64_t value)
{
    const Token token = {kind | std::uint64_t{instructions} << 32u, clock, value};
    const auto [found, added] = tokens_.emplace(token, low(tokens_.size()));
    if (added) {
        put(TOKEN, {kind, instructions, low(clock), high(clock), low(value), high(value)});
    }
    const std::uint32_t number = found->second;
    if (piece_.size() == PIECE_MOST || (piece_.size() >= PIECE_LEAST && piece_[0] == number)) {
        end_piece();
    }
    piece_.push_back(number);
}

void Paths::end_piece()
{
    if (piece_.empty()) {
        return;
    }
    const auto [found, added] = pieces_.emplace(piece_, low(pieces_.size()));
    if (added) {
        put(PIECE, piece_);
    }
    path_.push_back(found->second);
    piece_.clear();
    if (path_.size() == PATH_MOST) {
        put(PATH, path_);
        path_.clear();
    }
}

void Paths::flush()
{
    end_piece();
    if (!path_.empty()) {
        put(PATH, path_);
        path_.clear();
    }
}

void Paths::put(std::uint32_t kind, const std::vector<std::uint32_t> &words)
{
    write(file_, {kind, low(4u * words.size())});
    write(file_, words);
}

void Paths::put_end(std::uint32_t kind, std::uint64_t cycle)
{
    put(kind, {low(instructions_), high(instructions_), low(cycle), high(cycle), mark_, 0});
}

void Paths::close()
{
    if (open_) {
        release();
        flush();
    }
    put(LAST, {});
}

} // namespace kadenz
