/* SPDX-License-Identifier: Apache-2.0
 *
 * What processes have tried of a sample, in memory that all of them share. With a file it outlives
 * them: a bench that begins with the file of one that was ended, or killed, tries the rest.
 *
 * Each process has rows, since an arrival with others is put together from the attempts of many
 * cycles. An attempt's rows are entered at its end, and its cycle then has an owner. Of a process
 * that was killed while it entered rows, all rows are dropped, and its cycles tried once more.
 *
 * The file, of this machine's bytes: Head, a byte for each arrival (its owner from 1 on, 0: it is
 * to be tried), rows of each process. The lab reads the head's first numbers while the sample is
 * tried.
 */
#ifndef KADENZ_RTL_TRIED_HPP
#define KADENZ_RTL_TRIED_HPP

#include "arrival.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace kadenz
{

class Tried
{
  public:
    static constexpr unsigned MOST_PROCESSES = 64; /* their numbers are bytes */

    struct Head {
        char magic[8];
        std::uint32_t version, row_bytes;
        std::atomic<std::uint64_t> planned; /* arrivals of the sample; 0: not known yet */
        std::atomic<std::uint64_t> tried;   /* of them */
        std::uint64_t earlier;              /* of these, by earlier benches */
        Asked asked;
        std::uint64_t begin;              /* cycle of BEGIN; 0: not seen yet */
        std::uint32_t processes;          /* that have rows */
        std::uint32_t by_time;            /* rows are of attempts that look at the time */
        char boot[40];                    /* of this machine, when it was used last */
        std::uint64_t digest;             /* of all, once it was put away; 0: in use, or killed */
        std::atomic<std::uint32_t> lost;  /* arrivals without an end */
        std::atomic<std::uint32_t> timed; /* what follows a tick depends on its moment */
        std::atomic<std::uint32_t> has_tick;
        std::atomic<std::uint64_t> longest; /* last cycle with an arrival, after BEGIN */
        std::array<std::atomic<std::uint32_t>, MOST_PROCESSES> enters; /* rows, at this moment */
    };

    /* `file`: "" for none. One that cannot be used, another bench's or damaged, is left alone. */
    Tried(const std::string &file, const Asked &asked, unsigned processes);
    ~Tried();
    Tried(const Tried &) = delete;
    Tried &operator=(const Tried &) = delete;

    Head &head()
    {
        return *head_;
    }
    const Head &head() const
    {
        return *head_;
    }
    /* The sample begins. Forgets what a file has of another one. */
    void begin(std::uint64_t cycle);
    bool has(std::size_t index) const
    {
        return owners_[index] != 0;
    }
    /* Of a process: rows that an attempt in a cycle gave, by their phases, and how many arrivals
     * came to no end. The process ends if the disk is full. */
    void enter(unsigned number, std::size_t index, const std::vector<Arrival> &rows,
               std::uint32_t lost);
    /* A process died in an attempt. */
    void enter_crash(unsigned number, std::uint32_t phase, std::uint32_t pc);
    /* Everything is to be tried again, and looks at the time. */
    void restart_by_time();
    /* In the order of their phases. */
    std::vector<Arrival> rows() const;
    /* No process writes any more. */
    void put_away();

  private:
    Arrival *rows_of(unsigned number) const;
    std::size_t used() const;
    bool open(const std::string &file);
    bool is_of(const Head &head) const;
    void map_file(std::size_t bytes);
    void map_memory();
    void take_up();
    void clear();
    void drop(unsigned number);
    std::uint64_t digest() const;

    Asked asked_;
    unsigned processes_;
    int file_ = -1;
    std::size_t bytes_ = 0;
    Head *head_ = nullptr;
    std::atomic<std::uint8_t> *owners_ = nullptr;
    Arrival *rows_ = nullptr;
};

} // namespace kadenz

#endif
