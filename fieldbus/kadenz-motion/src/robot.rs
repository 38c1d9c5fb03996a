// SPDX-License-Identifier: Apache-2.0
//! Indy7 behind its drives: rigid bodies, gears, rotors and friction, as a plant of the segment.
//!
//! The maker publishes bodies and limits only. **Assumptions**, chosen to be plausible for joint modules of this size
//! and to be changed in one place: gear 121 (shoulder, elbow) and 101 (wrist); rotor inertia as below; viscous and
//! Coulomb friction of one to three per cent of the rated torque. Gears are stiff and have no backlash.

use kadenz_dynamics::{indy7, Arm, Link};
use kadenz_segment::plant::{AxisInput, Plant};

const N: usize = indy7::JOINTS;

/// Below this speed Coulomb friction is proportional to speed, so that an axis at rest needs no case of its own; an
/// axis under a load smaller than its friction creeps at most this fast, rad/s (0.006 °/s).
const CREEP_RAD_S: f64 = 1e-4;

/// One joint's drive train, seen from the joint. The default has neither rotor nor friction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveTrain {
    /// Motor turns for one turn of the joint.
    pub gear: f64,
    /// Inertia of the rotor about its own axis, kg·m².
    pub rotor_kg_m2: f64,
    /// Viscous friction at the joint, N·m·s/rad.
    pub viscous_nm_s: f64,
    /// Coulomb friction at the joint, N·m.
    pub coulomb_nm: f64,
}

impl DriveTrain {
    /// Rotor inertia as the joint feels it, kg·m².
    pub fn reflected_kg_m2(&self) -> f64 {
        self.rotor_kg_m2 * self.gear * self.gear
    }
}

/// The assumed drive trains of the simulated Indy7. The feed-forward takes its own from the layout.
pub const DRIVE_TRAINS: [DriveTrain; N] = {
    let large = DriveTrain { gear: 121.0, rotor_kg_m2: 1.0e-4, viscous_nm_s: 12.0, coulomb_nm: 6.0 };
    let middle = DriveTrain { gear: 121.0, rotor_kg_m2: 5.0e-5, viscous_nm_s: 8.0, coulomb_nm: 4.0 };
    let small = DriveTrain { gear: 101.0, rotor_kg_m2: 2.0e-5, viscous_nm_s: 3.0, coulomb_nm: 1.5 };
    [large, large, middle, small, small, small]
};

/// The arm as a plant.
#[derive(Debug)]
pub struct Robot {
    arm: Arm,
    links: [Link; N],
    trains: [DriveTrain; N],
    position: [f64; N],
    velocity: [f64; N],
}

impl Default for Robot {
    fn default() -> Self {
        Self::new(DRIVE_TRAINS)
    }
}

impl Robot {
    /// Indy7 with these drive trains, at rest with every joint at 0.
    pub fn new(trains: [DriveTrain; N]) -> Self {
        Self { arm: indy7::arm(), links: indy7::links(), trains, position: [0.0; N], velocity: [0.0; N] }
    }

    /// Energy of links and rotors, J, up to a constant.
    pub fn energy_j(&mut self) -> f64 {
        let links = self.arm.kinetic_j(&self.position, &self.velocity).unwrap_or(f64::NAN);
        let rotors: f64 = self.trains.iter().zip(self.velocity).map(|(t, v)| 0.5 * t.reflected_kg_m2() * v * v).sum();
        links + rotors + self.arm.potential_j(&self.position).unwrap_or(f64::NAN)
    }
}

impl Plant for Robot {
    fn axes(&self) -> usize {
        N
    }

    /// Semi-implicit Euler: M(q)·(v' - v) = dt·(τ - h(q, v) - D(v)·v'), then q' = q + dt·v'. The friction D stands on
    /// the new velocity's side, which keeps the step stable and dissipative however stiff friction or a brake is.
    fn step(&mut self, dt_s: f64, inputs: &[AxisInput]) {
        let (q, v) = (self.position, self.velocity);
        let mut rate = [0.0; N];
        if inputs.len() != N || self.arm.bias(&q, &v, &mut rate).is_err() {
            return;
        }
        let damping: [f64; N] = std::array::from_fn(|k| {
            let train = &self.trains[k];
            train.viscous_nm_s + train.coulomb_nm / v[k].abs().max(CREEP_RAD_S)
        });
        // A closed brake is a damper beyond all others; the velocity is then set to exactly 0 below.
        const BRAKE: f64 = 1e9;
        let brakes = |k: usize| if inputs[k].brake { BRAKE } else { 0.0 };
        for k in 0..N {
            let friction = (damping[k] + brakes(k)) * v[k];
            rate[k] = inputs[k].torque_nm - rate[k] - friction;
        }
        let trains = &self.trains;
        let behind = |k: usize| trains[k].reflected_kg_m2() + dt_s * (damping[k] + brakes(k));
        let solved = self.arm.solve_with(&q, behind, &mut rate);
        if solved.is_err() || rate.iter().any(|value| !value.is_finite()) {
            // Not finite: a torque was. The arm stays where it is.
            self.velocity = [0.0; N];
            return;
        }
        for k in 0..N {
            let limit = self.links[k].limit_rad;
            let velocity = if inputs[k].brake { 0.0 } else { v[k] + dt_s * rate[k] };
            let position = q[k] + dt_s * velocity;
            let stopped = position.abs() > limit;
            self.velocity[k] = if stopped { 0.0 } else { velocity };
            self.position[k] = position.clamp(-limit, limit);
        }
    }

