// SPDX-License-Identifier: Apache-2.0
//! One axis: the places of its values in the process data, and their units.

use std::f64::consts::TAU;

use crate::cia402::{DriveState, MODE_CSP};
use crate::layout::{FeedForward, RatedTorqueAt};

/// The setpoint of an axis in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AxisSetpoint {
    /// Object 0x6040: what the drive is to do (CiA 402).
    pub controlword: u16,
    /// Angle of the joint to reach in this cycle, rad.
    pub position_rad: f64,
    /// Velocity of the joint, rad/s; left out where the drive does not map 0x60B1.
    pub velocity_rad_s: f64,
    /// Feed-forward at the joint, N·m; left out where the layout does not give the scale of the drive's torque.
    pub torque_nm: f64,
}

/// State of an axis in a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisFeedback {
    /// Object 0x6041, as it was received.
    pub statusword: u16,
    /// The state that the statusword says.
    pub state: DriveState,
    /// The encoder, as the drive reports it (object 0x6064).
    pub position_counts: i32,
    /// The same as the angle of the joint, rad.
    pub position_rad: f64,
    /// Velocity of the joint as the drive reports it, rad/s.
    pub velocity_rad_s: f64,
    /// Object 0x603F, 0 where it is not mapped.
    pub error_code: u16,
    /// Object 0x6061, where it is mapped.
    pub mode: Option<i8>,
}

impl AxisFeedback {
    /// The drive says that it is in another mode than the one asked for.
    pub fn in_other_mode(&self) -> bool {
        self.mode.is_some_and(|mode| mode != MODE_CSP)
    }
}

/// Byte offsets within a device's outputs or inputs; `None` where an object is not mapped.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offsets {
    pub controlword: usize,
    pub target_position: usize,
    pub velocity_offset: Option<usize>,
    pub torque_offset: Option<usize>,
    pub mode: Option<usize>,
    pub statusword: usize,
    pub position: usize,
    pub velocity: usize,
    pub error_code: Option<usize>,
    pub mode_display: Option<usize>,
}

impl Offsets {
    /// Bytes of outputs that are written.
    pub fn outputs_end(&self) -> usize {
        let optional = [(self.velocity_offset, 4), (self.torque_offset, 2), (self.mode, 1)];
        let optional = optional.into_iter().filter_map(|(at, bytes)| Some(at? + bytes));
        optional.fold((self.controlword + 2).max(self.target_position + 4), usize::max)
    }

    /// Bytes of inputs that are read.
    pub fn inputs_end(&self) -> usize {
        let optional = [(self.error_code, 2), (self.mode_display, 1)];
        let optional = optional.into_iter().filter_map(|(at, bytes)| Some(at? + bytes));
        optional.fold((self.statusword + 2).max(self.position + 4).max(self.velocity + 4), usize::max)
    }
}

/// One axis of the layout, found on the ring.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Name in the layout.
    pub name: String,
    /// Position of its device in the ring, from 0.
    pub device: usize,
    pub(super) counts_per_rad: f64,
    /// Torque at the joint for 1000 ‰ of object 0x60B2, negative where the drive turns the other way; without it the
    /// drive gets no torque feed-forward.
    pub(super) rated_at_joint_nm: Option<f64>,
    pub(super) offsets: Offsets,
}

impl Axis {
    /// Counts of one turn, with sign, to counts of one radian.
    pub(super) fn counts_per_rad(counts_per_turn: f64) -> f64 {
        counts_per_turn / TAU
    }

    /// Torque at the joint when the drive gives its rated torque (object 0x6076), in the direction of its counts, N·m.
    pub(super) fn rated_at_joint_nm(rated_mnm: u32, feed_forward: &FeedForward, counts_per_turn: f64) -> f64 {
        let ratio = match feed_forward.rated_torque_at {
            RatedTorqueAt::Motor => feed_forward.gear,
            RatedTorqueAt::Joint => 1.0,
        };
        (f64::from(rated_mnm) / 1000.0 * ratio).copysign(counts_per_turn)
    }

    /// Writes a setpoint into the device's outputs.
    pub fn write(&self, setpoint: &AxisSetpoint, outputs: &mut [u8]) {
        let o = &self.offsets;
        put(outputs, o.controlword, setpoint.controlword.to_le_bytes());
        // `as` saturates: a target beyond 32 bits becomes the last one, and the drive's limits refuse it.
        let counts = (setpoint.position_rad * self.counts_per_rad).round() as i32;
        put(outputs, o.target_position, counts.to_le_bytes());
        if let Some(at) = o.velocity_offset {
            let counts_s = (setpoint.velocity_rad_s * self.counts_per_rad).round() as i32;
            put(outputs, at, counts_s.to_le_bytes());
        }
        if let Some(at) = o.torque_offset {
            let rated = self.rated_at_joint_nm;
            let permille = rated.map_or(0, |rated_nm| (setpoint.torque_nm / rated_nm * 1000.0).round() as i16);
            put(outputs, at, permille.to_le_bytes());
        }
        if let Some(at) = o.mode {
            put(outputs, at, MODE_CSP.to_le_bytes());
        }
    }

