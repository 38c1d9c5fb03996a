// SPDX-License-Identifier: Apache-2.0
//! One axis: where its values lie in the process data, and what they mean.

use std::f64::consts::TAU;

use crate::cia402::DriveState;

/// What an axis is told in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AxisSetpoint {
    /// CiA 402 command.
    pub controlword: u16,
    /// rad
    pub position_rad: f64,
    /// rad/s
    pub velocity_rad_s: f64,
    /// Feed-forward at the joint, N·m.
    pub torque_nm: f64,
}

/// What an axis said in a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisFeedback {
    /// Raw.
    pub statusword: u16,
    /// Decoded.
    pub state: DriveState,
    /// rad
    pub position_rad: f64,
    /// rad/s
    pub velocity_rad_s: f64,
    /// Object 0x603F, 0 where it is not mapped.
    pub error_code: u16,
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
}

/// One axis of the layout, found on the ring.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Name in the layout.
    pub name: String,
    /// Position of its device in the ring, from 0.
    pub device: usize,
    pub(super) counts_per_rad: f64,
    pub(super) rated_torque_nm: f64,
    pub(super) offsets: Offsets,
}

/// Cyclic synchronous position, object 0x6060.
const MODE_CSP: u8 = 8;

impl Axis {
    /// Counts of one turn, with sign, to counts of one radian.
    pub(super) fn counts_per_rad(counts_per_turn: f64) -> f64 {
        counts_per_turn / TAU
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
            let permille = (setpoint.torque_nm / self.rated_torque_nm * 1000.0).round() as i16;
            put(outputs, at, permille.to_le_bytes());
        }
        if let Some(at) = o.mode {
            put(outputs, at, [MODE_CSP]);
        }
    }

    /// Reads what the device said.
    pub fn read(&self, inputs: &[u8]) -> AxisFeedback {
        let o = &self.offsets;
        let statusword = u16::from_le_bytes(get(inputs, o.statusword));
        AxisFeedback {
            statusword,
            state: DriveState::from_statusword(statusword),
            position_rad: f64::from(i32::from_le_bytes(get(inputs, o.position))) / self.counts_per_rad,
            velocity_rad_s: f64::from(i32::from_le_bytes(get(inputs, o.velocity))) / self.counts_per_rad,
            error_code: o.error_code.map_or(0, |at| u16::from_le_bytes(get(inputs, at))),
        }
    }
}

/// Offsets were checked against the image's length when the axis was found; a shorter image changes nothing.
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

    fn axis() -> Axis {
        let offsets = Offsets {
            target_position: 2,
            torque_offset: Some(6),
            mode: Some(8),
            position: 2,
            velocity: 6,
            ..Offsets::default()
        };
        let counts_per_rad = Axis::counts_per_rad(-1_048_576.0);
        Axis { name: "joint 0".into(), device: 1, counts_per_rad, rated_torque_nm: 200.0, offsets }
    }

    #[test]
    fn a_setpoint_is_written_in_the_drives_units() {
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
        assert_eq!(i16::from_le_bytes(outputs[6..8].try_into().unwrap()), -250);
        assert_eq!(outputs[8], 8);
    }

    #[test]
    fn what_a_drive_says_is_read_in_radians() {
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
    fn an_image_that_is_too_short_is_left_alone() {
        axis().write(&AxisSetpoint::default(), &mut [0; 3]);
        assert_eq!(axis().read(&[]).statusword, 0);
    }
}
