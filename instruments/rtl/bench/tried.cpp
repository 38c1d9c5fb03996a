// SPDX-License-Identifier: Apache-2.0
#include "tried.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kadenz
{
namespace
{

constexpr char MAGIC[] = "KDZTRIED";
constexpr std::uint32_t VERSION = 2;
constexpr std::size_t PAGE = 4096, OWNERS_AT = PAGE, ROWS_AT = OWNERS_AT + MOST_ROWS;
constexpr int LOCK_LOOKS = 100;
constexpr unsigned LOCK_LOOK_US = 20000;
static_assert(sizeof(Tried::Head) <= PAGE, "the head has a page");

volatile std::sig_atomic_t is_entering = 0;

/* A page of a file that the disk has no room for. */
void on_bus_error(int number)
{
    if (is_entering != 0) {
        _exit(EXIT_FULL);
    }
    std::signal(number, SIG_DFL);
    std::raise(number);
}

std::size_t bytes_of(unsigned processes)
{
    return ROWS_AT + processes * MOST_ROWS * sizeof(Arrival);
}

std::string boot_of_machine()
{
    std::string name;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
    return name.substr(0, sizeof Tried::Head::boot - 1);
}

std::uint64_t hashed(const void *bytes, std::size_t size, std::uint64_t sum)
{
    const auto *place = static_cast<const unsigned char *>(bytes);
    for (std::size_t i = 0; i < size; i += 4) {
        std::uint32_t part = 0;
        std::memcpy(&part, place + i, std::min<std::size_t>(4, size - i));
        sum = (sum ^ part) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29u;
    }
    return sum;
}

/* Room for the head and the owners, at once; that of rows is taken when they are written. */
bool has_room(int file, std::size_t bytes)
{
    rlimit limit = {};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        return false; /* and a signal, if it were tried */
    }
    return ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
           posix_fallocate(file, 0, static_cast<off_t>(ROWS_AT)) == 0;
}

/* Waits for the processes of a bench that is being killed. */
bool is_locked(int file)
{
    int looks = LOCK_LOOKS;
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (--looks == 0) {
            return false;
        }
        usleep(LOCK_LOOK_US);
    }
    return true;
}

/* A file of this user's that no other bench uses; -1: it is none. */
int opened_alone(const std::string &name, int flags)
{
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
    struct stat status = {};
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
                      status.st_uid != geteuid() || !is_locked(file))) {
        close(file);
        return -1;
    }
    return file;
}

} // namespace

void Arrival::add(const Arrival &other)
{
    if (other.state == NOT_TRIED) {
        return;
    }
    if (state == NOT_TRIED) {
        /* A process may be killed at any time: its state says that a row is there, so it is last.
         */
        Arrival row = other;
        row.state = NOT_TRIED;
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
    seconds += other.seconds;
    handler.add(other.handler);
    task.add(other.task);
}

Tried::Tried(const std::string &file, const Asked &asked, unsigned processes)
    : asked_(asked), processes_(processes)
{
    if (file.empty() || !open(file)) {
        map_memory();
    }
    owners_ =
        reinterpret_cast<std::atomic<std::uint8_t> *>(reinterpret_cast<char *>(head_) + OWNERS_AT);
    rows_ = reinterpret_cast<Arrival *>(reinterpret_cast<char *>(head_) + ROWS_AT);
    take_up();
}

Tried::~Tried()
{
    munmap(head_, bytes_);
    if (file_ >= 0) {
        close(file_);
    }
}

/* ---- memory -----------------------------------------------------------------------------------
 */
void Tried::map_memory()
{
    bytes_ = bytes_of(processes_);
    void *const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("--arrivals: no memory for its rows");
    }
    head_ = static_cast<Head *>(memory); /* zero: none of it has a constructor that does more */
}

bool Tried::is_of(const Head &head) const
{
    return std::memcmp(head.magic, MAGIC, sizeof head.magic) == 0 && head.version == VERSION &&
           head.row_bytes == sizeof(Arrival) && head.asked == asked_ && head.processes != 0 &&
           head.processes <= MOST_PROCESSES;
}

