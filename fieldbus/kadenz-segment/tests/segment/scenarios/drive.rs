// SPDX-License-Identifier: Apache-2.0
//! Drives at their limits, in modes they lack, and in quick stop.

use super::fast_drive;
use super::COUNTS_PER_RAD;
use crate::support::master::{Master, Sdo};
use crate::support::segment;

const ENABLED: u16 = 0x27;
/// Bit 11 of the statusword: an internal limit is active.
const LIMITED: u16 = 1 << 11;
const AXIS: usize = 0;

fn axis(settings: &str, mode: i8) -> Master {
    let mut master = Master::new(segment(&fast_drive(settings)));
    master.bring_up();
    master.enable(AXIS, mode);
    master
}

fn rad(master: &Master) -> f64 {
    master.link.segment().ring().plant().position_rad(0)
}

/// Moves the target position by steps of a milliradian a cycle.
fn ramp(master: &mut Master, from_rad: f64, to_rad: f64) {
    let steps = ((to_rad - from_rad).abs() * 1000.0).round();
    for step in 1..=steps as i32 {
        let target = from_rad + (to_rad - from_rad) * f64::from(step) / steps;
        master.target_position(AXIS, (target * COUNTS_PER_RAD) as i32);
        master.cycle();
    }
}

#[test]
fn s45_torque_does_not_lead_beyond_a_software_limit() {
    let mut master = axis("limits_rad = [-0.2, 0.2]", 10);
    master.target_torque(AXIS, 20);
    master.cycles(1000);
    assert_eq!(master.status(AXIS) & (0x6F | LIMITED), ENABLED | LIMITED, "{:#06x}", master.status(AXIS));
    assert!((0.2..0.21).contains(&rad(&master)) && master.velocity(AXIS) == 0, "{} rad", rad(&master));
    master.target_torque(AXIS, -20);
    master.cycles(100);
    assert_eq!(master.status(AXIS) & LIMITED, 0, "inwards it is obeyed");
    assert!(rad(&master) < 0.2 && master.velocity(AXIS) < 0);
}

#[test]
fn s46_torque_inwards_that_does_not_stop_the_axis_at_its_switch_is_helped_by_braking() {
    let mut master = axis("switches_rad = [-0.2, 0.2]", 10);
    master.target_torque(AXIS, -20);
    while rad(&master) > -0.19 {
        master.cycle();
    }
    // Alone it would take a second and half a radian.
    master.target_torque(AXIS, 4);
    master.cycles(60);
    assert!(rad(&master) > -0.21, "{} rad", rad(&master));
    master.target_torque(AXIS, 20);
    master.cycles(300);
    assert!(rad(&master) > -0.19, "and away again: {} rad", rad(&master));
}

#[test]
fn s47_setpoints_beyond_a_limit_switch_leave_the_axis_where_it_closed() {
    let mut master = axis("switches_rad = [-0.3, 0.3]", 8);
    ramp(&mut master, 0.0, 0.6);
    assert_eq!(master.status(AXIS) & (0x6F | LIMITED), ENABLED | LIMITED, "{:#06x}", master.status(AXIS));
    assert!((0.299..0.304).contains(&rad(&master)), "{} rad", rad(&master));
    assert_eq!(master.upload(AXIS, 0x60FD, 0, false), Sdo::Data(vec![2, 0, 0, 0]), "positive limit switch");
    ramp(&mut master, 0.6, 0.1);
    assert_eq!(master.status(AXIS) & (0x6F | LIMITED), ENABLED, "{:#06x}", master.status(AXIS));
    assert!((rad(&master) - 0.1).abs() < 0.03, "{} rad", rad(&master));
}

#[test]
fn s48_a_velocity_towards_a_closed_switch_is_none() {
    let mut master = axis("switches_rad = [-0.3, 0.3]", 9);
    master.target_velocity(AXIS, -COUNTS_PER_RAD as i32);
    master.cycles(500);
    assert_eq!(master.status(AXIS) & (0x6F | LIMITED), ENABLED | LIMITED, "{:#06x}", master.status(AXIS));
    assert!((-0.31..=-0.3).contains(&rad(&master)), "{} rad", rad(&master));
}

