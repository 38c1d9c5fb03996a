/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for samples: a quarter of the machine's memory as address space. What a record needs is
 * touched, and by that locked, when it opens (core/record.c); the rest costs nothing. Mapped
 * shared: a process that a benchmark creates shares it, and a fork() leaves no page of it to be
 * copied at the next sample.
 *
 * KADENZ_STORAGE is the descriptor of a file to map instead (kadenz/store/storage_file.py): it
 * outlives this program, so that samples of a record which never ends can be fetched from it.
 */
#include "kadenz/board.h"
#include "kadenz/fault.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 65536 /* in front of the samples, not ours */

/* The file to map and its room for samples; -1 when there is none. */
static int storage_file(size_t *bytes)
{
    const char *const number = getenv("KADENZ_STORAGE");
    const int file = number != NULL ? atoi(number) : -1;
    struct stat state;

    if (file < 0) {
        return -1;
    }
    if (fstat(file, &state) != 0 || state.st_size <= HEAD_BYTES) {
        kdz_fault(KDZ_FAULT_ASSERT, "KADENZ_STORAGE is no descriptor of a file with room", NULL, 0);
    }
    *bytes = (size_t)state.st_size - HEAD_BYTES;
    return file;
}

struct kdz_storage kdz_board_storage(void)
{
    static struct kdz_storage storage;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) / 4u * page;
    void *memory;
    int file;

    if (storage.values != NULL) {
        return storage;
    }
    file = storage_file(&bytes);
    /* mlockall(MCL_FUTURE) fills every new mapping at once, except one that nobody can access;
     * locked on fault from then on, it stays unfilled when access is given (mlock2(2)). */
    memory =
        mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0),
             file, file < 0 ? 0 : HEAD_BYTES);
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
