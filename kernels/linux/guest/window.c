/* SPDX-License-Identifier: Apache-2.0
 *
 * A window of memory that the guest shares with the lab, through which a program's frames leave:
 * a serial line has an interrupt for every 16 bytes. It is a PCI device without a driver, whose
 * memory sysfs maps (Linux, Documentation/PCI/sysfs-pci.rst): BAR 2 of QEMU's ivshmem-plain (QEMU,
 * docs/specs/ivshmem-spec.rst).
 *
 * Its first word is the number of bytes that follow; it grows once they are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

#define PIECE_WORDS 8192u

static struct {
    volatile uint64_t *words;
    size_t capacity;
} window;

static void enable(const char *device)
{
    char path[128];
    int descriptor;

    (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/enable", device);
    descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || write(descriptor, "1", 1) != 1) {
        fail(path);
    }
    (void)close(descriptor);
}

void open_window(const char *device)
{
    char path[128];
    struct stat status;
    void *memory = MAP_FAILED;
    int descriptor;

    enable(device);
    (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/resource2", device);
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_SYNC);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0) {
        window.capacity = (size_t)status.st_size / sizeof(uint64_t);
        memory =
            mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    if (memory == MAP_FAILED) {
        fail(path);
    }
    (void)close(descriptor);
    window.words = memory;
}

/* Whole words at their own addresses: device memory of arm64 takes no others. */
void send_through_window(int frames)
{
    static uint64_t piece[PIECE_WORDS];
    size_t next = 1;
    uint64_t sent = 0;
    ssize_t count;

    while ((count = read(frames, piece, sizeof piece)) > 0) {
        const size_t used = ((size_t)count + sizeof *piece - 1) / sizeof *piece;

        if (used > window.capacity - next) {
            errno = ENOSPC;
            fail("the frames that the program left");
        }
        for (size_t i = 0; i < used; i++) {
            window.words[next + i] = piece[i];
        }
        next += used;
        sent += (uint64_t)count;
        atomic_thread_fence(memory_order_release);
        window.words[0] = sent;
    }
    if (count < 0) {
        fail("the kept frames cannot be read");
    }
}
