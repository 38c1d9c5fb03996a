// SPDX-License-Identifier: Apache-2.0
//! CLOCK_MONOTONIC in nanoseconds (64 bits last 584 years), and a virtual clock for simulations, which moves only when a
//! task waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
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
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &time_spec(time_ns)) == Err(Errno::EINTR) {}
}

fn time_spec(time_ns: u64) -> TimeSpec {
    TimeSpec::new((time_ns / 1_000_000_000) as _, (time_ns % 1_000_000_000) as _)
}

/// A timer of Linux whose expirations are read (timerfd_create(2)). Under PREEMPT_RT it expires in a soft interrupt, in
/// the thread `ktimers`; a sleep of a real-time thread expires in the hard interrupt.
#[derive(Debug)]
pub struct SoftTimer(TimerFd);

impl SoftTimer {
    /// A timer that is not set.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self(TimerFd::new(TimerClock::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?))
    }

    /// Returns at the time at the earliest. A timer that cannot be set any more does not wait.
    fn wait_until_ns(&self, time_ns: u64) {
        let once = Expiration::OneShot(time_spec(time_ns));
        if self.0.set(once, TimerSetTimeFlags::TFD_TIMER_ABSTIME).is_ok() {
            while self.0.wait() == Err(Errno::EINTR) {}
        }
    }
}

/// The clock that paces a task and that a wire uses for its deadlines.
#[derive(Debug, Clone)]
pub enum Clock {
    /// CLOCK_MONOTONIC: a wait sleeps until its time has come.
    Monotonic,
    /// CLOCK_MONOTONIC, and waits by a timer that expires in a soft interrupt.
    Soft(Arc<SoftTimer>),
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
            Self::Monotonic | Self::Soft(_) => now_ns(),
            Self::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Waits until a time; returns at once if it has passed.
    pub fn sleep_until_ns(&self, time_ns: u64) {
        match self {
            Self::Monotonic => sleep_until_ns(time_ns),
            Self::Soft(timer) => timer.wait_until_ns(time_ns),
            Self::Virtual(now) => {
                now.fetch_max(time_ns, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soft_timer_returns_at_its_time_and_at_once_for_one_that_has_passed() {
        let clock = Clock::Soft(Arc::new(SoftTimer::new().unwrap()));
        let due_ns = clock.now_ns() + 2_000_000;
        clock.sleep_until_ns(due_ns);
        assert!(clock.now_ns() >= due_ns);
        clock.sleep_until_ns(due_ns - 1_000_000);
    }
}