bool Tried::open(const std::string &file)
{
    file_ = opened_alone(file, O_NOCTTY);
    struct stat link = {};
    if (file_ < 0 && lstat(file.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
        unlink(file.c_str()); /* what it leads to stays: another bench uses it */
        file_ = opened_alone(file, O_EXCL);
    }
    if (file_ < 0) {
        return false;
    }
    struct stat status = {};
    unsigned earlier = 0;
    if (fstat(file_, &status) == 0 && status.st_size >= static_cast<off_t>(ROWS_AT)) {
        void *const page = mmap(nullptr, PAGE, PROT_READ, MAP_SHARED, file_, 0);
        if (page != MAP_FAILED) {
            const Head &head = *static_cast<const Head *>(page);
            const bool whole = status.st_size == static_cast<off_t>(bytes_of(head.processes));
            earlier = whole && is_of(head) ? head.processes : 0;
            munmap(page, PAGE);
        }
    }
    processes_ = std::max(earlier, processes_);
    bytes_ = bytes_of(processes_);
    void *memory = MAP_FAILED;
    if ((earlier != 0 || ftruncate(file_, 0) == 0) && has_room(file_, bytes_)) {
        memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    }
    if (memory == MAP_FAILED) {
        close(file_);
        file_ = -1;
        return false;
    }
    head_ = static_cast<Head *>(memory);
    return true;
}

/* What a file has is believed if this machine wrote it and has not been off since, or if it was put
 * away and has its digest. */
void Tried::take_up()
{
    const std::string boot = boot_of_machine();
    if (is_of(*head_)) {
        const bool same_boot = !boot.empty() && boot == head_->boot;
        const bool is_torn = head_->digest != 0 ? head_->digest != digest() : !same_boot;
        if (is_torn && (ftruncate(file_, 0) != 0 || !has_room(file_, bytes_))) {
            throw std::runtime_error("--arrivals-tried: the disk is full");
        }
    }
    head_->digest = 0;
    std::copy_n(boot.c_str(), boot.size() + 1, head_->boot);
    if (!is_of(*head_)) {
        head_->version = VERSION;
        head_->row_bytes = sizeof(Arrival);
        head_->asked = asked_;
        head_->processes = processes_;
        std::atomic_signal_fence(std::memory_order_release);
        std::memcpy(head_->magic, MAGIC, sizeof head_->magic);
        return;
    }
    for (unsigned number = 0; number < processes_; number++) {
        if (asked_.second != NONE && head_->enters[number] != 0) {
            drop(number);
        }
        head_->enters[number] = 0;
    }
    head_->processes = processes_;
    if (head_->timed != 0 && head_->by_time == 0) {
        restart_by_time();
    }
    head_->tried = static_cast<std::uint64_t>(
        std::count_if(owners_, owners_ + MOST_ROWS, [](const auto &owner) { return owner != 0; }));
    head_->earlier = head_->tried;
}

void Tried::begin(std::uint64_t cycle)
{
    if (head_->begin != 0 && head_->begin != cycle) {
        clear();
        head_->by_time = 0;
        head_->timed = 0;
        head_->has_tick = 0;
        head_->longest = 0;
        head_->earlier = 0;
    }
    head_->begin = cycle;
}

void Tried::clear()
{
    const std::size_t used = this->used();
    const Arrival none = {};
    for (unsigned number = 0; number < processes_; number++) {
        for (Arrival *row = rows_of(number); row != rows_of(number) + used; row++) {
            if (std::memcmp(row, &none, sizeof none) != 0) { /* zeros get no page */
                *row = none;
            }
        }
    }
    std::fill_n(owners_, MOST_ROWS, 0);
    head_->lost = 0;
    head_->tried = 0;
}

void Tried::drop(unsigned number)
{
    std::fill_n(rows_of(number), used(), Arrival());
    for (std::size_t index = 0; index < MOST_ROWS; index++) {
        if (owners_[index] == number + 1u) {
            owners_[index] = 0;
        }
    }
}

void Tried::restart_by_time()
{
    clear();
    head_->by_time = 1;
}

/* ---- rows -------------------------------------------------------------------------------------
 */
Arrival *Tried::rows_of(unsigned number) const
{
    return rows_ + number * MOST_ROWS;
}

/* Rows of each process, of which later ones were not touched. */
std::size_t Tried::used() const
{
    const std::uint64_t last = head_->longest;
    return last == 0 ? 0 : (last - 1u) / asked_.step + 1u;
}

void Tried::enter(unsigned number, std::size_t index, const std::vector<Arrival> &rows,
                  std::uint32_t lost)
{
    std::uint64_t most = 0, longest = head_->longest;
    for (const Arrival &row : rows) {
        most = std::max<std::uint64_t>(most, row.phase);
    }
    if (most > MOST_ROWS * asked_.step) {
        _exit(EXIT_ROWS);
    }
    while (most > longest && !head_->longest.compare_exchange_weak(longest, most)) {
    }
    std::signal(SIGBUS, on_bus_error);
    is_entering = 1;
    head_->enters[number] = 1;
    for (const Arrival &row : rows) {
        rows_of(number)[(row.phase - 1u) / asked_.step].add(row);
    }
    head_->lost += lost;
    owners_[index] = static_cast<std::uint8_t>(number + 1u);
    head_->enters[number] = 0;
    is_entering = 0;
    head_->tried++;
}

void Tried::enter_crash(unsigned number, std::uint32_t phase, std::uint32_t pc)
{
    const std::size_t index = (phase - 1u) / asked_.step;
    Arrival row = {};
    row.phase = phase;
    row.state = Arrival::CRASHED;
    row.last = pc;
    enter(number, index, {row}, 1);
}

std::vector<Arrival> Tried::rows() const
{
    std::vector<Arrival> all;
    for (std::size_t index = 0, most = used(); index < most; index++) {
        Arrival sum = {};
        for (unsigned number = 0; number < processes_; number++) {
            sum.add(rows_of(number)[index]);
        }
        if (sum.state != Arrival::NOT_TRIED) {
            all.push_back(sum);
        }
    }
    return all;
}

std::uint64_t Tried::digest() const
{
    const std::size_t most = std::min(used(), MOST_ROWS);
    const std::uint64_t counts[] = {head_->lost,  head_->timed,   head_->has_tick, head_->longest,
                                    head_->begin, head_->by_time, head_->processes};
    std::uint64_t sum = hashed(counts, sizeof counts, 1);
    sum = hashed(static_cast<const void *>(owners_), MOST_ROWS, sum);
    for (unsigned number = 0; number < head_->processes; number++) {
        sum = hashed(rows_of(number), most * sizeof(Arrival), sum);
        sum = hashed(&head_->enters[number], sizeof head_->enters[number], sum);
    }
    return sum | 1u;
}

void Tried::put_away()
{
    if (file_ >= 0) {
        head_->digest = digest();
    }
}

} // namespace kadenz
