// SPDX-License-Identifier: Apache-2.0
//! Promises of the dynamics: published static torques, consistency of both directions, conserved energy.

use std::f64::consts::{FRAC_PI_2, PI};

use kadenz_dynamics::indy7::{arm, JOINTS};
use kadenz_dynamics::{Arm, DynamicsError};
use proptest::prelude::*;

type Joints = [f64; JOINTS];

#[test]
fn static_torques_of_the_stretched_arm_are_the_reference_ones() {
    // Reference: KDL and Pinocchio, measured separately; q1 = 90 degrees, everything else 0 and at rest.
    let expected = [0.0, -73.171, -23.432, 6.065, -2.883, 0.0017];
    let mut torque = [0.0; JOINTS];
    arm().gravity(&[0.0, FRAC_PI_2, 0.0, 0.0, 0.0, 0.0], &mut torque).unwrap();
    for (joint, (got, expected)) in torque.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() < 6e-4, "joint {joint}: {got} N·m, {expected} expected");
    }
}

#[test]
fn a_wrong_length_is_named() {
    let error = arm().inverse(&[0.0; 5], &[0.0; 6], &[0.0; 6], &mut [0.0; 6]).unwrap_err();
    assert_eq!(error, DynamicsError::Length { what: "q", got: 5, joints: 6 });
}

#[test]
fn a_state_that_is_not_finite_is_an_error_and_not_an_acceleration() {
    let mut out = [0.0; JOINTS];
    let result = arm().forward(&[f64::NAN; JOINTS], &[0.0; JOINTS], &[0.0; JOINTS], &mut out);
    assert_eq!(result, Err(DynamicsError::Singular));
}

fn joints(range: f64) -> impl Strategy<Value = Joints> {
    prop::array::uniform6(-range..range)
}

proptest! {
    #[test]
    fn forward_after_inverse_is_the_identity(q in joints(PI), qd in joints(3.0), qdd in joints(20.0)) {
        let mut arm = arm();
        let (mut torque, mut back) = ([0.0; JOINTS], [0.0; JOINTS]);
        arm.inverse(&q, &qd, &qdd, &mut torque).unwrap();
        arm.forward(&q, &qd, &torque, &mut back).unwrap();
        // The wrist's inertia is near 1e-3 kg·m², so an error of 1e-12 N·m is 1e-9 rad/s².
        for (got, expected) in back.iter().zip(qdd) {
            prop_assert!((got - expected).abs() < 1e-8, "{got} rad/s², {expected} expected");
        }
    }

    #[test]
    fn the_torques_are_those_of_kdls_own_solver(q in joints(PI), qd in joints(3.0), qdd in joints(20.0)) {
        let mut arm = arm();
        let (mut torque, mut of_kdl) = ([0.0; JOINTS], [0.0; JOINTS]);
        arm.inverse(&q, &qd, &qdd, &mut torque).unwrap();
        arm.inverse_of_kdl(&q, &qd, &qdd, &mut of_kdl).unwrap();
        for (got, expected) in torque.iter().zip(of_kdl) {
            prop_assert!((got - expected).abs() < 1e-10, "{got} N·m, {expected} expected");
        }
    }

    #[test]
    fn the_mass_matrix_is_symmetric_and_gives_the_inverse_dynamics(q in joints(PI), qdd in joints(20.0)) {
        let mut arm = arm();
        let mut matrix = [0.0; JOINTS * JOINTS];
        let (mut torque, mut gravity) = ([0.0; JOINTS], [0.0; JOINTS]);
        arm.mass(&q, &mut matrix).unwrap();
        arm.inverse(&q, &[0.0; JOINTS], &qdd, &mut torque).unwrap();
        arm.gravity(&q, &mut gravity).unwrap();
        for row in 0..JOINTS {
            let product: f64 = (0..JOINTS).map(|k| matrix[row * JOINTS + k] * qdd[k]).sum();
            prop_assert!((product + gravity[row] - torque[row]).abs() < 1e-9);
            for column in 0..row {
                prop_assert_eq!(matrix[row * JOINTS + column], matrix[column * JOINTS + row]);
            }
        }
    }

    #[test]
    fn gravity_is_the_gradient_of_the_potential(q in joints(PI)) {
        let mut arm = arm();
        let mut gravity = [0.0; JOINTS];
        arm.gravity(&q, &mut gravity).unwrap();
        let step = 1e-5;
        for joint in 0..JOINTS {
            let (mut low, mut high) = (q, q);
            low[joint] -= step;
            high[joint] += step;
            let slope = (arm.potential_j(&high).unwrap() - arm.potential_j(&low).unwrap()) / (2.0 * step);
            prop_assert!((slope - gravity[joint]).abs() < 1e-6, "joint {joint}: {slope}, {}", gravity[joint]);
        }
    }
}

/// One step of the classical fourth-order Runge-Kutta method of the free arm.
fn runge_kutta(arm: &mut Arm, q: &mut Joints, qd: &mut Joints, dt_s: f64) {
    let mut acceleration = |q: &Joints, qd: &Joints| {
        let mut out = [0.0; JOINTS];
        arm.forward(q, qd, &[0.0; JOINTS], &mut out).unwrap();
        out
    };
    let ahead = |x: &Joints, v: &Joints, h: f64| -> Joints { std::array::from_fn(|k| x[k] + h * v[k]) };
    let (v1, a1) = (*qd, acceleration(q, qd));
    let (v2, a2) = (ahead(qd, &a1, dt_s / 2.0), acceleration(&ahead(q, &v1, dt_s / 2.0), &ahead(qd, &a1, dt_s / 2.0)));
    let (v3, a3) = (ahead(qd, &a2, dt_s / 2.0), acceleration(&ahead(q, &v2, dt_s / 2.0), &ahead(qd, &a2, dt_s / 2.0)));
    let (v4, a4) = (ahead(qd, &a3, dt_s), acceleration(&ahead(q, &v3, dt_s), &ahead(qd, &a3, dt_s)));
    for k in 0..JOINTS {
        q[k] += dt_s / 6.0 * (v1[k] + 2.0 * v2[k] + 2.0 * v3[k] + v4[k]);
        qd[k] += dt_s / 6.0 * (a1[k] + 2.0 * a2[k] + 2.0 * a3[k] + a4[k]);
    }
}

#[test]
fn energy_of_the_falling_arm_is_conserved_without_friction() {
    // Integrator: fourth-order Runge-Kutta, 0.1 ms, one second of fall from a bent pose.
    let mut arm = arm();
    let (mut q, mut qd) = ([0.3, 0.8, -0.5, 0.4, 0.6, -0.2], [0.0; JOINTS]);
    let total = |q: &Joints, qd: &Joints, arm: &mut Arm| arm.kinetic_j(q, qd).unwrap() + arm.potential_j(q).unwrap();
    let before = total(&q, &qd, &mut arm);
    let mut kinetic_peak: f64 = 0.0;
    for _ in 0..10_000 {
        runge_kutta(&mut arm, &mut q, &mut qd, 1e-4);
        kinetic_peak = kinetic_peak.max(arm.kinetic_j(&q, &qd).unwrap());
        let drift = (total(&q, &qd, &mut arm) - before).abs();
        assert!(drift < 1e-5, "energy drifted by {drift} J");
    }
    assert!(kinetic_peak > 10.0, "the arm must really fall for this to mean anything, {kinetic_peak} J");
}
