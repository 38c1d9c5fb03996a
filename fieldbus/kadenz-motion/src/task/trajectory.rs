// SPDX-License-Identifier: Apache-2.0
//! The trajectory task: two setpoints a period, one for each cycle of the main task.

use std::sync::Arc;

use kadenz_rt::Batch;

use super::dynamics::push;
use super::periodic::{Cyclic, Flow, Release};
use super::{Shared, Task, TrajectoryQueues};
use crate::layout::Layout;
use crate::message::{Order, Reference, Setpoints, TaskSample, BATCH};
use crate::profile::{Limits, Path};
use crate::AXES;

/// Motion of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Movement {
    /// To the first pose, then to the second and back, again and again.
    #[default]
    OutAndBack,
    /// To the first pose, where it stays.
    Home,
    /// It stays where it stands.
    Hold,
}

impl std::fmt::Display for Movement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OutAndBack => "out and back",
            Self::Home => "home, and stay",
            Self::Hold => "hold",
        })
    }
}

/// Pieces of the path.
#[derive(Debug, Clone, Copy)]
pub struct PathPlan {
    movement: Movement,
    low_rad: [f64; AXES],
    high_rad: [f64; AXES],
    limits: [Limits; AXES],
    rest_s: f64,
    stop_s: f64,
}

impl PathPlan {
    /// From the layout. The rest is stretched so that one way takes whole periods of the log task.
    pub fn new(layout: &Layout, movement: Movement) -> Self {
        let low_rad = [layout.motion.low_deg.to_radians(); AXES];
        let high_rad = [layout.motion.high_deg.to_radians(); AXES];
        let limits = std::array::from_fn(|k| layout.axis[k].limits());
        let (rest_s, stop_s) = (layout.motion.rest_s, layout.motion.stop_s);
        let mut plan = Self { movement, low_rad, high_rad, limits, rest_s, stop_s };
        let way_s = plan.path(low_rad).way_s();
        let period_s = Task::Log.period_ms() as f64 / 1000.0;
        // A way of no length and no rest still takes a period.
        plan.rest_s += (way_s / period_s - 1e-9).ceil().max(1.0) * period_s - way_s;
        plan
    }

    /// Cycles of the main task on one way.
    pub fn way_cycles(&self) -> u64 {
        (self.path(self.low_rad).way_s() * 1000.0 / Task::Main.period_ms() as f64).round() as u64
    }

    fn path(&self, start_rad: [f64; AXES]) -> Path<AXES> {
        let (low_rad, high_rad) = match self.movement {
            Movement::OutAndBack => (self.low_rad, self.high_rad),
            Movement::Home => (self.low_rad, self.low_rad),
            Movement::Hold => (start_rad, start_rad),
        };
        Path::new(start_rad, low_rad, high_rad, self.limits, self.rest_s, self.stop_s)
    }
}

/// The task that computes setpoints ahead of time.
pub struct TrajectoryTask {
    plan: PathPlan,
    path: Option<Path<AXES>>,
    number: u64,
    /// Found no room: sent first in the next period, so no point is ever lost.
    waiting: Option<Setpoints>,
    queues: TrajectoryQueues,
    batch: Batch<TaskSample, BATCH>,
    shared: Arc<Shared>,
    now_ns: fn() -> u64,
}

impl TrajectoryTask {
    /// Waits for an order to start.
    pub fn new(plan: PathPlan, queues: TrajectoryQueues, shared: Arc<Shared>) -> Self {
        let batch = Batch::default();
        let now_ns = kadenz_rt::now_ns;
        Self { plan, path: None, number: 0, waiting: None, queues, batch, shared, now_ns }
    }

    fn next(&mut self) -> Option<Setpoints> {
        let path = self.path.as_mut()?;
        let dt_s = Task::Main.period_ms() as f64 / 1000.0;
        let mut ways = [0; 2];
        let points: [Reference; 2] = std::array::from_fn(|k| {
            let (point, way) = path.advance(dt_s);
            ways[k] = way as u32;
            point.into()
        });
        let number = self.number;
        self.number += 2;
        Some(Setpoints { sent_ns: 0, number, points, ways, standing: u64::from(path.standing()) })
    }

    /// False when the queue is full or there is nothing to send.
    fn send_next(&mut self) -> bool {
        let Some(mut message) = self.waiting.take().or_else(|| self.next()) else { return false };
        message.sent_ns = (self.now_ns)();
        let sent = self.queues.setpoints.send(&message);
        if !sent {
            self.waiting = Some(message);
        }
        sent
    }
}

impl Cyclic for TrajectoryTask {
    fn step(&mut self, _: Release) -> Flow {
        while let Some(order) = self.queues.orders.receive() {
            match order.kind {
                Order::START => self.path = Some(self.plan.path(order.pose_rad)),
                _ => {
                    if let Some(path) = &mut self.path {
                        path.stop();
                    }
                }
            }
        }
        while self.send_next() {}
        if self.shared.over() {
            Flow::End
        } else {
            Flow::Continue
        }
    }

    fn record(&mut self, release: Release, sample: TaskSample) {
        let ends = self.shared.over();
        push(&mut self.batch, &self.queues.log, self.shared.measures(release.nominal_ns).then_some(sample), ends);
    }
}
