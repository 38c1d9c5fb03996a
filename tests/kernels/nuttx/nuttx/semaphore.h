/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_SEMAPHORE_H
#define NUTTX_SEMAPHORE_H

#include <stdint.h>

typedef struct {
    int placeholder;
} sem_t;

int sem_init(sem_t *sem, int shared, unsigned int value);
int sem_destroy(sem_t *sem);
int sem_wait(sem_t *sem);
int sem_post(sem_t *sem);
int nxsem_wait(sem_t *sem);
int nxsem_tickwait(sem_t *sem, uint32_t ticks);

#endif
