// SPDX-License-Identifier: Apache-2.0
#include "arrivals.hpp"

#include "attempts.hpp"

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
constexpr std::size_t BLOCK = 32;       /* arrivals that a process takes at once */
constexpr unsigned MOST_PROCESSES = 64; /* their numbers are bytes, and each has rows */
constexpr int EXIT_FORK = 2;
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

void Arrival::add(const Arrival &other)
{
    if (other.state == Arrivals::NOT_TRIED) {
        return;
    }
    if (state == Arrivals::NOT_TRIED) {
        /* A process may be killed at any time: its state says that a row is there, so it is last.
         */
        Arrival row = other;
        row.state = Arrivals::NOT_TRIED;
        *this = row;
        std::atomic_signal_fence(std::memory_order_release);
        state = other.state;
        return;
    }
    if (other.state > state) {
        state = other.state;
        last = other.last;
    }
    handled = std::max(handled, other.handled);
    responded = std::max(responded, other.responded);
    ticks += other.ticks;
    handler.add(other.handler);
    task.add(other.task);
}

Arrivals::Arrivals(Simulation &simulation, const Asked &asked)
    : simulation_(simulation), asked_(asked),
      processes_(std::clamp(std::thread::hardware_concurrency(), 1u, MOST_PROCESSES))
{
    if (asked_.step == 0) {
        throw std::runtime_error("--arrival-step 0: at least 1");
    }
    if (simulation_.cores() != 1) {
        throw std::runtime_error("--arrivals: one core, not several");
    }
    std::vector<std::uint8_t> state;
    simulation_.core(0).save(state);  /* or it says why not */
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* rows are read when their writers have ended */
    shared_ = shared_memory<Shared>(1);
    taken_ = shared_memory<std::atomic<std::uint8_t>>(MOST_ROWS / BLOCK);
    tries_ = shared_memory<std::uint32_t>(processes_);
    rows_ = shared_memory<Arrival>(MOST_ROWS * processes_);
}

Arrivals::~Arrivals()
{
    end_processes();
    munmap(rows_, MOST_ROWS * processes_ * sizeof *rows_);
    munmap(tries_, processes_ * sizeof *tries_);
    munmap(taken_, MOST_ROWS / BLOCK * sizeof *taken_);
    munmap(shared_, sizeof *shared_);
}

void Arrivals::step(const std::function<bool()> &stopped)
{
    if (open_ && asked_.only != 0) {
        raise_only(simulation_.machine().now() - begin_);
    }
    simulation_.step();
    const Mark mark = simulation_.marked();
    if (mark.value == BEGIN && seen_++ == asked_.sample) {
        open_ = true;
        begin_ = mark.cycle;
        deadline_ = simulation_.machine().deadline();
        if (asked_.only == 0) {
            start();
        }
    } else if (mark.value == END && open_) {
        open_ = false;
        cycles_ = mark.cycle - begin_;
        whole_ = true;
        if (asked_.ticks && simulation_.machine().deadline() != deadline_) {
            shared_->has_tick = 1;
        }
        wait(stopped);
    }
}

void Arrivals::raise_only(std::uint64_t phase)
{
    if (phase == asked_.only) {
        simulation_.request();
    }
    if (phase == asked_.only_tick) {
        (void)simulation_.machine().tick();
    }
}

/* ---- processes --------------------------------------------------------------------------------
 */
void Arrivals::start()
{
    std::fflush(nullptr);
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
    try_all(false);
    if (shared_->timed != 0) {
        const std::size_t used = used_rows();
        for (unsigned number = 0; number < processes_; number++) {
            std::fill_n(rows_ + number * MOST_ROWS, used, Arrival());
            tries_[number] = 0;
        }
        for (std::size_t block = 0; block < MOST_ROWS / BLOCK; block++) {
            taken_[block] = 0;
        }
        shared_->lost = 0;
        try_all(true);
    }
    _exit(0);
}

