// SPDX-License-Identifier: Apache-2.0
#include "arrivals.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <new>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kadenz
{
namespace
{

constexpr std::uint32_t VERSION = 2, HEADER_BYTES = 40;
constexpr std::size_t BLOCK = 32; /* arrivals that a process takes at once */
constexpr unsigned WAIT_US = 20000;

template <typename Item> Item *shared_memory(std::size_t count)
{
    void *const memory = mmap(nullptr, count * sizeof(Item), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("--arrivals: no memory for its rows");
    }
    return new (memory) Item[count]; /* zero, and kept so: none of them has a constructor */
}

/* What this process writes from now on goes nowhere: its copies of the parent's buffers, too. */
void be_silent()
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) {
        _exit(1);
    }
}

/* A process that dies with this one. -1: there is none; 0: in it. */
pid_t fork_bound()
{
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
    }
    return child;
}

} // namespace

Arrivals::Arrivals(Simulation &simulation, const Asked &asked, const std::string &tried)
    : simulation_(simulation), asked_(asked),
      processes_(std::clamp(std::thread::hardware_concurrency(), 1u, Tried::MOST_PROCESSES)),
      tried_(asked.only == 0 ? tried : "", asked, processes_)
{
    if (asked_.step == 0) {
        throw std::runtime_error("--arrival-step 0: at least 1");
    }
    const bool several = simulation_.cores() != 1;
    if (several && (asked_.second != NONE || asked_.flag == 0)) {
        throw std::runtime_error("--arrivals: several cores need --arrival-flag, and have no "
                                 "--arrival-second");
    }
    if (!several && (asked_.elsewhere != 0 || asked_.flag != 0)) {
        throw std::runtime_error("--arrival-flag, --arrival-elsewhere: there is one core");
    }
    for (unsigned core = 0; several && core < simulation_.cores(); core++) {
        const Memory *memory =
            simulation_.machine().memory_at(asked_.flag + core * asked_.flags_apart, 4);
        if (memory == nullptr) {
            throw std::runtime_error("--arrival-flag: outside the memory of this machine");
        }
    }
    std::vector<std::uint8_t> state;
    simulation_.core(0).save(state);  /* or it says why not */
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* rows are read when their writers have ended */
    taken_ = shared_memory<std::atomic<std::uint8_t>>(MOST_ROWS / BLOCK);
    attempts_ = shared_memory<Attempt>(processes_);
}

Arrivals::~Arrivals()
{
    end_processes();
    munmap(attempts_, processes_ * sizeof *attempts_);
    munmap(taken_, MOST_ROWS / BLOCK * sizeof *taken_);
}

void Arrivals::step(const std::function<bool()> &stopped)
{
    const std::uint64_t phase = simulation_.machine().now() - begin_.cycle;
    if (open_ && asked_.only != 0) {
        raise_only(phase);
    } else if (open_ && phase != 0 && (phase - 1u) % asked_.step == 0) {
        planned_++;
    }
    simulation_.step();
    const Mark mark = simulation_.marked();
    if (mark.value == BEGIN && seen_++ == asked_.sample) {
        open_ = true;
        begin_ = mark;
        deadline_ = simulation_.machine().deadline();
        if (asked_.only == 0) {
            start();
        }
    } else if (mark.value == END && open_) {
        open_ = false;
        cycles_ = mark.cycle - begin_.cycle;
        whole_ = true;
        tried_.head().planned = planned_;
        if (asked_.second == TICK && simulation_.machine().deadline() != deadline_) {
            tried_.head().has_tick = 1;
        }
        wait(stopped);
    }
}

Interrupted Arrivals::interrupted() const
{
    return interrupted_of(asked_, begin_, simulation_.cores());
}

void Arrivals::raise_only(std::uint64_t phase)
{
    if (phase == asked_.only) {
        const Interrupted at = interrupted();
        simulation_.request(at.core, at.flag);
    }
    if (phase != asked_.only_second) {
        return;
    }
    if (asked_.second == REQUEST) {
        simulation_.machine().raise(0); /* no profile begins at it */
    } else if (asked_.second == DEVICE) {
        simulation_.machine().raise_other();
    } else {
        (void)simulation_.machine().tick();
    }
}

/* ---- processes --------------------------------------------------------------------------------
 */
void Arrivals::start()
{
    std::fflush(nullptr);
    tried_.begin(begin_.cycle);
    manager_ = fork_bound();
    if (manager_ == 0) {
        manage();
    }
    if (manager_ < 0) {
        throw std::runtime_error("--arrivals: no further process");
    }
}

/* Stays at the beginning of the sample, so that a process begins there at any time. */
void Arrivals::manage()
{
    be_silent();
    simulation_.machine().unwatch();
    if (tried_.head().by_time == 0) {
        try_all();
        if (tried_.head().timed == 0) {
            _exit(0);
        }
        tried_.restart_by_time();
        std::fill_n(attempts_, processes_, Attempt());
        std::fill_n(taken_, MOST_ROWS / BLOCK, 0);
    }
    try_all();
    _exit(0);
}

