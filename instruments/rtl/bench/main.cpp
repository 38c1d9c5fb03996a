// SPDX-License-Identifier: Apache-2.0
//
// Runs an image on a verilated core until the image ends itself, a limit is reached, or a signal
// comes. Frames of the image go to standard output, words of the bench to standard error.
//
//   bench --elf FILE --memory rom:0x80000000:0x40000:0 --memory ram:0x80040000:0x40000:0:shared
//         [--plan FILE@ADDRESS] [--cores N] [--timer-divider N] [--uart A] [--clint A]
//         [--finisher A] [--locks A] [--cycle-limit N] [--silence-limit N] [--watch A --trace FILE]
//         [--flush instructions] [--flush data] [--paths FILE [--word A]...]
//         [--calls FILE --functions FILE [--until A] [--text FILE] [--symbols FILE --flows FILE]]
//         [--arrivals FILE [--arrivals-tried FILE] [--arrival-sample N] [--arrival-step N]
//         [--arrival-lock A] [--arrival-flag A,BYTES [--arrival-elsewhere 1]]
//         [--arrival-second tick|request|device]
//         [--arrival-only N [--arrival-second-at N] [--arrival-until MARK]]]
//
// Exit codes: that of the image; 124 for a limit, 125 for a wrong argument or file.
// SIGUSR1: prints where each core is, and goes on. SIGTERM: the same, and ends.
#include "arguments.hpp"
#include "arrivals.hpp"
#include "calls.hpp"
#include "elf.hpp"
#include "paths.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <stdexcept>

