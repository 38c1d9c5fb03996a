// SPDX-License-Identifier: Apache-2.0
#include "attempts.hpp"

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace kadenz
{
namespace
{

/* This number of cycles after a request cores have registered it: two that wait are in the same
 * state. */
constexpr std::size_t NEAR = 4;

/* States that are remembered, of some 50 bytes each; one arrival adds those of its seconds. */
constexpr std::size_t MOST_KNOWN = 2'000'000;

std::uint64_t rotated(std::uint64_t value)
{
    return value << 23u | value >> 41u;
}

/* Two numbers of 64 bits for some bytes: the first of a multiplicative hash, the other one is
 * rotated with them. */
std::pair<std::uint64_t, std::uint64_t> hashed(const std::vector<std::uint8_t> &bytes)
{
    std::uint64_t first = bytes.size(), second = 0x2545f4914f6cdd1du;
    std::size_t place = 0;
    for (; place + 8 <= bytes.size(); place += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + place, 8);
        first = (first ^ word) * 0x9e3779b97f4a7c15u;
        first ^= first >> 29u;
        second = (rotated(second) + word) * 0xff51afd7ed558ccdu;
    }
    for (; place < bytes.size(); place++) {
        first = (first ^ bytes[place]) * 0x9e3779b97f4a7c15u;
        second += first;
    }
    return {first, second};
}

} // namespace

void Ends::note(Mark mark)
{
    if (mark.value == HANDLED && handled++ == 0) {
        handler = mark.cycle;
    } else if (mark.value == RESPONDED && handled != 0 && responded++ == 0) {
        task = mark.cycle;
    } else if (mark.value == END && end == 0) {
        end = mark.cycle;
    }
}

Interrupted interrupted_of(const Asked &asked, Mark begin, std::size_t cores)
{
    const auto core = static_cast<unsigned>((begin.core + asked.elsewhere) % cores);
    return {core, asked.flag != 0 ? asked.flag + core * asked.flags_apart : 0};
}

Attempts::Attempts(Simulation &simulation, const Asked &asked, Mark begin, Tried &tried,
                   unsigned number)
    : simulation_(simulation), asked_(asked), begin_(begin.cycle),
      interrupted_(interrupted_of(asked, begin, simulation.cores())), tried_(tried),
      shared_(tried.head()), number_(number), by_time_(shared_.by_time != 0)
{
}

void Attempts::now()
{
    if (known_.size() > MOST_KNOWN) { /* it is only quicker with them */
        known_.clear();
        outcomes_.clear();
    }
    const std::uint64_t phase = simulation_.machine().now() - begin_;
    rows_.clear();
    lost_ = 0;
    if (asked_.second != NONE) {
        follow(INTERRUPT);
        follow(OTHER);
    } else {
        const Last last = raise_last(INTERRUPT, Ends());
        enter(last.cycle, begin_, last, last.met);
    }
    tried_.enter(number_, (phase - 1u) / asked_.step, rows_, lost_);
}

Met Attempts::met() const
{
    const Core &core = simulation_.core(interrupted_.core);
    return {core.pc(), core.interrupts_on() ? 0u : 1u,
            asked_.lock != 0 ? simulation_.machine().word_at(asked_.lock) : 0u};
}

/* False, and noted, if the tick that comes by itself is here. */
bool Attempts::raise(Kind kind)
{
    Machine &machine = simulation_.machine();
    if (kind == INTERRUPT) {
        simulation_.request(interrupted_.core, interrupted_.flag);
        return true;
    }
    if (asked_.second == REQUEST) {
        machine.raise(0);
        return true;
    }
    if (asked_.second == DEVICE) {
        machine.raise_other();
        return true;
    }
    deadline_ = machine.deadline();
    tick_at_ = machine.now();
    looks_ = machine.looks();
    if (!machine.tick()) {
        shared_.has_tick = 1;
        return false;
    }
    return true;
}

bool Attempts::is_over(Kind first, const Ends &ends) const
{
    return first == INTERRUPT ? ends.responded != 0 : ends.end != 0;
}

void Attempts::follow(Kind first)
{
    Machine &machine = simulation_.machine();
    const Kind second = first == INTERRUPT ? OTHER : INTERRUPT;
    const Met met = this->met();
    const std::uint64_t deadline = machine.deadline();
    Line line;
    line.from = machine.now();
    simulation_.keep(outer_);
    Fall fall(simulation_.core(interrupted_.core));
    bool waits = raise(first), is_new = true;
    const bool raised = waits;
    Ends ends;
    while (raised && !is_over(first, ends)) {
        const std::uint64_t now = machine.now();
        /* A request is none while its line is high; two in one cycle are a pair once. */
        const bool can_come =
            asked_.second == REQUEST ? !machine.requested() : first == INTERRUPT || now > line.from;
        if (can_come && (now - begin_ - 1u) % asked_.step == 0) {
            /* Marks before an arrival are another one's. */
            line.seconds.push_back(raise_last(second, first == INTERRUPT ? ends : Ends()));
        }
        if (machine.finished() || now - line.from > MOST_CYCLES ||
            shared_.lost + lost_ >= MOST_LOST || shared_.has_tick != 0) {
            break;
        }
        simulation_.step();
        ends.note(simulation_.marked());
        if (asked_.second == TICK && first == INTERRUPT && machine.deadline() != deadline) {
            shared_.has_tick = 1;
        }
        if (waits) {
            line.digests.push_back(digest());
            is_new = !join(line, last_[first]);
            waits = is_new && !fall.came();
            if (!is_new) {
                break;
            }
        }
    }
    simulation_.back(outer_);
    account(first, line, met);
    if (is_new) {
        last_[first] = std::move(line);
    }
}

