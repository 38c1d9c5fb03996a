// SPDX-License-Identifier: Apache-2.0
//
// Runs an image on a verilated core until the image ends itself, a limit is reached, or a signal
// comes. Frames of the image go to standard output, words of the bench to standard error.
//
//   bench --elf FILE --memory rom:0x80000000:0x40000:0 --memory ram:0x80040000:0x40000:0:shared
//         [--plan FILE@ADDRESS] [--cores N] [--timer-divider N] [--uart A] [--clint A]
//         [--finisher A] [--locks A] [--cycle-limit N] [--silence-limit N] [--watch A --trace FILE]
//
// Exit codes: that of the image; 124 for a limit, 125 for a wrong argument or file.
// SIGUSR1: prints where each core is, and goes on. SIGTERM: the same, and ends.
#include "elf.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace kadenz
{
namespace
{

constexpr int EXIT_LIMIT = 124, EXIT_ARGUMENT = 125;
constexpr std::uint64_t LOOK_CYCLES = 4096; /* between looks at signals and limits */
constexpr unsigned ASLEEP_CYCLES = 16;      /* all cores asleep for so long: time may be skipped */

volatile std::sig_atomic_t asked_where = 0, asked_to_end = 0;

void on_signal(int number)
{
    if (number == SIGUSR1) {
        asked_where = 1;
    } else {
        asked_to_end = 1;
    }
}

using Arguments = std::multimap<std::string, std::string>;

Arguments parse(int count, char **words)
{
    Arguments found;
    for (int i = 1; i < count; i += 2) {
        if (std::string(words[i]).rfind("--", 0) != 0 || i + 1 == count) {
            throw std::runtime_error(std::string(words[i]) + ": expected --name value");
        }
        found.emplace(words[i] + 2, words[i + 1]);
    }
    return found;
}

std::uint64_t number(const std::string &text)
{
    std::size_t end = 0;
    const std::uint64_t value = std::stoull(text, &end, 0);
    if (end != text.size()) {
        throw std::runtime_error(text + ": not a number");
    }
    return value;
}

std::uint64_t option(const Arguments &arguments, const char *name, std::uint64_t otherwise)
{
    const auto found = arguments.find(name);
    return found == arguments.end() ? otherwise : number(found->second);
}

std::string text(const Arguments &arguments, const char *name)
{
    const auto found = arguments.find(name);
    return found == arguments.end() ? "" : found->second;
}

/* NAME:START:BYTES:WAIT, and `:shared` where all buses share one port */
Memory memory_of(const std::string &words)
{
    std::istringstream stream(words);
    std::string part[5];
    for (std::string &one : part) {
        std::getline(stream, one, ':');
    }
    Memory memory;
    memory.name = part[0];
    memory.start = static_cast<std::uint32_t>(number(part[1]));
    memory.bytes.resize(number(part[2]));
    memory.wait = static_cast<std::uint32_t>(number(part[3]));
    memory.shared = part[4] == "shared";
    return memory;
}

Machine machine_of(const Arguments &arguments, unsigned cores)
{
    std::vector<Memory> memories;
    const auto range = arguments.equal_range("memory");
    for (auto one = range.first; one != range.second; ++one) {
        memories.push_back(memory_of(one->second));
    }
    Map map;
    map.uart = static_cast<std::uint32_t>(option(arguments, "uart", map.uart));
    map.clint = static_cast<std::uint32_t>(option(arguments, "clint", map.clint));
    map.finisher = static_cast<std::uint32_t>(option(arguments, "finisher", map.finisher));
    map.locks = static_cast<std::uint32_t>(option(arguments, "locks", map.locks));
    const auto divider = static_cast<unsigned>(option(arguments, "timer-divider", 10));
    return {std::move(memories), map, cores, divider};
}

void load_plan(const std::string &place, Machine &machine)
{
    const std::size_t sign = place.rfind('@');
    if (sign == std::string::npos) {
        throw std::runtime_error(place + ": expected FILE@ADDRESS");
    }
    const std::vector<std::uint8_t> plan = read_file(place.substr(0, sign));
    const auto address = static_cast<std::uint32_t>(number(place.substr(sign + 1)));
    Memory *memory = machine.memory_at(address, static_cast<std::uint32_t>(plan.size()));
    if (memory == nullptr) {
        throw std::runtime_error(place + ": outside the memory of this machine");
    }
    std::copy(plan.begin(), plan.end(), memory->bytes.begin() + (address - memory->start));
}

class Bench
{
  public:
    Bench(const Arguments &arguments, unsigned cores)
        : machine_(machine_of(arguments, cores)),
          cycle_limit_(option(arguments, "cycle-limit", 20'000'000'000)),
          silence_limit_(option(arguments, "silence-limit", 2'000'000'000))
    {
        const std::uint32_t entry = load_elf(text(arguments, "elf"), machine_);
        if (arguments.count("plan") != 0) {
            load_plan(text(arguments, "plan"), machine_);
        }
        for (unsigned hart = 0; hart < cores; hart++) {
            cores_.push_back(make_core());
            cores_.back()->reset(hart, entry);
        }
        requests_.resize(cores);
        answers_.resize(2u * cores);
    }

    Machine &machine()
    {
        return machine_;
    }

    int run()
    {
        while (!machine_.finished()) {
            for (std::uint64_t i = 0; i < LOOK_CYCLES && !machine_.finished(); i++) {
                step();
            }
            if (machine_.written() != written_) {
                written_ = machine_.written();
                heard_ = clocked_;
                std::fflush(stdout);
            }
            if (asked_where != 0 || asked_to_end != 0) {
                say_where();
                asked_where = 0;
            }
            if (asked_to_end != 0) {
                return EXIT_LIMIT;
            }
            const char *why = over();
            if (why != nullptr) {
                std::cerr << why << " after " << clocked_ << " cycles\n";
                say_where();
                return EXIT_LIMIT;
            }
        }
        return machine_.code();
    }

    void end()
    {
        std::fflush(stdout);
        std::cerr << "cycles: " << clocked_ << " run, " << skipped_ << " skipped\n";
    }

  private:
    void step()
    {
        bool asleep = true;
        for (unsigned i = 0; i < cores_.size(); i++) {
            requests_[i] = cores_[i]->low(machine_.interrupts(i));
        }
        machine_.cycle(requests_, answers_);
        for (unsigned i = 0; i < cores_.size(); i++) {
            cores_[i]->high(answers_[2 * i], answers_[2 * i + 1]);
            asleep = asleep && cores_[i]->asleep();
        }
        clocked_++;
        if (!asleep) {
            asleep_ = skipped_here_ = 0;
        } else if (++asleep_ >= ASLEEP_CYCLES && skipped_here_ == 0) {
            skip(machine_.until_timer());
        }
    }

    void skip(std::uint64_t cycles)
    {
        machine_.skip(cycles);
        for (const auto &core : cores_) {
            core->skipped(cycles);
        }
        skipped_here_ = cycles;
        skipped_ += cycles;
    }

    const char *over() const
    {
        if (asleep_ > LOOK_CYCLES && !machine_.timer_set()) {
            return "every core waits for an interrupt, and no timer is set:";
        }
        if (clocked_ >= cycle_limit_) {
            return "the limit of cycles is reached:";
        }
        if (clocked_ - heard_ >= silence_limit_) {
            return "nothing was written for too long:";
        }
        return nullptr;
    }

    void say_where() const
    {
        for (unsigned i = 0; i < cores_.size(); i++) {
            std::cerr << "core " << i << " pc 0x" << std::hex << cores_[i]->pc() << std::dec
                      << (cores_[i]->asleep() ? " asleep" : "") << '\n';
        }
        if (machine_.fault_address() != 0) {
            std::cerr << "last access without memory: 0x" << std::hex << machine_.fault_address()
                      << std::dec << '\n';
        }
    }

    Machine machine_;
    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<Requests> requests_;
    std::vector<Answer> answers_;
    std::uint64_t cycle_limit_, silence_limit_;
    std::uint64_t written_ = 0, heard_ = 0; /* bytes of output, and the cycle of the last */
    std::uint64_t clocked_ = 0, skipped_ = 0, asleep_ = 0, skipped_here_ = 0;
};

int run(const Arguments &arguments)
{
    Bench bench(arguments, static_cast<unsigned>(option(arguments, "cores", 1)));
    std::FILE *trace = nullptr;
    if (arguments.count("trace") != 0) {
        trace = std::fopen(text(arguments, "trace").c_str(), "wb");
        if (trace == nullptr) {
            throw std::runtime_error(text(arguments, "trace") + ": cannot be written");
        }
        bench.machine().watch(static_cast<std::uint32_t>(option(arguments, "watch", 0)), trace);
    }
    std::signal(SIGUSR1, on_signal);
    std::signal(SIGTERM, on_signal);
    const int code = bench.run();
    bench.machine().end_watch();
    bench.end();
    if (trace != nullptr && std::fclose(trace) != 0) {
        throw std::runtime_error(text(arguments, "trace") + ": the disk is full");
    }
    return code;
}

} // namespace
} // namespace kadenz

int main(int count, char **words)
{
    try {
        return kadenz::run(kadenz::parse(count, words));
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return kadenz::EXIT_ARGUMENT;
    }
}