    /// Reads the answer of the device.
    pub fn read(&self, inputs: &[u8]) -> AxisFeedback {
        let o = &self.offsets;
        let statusword = u16::from_le_bytes(get(inputs, o.statusword));
        let position_counts = i32::from_le_bytes(get(inputs, o.position));
        AxisFeedback {
            position_counts,
            statusword,
            state: DriveState::from_statusword(statusword),
            position_rad: f64::from(position_counts) / self.counts_per_rad,
            velocity_rad_s: f64::from(i32::from_le_bytes(get(inputs, o.velocity))) / self.counts_per_rad,
            error_code: o.error_code.map_or(0, |at| u16::from_le_bytes(get(inputs, at))),
            mode: o.mode_display.map(|at| i8::from_le_bytes(get(inputs, at))),
        }
    }
}

/// Offsets were checked against the image's length at bring-up; a shorter image changes nothing.
fn put<const N: usize>(image: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = image.get_mut(at..at + N) {
        place.copy_from_slice(&bytes);
    }
}

fn get<const N: usize>(image: &[u8], at: usize) -> [u8; N] {
    image.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integrated joint of 200 N·m whose counts fall when the joint turns forward.
    fn axis() -> Axis {
        let offsets = Offsets {
            target_position: 2,
            torque_offset: Some(6),
            mode: Some(8),
            position: 2,
            velocity: 6,
            ..Offsets::default()
        };
        let counts_per_turn = -1_048_576.0;
        let feed_forward = FeedForward { rated_torque_at: RatedTorqueAt::Joint, ..geared() };
        Axis {
            name: "joint 0".into(),
            device: 1,
            counts_per_rad: Axis::counts_per_rad(counts_per_turn),
            rated_at_joint_nm: Some(Axis::rated_at_joint_nm(200_000, &feed_forward, counts_per_turn)),
            offsets,
        }
    }

    fn geared() -> FeedForward {
        FeedForward { gear: 121.0, ..FeedForward::default() }
    }

    fn permille(axis: &Axis, torque_nm: f64) -> i16 {
        let mut outputs = [0xEE; 9];
        axis.write(&AxisSetpoint { torque_nm, ..AxisSetpoint::default() }, &mut outputs);
        i16::from_le_bytes([outputs[6], outputs[7]])
    }

    #[test]
    fn a_setpoint_is_written_in_the_drives_units_and_direction() {
        let mut outputs = [0xEE; 9];
        let setpoint = AxisSetpoint {
            controlword: 0x0F,
            position_rad: std::f64::consts::FRAC_PI_2,
            torque_nm: -50.0,
            ..AxisSetpoint::default()
        };
        axis().write(&setpoint, &mut outputs);
        assert_eq!(outputs[..2], [0x0F, 0]);
        assert_eq!(i32::from_le_bytes(outputs[2..6].try_into().unwrap()), -262_144);
        // The position is reversed, and so is the torque: the drive's own loop closes over both.
        assert_eq!(i16::from_le_bytes(outputs[6..8].try_into().unwrap()), 250);
        assert_eq!(outputs[8], 8);
    }

    #[test]
    fn the_torque_of_a_motor_is_the_joints_divided_by_the_gear() {
        // 0.64 N·m at the motor are 77.44 N·m behind a gear of 121.
        let of = |counts| Axis { rated_at_joint_nm: Some(Axis::rated_at_joint_nm(640, &geared(), counts)), ..axis() };
        assert_eq!(permille(&of(1_048_576.0), 38.72), 500);
        assert_eq!(permille(&of(-1_048_576.0), 38.72), -500);
    }

    #[test]
    fn an_axis_whose_torque_is_not_configured_gets_none() {
        let axis = Axis { rated_at_joint_nm: None, ..axis() };
        assert_eq!(permille(&axis, 400.0), 0);
    }

    #[test]
    fn a_torque_that_is_not_a_number_or_far_too_large_does_no_harm() {
        assert_eq!(permille(&axis(), f64::NAN), 0);
        assert_eq!(permille(&axis(), -1e12), i16::MAX);
    }

    #[test]
    fn a_drives_feedback_is_read_in_radians() {
        let mut inputs = [0; 10];
        inputs[..2].copy_from_slice(&0x1637u16.to_le_bytes());
        inputs[2..6].copy_from_slice(&(-262_144i32).to_le_bytes());
        inputs[6..].copy_from_slice(&1_048_576i32.to_le_bytes());
        let feedback = axis().read(&inputs);
        assert_eq!(feedback.state, DriveState::OperationEnabled);
        assert!((feedback.position_rad - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        assert!((feedback.velocity_rad_s + TAU).abs() < 1e-12);
    }

    #[test]
    fn the_image_of_an_axis_ends_behind_its_last_object() {
        let offsets = axis().offsets;
        assert_eq!((offsets.outputs_end(), offsets.inputs_end()), (9, 10));
        let offsets = Offsets { velocity_offset: Some(9), error_code: Some(10), mode_display: Some(12), ..offsets };
        assert_eq!((offsets.outputs_end(), offsets.inputs_end()), (13, 13));
    }

    #[test]
    fn an_image_that_is_too_short_is_left_alone() {
        axis().write(&AxisSetpoint::default(), &mut [0; 3]);
        assert_eq!(axis().read(&[]).statusword, 0);
    }
}