void Arrivals::try_all()
{
    std::map<pid_t, unsigned> running;
    for (unsigned number = 0; number < processes_; number++) {
        running[fork_one(number)] = number;
    }
    while (!running.empty()) {
        int status = 0;
        const auto ended = running.find(waitpid(-1, &status, 0));
        if (ended == running.end()) {
            continue;
        }
        const unsigned number = ended->second;
        running.erase(ended);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            continue;
        }
        if (WIFEXITED(status) || attempts_[number].phase == 0) {
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        tried_.enter_crash(number, attempts_[number].phase, attempts_[number].pc);
        running[fork_one(number)] = number;
    }
}

pid_t Arrivals::fork_one(unsigned number)
{
    const pid_t child = fork_bound();
    if (child == 0) {
        walk(number);
    }
    if (child < 0) {
        _exit(EXIT_FORK);
    }
    return child;
}

/* Through the whole sample, and back to each cycle that is this one's. */
void Arrivals::walk(unsigned number)
{
    Machine &machine = simulation_.machine();
    const std::uint64_t behind = attempts_[number].phase; /* of one that crashed */
    const Tried::Head &head = tried_.head();
    const Core &core = simulation_.core(interrupted().core);
    Attempts attempts(simulation_, asked_, begin_, tried_, number);
    const auto is_mine = [&](std::uint64_t index) {
        std::uint8_t owner = 0;
        const auto mine = static_cast<std::uint8_t>(number + 1u);
        return taken_[index / BLOCK].compare_exchange_strong(owner, mine) || owner == mine;
    };
    while (true) {
        const std::uint64_t phase = machine.now() - begin_.cycle,
                            index = (phase - 1u) / asked_.step;
        const bool in_vain = head.has_tick != 0 || (head.timed != 0 && head.by_time == 0);
        const bool goes_on = head.lost < MOST_LOST && !in_vain;
        if ((phase - 1u) % asked_.step == 0 && phase > behind && goes_on) {
            if (index >= MOST_ROWS) {
                _exit(EXIT_ROWS);
            }
            if (is_mine(index) && !tried_.has(index)) {
                attempts_[number] = {static_cast<std::uint32_t>(phase), core.pc()};
                attempts.now();
            }
        }
        simulation_.step();
        if (simulation_.marked().value == END) {
            _exit(0);
        }
    }
}

void Arrivals::wait(const std::function<bool()> &stopped)
{
    while (manager_ > 0) {
        int status = 0;
        if (waitpid(manager_, &status, WNOHANG) == manager_) {
            manager_ = 0;
            if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ROWS) {
                throw std::runtime_error("--arrivals: the sample has more than 1048576 cycles to "
                                         "try: take a larger --arrival-step");
            }
            if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FULL) {
                throw std::runtime_error("--arrivals-tried: the disk is full");
            }
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                throw std::runtime_error("--arrivals: a process that tries them could not run");
            }
        } else if (stopped()) {
            end_processes();
            whole_ = false;
        } else {
            usleep(WAIT_US);
        }
    }
}

void Arrivals::end_processes()
{
    if (manager_ > 0) {
        kill(manager_, SIGKILL); /* and with it all others, which are this one's children then */
        manager_ = 0;
        while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
        }
    }
}

/* ---- the file ---------------------------------------------------------------------------------
 */
void Arrivals::close(std::FILE *file)
{
    if (!whole_) { /* ended in the middle of the sample */
        end_processes();
    }
    std::vector<Arrival> all = tried_.rows();
    tried_.put_away();
    Extent extent = whole_ ? TRIED : CUT_OFF;
    /* How many processes there are is this machine's matter: rows behind the last one that may be
     * lost are dropped, so that two machines write the same. */
    std::uint32_t lost = 0;
    for (std::size_t i = 0; i < all.size(); i++) {
        lost += all[i].state == Arrival::WHOLE ? 0u : 1u;
        if (lost == MOST_LOST) {
            all.resize(i + 1);
            extent = whole_ ? GIVEN_UP : CUT_OFF;
        }
    }
    if (whole_ && tried_.head().lost >= MOST_LOST) {
        extent = GIVEN_UP; /* of pairs, perhaps of fewer arrivals */
    }
    if (whole_ && tried_.head().has_tick != 0) {
        extent = HAS_TICK;
        all.clear();
    }
    std::fputs("KDZARRIV", file);
    put(file, VERSION, 4);
    put(file, HEADER_BYTES, 4);
    put(file, sizeof(Arrival), 4);
    put(file, extent, 4);
    put(file, asked_.second != NONE ? std::max(cycles_, tried_.head().longest.load()) : cycles_, 8);
    put(file, asked_.step, 8);
    std::fwrite(all.data(), sizeof(Arrival), all.size(), file);
}

} // namespace kadenz
