// SPDX-License-Identifier: Apache-2.0
//! The whole cell, healthy: the motion of the study within the study's figures.

use crate::common::Cell;
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::message::CycleSample;
use kadenz_motion::profile::Way;
use kadenz_motion::supervise::EventKind;
use kadenz_motion::task::{Movement, Outcome};
use kadenz_motion::AXES;

/// yoo2024, table 6, VisionFive 2: least and greatest velocity error of each joint, degrees/s.
const PUBLISHED_DEG_S: [(f64, f64); AXES] = [
    (-8.8236, 6.9901),
    (-7.7349, 6.9901),
    (-11.2873, 6.9901),
    (-11.6883, 6.9901),
    (-12.9488, 6.9901),
    (-12.0894, 6.9901),
];

#[test]
fn the_arm_goes_out_and_back_within_the_published_errors_and_ends_without_power() {
    let mut cell = Cell::new(&[]);
    assert_eq!(cell.run(20_000), Outcome::Done);
    assert_eq!(cell.powered(), 0);
    let way = |way: Way| cell.cycles.iter().filter(|cycle| cycle.way == way as u32).count();
    assert_eq!((way(Way::Out), way(Way::Back)), (2500, 2500), "2 s of motion and 0.5 s of rest each way");
    let (mut position, mut velocity) = ([0.0_f64; AXES], [0.0_f64; AXES]);
    for cycle in &cell.cycles {
        let CycleSample { position_error_deg, velocity_error_deg_s, .. } = cycle;
        for joint in 0..AXES {
            position[joint] = position[joint].max(position_error_deg[joint].abs());
            velocity[joint] = velocity[joint].max(velocity_error_deg_s[joint].abs());
            let (low, high) = PUBLISHED_DEG_S[joint];
            assert!((low..high).contains(&velocity_error_deg_s[joint]), "joint {joint}: {cycle:?}");
            assert!(position_error_deg[joint].abs() < 2.0, "joint {joint}: {cycle:?}");
        }
    }
    // Not because nothing moved: at 60 degrees/s the two cycles between setpoint and feedback are 0.12 degrees.
    assert!(position.iter().all(|error| *error > 0.05), "{position:?}");
    assert!(velocity.iter().all(|error| *error > 0.1), "{velocity:?}");
}

/// Where the arm stands when power goes, degrees, and how far it was from its setpoints while it should stay.
fn stays(movement: Movement) -> ([f64; AXES], f64) {
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    layout.motion.low_deg = 30.0;
    let mut cell = Cell::moving(movement, &layout).unwrap();
    assert_eq!(cell.run(20_000), Outcome::Done);
    assert_eq!((cell.powered(), cell.has(EventKind::PowerRemoved)), (0, true));
    let errors = cell.cycles.iter().flat_map(|cycle| cycle.position_error_deg);
    assert!(cell.cycles.iter().all(|cycle| cycle.way != Way::Approach as u32) && cell.cycles.len() >= 200);
    (cell.main.positions_rad().map(f64::to_degrees), errors.fold(0.0, |most: f64, error| most.max(error.abs())))
}

#[test]
fn home_leads_to_the_first_pose_and_hold_stays_where_the_arm_stands() {
    let (home_deg, off_deg) = stays(Movement::Home);
    assert!(home_deg.iter().all(|deg| (deg - 30.0).abs() < 0.05) && off_deg < 0.05, "{home_deg:?} {off_deg}");
    let (held_deg, off_deg) = stays(Movement::Hold);
    // The simulated arm begins at 0.1 rad.
    assert!(held_deg.iter().all(|deg| (deg - 5.730).abs() < 0.05) && off_deg < 0.05, "{held_deg:?} {off_deg}");
}

#[test]
fn a_healthy_run_logs_nothing_but_its_end() {
    let mut cell = Cell::new(&[]);
    cell.run(20_000);
    let kinds: Vec<_> = cell.events.iter().filter_map(|event| event.kind()).collect();
    assert_eq!(kinds, [EventKind::PowerRemoved]);
}

#[test]
fn feed_forward_torque_makes_the_error_smaller() {
    let worst = |dynamics_lives: bool| {
        let mut cell = Cell::new(&[]);
        cell.dynamics_lives = dynamics_lives;
        cell.run(20_000);
        let velocity = cell.cycles.iter().flat_map(|cycle| cycle.velocity_error_deg_s);
        velocity.fold(0.0_f64, |worst, error| worst.max(error.abs()))
    };
    let (with, without) = (worst(true), worst(false));
    assert!(without > 1.5 * with, "{without} without, {with} with the dynamic task");
}

#[test]
fn two_runs_are_the_same_to_the_last_bit() {
    let run = || {
        let mut cell = Cell::new(&[]);
        cell.run(20_000);
        cell.cycles.iter().map(|cycle| cycle.position_error_deg.map(f64::to_bits)).collect::<Vec<_>>()
    };
    assert!(run() == run());
}
