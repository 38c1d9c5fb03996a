// SPDX-License-Identifier: Apache-2.0
//! Runs a task at its period: absolute releases, those that passed skipped or caught up with, times measured, panics
//! kept inside.

use std::panic::{catch_unwind, AssertUnwindSafe};

use kadenz_rt::{self as rt, Clock, CyclicPath};

use super::{Shared, Task};
use crate::message::TaskSample;

/// When a period was due and began.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// Number of the period times its length, from the first release: the axis on which a run is planned, ns.
    pub nominal_ns: u64,
    /// Due: nominal, shifted to follow the ring's clock, ns.
    pub due_ns: u64,
    /// When the cycle began, ns.
    pub start_ns: u64,
    /// Periods left out just before, because they were due before this one could begin.
    pub skipped: u32,
}

/// Whether there is a next period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// At the next release.
    Continue,
    /// The task ends; no further release comes.
    End,
}

/// What happens to releases that passed while the task could not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrun {
    /// They are left out and counted: the next period is that of the newest release.
    Skip,
    /// They run at once, one after the other, as in a loop that adds its period to the time of an absolute sleep. A task
    /// that is behind by more than [`CATCH_UP_MOST_NS`] skips.
    CatchUp,
}

/// The most that a task catches up with, ns. Terminals wait as long for a frame (their watchdog's default, 100 ms) before
/// they leave OP; a longer delay is a machine that was stopped or suspended.
pub const CATCH_UP_MOST_NS: u64 = 100_000_000;

impl Overrun {
    /// Periods that a task leaves out when it begins `late_ns` after its release.
    fn skipped(self, late_ns: u64, period_ns: u64) -> u64 {
        match self {
            Self::CatchUp if late_ns <= CATCH_UP_MOST_NS => 0,
            Self::Skip | Self::CatchUp => late_ns / period_ns,
        }
    }
}

/// Work that is done every period.
pub trait Cyclic {
    /// Does the work of one period; [`Cyclic::after_panic`] follows a panic in it.
    fn step(&mut self, release: Release) -> Flow;

    /// What happens to releases that passed.
    fn overrun(&self) -> Overrun {
        Overrun::Skip
    }

    /// Times of the period that just ended.
    fn record(&mut self, release: Release, sample: TaskSample);

    /// Called when the step panicked; `End` gives up.
    fn after_panic(&mut self) -> Flow {
        Flow::End
    }
}

/// Runs `work`, which reports as `task`, from its first release by `clock` to its end. Between, the calling thread
/// allocates nothing.
pub fn run(task: Task, period_ns: u64, work: &mut dyn Cyclic, first_ns: u64, shared: &Shared, clock: &Clock) {
    let mut nominal_ns = first_ns;
    let _cyclic = CyclicPath::enter();
    let mut used_ns = rt::cpu_time_ns();
    loop {
        let mut due_ns = nominal_ns.saturating_add_signed(shared.shift_ns());
        clock.sleep_until_ns(due_ns);
        let start_ns = clock.now_ns();
        let skipped = work.overrun().skipped(start_ns.saturating_sub(due_ns), period_ns);
        nominal_ns += skipped * period_ns;
        due_ns += skipped * period_ns;
        let release = Release { nominal_ns, due_ns, start_ns, skipped: skipped.min(u64::from(u32::MAX)) as u32 };
        let flow = match catch_unwind(AssertUnwindSafe(|| work.step(release))) {
            Ok(flow) => flow,
            Err(_) => {
                shared.report_panic(task);
                work.after_panic()
            }
        };
        let end_ns = clock.now_ns();
        let now_used_ns = rt::cpu_time_ns();
        let sample = TaskSample {
            response_ns: span(due_ns, end_ns),
            latency_ns: span(due_ns, start_ns),
            execution_ns: span(used_ns, now_used_ns),
            release: u32::try_from((nominal_ns - first_ns) / period_ns).unwrap_or(u32::MAX),
        };
        used_ns = now_used_ns;
        work.record(release, sample);
        if flow == Flow::End {
            return;
        }
        nominal_ns += period_ns;
    }
}

/// A span that does not fit is the largest there is, which is longer than any period.
fn span(from_ns: u64, to_ns: u64) -> u32 {
    u32::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_NS: u64 = 500_000;
    const FIRST_NS: u64 = 2_000_000_000;
    /// The release before which the processor is away.
    const LATE: usize = 4;

    /// Work in virtual time. The period before release `LATE` takes so long that this release is late by `late_ns`.
    struct Delayed {
        clock: Clock,
        overrun: Overrun,
        late_ns: u64,
        releases: Vec<Release>,
    }

    impl Cyclic for Delayed {
        fn step(&mut self, release: Release) -> Flow {
            self.releases.push(release);
            if self.releases.len() == LATE {
                self.clock.sleep_until_ns(release.due_ns + PERIOD_NS + self.late_ns);
            }
            if self.releases.len() == 10 {
                Flow::End
            } else {
                Flow::Continue
            }
        }

        fn overrun(&self) -> Overrun {
            self.overrun
        }

        fn record(&mut self, _: Release, _: TaskSample) {}
    }

    fn releases(overrun: Overrun, late_ns: u64) -> Vec<Release> {
        let clock = Clock::new_virtual();
        let mut work = Delayed { clock: clock.clone(), overrun, late_ns, releases: Vec::new() };
        run(Task::Main, PERIOD_NS, &mut work, FIRST_NS, &Shared::default(), &clock);
        work.releases
    }

    fn numbers(releases: &[Release]) -> Vec<u64> {
        releases.iter().map(|release| (release.nominal_ns - FIRST_NS) / PERIOD_NS).collect()
    }

    fn lateness_ns(releases: &[Release]) -> Vec<u64> {
        releases.iter().map(|release| release.start_ns - release.due_ns).collect()
    }

    #[test]
    fn a_task_that_catches_up_runs_three_releases_at_once_after_a_delay_of_1400_us() {
        let releases = releases(Overrun::CatchUp, 1_400_000);
        assert_eq!(numbers(&releases), (0..10).collect::<Vec<_>>());
        assert_eq!(lateness_ns(&releases), [0, 0, 0, 0, 1_400_000, 900_000, 400_000, 0, 0, 0]);
        assert!(releases.iter().all(|release| release.skipped == 0));
        assert!(releases[LATE..LATE + 3].iter().all(|release| release.start_ns == releases[LATE].start_ns));
    }

    #[test]
    fn a_task_that_skips_runs_the_newest_release_after_a_delay_of_1400_us() {
        let releases = releases(Overrun::Skip, 1_400_000);
        assert_eq!(numbers(&releases), [0, 1, 2, 3, 6, 7, 8, 9, 10, 11]);
        assert_eq!((releases[LATE].skipped, lateness_ns(&releases)[LATE]), (2, 400_000));
    }

    #[test]
    fn behind_by_more_than_100_ms_a_task_that_catches_up_skips() {
        let skipped = releases(Overrun::CatchUp, 200_000_000);
        assert_eq!(numbers(&skipped)[..6], [0, 1, 2, 3, 404, 405]);
        assert_eq!((skipped[LATE].skipped, lateness_ns(&skipped)[LATE]), (400, 0));
        let caught_up = releases(Overrun::CatchUp, CATCH_UP_MOST_NS);
        assert_eq!(numbers(&caught_up), (0..10).collect::<Vec<_>>());
        assert_eq!(releases(Overrun::CatchUp, CATCH_UP_MOST_NS + 1)[LATE].skipped, 200);
    }
}