#[test]
fn s49_a_mode_the_drive_lacks_is_refused_by_sdo_and_not_taken_from_process_data() {
    let mut master = axis("", 8);
    for lacking in [1_i8, 3, 7, -1] {
        assert_eq!(master.download(AXIS, 0x6060, 0, &[lacking as u8], false), Sdo::Abort(0x0609_0030));
        master.mode(AXIS, lacking);
        master.cycles(3);
        assert_eq!(master.input(AXIS)[12], 8, "mode display, asked for {lacking}");
        assert_eq!(master.status(AXIS) & 0x6F, ENABLED);
    }
    for mode in [0_u8, 6, 9, 10, 8] {
        assert_eq!(master.download(AXIS, 0x6060, 0, &[mode], false), Sdo::Data(vec![]));
        master.mode(AXIS, mode as i8);
        master.cycles(3);
        assert_eq!(master.input(AXIS)[12], mode);
    }
}

#[test]
fn s50_quick_stop_takes_deceleration_and_end_from_its_option() {
    // 1.8 rad/s last 180 ms at the 10 rad/s² of 0x6084 and 90 ms at the 20 rad/s² of 0x6085.
    for (option, is_slow, stays) in [(1_i16, true, false), (2, false, false), (5, true, true), (6, false, true)] {
        let mut master = axis("", 9);
        assert_eq!(master.download(AXIS, 0x605A, 0, &option.to_le_bytes(), false), Sdo::Data(vec![]));
        master.target_velocity(AXIS, 300_000);
        master.cycles(300);
        master.control(AXIS, 0x02);
        master.cycles(120);
        assert_eq!(master.velocity(AXIS) > 50_000, is_slow, "option {option}: {}", master.velocity(AXIS));
        master.cycles(120);
        assert!(master.velocity(AXIS).abs() < 500, "option {option}: {}", master.velocity(AXIS));
        let end = if stays { 0x07 } else { 0x40 };
        assert_eq!(master.status(AXIS) & if stays { 0x6F } else { 0x4F }, end, "option {option}");
    }
    let mut master = axis("", 9);
    for lacking in [0_i16, 3, 4, 7] {
        assert_eq!(master.download(AXIS, 0x605A, 0, &lacking.to_le_bytes(), false), Sdo::Abort(0x0609_0030));
    }
}

#[test]
fn s51_homing_on_the_index_pulse_ends_in_an_error_at_a_limit_switch() {
    let mut master = Master::new(segment(&fast_drive("switches_rad = [-0.1, 0.1]\nmax_velocity_rad_s = 3.0")));
    master.configure_managers(AXIS);
    master.request(AXIS, 2);
    assert_eq!(master.download(AXIS, 0x6098, 0, &[34], false), Sdo::Data(vec![]));
    master.bring_up();
    master.enable(AXIS, 6);
    master.control(AXIS, 0x1F);
    master.cycles(3000);
    assert_eq!(master.status(AXIS) & (0x3000 | LIMITED), 1 << 13 | LIMITED, "{:#06x}", master.status(AXIS));
    assert!((0.1..0.11).contains(&rad(&master)), "{} rad", rad(&master));
}

#[test]
fn s61_the_scale_a_drive_reports_is_the_scale_it_moves_by() {
    let mut master =
        Master::new(segment(&fast_drive("counts_per_revolution = 500_000\ngear_ratio = [121, 2]\nstart_rad = 1.0")));
    master.bring_up();
    let number = |master: &mut Master, index: u16, sub: u8| match master.upload(AXIS, index, sub, false) {
        Sdo::Data(data) => f64::from(u32::from_le_bytes(data.try_into().unwrap())),
        other => panic!("{index:#06x}: {other:?}"),
    };
    let mut ratio = |index: u16| number(&mut master, index, 1) / number(&mut master, index, 2);
    let (resolution, gear, feed) = (ratio(0x608F), ratio(0x6091), ratio(0x6092));
    assert_eq!((gear, feed), (60.5, 500_000.0));
    // CiA 402: position actual = feed constant × encoder position / (encoder resolution × gear ratio).
    let turns = 1.0 / std::f64::consts::TAU;
    let encoder = turns * gear * resolution;
    assert!((f64::from(master.position(AXIS)) - feed * encoder / (resolution * gear)).abs() <= 1.0);
    assert!((resolution * gear - 500_000.0).abs() < 1e-6, "counts of a turn of the joint");
    assert!(matches!(master.upload(AXIS, 0x6061, 0, false), Sdo::Data(data) if data.len() == 1));
    assert_eq!(master.download(AXIS, 0x6091, 1, &1_u32.to_le_bytes(), false), Sdo::Abort(0x0601_0002), "fixed");
}
