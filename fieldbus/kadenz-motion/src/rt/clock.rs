// SPDX-License-Identifier: Apache-2.0
//! CLOCK_MONOTONIC in nanoseconds, of which 64 bits last 584 years, and a clock for simulations that only waiting moves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the write; the clocks used here always exist, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Now, ns.
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread, ns.
pub fn cpu_time_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Sleeps until an absolute moment. Signals do not shorten it.
pub fn sleep_until_ns(moment_ns: u64) {
    let time = libc::timespec {
        tv_sec: (moment_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (moment_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `time` is a valid timespec; no remainder is asked for with an absolute time.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

/// The clock a task is paced by and a wire keeps its deadlines with.
#[derive(Debug, Clone)]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Monotonic,
    /// Jumps from deadline to deadline, so that simulations run faster than the robot and the same every time.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// Virtual, starting at 1 s.
    pub fn new_virtual() -> Self {
        Self::Virtual(Arc::new(AtomicU64::new(1_000_000_000)))
    }

    /// Now, ns.
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Monotonic => now_ns(),
            Self::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Waits until a moment; one that has passed costs nothing.
    pub fn sleep_until_ns(&self, moment_ns: u64) {
        match self {
            Self::Monotonic => sleep_until_ns(moment_ns),
            Self::Virtual(now) => {
                now.fetch_max(moment_ns, Ordering::Relaxed);
            }
        }
    }
}