    fn position_rad(&self, axis: usize) -> f64 {
        self.position.get(axis).copied().unwrap_or(0.0)
    }

    fn velocity_rad_s(&self, axis: usize) -> f64 {
        self.velocity.get(axis).copied().unwrap_or(0.0)
    }

    fn place(&mut self, axis: usize, position_rad: f64) {
        if let (Some(position), Some(velocity)) = (self.position.get_mut(axis), self.velocity.get_mut(axis)) {
            *position = position_rad;
            *velocity = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: DriveTrain = DriveTrain { viscous_nm_s: 0.0, coulomb_nm: 0.0, ..DRIVE_TRAINS[0] };
    const TICK_S: f64 = 125e-6;

    fn torques(torque_nm: [f64; N]) -> [AxisInput; N] {
        torque_nm.map(|torque_nm| AxisInput { torque_nm, brake: false })
    }

    fn bent(robot: &mut Robot) {
        for (axis, position) in [0.3, 0.8, -0.5, 0.4, 0.6, -0.2].into_iter().enumerate() {
            robot.place(axis, position);
        }
    }

    #[test]
    fn the_built_in_layout_knows_the_simulated_drive_trains() {
        assert_eq!(crate::built_in::BuiltIn::Indy7.layout().unwrap().drive_trains(), DRIVE_TRAINS);
    }

    #[test]
    fn gravity_torque_holds_the_arm_still() {
        let mut robot = Robot::new([FREE; N]);
        bent(&mut robot);
        let before = robot.position;
        let mut hold = [0.0; N];
        indy7::arm().gravity(&before, &mut hold).unwrap();
        for _ in 0..8000 {
            robot.step(TICK_S, &torques(hold));
        }
        for (now, then) in robot.position.iter().zip(before) {
            assert!((now - then).abs() < 1e-9);
        }
    }

    #[test]
    fn without_friction_the_falling_arm_keeps_its_energy_to_the_order_of_the_step() {
        // Semi-implicit Euler is of first order: half the step, about half the error.
        let drift = |tick_s: f64| {
            let mut robot = Robot::new([FREE; N]);
            bent(&mut robot);
            let before = robot.energy_j();
            for _ in 0..(0.5 / tick_s) as usize {
                robot.step(tick_s, &torques([0.0; N]));
            }
            (robot.energy_j() - before).abs()
        };
        let (coarse, fine) = (drift(TICK_S), drift(TICK_S / 2.0));
        assert!(coarse < 0.1, "{coarse} J");
        assert!((coarse / fine - 2.0).abs() < 0.3, "{coarse} J against {fine} J");
    }

    #[test]
    fn friction_only_ever_takes_energy() {
        let mut robot = Robot::default();
        bent(&mut robot);
        let mut before = robot.energy_j();
        for _ in 0..16_000 {
            robot.step(TICK_S, &torques([0.0; N]));
            let now = robot.energy_j();
            assert!(now <= before + 1e-3, "{now} J after {before} J");
            before = now;
        }
    }

    #[test]
    fn coulomb_friction_holds_an_axis_against_a_smaller_torque() {
        let mut robot = Robot::default();
        // Joint 0 turns about the vertical: no gravity.
        for _ in 0..8000 {
            robot.step(TICK_S, &torques([4.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
        }
        assert!(robot.position_rad(0).abs() < 1.1 * CREEP_RAD_S, "{}", robot.position_rad(0));
        for _ in 0..8000 {
            robot.step(TICK_S, &torques([40.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
        }
        assert!(robot.position_rad(0) > 0.1);
    }

    #[test]
    fn a_closed_brake_holds_whatever_the_torque() {
        let mut robot = Robot::default();
        bent(&mut robot);
        let before = robot.position;
        let braked = [AxisInput { torque_nm: 400.0, brake: true }; N];
        for _ in 0..1000 {
            robot.step(1e-3, &braked);
        }
        assert_eq!((robot.position, robot.velocity), (before, [0.0; N]));
    }

    #[test]
    fn an_end_stop_is_not_passed() {
        let mut robot = Robot::default();
        for _ in 0..16_000 {
            robot.step(TICK_S, &torques([400.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
        }
        assert_eq!(robot.position_rad(0), 175.0_f64.to_radians());
    }

    #[test]
    fn the_step_is_stable_at_a_millisecond_too() {
        let mut robot = Robot::default();
        bent(&mut robot);
        for k in 0..20_000 {
            let torque = if k % 400 < 200 { 60.0 } else { -60.0 };
            robot.step(1e-3, &torques([torque; N]));
            assert!(robot.velocity.iter().all(|v| v.abs() < 50.0), "{:?}", robot.velocity);
        }
    }

    #[test]
    fn a_torque_that_is_not_finite_does_not_poison_the_arm() {
        let mut robot = Robot::default();
        robot.step(TICK_S, &torques([f64::NAN; N]));
        assert!(robot.position.iter().chain(&robot.velocity).all(|x| x.is_finite()));
    }
}
