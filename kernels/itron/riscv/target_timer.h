/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's timer on mtime and mtimecmp, whose rate is no multiple of 1 MHz: an interrupt at the
 * next event, none in between.
 */
#ifndef TOPPERS_TARGET_TIMER_H
#define TOPPERS_TARGET_TIMER_H

#include "kernel_impl.h"

#define HRTCNT_BOUND 4000000002U

#ifndef TOPPERS_MACRO_ONLY

#define KDZ_MTIMECMP(half) (*(volatile uint32_t *)(KDZ_ITRON_CLINT + 0x4000 + 4 * (half)))
#define KDZ_MTIME(half) (*(volatile uint32_t *)(KDZ_ITRON_CLINT + 0xbff8 + 4 * (half)))

Inline uint64_t kdz_itron_mtime(void)
{
    uint32_t low;
    uint32_t high;

    do {
        high = KDZ_MTIME(1);
        low = KDZ_MTIME(0);
    } while (KDZ_MTIME(1) != high);
    return (uint64_t)high << 32 | low;
}

Inline void kdz_itron_set_mtimecmp(uint64_t count)
{
    KDZ_MTIMECMP(1) = UINT32_MAX; /* no moment in between is in the past */
    KDZ_MTIMECMP(0) = (uint32_t)count;
    KDZ_MTIMECMP(1) = (uint32_t)(count >> 32);
}

/* Microseconds, which wrap at 32 bits. */
Inline HRTCNT target_hrt_get_current(void)
{
    return (HRTCNT)(kdz_itron_mtime() * 1000000U / KDZ_BOARD_TIMER_HZ);
}

/* The first count at which `hrtcnt` microseconds have passed, or the next one. */
Inline void target_hrt_set_event(HRTCNT hrtcnt)
{
    const uint64_t a_microsecond = ((uint64_t)KDZ_BOARD_TIMER_HZ << 32) / 1000000U + 1U;

    kdz_itron_set_mtimecmp(kdz_itron_mtime() + (hrtcnt * a_microsecond >> 32) + 1U);
}

Inline void target_hrt_raise_event(void)
{
    kdz_itron_set_mtimecmp(0U);
}

extern void target_hrt_initialize(EXINF exinf);
extern void target_hrt_terminate(EXINF exinf);
extern void target_hrt_handler(void);

#endif

#endif
