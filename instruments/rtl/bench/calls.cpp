// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include "elf.hpp"
#include "flows.h"
#include "machine_mode.h"
#include "processor.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace
{

constexpr std::uint32_t WFI = 0x10500073u;
constexpr std::uint32_t INTERRUPTS_ON = 8u; /* mstatus.MIE */

/* sp and ra before the instruction that is next, and the others as the last trap left them. */
kadenz::Registers registers;
bool following = false;

void follow(bool on)
{
    following = on;
}

} // namespace

/* ---- the processor of strands.c --------------------------------------------------------------
 */
bool kdz_processor_is_arm(void)
{
    return false;
}

std::uint64_t kdz_processor_sp(void)
{
    return registers.sp;
}

std::uint64_t kdz_processor_link(void)
{
    return registers.ra;
}

std::uint32_t kdz_processor_exception(void)
{
    return 0;
}

bool kdz_processor_is_vector(std::uint64_t pc)
{
    return kdz_riscv_is_vector(pc, registers.mtvec, registers.mcause);
}

kdz_interrupted kdz_processor_interrupted(void)
{
    return {registers.mepc, registers.sp, 0};
}

bool kdz_processor_is_exception_return(std::uint64_t link)
{
    (void)link;
    return false;
}

namespace kadenz
{

Calls::Calls(const Arguments &arguments, Machine &machine) : machine_(machine)
{
    has_until_ = arguments.count("until") != 0;
    until_ = static_cast<std::uint32_t>(option(arguments, "until", 0));
    if (arguments.count("text") != 0) {
        const std::vector<std::uint8_t> bytes = read_file(text(arguments, "text"));
        text_.assign(bytes.begin(), bytes.end());
    }
    read_functions(text(arguments, "functions"));
    if (!kdz_rows_open(text(arguments, "calls").c_str())) {
        throw std::runtime_error(text(arguments, "calls") + ": cannot be written");
    }
    if (arguments.count("flows") != 0) {
        flows_ = text(arguments, "flows");
        if (!kdz_symbols_read(text(arguments, "symbols").c_str())) {
            throw std::runtime_error(text(arguments, "symbols") + ": cannot be read");
        }
        kdz_flows_start(code_.size());
    }
    kdz_strands_start(code_.data(), code_.size(), follow);
}

/* One a line: address, bytes and, of a span, its end. */
void Calls::read_functions(const std::string &file)
{
    const std::vector<std::uint8_t> bytes = read_file(file);
    std::istringstream lines(std::string(bytes.begin(), bytes.end()));
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream numbers(line);
        kdz_code code = {0, 0, 0};
        if (!(numbers >> std::hex >> code.address >> code.bytes >> code.end)) {
            throw std::runtime_error(file + ": expected three hexadecimal numbers: " + line);
        }
        const auto number = static_cast<std::uint32_t>(code_.size());
        add(code.address, {code.end != 0 ? BEGIN : ENTRY, number});
        if (code.end != 0) {
            add(code.end, {END, number});
        }
        code_.push_back(code);
    }
}

void Calls::add(std::uint64_t address, Role role)
{
    auto &roles = roles_[static_cast<std::uint32_t>(address)];
    roles.insert(role.kind == END ? roles.begin() : roles.end(), role);
}

void Calls::retired(const Core &core, std::uint64_t cycle)
{
    const std::uint32_t pc = core.retired()->pc;
    const Registers after = core.registers();
    const std::uint64_t waited = waits_ ? std::min(slept_, cycle - last_) : 0;

    registers.mtvec = after.mtvec;
    registers.mepc = after.mepc;
    registers.mcause = after.mcause;
    if (!ended_ && core.retired()->behind_trap) {
        next(registers.mepc, last_ + waited);
    }
    if (!ended_) {
        next(pc, last_ + waited);
    }
    registers = after;
    instructions_++;
    last_ = cycle;
    slept_ = 0;
}

