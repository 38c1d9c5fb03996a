/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for samples: a quarter of the machine's memory as address space. What a record needs is
 * touched, and by that locked, when it opens (core/record.c); the rest costs nothing. Mapped
 * shared: a process that a benchmark creates shares it, and a fork() leaves no page of it to be
 * copied at the next sample.
 */
#include "kadenz/board.h"
#include "kadenz/fault.h"

#include <sys/mman.h>
#include <unistd.h>

struct kdz_storage kdz_board_storage(void)
{
    static struct kdz_storage storage;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) / 4u * page;
    void *memory;

    if (storage.values != NULL) {
        return storage;
    }
    /* mlockall(MCL_FUTURE) fills every new mapping at once, except one that nobody can access;
     * locked on fault from then on, it stays unfilled when access is given (mlock2(2)). */
    memory = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        kdz_fault(KDZ_FAULT_OUT_OF_MEMORY,
                  "no address space for samples: raise the limit `ulimit -v`", NULL, 0);
    }
    /* Without the right to lock, the port has refused or noted that already. */
    (void)mlock2(memory, bytes, MLOCK_ONFAULT);
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
        kdz_fault(KDZ_FAULT_OUT_OF_MEMORY, "no memory for samples", NULL, 0);
    }
    storage = (struct kdz_storage){memory, bytes / sizeof(uint32_t)};
    return storage;
}
