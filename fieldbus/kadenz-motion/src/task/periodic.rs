// SPDX-License-Identifier: Apache-2.0
//! Runs a task at its period: absolute releases, left-out periods counted, times measured, panics kept inside.

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
    /// Never again.
    End,
}

/// Work that is done every period.
pub trait Cyclic {
    /// One period.
    fn step(&mut self, release: Release) -> Flow;

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
        let skipped = start_ns.saturating_sub(due_ns) / period_ns;
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
