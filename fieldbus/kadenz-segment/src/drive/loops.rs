// SPDX-License-Identifier: Apache-2.0
//! The cascade: position over velocity over torque.

use serde::Deserialize;

/// Gains, all at the joint.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gains {
    /// Velocity commanded for a position error, 1/s.
    pub position_per_s: f64,
    /// Torque commanded for a velocity error, N·m·s/rad.
    pub velocity_nm_s: f64,
    /// Integral of the velocity loop, 1/s: torque grows by `velocity_nm_s` times this for each rad of error.
    pub integral_per_s: f64,
    /// Time constant of the torque loop (current loop and motor), s.
    pub torque_time_constant_s: f64,
}

impl Default for Gains {
    /// For the default plant of 1 kg·m²: velocity loop near 40 Hz, position loop a fifth of it.
    fn default() -> Self {
        Self { position_per_s: 50.0, velocity_nm_s: 250.0, integral_per_s: 60.0, torque_time_constant_s: 0.0003 }
    }
}

/// Demand on the cascade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// Follow a position, rad, that moves at a velocity, rad/s; torque fed forward, N·m.
    Position(f64, f64, f64),
    /// Follow a velocity, rad/s; torque fed forward, N·m.
    Velocity(f64, f64),
    /// Make a torque, N·m.
    Torque(f64),
    /// Make no torque, and forget the integral.
    Off,
}

/// Limits of the cascade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest velocity commanded, rad/s.
    pub velocity_rad_s: f64,
    /// Largest torque, N·m.
    pub torque_nm: f64,
}

/// State of the cascade.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cascade {
    integral_nm: f64,
    torque_nm: f64,
    /// A limit held something back in the last step.
    pub is_limited: bool,
}

impl Cascade {
    /// Torque made now, N·m.
    pub fn torque_nm(&self) -> f64 {
        self.torque_nm
    }

    /// One step of `dt_s`: torque at the joint, N·m.
    pub fn step(
        &mut self,
        target: Target,
        position_rad: f64,
        velocity_rad_s: f64,
        gains: &Gains,
        limits: &Limits,
        dt_s: f64,
    ) -> f64 {
        self.is_limited = false;
        let wanted_nm = match target {
            Target::Position(position, velocity, torque) => {
                let command = velocity + gains.position_per_s * (position - position_rad);
                self.velocity(command, velocity_rad_s, torque, gains, limits, dt_s)
            }
            Target::Velocity(velocity, torque) => self.velocity(velocity, velocity_rad_s, torque, gains, limits, dt_s),
            Target::Torque(torque) => {
                // Bumpless when a position mode takes over.
                self.integral_nm = torque;
                torque
            }
            Target::Off => {
                *self = Self::default();
                return 0.0;
            }
        };
        let held_nm = wanted_nm.clamp(-limits.torque_nm, limits.torque_nm);
        self.is_limited |= held_nm != wanted_nm;
        // First-order lag, exact over the step whatever its length.
        let share = 1.0 - (-dt_s / gains.torque_time_constant_s.max(1.0e-9)).exp();
        self.torque_nm += share * (held_nm - self.torque_nm);
        self.torque_nm
    }

    fn velocity(&mut self, wanted: f64, actual: f64, torque: f64, gains: &Gains, limits: &Limits, dt_s: f64) -> f64 {
        let command = wanted.clamp(-limits.velocity_rad_s, limits.velocity_rad_s);
        self.is_limited |= command != wanted;
        let error = command - actual;
        let sum = torque + gains.velocity_nm_s * error + self.integral_nm;
        // The integral stops while the torque is at its limit and the error would push it further.
        if sum.abs() < limits.torque_nm || sum * error < 0.0 {
            self.integral_nm += gains.velocity_nm_s * gains.integral_per_s * error * dt_s;
            self.integral_nm = self.integral_nm.clamp(-limits.torque_nm, limits.torque_nm);
        }
        sum
    }
}