/* Takes what comes from `known`, if that one had the same state in this cycle. */
bool Attempts::join(Line &line, const Line &known)
{
    const std::uint64_t now = simulation_.machine().now();
    const std::uint64_t place = now - known.from - 1u;
    if (known.seconds.empty() || place >= known.digests.size() ||
        !(known.digests[place] == line.digests.back())) {
        return false;
    }
    for (const Last &last : known.seconds) {
        if (last.cycle >= now) {
            line.seconds.push_back(last);
        }
    }
    return true;
}

Attempts::Last Attempts::raise_last(Kind kind, const Ends &before)
{
    Last last = {simulation_.machine().now(), met(), before, true, 0};
    simulation_.keep(inner_);
    last.ended = !raise(kind) || run(last.ends, last.cycle);
    if (!last.ended) {
        last.pc = simulation_.core(interrupted_.core).pc();
        lost_++;
    }
    if (asked_.second == TICK) {
        check_time();
    }
    simulation_.back(inner_);
    return last;
}

bool Attempts::are_all(const Ends &ends) const
{
    return ends.handled != 0 && ends.responded != 0 && (asked_.second != NONE || ends.end != 0);
}

/* To the last mark. False: it did not come. */
bool Attempts::run(Ends &ends, std::uint64_t request)
{
    struct Passed {
        Digest digest;
        std::uint32_t handled, responded;
    };
    Machine &machine = simulation_.machine();
    const std::uint64_t most = MOST_CYCLES + (request - begin_);
    Fall fall(simulation_.core(interrupted_.core));
    std::vector<Passed> passed;
    for (bool waits = true; !are_all(ends);) {
        if (machine.finished() || machine.now() - request > most) {
            return false;
        }
        simulation_.step();
        ends.note(simulation_.marked());
        if (waits) {
            waits = !fall.came();
            Digest state = digest();
            state.core ^= ends.handled == 0 ? 0 : HANDLED; /* which mark is next decides as well */
            if ((passed.size() < NEAR || !waits) && look_up(ends, state)) {
                break;
            }
            passed.push_back({state, ends.handled, ends.responded});
        }
    }
    outcomes_.push_back(ends);
    for (const Passed &each : passed) {
        known_[each.digest] = {outcomes_.size() - 1u, each.handled, each.responded};
    }
    return true;
}

bool Attempts::look_up(Ends &ends, const Digest &state) const
{
    const auto place = known_.find(state);
    if (place == known_.end()) {
        return false;
    }
    const Known &known = place->second;
    const Ends &outcome = outcomes_[known.outcome];
    if (ends.handled == 0) {
        ends.handler = outcome.handler;
    }
    if (ends.responded == 0) {
        ends.task = outcome.task;
    }
    if (ends.end == 0) {
        ends.end = outcome.end;
    }
    ends.handled += outcome.handled - known.handled;
    ends.responded += outcome.responded - known.responded;
    return true;
}

/* Whether what followed the tick depends on its moment: it looked at the time, or came near the
 * next tick. */
void Attempts::check_time()
{
    Machine &machine = simulation_.machine();
    const std::uint64_t period = machine.deadline() - deadline_;
    const bool is_long = period != 0 && machine.ticks_in(machine.now() - tick_at_) >= period / 2u;
    if (machine.looks() != looks_ || is_long) {
        shared_.timed = 1;
    }
}

Attempts::Digest Attempts::digest()
{
    Digest digest;
    digest.machine = simulation_.machine().digest(by_time_);
    for (unsigned i = 0; i < simulation_.cores(); i++) {
        simulation_.core(i).save(bytes_);
        const auto both = hashed(bytes_);
        digest.core = rotated(digest.core) ^ both.first;
        digest.machine = rotated(digest.machine) ^ both.second;
    }
    return digest;
}

void Attempts::account(Kind first, const Line &line, Met met)
{
    for (const Last &last : line.seconds) {
        if (first == INTERRUPT) {
            enter(line.from, last.cycle, last, met);
        } else {
            enter(last.cycle, line.from, last, last.met);
        }
    }
}

void Attempts::enter(std::uint64_t interrupt, std::uint64_t second, const Last &last, Met met)
{
    const Ends &ends = last.ends;
    Arrival row = {};
    row.phase = static_cast<std::uint32_t>(interrupt - begin_);
    row.seconds = asked_.second != NONE ? 1u : 0u;
    row.state = last.ended ? Arrival::WHOLE : Arrival::UNENDED;
    row.last = last.pc;
    if (last.ended) {
        const auto moment = static_cast<std::uint32_t>(second - begin_);
        const auto cycles = [](std::uint64_t from, std::uint64_t to) {
            return static_cast<std::uint32_t>(to - from);
        };
        row.end = asked_.second != NONE ? 0 : cycles(begin_, ends.end);
        row.handled = ends.handled;
        row.responded = ends.responded;
        row.handler = {cycles(interrupt, ends.handler), moment, met};
        row.task = {cycles(interrupt, ends.task), moment, met};
    }
    if (!rows_.empty() && rows_.back().phase == row.phase) {
        rows_.back().add(row);
    } else {
        rows_.push_back(row);
    }
}

} // namespace kadenz