/* The instruction at `pc` is next. */
void Calls::next(std::uint32_t pc, std::uint64_t now)
{
    const std::uint32_t four = machine_.word_at(pc);
    const std::uint32_t bytes = (four & 3u) == 3u ? 4 : 2;
    const std::uint32_t word = bytes == 2 ? four & 0xffffu : four;

    if (following) {
        follow_to(pc, now);
    }
    pc_ = pc;
    enter(pc, now);
    if (has_until_ && pc == until_) {
        ended_ = true;
        why_ = KDZ_END_UNTIL;
    }
    const kdz_act act = kdz_riscv_act(word, bytes);
    set_stack_ = act == KDZ_ACT_SETS_STACK;
    returned_ = act == KDZ_ACT_LEAVES_TRAP;
    if (following && set_stack_) {
        kdz_strands_before_stack();
    }
    if (following && returned_) {
        kdz_strands_leave_trap();
    }
    waits_ = word == WFI;
    behind_ = pc + bytes;
}

/* While calls are open. A function that is called has its begin reached by a jump, from elsewhere
 * or with its return address behind it. */
void Calls::follow_to(std::uint32_t pc, std::uint64_t now)
{
    const std::uint32_t before = symbol_;
    symbol_ = kdz_symbols_at(pc);
    if (pc != behind_ || returned_ || kdz_processor_is_vector(pc)) {
        const bool begins = kdz_symbols_is_begin(symbol_, pc) && !is_entry(pc);
        const bool called = begins && (symbol_ != before || registers.ra == behind_);
        const kdz_block block = {pc, symbol_, called};
        kdz_strands_block(&block, false, now);
        return;
    }
    if (set_stack_) {
        kdz_strands_after_stack(now);
    }
    if (following && symbol_ != before) {
        kdz_strands_at(symbol_, now);
    }
}

bool Calls::is_entry(std::uint32_t pc) const
{
    const auto at = roles_.find(pc);
    return at != roles_.end() && std::any_of(at->second.begin(), at->second.end(),
                                             [](const Role &role) { return role.kind == ENTRY; });
}

void Calls::enter(std::uint32_t pc, std::uint64_t now)
{
    const auto at = roles_.find(pc);
    if (at == roles_.end()) {
        return;
    }
    symbol_ = kdz_symbols_at(pc);
    kdz_strands_at(symbol_, now);
    for (const Role &role : at->second) {
        if (role.kind == END) {
            kdz_strands_end_span(role.number, now);
        } else if (role.kind == BEGIN) {
            kdz_strands_begin_span(role.number, pc, now);
        } else {
            kdz_strands_enter(role.number, pc, now);
        }
    }
}

/* At most one byte is written in a cycle. */
void Calls::cycle()
{
    if (text_.empty() || ended_ || machine_.written() == written_) {
        return;
    }
    written_ = machine_.written();
    heard_ += static_cast<char>(machine_.last_written());
    if (heard_.size() > text_.size()) {
        heard_.erase(0, 1);
    }
    if (heard_ == text_) {
        ended_ = true;
        why_ = KDZ_END_TEXT;
    }
}

void Calls::slept(std::uint64_t cycles)
{
    slept_ += cycles;
}

void Calls::close(const Core &core, kdz_end otherwise)
{
    const kdz_end why = ended_ ? why_ : otherwise;
    const std::uint32_t fault =
        kdz_riscv_fault(core.registers().mcause, core.interrupts_on() ? INTERRUPTS_ON : 0);
    kdz_strands_end();
    if (!flows_.empty() && !kdz_flows_write(flows_.c_str())) {
        throw std::runtime_error(flows_ + ": cannot be written");
    }
    kdz_rows_append(KDZ_ROW_END, static_cast<std::uint32_t>(why), pc_,
                    why == KDZ_END_ITSELF ? 0 : fault, last_);
    kdz_rows_close();
}

} // namespace kadenz