namespace kadenz
{
namespace
{

constexpr int EXIT_LIMIT = 124, EXIT_ARGUMENT = 125;
constexpr std::uint64_t LOOK_CYCLES = 4096; /* between looks at signals and limits */
constexpr unsigned SETTLE_CYCLES = 64;

volatile std::sig_atomic_t asked_where = 0, asked_to_end = 0;

void on_signal(int number)
{
    if (number == SIGUSR1) {
        asked_where = 1;
    } else {
        asked_to_end = 1;
    }
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

Caches caches_of(const Arguments &arguments)
{
    Caches caches;
    const auto range = arguments.equal_range("flush");
    for (auto argument = range.first; argument != range.second; ++argument) {
        if (argument->second != "instructions" && argument->second != "data") {
            throw std::runtime_error("--flush " + argument->second +
                                     ": expected instructions or data");
        }
        (argument->second == "data" ? caches.data : caches.instruction) = true;
    }
    return caches;
}

class Bench
{
  public:
    Bench(const Arguments &arguments, unsigned cores)
        : simulation_(machine_of(arguments, cores), cores),
          cycle_limit_(option(arguments, "cycle-limit", 20'000'000'000)),
          silence_limit_(option(arguments, "silence-limit", 2'000'000'000))
    {
        Machine &machine = simulation_.machine();
        const std::uint32_t entry = load_elf(text(arguments, "elf"), machine);
        if (arguments.count("plan") != 0) {
            load_plan(text(arguments, "plan"), machine);
        }
        simulation_.flush_at_begin(caches_of(arguments));
        simulation_.reset(entry);
    }

    Machine &machine()
    {
        return simulation_.machine();
    }

    bool counts_misses() const
    {
        return simulation_.counts_misses();
    }

    void follow(Paths &paths)
    {
        simulation_.follow(paths);
    }

    int run()
    {
        return run([this] { simulation_.step(); });
    }

    /* Runs it until the calls end it, too. */
    int run_with(Calls &calls)
    {
        simulation_.follow(calls);
        calls_ = &calls;
        const int code = run();
        settle(calls);
        calls.close(simulation_.core(0), end_);
        return calls.ended() ? 0 : code;
    }

    /* Runs it with an interrupt in every cycle of a sample. */
    int run_with(const Asked &asked, const std::string &tried, std::FILE *file)
    {
        Arrivals arrivals(simulation_, asked, tried);
        const int code = run([&arrivals] { arrivals.step([] { return asked_to_end != 0; }); });
        arrivals.close(file);
        return code;
    }

    void end()
    {
        std::fflush(stdout);
        std::cerr << "cycles: " << simulation_.clocked() << " run, " << simulation_.skipped()
                  << " skipped\n";
    }

  private:
    /* The store that ended the machine has yet to retire. */
    void settle(const Calls &calls)
    {
        const std::uint64_t before = calls.instructions();
        for (unsigned i = 0; i < SETTLE_CYCLES && simulation_.machine().finished() &&
                             calls.instructions() == before;
             i++) {
            simulation_.step();
        }
    }

    template <typename Step> int run(Step step)
    {
        Machine &machine = simulation_.machine();
        while (!over()) {
            for (std::uint64_t i = 0; i < LOOK_CYCLES && !over() && asked_to_end == 0; i++) {
                step();
            }
            if (machine.written() != written_) {
                written_ = machine.written();
                heard_ = simulation_.clocked();
                std::fflush(stdout);
            }
            if (asked_where != 0 || asked_to_end != 0) {
                simulation_.say_where();
                asked_where = 0;
            }
            if (asked_to_end != 0) {
                end_ = KDZ_END_STOPPED;
                return EXIT_LIMIT;
            }
            const char *why = limit();
            if (why != nullptr) {
                std::cerr << why << " after " << simulation_.clocked() << " cycles\n";
                simulation_.say_where();
                return EXIT_LIMIT;
            }
        }
        return machine.code();
    }

    bool over()
    {
        return simulation_.machine().finished() || (calls_ != nullptr && calls_->ended());
    }

    const char *limit()
    {
        if (simulation_.asleep() > LOOK_CYCLES && !simulation_.machine().timer_set()) {
            end_ = KDZ_END_ASLEEP;
            return "every core waits for an interrupt, and no timer is set:";
        }
        if (simulation_.clocked() >= cycle_limit_) {
            end_ = KDZ_END_LIMIT;
            return "the limit of cycles is reached:";
        }
        if (simulation_.clocked() - heard_ >= silence_limit_) {
            end_ = KDZ_END_LIMIT;
            return "nothing was written for too long:";
        }
        return nullptr;
    }

    Simulation simulation_;
    std::uint64_t cycle_limit_, silence_limit_;
    std::uint64_t written_ = 0, heard_ = 0; /* bytes of output, and the cycle of the last */
    Calls *calls_ = nullptr;
    kdz_end end_ = KDZ_END_ITSELF;
};

std::FILE *opened(const std::string &name)
{
    std::FILE *file = std::fopen(name.c_str(), "wb");
    if (file == nullptr) {
        throw std::runtime_error(name + ": cannot be written");
    }
    return file;
}

void close(std::FILE *file, const std::string &name)
{
    const bool failed = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || failed) {
        throw std::runtime_error(name + ": the disk is full");
    }
}

Paths paths_of(const Arguments &arguments, Machine &machine, std::FILE *file)
{
    Paths paths(file);
    const auto range = arguments.equal_range("word");
    for (auto one = range.first; one != range.second; ++one) {
        const auto address = static_cast<std::uint32_t>(number(one->second)) & ~3u;
        if (machine.memory_at(address, 4) == nullptr) {
            throw std::runtime_error(one->second + ": outside the memory of this machine");
        }
        paths.watch(address, machine.word_at(address));
    }
    return paths;
}

Second second_of(const std::string &name)
{
    static const std::map<std::string, Second> seconds = {
        {"", NONE}, {"tick", TICK}, {"request", REQUEST}, {"device", DEVICE}};
    const auto second = seconds.find(name);
    if (second == seconds.end()) {
        throw std::runtime_error("--arrival-second " + name + ": expected tick, request or device");
    }
    return second->second;
}

/* A word of each core: the address of the first one, and the bytes between two. */
void read_flag(const std::string &place, Asked &asked)
{
    const std::size_t sign = place.find(',');
    if (place.empty()) {
        return;
    }
    if (sign == std::string::npos) {
        throw std::runtime_error("--arrival-flag " + place + ": expected ADDRESS,BYTES");
    }
    asked.flag = static_cast<std::uint32_t>(number(place.substr(0, sign)));
    asked.flags_apart = static_cast<std::uint32_t>(number(place.substr(sign + 1)));
}

Asked arrivals_of(const Arguments &arguments)
{
    Asked asked;
    asked.sample = option(arguments, "arrival-sample", 0);
    asked.step = option(arguments, "arrival-step", 1);
    asked.lock = static_cast<std::uint32_t>(option(arguments, "arrival-lock", 0));
    asked.second = second_of(text(arguments, "arrival-second"));
    asked.elsewhere = option(arguments, "arrival-elsewhere", 0) != 0 ? 1u : 0u;
    read_flag(text(arguments, "arrival-flag"), asked);
    asked.only = option(arguments, "arrival-only", 0);
    asked.only_second = option(arguments, "arrival-second-at", 0);
    if (arguments.count("watch") == 0) {
        throw std::runtime_error("--arrivals: with --watch");
    }
    if (arguments.count("paths") != 0 && asked.only == 0) {
        throw std::runtime_error("--paths: with --arrival-only");
    }
    return asked;
}

int run_with_arrivals(Bench &bench, const Arguments &arguments)
{
    const std::string name = text(arguments, "arrivals");
    std::FILE *file = opened(name);
    const int code =
        bench.run_with(arrivals_of(arguments), text(arguments, "arrivals-tried"), file);
    close(file, name);
    return code;
}

int run_asked(Bench &bench, const Arguments &arguments)
{
    return arguments.count("arrivals") != 0 ? run_with_arrivals(bench, arguments) : bench.run();
}

/* Runs the bench and writes what its core retires. */
int run_followed(Bench &bench, const Arguments &arguments)
{
    const std::string name = text(arguments, "paths");
    std::FILE *file = opened(name);
    Paths paths = paths_of(arguments, bench.machine(), file);
    if (arguments.count("arrivals") != 0) {
        paths.follow_request(
            static_cast<std::uint32_t>(option(arguments, "arrival-until", RESPONDED)));
    }
    bench.follow(paths);
    const int code = run_asked(bench, arguments);
    paths.close();
    close(file, name);
    return code;
}

int run_counted(Bench &bench, const Arguments &arguments)
{
    Calls calls(arguments, bench.machine());
    return bench.run_with(calls);
}

int run_as_asked(Bench &bench, const Arguments &arguments)
{
    if (arguments.count("calls") != 0) {
        return run_counted(bench, arguments);
    }
    return arguments.count("paths") != 0 ? run_followed(bench, arguments)
                                         : run_asked(bench, arguments);
}

int run(const Arguments &arguments)
{
    Bench bench(arguments, static_cast<unsigned>(option(arguments, "cores", 1)));
    std::FILE *trace = nullptr;
    if (arguments.count("trace") != 0) {
        trace = opened(text(arguments, "trace"));
        bench.machine().watch(static_cast<std::uint32_t>(option(arguments, "watch", 0)), trace,
                              bench.counts_misses());
    }
    std::signal(SIGUSR1, on_signal);
    std::signal(SIGTERM, on_signal);
    const int code = run_as_asked(bench, arguments);
    bench.machine().end_watch();
    bench.end();
    if (trace != nullptr) {
        close(trace, text(arguments, "trace"));
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
