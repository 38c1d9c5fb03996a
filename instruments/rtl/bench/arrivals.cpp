// SPDX-License-Identifier: Apache-2.0
#include "arrivals.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
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

constexpr std::uint32_t VERSION = 1, HEADER_BYTES = 40;
constexpr std::size_t MOST_ROWS = 1u << 20u;
/* From its request on a child runs for so long and the length of the sample, at most. */
constexpr std::uint64_t CHILD_CYCLES = 1'000'000;
/* After this number of children without an end no further one is started: each takes its time. */
constexpr std::uint32_t MOST_LOST = 8;

std::size_t mapped_bytes()
{
    return MOST_ROWS * sizeof(Arrival);
}

/* What the child writes from now on goes nowhere: its copies of the parent's buffers, too. */
void be_silent()
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) {
        _exit(1);
    }
}

} // namespace

Arrivals::Arrivals(Simulation &simulation, const Asked &asked)
    : simulation_(simulation), asked_(asked),
      most_(std::max(1u, std::thread::hardware_concurrency()))
{
    if (asked_.step == 0) {
        throw std::runtime_error("--arrival-step 0: at least 1");
    }
    if (simulation_.cores() != 1) {
        throw std::runtime_error("--arrivals: one core, not several");
    }
    void *const memory = mmap(nullptr, mapped_bytes(), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("--arrivals: no memory for its rows");
    }
    rows_ = static_cast<Arrival *>(memory);
}

Arrivals::~Arrivals()
{
    munmap(rows_, mapped_bytes());
}

void Arrivals::step()
{
    const std::uint64_t phase = simulation_.machine().now() - begin_;
    if (open_ && asked_.only != 0 && phase == asked_.only) {
        simulation_.request();
    } else if (open_ && asked_.only == 0 && (phase - 1) % asked_.step == 0) {
        attempt();
    }
    simulation_.step();
    const Mark mark = simulation_.marked();
    if (mark.value == BEGIN && seen_++ == asked_.sample) {
        open_ = true;
        begin_ = mark.cycle;
    } else if (mark.value == END && open_) {
        open_ = false;
        whole_ = true;
        cycles_ = mark.cycle - begin_;
    }
}

void Arrivals::attempt()
{
    if (lost_ >= MOST_LOST) {
        return;
    }
    if (count_ == MOST_ROWS) {
        throw std::runtime_error("--arrivals: the sample has more than 1048576 cycles to try: "
                                 "take a larger --arrival-step");
    }
    while (children_.size() >= most_) {
        wait_for_one();
    }
    Arrival &row = rows_[count_];
    Machine &machine = simulation_.machine();
    row.phase = static_cast<std::uint32_t>(machine.now() - begin_);
    row.state = RUNS;
    row.pc = simulation_.core(0).pc();
    row.masked = simulation_.core(0).interrupts_on() ? 0 : 1;
    row.locked = asked_.lock != 0 ? machine.word_at(asked_.lock) : 0;
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        be_child(row);
    }
    if (child < 0) {
        throw std::runtime_error(std::string("--arrivals: no further process: ") +
                                 std::strerror(errno));
    }
    children_[child] = count_++;
}

void Arrivals::be_child(Arrival &row)
{
    Machine &machine = simulation_.machine();
    const std::uint64_t request = machine.now();
    std::uint64_t end = 0;
    be_silent();
    machine.unwatch();
    simulation_.request();
    while (row.handled == 0 || row.responded == 0 || end == 0) {
        if (machine.finished() || machine.now() - request > CHILD_CYCLES + (request - begin_)) {
            row.pc = simulation_.core(0).pc();
            row.state = UNENDED;
            _exit(0);
        }
        simulation_.step();
        const Mark mark = simulation_.marked();
        const auto since = static_cast<std::uint32_t>(mark.cycle - request);
        if (mark.value == HANDLED && row.handled++ == 0) {
            row.handler = since;
        } else if (mark.value == RESPONDED && row.responded++ == 0) {
            row.task = since;
        } else if (mark.value == END && end == 0) {
            end = mark.cycle;
        }
    }
    row.end = static_cast<std::uint32_t>(end - begin_);
    row.state = WHOLE;
    _exit(0);
}

void Arrivals::wait_for_one()
{
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0) {
        if (errno != EINTR) {
            children_.clear(); /* there are none */
        }
        return;
    }
    const auto known = children_.find(child);
    if (known == children_.end()) {
        return;
    }
    Arrival &row = rows_[known->second];
    if (row.state == RUNS) {
        row.state = CRASHED;
    }
    lost_ += row.state == WHOLE ? 0u : 1u;
    children_.erase(known);
}

/* The number of children that run side by side is this machine's: rows behind the last one that may
 * be lost are dropped, so that two machines write the same. */
bool Arrivals::give_up()
{
    std::uint32_t lost = 0;
    for (std::uint32_t i = 0; i < count_; i++) {
        lost += rows_[i].state == WHOLE ? 0u : 1u;
        if (lost == MOST_LOST) {
            count_ = i + 1;
            return true;
        }
    }
    return false;
}

void Arrivals::close(std::FILE *file)
{
    if (!whole_) { /* ended in the middle of the sample: rows of children that still run say so */
        for (const auto &child : children_) {
            kill(child.first, SIGKILL);
            (void)waitpid(child.first, nullptr, 0);
        }
        children_.clear();
    }
    while (!children_.empty()) {
        wait_for_one();
    }
    std::fputs("KDZARRIV", file);
    put(file, VERSION, 4);
    put(file, HEADER_BYTES, 4);
    put(file, sizeof(Arrival), 4);
    put(file, !whole_ ? CUT_OFF : give_up() ? GIVEN_UP : TRIED, 4);
    put(file, cycles_, 8);
    put(file, asked_.step, 8);
    std::fwrite(rows_, sizeof(Arrival), count_, file);
}

} // namespace kadenz
