// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <cstring>

namespace kadenz
{
namespace
{

constexpr std::uint64_t NEVER = UINT64_MAX;
constexpr std::uint32_t MTIMECMP = 0x4000u, MTIME = 0xbff8u, CLINT_BYTES = 0x10000u;
/* In CLINT's unused space, which reads zero in QEMU: suite/include/kadenz/device.h. */
constexpr std::uint32_t LINE = 0xb000u, LINE_PRESENT = 0xb004u, LINE_END = 0xb008u;
constexpr std::uint32_t UART_BYTES = 8u, LINE_STATUS = 5u, TRANSMITTER_EMPTY = 0x60u;
constexpr std::uint32_t LOCKS_BYTES = 32u * 4u;
constexpr std::uint32_t FINISH_PASS = 0x5555u, FINISH_FAIL = 0x3333u;
constexpr std::uint32_t LAST_MARK = 0xffffffffu;
constexpr std::uint32_t INSTRUCTION_MISSES = 2u, DATA_MISSES = 4u; /* columns of a trace */

std::uint32_t word_of(const Request &request, std::uint32_t before)
{
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < 4; lane++) {
        if ((request.lanes >> lane & 1u) != 0) {
            mask |= 0xffu << (8u * lane);
        }
    }
    return (before & ~mask) | (request.data & mask);
}

/* The byte that a store writes; the first lane if it writes several. */
std::uint8_t byte_of(const Request &request)
{
    unsigned lane = 0;
    while (lane < 3 && (request.lanes >> lane & 1u) == 0) {
        lane++;
    }
    return static_cast<std::uint8_t>(request.data >> (8u * lane));
}

/* One of 2^64 numbers (S. Vigna's splitmix64). */
std::uint64_t mixed(std::uint64_t first, std::uint64_t second)
{
    std::uint64_t value = first * 0x9e3779b97f4a7c15u + second + 0x632be59bd9b4e019u;
    value = (value ^ (value >> 30u)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27u)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31u);
}

} // namespace

void put(std::FILE *file, std::uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        std::fputc(static_cast<int>(value >> (8u * i) & 0xffu), file);
    }
}

Machine::Machine(std::vector<Memory> memories, Map map, unsigned cores, unsigned timer_divider)
    : memories_(std::move(memories)), map_(map), divider_(timer_divider)
{
    state_.ports.resize(2u * cores);
    state_.free_at.resize(memories_.size());
    state_.msip.resize(cores, 0);
    state_.mtimecmp.resize(cores, NEVER);
}

void Machine::cycle(const std::vector<Requests> &requests, std::vector<Answer> &answers)
{
    somebody_refused_ = false;
    for (std::size_t i = 0, number = state_.first; i < state_.ports.size(); i++) {
        const Requests &core = requests[number / 2];
        serve(number, number % 2 == 0 ? core.instruction : core.data, answers[number]);
        number = number + 1 < state_.ports.size() ? number + 1 : 0;
    }
    if (somebody_refused_) { /* the first in line is the first that waits */
        state_.first = refused_;
    }
    state_.now++;
    if (state_.line_armed && state_.now >= state_.line_at) {
        state_.msip[0] = 1;
        state_.line_armed = false;
    }
}

void Machine::reset()
{
    std::fill(state_.ports.begin(), state_.ports.end(), Port());
    std::fill(state_.msip.begin(), state_.msip.end(), 0u);
    std::fill(state_.mtimecmp.begin(), state_.mtimecmp.end(), NEVER);
    std::fill(state_.free_at.begin(), state_.free_at.end(), 0u);
    state_.locked = 0;
    state_.now = state_.held = 0;
    state_.line_at = NEVER;
    state_.line_armed = false;
    state_.other_waits = state_.other_served = false;
}

Interrupts Machine::interrupts(unsigned core) const
{
    const bool other = core == 0 && state_.other_waits;
    return {other || (state_.msip[core] & 1u) != 0, mtime() >= state_.mtimecmp[core]};
}

bool Machine::timer_set() const
{
    return state_.line_armed || std::any_of(state_.mtimecmp.begin(), state_.mtimecmp.end(),
                                            [](auto at) { return at != NEVER; });
}

std::uint64_t Machine::until_timer() const
{
    const std::uint64_t first = *std::min_element(state_.mtimecmp.begin(), state_.mtimecmp.end());
    std::uint64_t wanted = first == NEVER || first < 2u ? 0 : (first - 2u) * divider_ + state_.held;
    if (state_.line_armed) {
        const std::uint64_t line = state_.line_at - 1u;
        wanted = wanted == 0 ? line : std::min(wanted, line);
    }
    return wanted > state_.now ? wanted - state_.now : 0;
}