void Arrivals::try_all(bool by_time)
{
    std::map<pid_t, unsigned> running;
    for (unsigned number = 0; number < processes_; number++) {
        running[fork_one(number, by_time)] = number;
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
        if (WIFEXITED(status) || tries_[number] == 0) {
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        Arrival &row = rows_[number * MOST_ROWS + (tries_[number] - 1u) / asked_.step];
        row.phase = tries_[number];
        row.state = CRASHED;
        shared_->lost++;
        running[fork_one(number, by_time)] = number;
    }
}

pid_t Arrivals::fork_one(unsigned number, bool by_time)
{
    const pid_t child = fork_bound();
    if (child == 0) {
        walk(number, by_time);
    }
    if (child < 0) {
        _exit(EXIT_FORK);
    }
    return child;
}

/* Through the whole sample, and back to each cycle that is this one's. */
void Arrivals::walk(unsigned number, bool by_time)
{
    Machine &machine = simulation_.machine();
    Arrival *const rows = rows_ + number * MOST_ROWS;
    const std::uint64_t behind = tries_[number]; /* of one that crashed */
    Attempts attempts(simulation_, asked_, begin_, *shared_, rows, by_time);
    const auto is_mine = [&](std::uint64_t index) {
        std::uint8_t owner = 0;
        const auto mine = static_cast<std::uint8_t>(number + 1u);
        return taken_[index / BLOCK].compare_exchange_strong(owner, mine) || owner == mine;
    };
    while (true) {
        const std::uint64_t phase = machine.now() - begin_, index = (phase - 1u) / asked_.step;
        const bool in_vain = shared_->has_tick != 0 || (shared_->timed != 0 && !by_time);
        const bool goes_on = shared_->lost < MOST_LOST && !in_vain;
        if ((phase - 1u) % asked_.step == 0 && phase > behind && goes_on) {
            if (index >= MOST_ROWS) {
                _exit(EXIT_ROWS);
            }
            if (is_mine(index)) {
                tries_[number] = static_cast<std::uint32_t>(phase);
                rows[index].last = simulation_.core(0).pc(); /* if this process crashes */
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
/* Rows of each process, of which later ones were not touched. */
std::size_t Arrivals::used_rows() const
{
    const std::uint32_t tried = *std::max_element(tries_, tries_ + processes_);
    const std::uint64_t last = std::max<std::uint64_t>(tried, shared_->longest);
    return last == 0 ? 0 : (last - 1u) / asked_.step + 1u;
}

std::vector<Arrival> Arrivals::rows() const
{
    std::vector<Arrival> all;
    for (std::size_t index = 0, used = used_rows(); index < used; index++) {
        Arrival sum = {};
        for (unsigned number = 0; number < processes_; number++) {
            sum.add(rows_[number * MOST_ROWS + index]);
        }
        if (sum.state != NOT_TRIED) {
            all.push_back(sum);
        }
    }
    return all;
}

void Arrivals::close(std::FILE *file)
{
    if (!whole_) { /* ended in the middle of the sample */
        end_processes();
    }
    std::vector<Arrival> all = rows();
    Extent extent = whole_ ? TRIED : CUT_OFF;
    /* How many processes there are is this machine's matter: rows behind the last one that may be
     * lost are dropped, so that two machines write the same. */
    std::uint32_t lost = 0;
    for (std::size_t i = 0; i < all.size(); i++) {
        lost += all[i].state == WHOLE ? 0u : 1u;
        if (lost == MOST_LOST) {
            all.resize(i + 1);
            extent = whole_ ? GIVEN_UP : CUT_OFF;
        }
    }
    if (asked_.ticks && whole_ && shared_->has_tick != 0) {
        extent = HAS_TICK;
        all.clear();
    }
    std::fputs("KDZARRIV", file);
    put(file, VERSION, 4);
    put(file, HEADER_BYTES, 4);
    put(file, sizeof(Arrival), 4);
    put(file, extent, 4);
    put(file, asked_.ticks ? std::max(cycles_, shared_->longest.load()) : cycles_, 8);
    put(file, asked_.step, 8);
    std::fwrite(all.data(), sizeof(Arrival), all.size(), file);
}

} // namespace kadenz
