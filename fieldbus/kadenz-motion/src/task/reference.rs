// SPDX-License-Identifier: Apache-2.0
//! Where the axes shall be: the setpoint of each cycle, out of the trajectory task's queue.

use kadenz_rt::Receiver;

use crate::message::{self, Setpoints};
use crate::profile::{Point, Way};
use crate::supervise::SETPOINT_GRACE_CYCLES;
use crate::AXES;

/// The reference of the main task.
#[derive(Debug)]
pub(super) struct Reference {
    setpoints: Receiver<Setpoints>,
    period_ns: u64,
    /// A message of two setpoints, and which of them is next.
    buffer: Option<(Setpoints, usize)>,
    /// Setpoints that are still to come and will be passed over: the reference has moved on without them.
    ahead: u64,
    number: u64,
    /// Position, velocity and acceleration.
    pub(super) point: Point<AXES>,
    /// Part of the path.
    pub(super) way: Way,
    /// The first setpoint has come.
    pub(super) is_moving: bool,
    /// Cycles since the last setpoint.
    pub(super) age: u32,
}

/// A setpoint that was taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    /// When the trajectory task sent it, ns.
    pub(super) sent_ns: u64,
    /// The path has come to a standstill.
    pub(super) is_standing: bool,
}

impl Reference {
    /// At rest at zero, until the axes tell where they are.
    pub(super) fn new(setpoints: Receiver<Setpoints>, period_ns: u64) -> Self {
        Self {
            setpoints,
            period_ns,
            buffer: None,
            ahead: 0,
            number: 0,
            point: Point::at_rest([0.0; AXES]),
            way: Way::Approach,
            is_moving: false,
            age: 0,
        }
    }

    /// Moves on by `steps` setpoints; `is_due` if one of them is missed when it does not come.
    pub(super) fn advance(&mut self, steps: u64, is_due: bool) -> Option<Taken> {
        if steps > 0 && is_due {
            self.age += 1;
        }
        let mut missing = self.ahead + steps;
        let mut last = None;
        while missing > 0 {
            let Some(next) = self.next() else { break };
            last = Some(next);
            missing -= 1;
        }
        let Some((setpoints, index)) = last else {
            self.do_without(steps, missing);
            return None;
        };
        self.point = setpoints.points[index].into();
        self.way = Way::from_code(setpoints.ways[index]);
        self.number = setpoints.number + index as u64;
        self.age = 0;
        self.is_moving = true;
        self.ahead = missing;
        self.point.go_on(self.periods_s(missing));
        Some(Taken { sent_ns: setpoints.sent_ns, is_standing: setpoints.standing != 0 })
    }

    /// The trajectory task has slept as long as this one, and the queue is shorter than a pause. Until the missing
    /// setpoints come the reference continues along its line, as the drives did, but for no longer than that task's
    /// period. Then it stands at the last position, and the path waits.
    fn do_without(&mut self, steps: u64, missing: u64) {
        if self.is_moving && self.age <= SETPOINT_GRACE_CYCLES {
            self.ahead = missing;
            self.point.go_on(self.periods_s(steps));
        } else {
            self.point.velocity = [0.0; AXES];
            self.point.acceleration = [0.0; AXES];
        }
    }

    /// Number and point of the next setpoint, or of the present one if the next has not come.
    pub(super) fn next_point(&mut self) -> (u64, message::Reference) {
        if self.buffer.is_none() {
            self.buffer = self.setpoints.receive().map(|setpoints| (setpoints, 0));
        }
        match &self.buffer {
            Some((setpoints, index)) => (setpoints.number + *index as u64, setpoints.points[*index]),
            None => (self.number, self.point.into()),
        }
    }

    /// The next setpoint of the path, with its number in the queue's message.
    fn next(&mut self) -> Option<(Setpoints, usize)> {
        let (setpoints, index) =
            self.buffer.take().or_else(|| self.setpoints.receive().map(|setpoints| (setpoints, 0)))?;
        if index == 0 {
            self.buffer = Some((setpoints, 1));
        }
        Some((setpoints, index))
    }

    fn periods_s(&self, count: u64) -> f64 {
        (count * self.period_ns) as f64 * 1e-9
    }
}