Memory *Machine::memory_at(std::uint32_t address, std::uint32_t bytes)
{
    for (Memory &memory : memories_) {
        const std::uint32_t offset = address - memory.start;
        if (offset < memory.bytes.size() && bytes <= memory.bytes.size() - offset) {
            return &memory;
        }
    }
    return nullptr;
}

void Machine::keep(Snapshot &snapshot)
{
    keeps_ = true;
    snapshot.state = state_;
    snapshot.stores = before_.size();
}

void Machine::back(const Snapshot &snapshot)
{
    for (; before_.size() > snapshot.stores; before_.pop_back()) {
        std::memcpy(before_.back().place, &before_.back().word, 4);
    }
    state_ = snapshot.state;
}

bool Machine::tick()
{
    const std::uint64_t at = state_.mtimecmp[0];
    if (at == NEVER || mtime() >= at) {
        return false;
    }
    state_.held = state_.now - at * divider_; /* modulo 2^64, as the difference is in mtime() */
    return true;
}

std::uint64_t Machine::digest(bool with_held) const
{
    std::uint64_t total = state_.contents;
    const auto add = [&total](std::uint64_t value) { total = mixed(total, value); };
    for (const Port &port : state_.ports) {
        add(port.busy);
        add(port.busy ? port.left : 0);
        if (port.busy) {
            const Request &request = port.request;
            add(static_cast<std::uint64_t>(request.address) << 32u | request.data);
            add(request.lanes | (request.write ? 256u : 0u));
        }
    }
    for (const std::uint64_t at : state_.free_at) {
        add(at);
    }
    add(state_.first);
    add(state_.locked);
    for (const std::uint32_t word : state_.msip) {
        add(word);
    }
    for (const std::uint64_t at : state_.mtimecmp) {
        add(at);
    }
    add(state_.line_armed ? state_.line_at : NEVER);
    add((state_.other_waits ? 1u : 0u) | (state_.other_served ? 2u : 0u));
    add(state_.now);
    add(state_.finished);
    add(with_held ? state_.held : 0);
    return total;
}

void Machine::watch(std::uint32_t address, std::FILE *file, bool with_misses)
{
    watched_ = address;
    trace_ = file;
    with_misses_ = with_misses;
    std::fputs("KDZSCOPE", file);
    put(file, with_misses ? 3 : 1, 4);   /* version: instruments/scope/README.md */
    put(file, 32, 4);                    /* bytes of this header */
    put(file, with_misses ? 28 : 12, 4); /* bytes of an event */
    put(file, with_misses ? INSTRUCTION_MISSES | DATA_MISSES : 0, 4);
    put(file, address, 8);
}

void Machine::put_event(std::uint64_t count, std::uint32_t value)
{
    put(trace_, count, 8);
    put(trace_, value, 4);
    if (with_misses_) {
        put(trace_, state_.misses.instruction, 8);
        put(trace_, state_.misses.data, 8);
    }
}

void Machine::end_watch()
{
    if (trace_ != nullptr) {
        put_event(marks_, LAST_MARK);
        trace_ = nullptr;
    }
}

void Machine::mark(std::uint32_t value)
{
    if (value == 0) {
        return; /* start-up clears memory */
    }
    if (value == HANDLED && std::exchange(state_.other_served, false)) {
        value = OTHER_HANDLED;
    }
    state_.mark = {value, state_.now, serving_};
    if (trace_ == nullptr) {
        return;
    }
    put_event(state_.now, value);
    marks_++;
    if (paths_ != nullptr) {
        paths_->marked(value, state_.now);
    }
}

std::uint32_t Machine::word_at(std::uint32_t address)
{
    std::uint32_t word = 0;
    const Memory *memory = memory_at(address, 4);
    if (memory != nullptr) {
        std::memcpy(&word, &memory->bytes[address - memory->start], 4);
    }
    return word;
}

/* False while the memory serves another port. */
bool Machine::take(Port &port, const Request &request)
{
    Memory *memory = memory_at(request.address, 4);
    port.left = memory != nullptr ? memory->wait : 0;
    if (memory != nullptr && memory->shared) {
        std::uint64_t &free_at =
            state_.free_at[static_cast<std::size_t>(memory - memories_.data())];
        if (state_.now < free_at) {
            return false;
        }
        free_at = state_.now + memory->wait + 1u;
    }
    port.request = request;
    return true;
}

void Machine::serve(std::size_t number, const Request &request, Answer &answer)
{
    Port &port = state_.ports[number];
    answer.granted = answer.answered = false;
    if (!port.busy) {
        if (!request.valid) {
            return;
        }
        answer.granted = port.busy = take(port, request);
        if (!port.busy) {
            refused_ = somebody_refused_ ? refused_ : number;
            somebody_refused_ = true;
            return;
        }
    }
    if (port.left > 0) {
        port.left--;
        return;
    }
    serving_ = static_cast<unsigned>(number / 2u);
    perform(port.request, answer);
    answer.answered = true;
    port.busy = false;
}

