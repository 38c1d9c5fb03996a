// SPDX-License-Identifier: Apache-2.0
//! The mechanism behind the drives, with one axis for each.

/// Action of one drive on its axis during one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AxisInput {
    /// Torque at the joint, after the gear, N·m.
    pub torque_nm: f64,
    /// The holding brake is closed: the axis stands still whatever the torque.
    pub brake: bool,
}

/// A mechanism. The segment steps it on a fixed grid (`[ring] tick_us`), so a run depends on the frames alone and
/// can be replayed; an implementation must therefore be deterministic and must not read a clock.
pub trait Plant: Send {
    /// Number of axes; drive `k` of the ring, counted among drives, moves axis `k`.
    fn axes(&self) -> usize;
    /// Advances by `dt_s` seconds. `inputs` has one element an axis.
    fn step(&mut self, dt_s: f64, inputs: &[AxisInput]);
    /// Joint position, rad.
    fn position_rad(&self, axis: usize) -> f64;
    /// Joint velocity, rad/s.
    fn velocity_rad_s(&self, axis: usize) -> f64;
    /// Puts an axis somewhere at rest: start positions, and tests.
    fn place(&mut self, axis: usize, position_rad: f64);
}

/// One axis of [`Inertias`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Inertia seen at the joint, kg·m².
    pub inertia_kg_m2: f64,
    /// Viscous friction, N·m·s/rad.
    pub viscous_nm_s: f64,
    /// Coulomb friction, N·m.
    pub coulomb_nm: f64,
    /// Mechanical end stops, rad. An axis that meets one stops there.
    pub stops_rad: (f64, f64),
}

impl Default for Inertia {
    fn default() -> Self {
        Self { inertia_kg_m2: 1.0, viscous_nm_s: 1.0, coulomb_nm: 0.5, stops_rad: (-1.0e9, 1.0e9) }
    }
}

/// The default plant: each axis an inertia with friction and end stops, no coupling and no gravity.
#[derive(Debug, Clone)]
pub struct Inertias {
    axes: Vec<(Inertia, f64, f64)>,
}

impl Inertias {
    /// One axis an element, all at position 0 and at rest.
    pub fn new(axes: impl IntoIterator<Item = Inertia>) -> Self {
        Self { axes: axes.into_iter().map(|axis| (axis, 0.0, 0.0)).collect() }
    }
}

impl Plant for Inertias {
    fn axes(&self) -> usize {
        self.axes.len()
    }

    fn step(&mut self, dt_s: f64, inputs: &[AxisInput]) {
        for ((axis, position, velocity), input) in self.axes.iter_mut().zip(inputs) {
            if input.brake {
                *velocity = 0.0;
                continue;
            }
            // Semi-implicit Euler: the velocity first, so that a stiff position loop does not gain energy.
            let driven = *velocity + dt_s * (input.torque_nm - axis.viscous_nm_s * *velocity) / axis.inertia_kg_m2;
            // Coulomb friction brings to rest but never reverses.
            let friction = dt_s * axis.coulomb_nm / axis.inertia_kg_m2;
            *velocity = if driven.abs() <= friction { 0.0 } else { driven - friction * driven.signum() };
            *position += dt_s * *velocity;
            let (low, high) = axis.stops_rad;
            if *position < low || *position > high {
                *position = position.clamp(low, high);
                *velocity = 0.0;
            }
        }
    }

    fn position_rad(&self, axis: usize) -> f64 {
        self.axes.get(axis).map_or(0.0, |axis| axis.1)
    }

    fn velocity_rad_s(&self, axis: usize) -> f64 {
        self.axes.get(axis).map_or(0.0, |axis| axis.2)
    }

    fn place(&mut self, axis: usize, position_rad: f64) {
        if let Some(axis) = self.axes.get_mut(axis) {
            axis.1 = position_rad;
            axis.2 = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(axis: Inertia) -> Inertias {
        Inertias::new([axis])
    }

    #[test]
    fn constant_torque_gives_constant_acceleration() {
        let mut plant = one(Inertia { inertia_kg_m2: 2.0, viscous_nm_s: 0.0, coulomb_nm: 0.0, ..Inertia::default() });
        for _ in 0..1000 {
            plant.step(0.001, &[AxisInput { torque_nm: 4.0, brake: false }]);
        }
        assert!((plant.velocity_rad_s(0) - 2.0).abs() < 1e-9);
        assert!((plant.position_rad(0) - 1.0).abs() < 2e-3);
    }

    #[test]
    fn a_closed_brake_holds_against_any_torque() {
        let mut plant = one(Inertia::default());
        plant.step(0.001, &[AxisInput { torque_nm: 1e6, brake: true }]);
        assert_eq!((plant.position_rad(0), plant.velocity_rad_s(0)), (0.0, 0.0));
    }

    #[test]
    fn an_end_stop_is_not_passed() {
        let mut plant = one(Inertia { stops_rad: (-0.1, 0.1), ..Inertia::default() });
        for _ in 0..5000 {
            plant.step(0.001, &[AxisInput { torque_nm: 10.0, brake: false }]);
        }
        assert_eq!((plant.position_rad(0), plant.velocity_rad_s(0)), (0.1, 0.0));
    }

    #[test]
    fn friction_brings_an_axis_to_rest_and_never_reverses_it() {
        let mut plant = one(Inertia { viscous_nm_s: 0.0, ..Inertia::default() });
        for _ in 0..100 {
            plant.step(0.001, &[AxisInput { torque_nm: 5.0, brake: false }]);
        }
        for _ in 0..5000 {
            plant.step(0.001, &[AxisInput::default()]);
            assert!(plant.velocity_rad_s(0) >= 0.0);
        }
        assert_eq!(plant.velocity_rad_s(0), 0.0);
    }
}
