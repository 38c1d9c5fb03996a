// SPDX-License-Identifier: Apache-2.0
//! The messages between the tasks (yoo2024, figure 14): plain numbers in POSIX message queues.

use bytemuck::{Pod, Zeroable};

use crate::profile::Point;
use crate::supervise::Event;
use crate::AXES;

/// Reference of every axis at one time, as it travels: a [`Point`] of this arm.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Reference {
    /// Angle of each joint, rad.
    pub position: [f64; AXES],
    /// Velocity of each joint, rad/s.
    pub velocity: [f64; AXES],
    /// Acceleration of each joint, rad/s².
    pub acceleration: [f64; AXES],
}

impl From<Point<AXES>> for Reference {
    fn from(Point { position, velocity, acceleration }: Point<AXES>) -> Self {
        Self { position, velocity, acceleration }
    }
}

impl From<Reference> for Point<AXES> {
    fn from(Reference { position, velocity, acceleration }: Reference) -> Self {
        Self { position, velocity, acceleration }
    }
}

/// Two setpoints: the trajectory task runs at half the rate of the main task.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Setpoints {
    /// When it was sent, ns.
    pub sent_ns: u64,
    /// Number of the first point, counted from 0 at the start of the path.
    pub number: u64,
    /// Setpoints of two cycles in a row.
    pub points: [Reference; 2],
    /// Part of the path each lies on, as [`crate::profile::Way`].
    pub ways: [u32; 2],
    /// The path has come to a standstill after a stop.
    pub standing: u64,
}

/// From the main task to the dynamic task: compute torques for this point.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TorqueRequest {
    /// When it was sent, ns.
    pub sent_ns: u64,
    /// Number of the point.
    pub number: u64,
    /// The setpoint to compute torques for.
    pub point: Reference,
}

/// From the dynamic task: feed-forward torques.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Torques {
    /// When it was sent, ns.
    pub sent_ns: u64,
    /// Number of the point they belong to.
    pub number: u64,
    /// N·m at the joints.
    pub torque_nm: [f64; AXES],
}

/// From the main task to the trajectory task.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Order {
    /// [`Order::START`] or [`Order::STOP`].
    pub kind: u64,
    /// Where the arm stands, rad.
    pub pose_rad: [f64; AXES],
}

impl Order {
    /// Begin the path at the pose.
    pub const START: u64 = 1;
    /// Slow to a halt on the path.
    pub const STOP: u64 = 2;
}

/// Times of one period of a task, for the log.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct TaskSample {
    /// From release to completion, ns.
    pub response_ns: u32,
    /// From release to start, ns.
    pub latency_ns: u32,
    /// CPU time of the cycle, ns.
    pub execution_ns: u32,
    /// Number of the release, from the one that all tasks have in common.
    pub release: u32,
}

/// Sample of a cycle of the main task, for the log.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct CycleSample {
    /// Times of the task.
    pub task: TaskSample,
    /// From handing the frame over to having its answer, ns; `u32::MAX` when none came.
    pub frame_ns: u32,
    /// Age of the setpoint when it was used, ns.
    pub setpoint_age_ns: u32,
    /// Age of the torques when they were used, ns.
    pub torque_age_ns: u32,
    /// Part of the path, as [`crate::profile::Way`].
    pub way: u32,
    /// Difference of distributed clocks, ns; `u32::MAX` when it was not read in this cycle.
    pub clock_difference_ns: u32,
    /// From release to handing the frame over, ns; the feedback below is of this cycle if the frame was answered.
    pub sent_ns: u32,
    /// The encoders (object 0x6064).
    pub position_counts: [i32; AXES],
    /// Reference less actual, degrees.
    pub position_error_deg: [f64; AXES],
    /// Reference less actual, degrees/s.
    pub velocity_error_deg_s: [f64; AXES],
}

/// Samples travel in batches, because a queue holds ten messages and the log task looks every 100 ms.
pub const BATCH: usize = 16;

/// Events of one batch.
pub const EVENTS: usize = 64;

/// Events of the supervision.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Events {
    /// How many of them count.
    pub count: u64,
    /// Events that found no room since the last batch.
    pub lost: u64,
    /// The events of a cycle; the first `count` are valid.
    pub events: [Event; EVENTS],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_the_default_limit_of_linux() {
        // The default of fs.mqueue.msgsize_max, bytes.
        assert!(size_of::<[CycleSample; BATCH]>() <= 8192 && size_of::<Events>() <= 8192);
    }
}