void Machine::perform(const Request &request, Answer &answer)
{
    const std::uint32_t address = request.address & ~3u;
    Memory *memory = memory_at(address, 4);
    answer.error = false;
    answer.data = 0;
    if (memory == nullptr) {
        if (!device(request, answer)) {
            answer.error = true;
            state_.fault_address = request.address;
        }
        return;
    }
    std::uint8_t *place = &memory->bytes[address - memory->start];
    std::memcpy(&answer.data, place, 4);
    if (request.write) {
        const std::uint32_t word = word_of(request, answer.data);
        if (keeps_) {
            before_.push_back({place, answer.data});
            state_.contents ^= mixed(address, answer.data) ^ mixed(address, word);
        }
        std::memcpy(place, &word, 4);
        if (watched_ != 0 && address == watched_) {
            mark(word);
        }
        if (paths_ != nullptr) {
            paths_->stored(address, word);
        }
    }
}

bool Machine::device(const Request &request, Answer &answer)
{
    if (request.address - map_.uart < UART_BYTES) {
        if (request.write && (request.lanes & 1u) != 0 && request.address - map_.uart < 4u) {
            last_written_ = byte_of(request);
            std::putchar(last_written_);
            state_.written++;
        }
        answer.data = TRANSMITTER_EMPTY << (8u * (LINE_STATUS & 3u));
        return true;
    }
    if (request.address - map_.clint < CLINT_BYTES) {
        answer.data = clint((request.address & ~3u) - map_.clint, request);
        return true;
    }
    if (map_.locks != 0 && request.address - map_.locks < LOCKS_BYTES) {
        answer.data = lock((request.address & ~3u) - map_.locks, request);
        return true;
    }
    if (request.address - map_.finisher < 4u) {
        if (request.write && (request.data & 0xffffu) == FINISH_PASS) {
            state_.finished = true;
        } else if (request.write && (request.data & 0xffffu) == FINISH_FAIL) {
            state_.finished = true;
            state_.code = static_cast<int>(request.data >> 16u);
        }
        return true;
    }
    return attached_ != nullptr && attached_->access(request, answer);
}

std::uint32_t Machine::clint(std::uint32_t offset, const Request &request)
{
    if (offset >= MTIME) {
        state_.looks++;
        return static_cast<std::uint32_t>(mtime() >> (offset == MTIME ? 0u : 32u));
    }
    if (offset >= LINE && offset < LINE_END) {
        return line(offset, request);
    }
    if (offset >= MTIMECMP) {
        const std::size_t core = (offset - MTIMECMP) / 8u;
        if (core >= state_.mtimecmp.size()) {
            return 0;
        }
        const unsigned shift = (offset & 4u) != 0 ? 32u : 0u;
        std::uint64_t &at = state_.mtimecmp[core];
        const auto before = static_cast<std::uint32_t>(at >> shift);
        if (request.write) {
            const std::uint64_t word = word_of(request, before);
            at = (at & ~(0xffffffffull << shift)) | word << shift;
        }
        return before;
    }
    const std::size_t core = offset / 4u;
    return core < state_.msip.size() ? msip(core, request) : 0;
}

std::uint32_t Machine::msip(std::size_t core, const Request &request)
{
    const std::uint32_t other = core == 0 && state_.other_waits ? 1u : 0u;
    const std::uint32_t before = state_.msip[core] | other;
    if (request.write && (word_of(request, before) & 1u) != 0) {
        state_.msip[core] = 1;
    } else if (request.write && other != 0) {
        state_.other_waits = false;
        state_.other_served = true;
    } else if (request.write) {
        state_.msip[core] = 0;
    }
    return before;
}

std::uint32_t Machine::line(std::uint32_t offset, const Request &request)
{
    if (offset == LINE_PRESENT) {
        return 1;
    }
    if (request.write) {
        state_.line_at = state_.now + request.data;
        state_.line_armed = true;
    }
    return state_.line_armed ? 0 : static_cast<std::uint32_t>(state_.now - state_.line_at);
}

std::uint32_t Machine::lock(std::uint32_t offset, const Request &request)
{
    const std::uint32_t bit = 1u << (offset / 4u);
    if (request.write) {
        state_.locked &= ~bit;
        return 0;
    }
    const std::uint32_t taken = (state_.locked & bit) == 0 ? 1u : 0u;
    state_.locked |= bit;
    return taken;
}

} // namespace kadenz
