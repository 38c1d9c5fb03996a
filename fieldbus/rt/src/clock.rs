// SPDX-License-Identifier: Apache-2.0
//! CLOCK_MONOTONIC in nanoseconds (64 bits last 584 years), and a virtual clock for simulations, which moves only when a
//! task waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, clock_nanosleep, ClockId, ClockNanosleepFlags};

fn read(clock: ClockId) -> u64 {
    // clock_gettime fails only for a clock that does not exist; Linux has both clocks used here.
    let time = clock_gettime(clock).expect("a clock that every Linux has");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// The present time of this clock, ns.
pub fn now_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread, ns.
pub fn cpu_time_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Sleeps until an absolute time. Signals do not shorten the sleep.
pub fn sleep_until_ns(time_ns: u64) {
    let time = TimeSpec::new((time_ns / 1_000_000_000) as _, (time_ns % 1_000_000_000) as _);
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &time) == Err(Errno::EINTR) {}
}

/// The clock that paces a task and that a wire uses for its deadlines.
#[derive(Debug, Clone)]
pub enum Clock {
    /// CLOCK_MONOTONIC: a wait sleeps until its time has come.
    Monotonic,
    /// Jumps from deadline to deadline: a simulation runs faster than the robot, and identically each time.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// Virtual, starting at 1 s.
    pub fn new_virtual() -> Self {
        Self::Virtual(Arc::new(AtomicU64::new(1_000_000_000)))
    }

    /// The present time of this clock, ns.
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Monotonic => now_ns(),
            Self::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Waits until a time; returns at once if it has passed.
    pub fn sleep_until_ns(&self, time_ns: u64) {
        match self {
            Self::Monotonic => sleep_until_ns(time_ns),
            Self::Virtual(now) => {
                now.fetch_max(time_ns, Ordering::Relaxed);
            }
        }
    }
}
