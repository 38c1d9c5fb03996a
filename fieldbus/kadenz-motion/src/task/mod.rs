// SPDX-License-Identifier: Apache-2.0
//! The four tasks of the study (yoo2024, table 5) and the loop that runs them.

mod cycle_log;
mod dynamics;
mod feed_forward;
mod log;
mod main_task;
mod outcome;
mod periodic;
mod phase;
mod queues;
mod reference;
mod shared;
mod sync0;
mod trajectory;

pub use dynamics::DynamicsTask;
pub use log::LogTask;
pub use main_task::{MainTask, CLOCK_EVERY};
pub use outcome::Outcome;
pub use periodic::{run, Cyclic, Flow, Overrun, Release, CATCH_UP_MOST_NS};
pub use queues::{DynamicsQueues, LogQueues, MainQueues, Queues, TrajectoryQueues, AHEAD};
pub use shared::{Shared, StopCategory, Window};
pub use trajectory::{Movement, PathPlan, TrajectoryTask};

/// The four tasks of yoo2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Task {
    /// Computes feed-forward torques by inverse dynamics.
    Dynamics = 0,
    /// EtherCAT cycle and supervision.
    Main = 1,
    /// Computes two setpoints a period, one for each cycle of the main task.
    Trajectory = 2,
    /// Writes the samples and events of the other tasks into records.
    Log = 3,
}

impl Task {
    /// In the order of the table.
    pub const ALL: [Self; 4] = [Self::Dynamics, Self::Main, Self::Trajectory, Self::Log];

    /// Name of the task in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dynamics => "dynamics",
            Self::Main => "main",
            Self::Trajectory => "trajectory",
            Self::Log => "log",
        }
    }

    /// Period of the task, ms (yoo2024, table 5).
    pub fn period_ms(self) -> u64 {
        match self {
            Self::Dynamics | Self::Main => 1,
            Self::Trajectory => 2,
            Self::Log => 100,
        }
    }

    /// Period of the task, ns (yoo2024, table 5).
    pub fn period_ns(self) -> u64 {
        self.period_ms() * 1_000_000
    }

    /// SCHED_FIFO priority, table 5.
    pub fn priority(self) -> i32 {
        match self {
            Self::Dynamics => 95,
            Self::Main => 90,
            Self::Trajectory => 85,
            Self::Log => 70,
        }
    }
}
