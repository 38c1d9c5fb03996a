/* SPDX-License-Identifier: Apache-2.0
 *
 * What objects.cfg, which creates every object, and this port have in common. The kernel's
 * configurator compiles it too, so it holds no type of the suite.
 */
#ifndef ITRON_OBJECTS_H
#define ITRON_OBJECTS_H

#include <kernel.h>

/* 1 is the most urgent of the 16 priorities. A task of the pool begins at the least urgent one. */
#define KDZ_ITRON_PRIORITY(rank) (TMAX_TPRI - (rank))
#define KDZ_ITRON_MAIN_RANK 11

/* The suite's main thread, and the eight of hartstone/ on a board with more than 16 KiB of RAM. */
#if KDZ_BOARD_HEAP_BYTES < 16384u
#define KDZ_ITRON_TASKS 6
#else
#define KDZ_ITRON_TASKS 9
#endif
#define KDZ_ITRON_MAIN_STACK_BYTES 1280 /* as on FreeRTOS */
#define KDZ_ITRON_STACK_BYTES 640

/* Semaphores: the first half count, the second half hold one. */
#define KDZ_ITRON_COUNTING 4
#define KDZ_ITRON_SEMAPHORES 8
#define KDZ_ITRON_COUNT_MAX 0xffff

#define KDZ_ITRON_MUTEXES 4   /* without a protocol */
#define KDZ_ITRON_CEILINGS 12 /* one a rank */
#define KDZ_ITRON_FLAGS 4

/* Data queues and how many words each holds. */
#define KDZ_ITRON_QUEUES 4
#define KDZ_ITRON_SHALLOW 1 /* the first two */
#define KDZ_ITRON_DEEP 3

/* The pool of blocks: what alloc/ asks for with 16 holes. None where RAM has no room for it. */
#if KDZ_BOARD_HEAP_BYTES >= 16384u
#define KDZ_ITRON_BLOCKS 33
#define KDZ_ITRON_BLOCK_BYTES 128
#endif

/* Time event handlers. A cyclic one has its period from here, the first included. */
#if KDZ_BOARD_HEAP_BYTES < 16384u
#define KDZ_ITRON_ALARMS 8
#else
#define KDZ_ITRON_ALARMS 32
#endif
#define KDZ_ITRON_CYCLICS 2
#define KDZ_ITRON_CYCLE_US 10000

#ifndef TOPPERS_MACRO_ONLY

extern STK_T kdz_itron_main_stack[COUNT_STK_T(KDZ_ITRON_MAIN_STACK_BYTES)];
extern STK_T kdz_itron_stack[KDZ_ITRON_TASKS - 1][COUNT_STK_T(KDZ_ITRON_STACK_BYTES)];

#ifdef KDZ_ITRON_BLOCKS
extern MPF_T kdz_itron_blocks[];
#endif

void kdz_itron_run(EXINF place);
void kdz_itron_expired(EXINF handle);

#endif

#endif
