// SPDX-License-Identifier: Apache-2.0
//! Numbered scenarios of the supervision alone: one fault, the expected reaction, the expected log.

use super::*;
use crate::cia402::DriveState;

const WKC: u16 = 21;
const GOOD: Exchange = Exchange::Answered { working_counter: WKC, al: None };
const FOLLOWS: AxisSeen =
    AxisSeen { state: DriveState::OperationEnabled, statusword: 0x1637, error_code: 0, mode: Some(8), error_deg: 0.1 };

const fn axis(state: DriveState, statusword: u16, error_code: u16, error_deg: f64) -> AxisSeen {
    AxisSeen { state, statusword, error_code, mode: Some(8), error_deg }
}

fn fell(device: u16, status: u8) -> Option<AlTrouble> {
    Some(AlTrouble { device, status, code: Some(0) })
}

struct Bench {
    supervisor: Supervisor,
    cycle: u64,
    log: Vec<Event>,
}

impl Bench {
    fn new() -> Self {
        Self { supervisor: Supervisor::new(SupervisionLimits::default(), WKC, 6), cycle: 0, log: Vec::new() }
    }

    fn cycle(&mut self, change: impl FnOnce(&mut Observation<'_>)) -> Reaction {
        self.cycle_of(&[FOLLOWS; 6], change)
    }

    fn cycle_of(&mut self, axes: &[AxisSeen], change: impl FnOnce(&mut Observation<'_>)) -> Reaction {
        self.cycle += 1;
        let mut seen = Observation {
            cycle: self.cycle,
            duty: Duty::Operation,
            exchange: GOOD,
            lateness_ns: 20_000,
            skipped: 0,
            clock_difference_ns: None,
            stranger: Stranger::default(),
            setpoint_age: 0,
            axes,
        };
        change(&mut seen);
        self.supervisor.observe(&seen, &mut |event| self.log.push(event))
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.log.iter().filter_map(Event::kind).collect()
    }

    /// A repeated fault: number of reactions up to the first quick stop.
    fn until_quick_stop(&mut self, change: impl Fn(&mut Observation<'_>)) -> usize {
        (1..100).find(|_| self.cycle(&change) == Reaction::QuickStop).expect("never stopped")
    }
}

#[test]
fn m01_healthy_cycles_cause_nothing() {
    let mut bench = Bench::new();
    for _ in 0..1000 {
        assert_eq!(bench.cycle(|_| ()), Reaction::None);
    }
    assert!(bench.log.is_empty());
}

#[test]
fn m02_one_lost_frame_holds_and_recovers() {
    let mut bench = Bench::new();
    assert_eq!(bench.cycle(|seen| seen.exchange = Exchange::Lost), Reaction::Hold);
    assert_eq!(bench.cycle(|_| ()), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::FrameLost, EventKind::Recovered]);
    assert_eq!(bench.log[0].cycle, 1);
}

#[test]
fn m03_frames_lost_in_a_row_are_a_cable_break_and_stop() {
    assert_eq!(Bench::new().until_quick_stop(|seen| seen.exchange = Exchange::Lost), 5);
}

#[test]
fn m04_every_second_frame_lost_never_stops_but_is_all_logged() {
    let mut bench = Bench::new();
    for k in 0..100 {
        let reaction = bench.cycle(|seen| {
            if k % 2 == 0 {
                seen.exchange = Exchange::Lost
            }
        });
        assert!(reaction <= Reaction::Hold);
    }
    assert_eq!(bench.kinds().iter().filter(|kind| **kind == EventKind::FrameLost).count(), 50);
}

#[test]
fn m05_one_wrong_working_counter_holds() {
    let mut bench = Bench::new();
    let wrong = Exchange::Answered { working_counter: 18, al: None };
    assert_eq!(bench.cycle(|seen| seen.exchange = wrong), Reaction::Hold);
    assert_eq!((bench.log[0].value, bench.log[0].expected), (18, 21));
}

#[test]
fn m06_a_device_that_is_gone_shows_in_the_counter_and_stops() {
    let gone = Exchange::Answered { working_counter: 18, al: None };
    assert_eq!(Bench::new().until_quick_stop(|seen| seen.exchange = gone), 5);
}

#[test]
fn m07_a_device_that_leaves_op_removes_power_at_once() {
    let mut bench = Bench::new();
    let dropped = Exchange::Answered { working_counter: WKC, al: fell(3, 0x14) };
    assert_eq!(bench.cycle(|seen| seen.exchange = dropped), Reaction::SafeState);
    assert_eq!((bench.log[0].kind(), bench.log[0].value, bench.log[0].expected), (Some(EventKind::DeviceState), 3, 20));
}

#[test]
fn m08_a_late_cycle_is_logged_and_only_many_in_a_row_stop() {
    let mut bench = Bench::new();
    assert_eq!(bench.cycle(|seen| seen.lateness_ns = 600_000), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::Late]);
    assert_eq!(Bench::new().until_quick_stop(|seen| seen.lateness_ns = 600_000), 5);
}

#[test]
fn m09_skipped_cycles_are_counted_and_a_long_gap_stops() {
    let mut bench = Bench::new();
    assert_eq!(bench.cycle(|seen| seen.skipped = 3), Reaction::None);
    assert_eq!(bench.log[0].value, 3);
    assert_eq!(bench.cycle(|seen| seen.skipped = 20), Reaction::QuickStop);
}

#[test]
fn m10_clocks_apart_once_are_logged_and_drift_stops() {
    let mut bench = Bench::new();
    assert_eq!(bench.cycle(|seen| seen.clock_difference_ns = Some(5_000)), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::ClockDifference]);
    assert_eq!(Bench::new().until_quick_stop(|seen| seen.clock_difference_ns = Some(5_000)), 5);
}

#[test]
fn m11_cycles_without_a_reading_do_not_forgive_clock_drift() {
    let mut bench = Bench::new();
    for _ in 0..4 {
        assert_eq!(bench.cycle(|seen| seen.clock_difference_ns = Some(9_000)), Reaction::None);
        assert_eq!(bench.cycle(|_| ()), Reaction::None);
    }
    assert_eq!(bench.cycle(|seen| seen.clock_difference_ns = Some(9_000)), Reaction::QuickStop);
}

#[test]
fn m12_an_axis_that_does_not_follow_stops_all() {
    let mut bench = Bench::new();
    let mut axes = [FOLLOWS; 6];
    axes[4].error_deg = -5.5;
    assert_eq!(bench.cycle_of(&axes, |_| ()), Reaction::QuickStop);
    assert_eq!((bench.log[0].kind(), bench.log[0].value), (Some(EventKind::FollowingError), 4));
}

#[test]
fn m13_a_position_of_nan_is_a_following_error() {
    let mut axes = [FOLLOWS; 6];
    axes[0].error_deg = f64::NAN;
    assert_eq!(Bench::new().cycle_of(&axes, |_| ()), Reaction::QuickStop);
}

#[test]
fn m14_a_drive_fault_removes_power_of_all_and_names_its_code() {
    let mut bench = Bench::new();
    let mut axes = [FOLLOWS; 6];
    axes[2] = axis(DriveState::Fault, 0x0218, 0x8611, 0.0);
    assert_eq!(bench.cycle_of(&axes, |_| ()), Reaction::SafeState);
    assert_eq!((bench.log[0].value, bench.log[0].expected), (2, 0x8611));
}

#[test]
fn m15_a_drive_that_leaves_operation_without_a_command_stops_the_others() {
    let mut axes = [FOLLOWS; 6];
    axes[5] = axis(DriveState::SwitchedOn, 0x0233, 0, 0.0);
    assert_eq!(Bench::new().cycle_of(&axes, |_| ()), Reaction::QuickStop);
}

#[test]
fn m16_old_inputs_are_not_judged() {
    let mut axes = [FOLLOWS; 6];
    axes[2] = axis(DriveState::Fault, 0x0218, 0, 90.0);
    assert_eq!(Bench::new().cycle_of(&axes, |seen| seen.exchange = Exchange::Lost), Reaction::Hold);
}

#[test]
fn m17_a_late_setpoint_holds_and_a_dead_trajectory_stops() {
    let mut bench = Bench::new();
    for age in 1..3 {
        assert_eq!(bench.cycle(|seen| seen.setpoint_age = age), Reaction::None);
    }
    for age in 3..10 {
        assert_eq!(bench.cycle(|seen| seen.setpoint_age = age), Reaction::Hold);
    }
    assert_eq!(bench.cycle(|seen| seen.setpoint_age = 10), Reaction::QuickStop);
}

#[test]
fn m18_an_error_of_the_master_library_counts_as_a_lost_frame() {
    let mut bench = Bench::new();
    assert_eq!(bench.until_quick_stop(|seen| seen.exchange = Exchange::Failed { code: 7 }), 5);
    assert!(bench.kinds().iter().all(|kind| *kind == EventKind::MasterError));
}

#[test]
fn m19_two_faults_at_once_cause_the_stronger_reaction_and_two_log_lines() {
    let mut bench = Bench::new();
    let mut axes = [FOLLOWS; 6];
    axes[1] = axis(DriveState::Fault, 0x0218, 1, 0.0);
    assert_eq!(bench.cycle_of(&axes, |seen| seen.setpoint_age = 1), Reaction::SafeState);
    assert_eq!(bench.kinds(), [EventKind::SetpointLate, EventKind::DriveFault]);
}

#[test]
fn m20_the_strongest_reaction_is_remembered_after_recovery() {
    let mut bench = Bench::new();
    bench.cycle(|seen| seen.skipped = 50);
    bench.cycle(|_| ());
    assert_eq!(bench.supervisor.reaction(), Reaction::QuickStop);
}

/// An axis on its way into operation.
const READY: AxisSeen = axis(DriveState::ReadyToSwitchOn, 0x0231, 0, 0.0);
const FAULTED: AxisSeen = axis(DriveState::Fault, 0x0218, 0x8611, 0.0);

#[test]
fn m21_before_op_only_frames_are_looked_at_and_nothing_is_stopped() {
    let mut bench = Bench::new();
    let starting = |seen: &mut Observation<'_>| {
        seen.duty = Duty::Starting;
        seen.skipped = 50;
        seen.exchange = Exchange::Answered { working_counter: 7, al: fell(3, 4) };
    };
    assert_eq!(bench.cycle_of(&[FAULTED; 6], starting), Reaction::None);
    assert!(bench.log.is_empty());
    for _ in 0..100 {
        let lost = |seen: &mut Observation<'_>| (seen.duty, seen.exchange) = (Duty::Starting, Exchange::Lost);
        assert_eq!(bench.cycle(lost), Reaction::None);
    }
    assert_eq!(bench.kinds(), [EventKind::FrameLost]);
}

#[test]
fn m22_a_fault_a_drive_came_with_is_acknowledged_and_reported_once_and_a_second_one_removes_power() {
    let mut bench = Bench::new();
    let enabling = |seen: &mut Observation<'_>| seen.duty = Duty::Enabling;
    let mut axes = [READY; 6];
    axes[2] = FAULTED;
    for _ in 0..3 {
        assert_eq!(bench.cycle_of(&axes, enabling), Reaction::None);
    }
    assert_eq!(bench.kinds(), [EventKind::FaultAcknowledged]);
    assert_eq!((bench.log[0].value, bench.log[0].expected), (2, 0x8611));
    assert_eq!(bench.cycle_of(&[READY; 6], enabling), Reaction::None);
    assert_eq!(bench.cycle_of(&axes, enabling), Reaction::SafeState);
    assert_eq!(bench.kinds()[1..], [EventKind::DriveFault]);
}

#[test]
fn m23_axes_that_are_enabled_are_held_to_it_while_the_others_are_on_their_way() {
    let enabling = |seen: &mut Observation<'_>| seen.duty = Duty::Enabling;
    let mut axes = [READY; 6];
    axes[0] = FOLLOWS;
    let mut bench = Bench::new();
    assert_eq!(bench.cycle_of(&axes, enabling), Reaction::None);
    assert_eq!(bench.cycle_of(&[READY; 6], enabling), Reaction::QuickStop);
    assert_eq!(bench.kinds(), [EventKind::DriveDropped]);
    let mut bench = Bench::new();
    axes[0].error_deg = 6.0;
    assert_eq!(bench.cycle_of(&axes, enabling), Reaction::QuickStop);
    assert_eq!(bench.kinds(), [EventKind::FollowingError]);
}

#[test]
fn m24_the_bus_is_supervised_while_drives_are_enabled_and_lost_time_is_only_logged() {
    let enabling = |exchange| move |seen: &mut Observation<'_>| (seen.duty, seen.exchange) = (Duty::Enabling, exchange);
    assert_eq!(Bench::new().until_quick_stop(enabling(Exchange::Lost)), 5);
    let wrong = Exchange::Answered { working_counter: 18, al: None };
    assert_eq!(Bench::new().until_quick_stop(enabling(wrong)), 5);
    let dropped = Exchange::Answered { working_counter: WKC, al: fell(3, 0x14) };
    assert_eq!(Bench::new().cycle(enabling(dropped)), Reaction::SafeState);
    let mut bench = Bench::new();
    assert_eq!(bench.cycle(|seen| (seen.duty, seen.skipped) = (Duty::Enabling, 50)), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::Skipped]);
}

#[test]
fn m25_faults_during_a_stop_are_reported_once_and_only_power_off_can_follow() {
    let mut bench = Bench::new();
    let stopping = |seen: &mut Observation<'_>| seen.duty = Duty::Stopping;
    for _ in 0..20 {
        let lost = |seen: &mut Observation<'_>| (seen.duty, seen.exchange) = (Duty::Stopping, Exchange::Lost);
        assert_eq!(bench.cycle(lost), Reaction::None);
    }
    let mut axes = [READY; 6];
    assert_eq!(bench.cycle_of(&axes, stopping), Reaction::None);
    axes[1] = FAULTED;
    assert_eq!(bench.cycle_of(&axes, stopping), Reaction::SafeState);
    assert_eq!(bench.cycle_of(&axes, stopping), Reaction::None);
    let dropped = Exchange::Answered { working_counter: WKC, al: fell(3, 0x14) };
    let fell = |seen: &mut Observation<'_>| (seen.duty, seen.exchange) = (Duty::Stopping, dropped);
    assert_eq!(bench.cycle_of(&axes, fell), Reaction::SafeState);
    assert_eq!(bench.cycle_of(&axes, fell), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::FrameLost, EventKind::DriveFault, EventKind::DeviceState]);
}

/// Six axes of which one says this.
fn saying(joint: usize, change: impl FnOnce(&mut AxisSeen)) -> [AxisSeen; 6] {
    let mut axes = [FOLLOWS; 6];
    change(&mut axes[joint]);
    axes
}

#[test]
fn m26_a_limit_inside_a_drive_is_reported_at_once_and_stops_when_it_lasts() {
    let mut bench = Bench::new();
    let limited = saying(1, |axis| axis.statusword |= 1 << 11);
    let reactions: Vec<_> = (0..10).map(|_| bench.cycle_of(&limited, |_| ())).collect();
    assert_eq!(reactions, [[Reaction::None; 9].as_slice(), &[Reaction::QuickStop]].concat());
    assert_eq!(bench.kinds(), [EventKind::InternalLimit; 2]);
    assert_eq!((bench.log[1].value, bench.log[1].expected), (1, 10));
    // A limit that comes and goes is reported each time, and stops nothing.
    let mut bench = Bench::new();
    for _ in 0..5 {
        assert_eq!(bench.cycle_of(&limited, |_| ()), Reaction::None);
        assert_eq!(bench.cycle(|_| ()), Reaction::None);
    }
    assert_eq!(bench.kinds(), [EventKind::InternalLimit; 5]);
}

#[test]
fn m27_a_drive_that_does_not_follow_or_has_a_following_error_is_reported_and_stops_when_it_lasts() {
    let ignores = saying(4, |axis| axis.statusword &= !(1 << 12));
    let behind = saying(4, |axis| axis.statusword |= 1 << 13);
    for (axes, kind) in [(ignores, EventKind::NotFollowing), (behind, EventKind::DriveFollowingError)] {
        let mut bench = Bench::new();
        let stopped = (1..100).find(|_| bench.cycle_of(&axes, |_| ()) == Reaction::QuickStop);
        assert_eq!((stopped, bench.kinds()), (Some(10), vec![kind; 2]));
    }
}

#[test]
fn m28_a_warning_is_reported_once_and_stops_nothing() {
    let mut bench = Bench::new();
    let warns = saying(3, |axis| axis.statusword |= 1 << 7);
    for _ in 0..100 {
        assert_eq!(bench.cycle_of(&warns, |_| ()), Reaction::None);
    }
    assert_eq!(bench.kinds(), [EventKind::DriveWarning]);
    assert_eq!((bench.log[0].value, bench.log[0].expected), (3, 0x16B7));
    assert!(bench.log[0].to_string().contains("drive of axis 3 warns, statusword 0x16b7: continuing"));
}

#[test]
fn m29_a_drive_in_another_mode_stops_at_once_and_its_mode_bits_are_ignored() {
    let mut bench = Bench::new();
    let homing = saying(2, |axis| (axis.mode, axis.statusword) = (Some(6), 0x2637));
    assert_eq!(bench.cycle_of(&homing, |_| ()), Reaction::QuickStop);
    assert_eq!((bench.kinds(), bench.log[0].expected), (vec![EventKind::DriveMode], 6));
    // A drive that does not map its mode says nothing about it.
    let mut bench = Bench::new();
    assert_eq!(bench.cycle_of(&saying(2, |axis| axis.mode = None), |_| ()), Reaction::None);
    assert!(bench.log.is_empty());
}

#[test]
fn m30_status_bits_of_drives_in_a_stop_are_not_reported() {
    let mut bench = Bench::new();
    let all = saying(0, |axis| axis.statusword = 0x2887 | 0x20);
    for _ in 0..50 {
        assert_eq!(bench.cycle_of(&all, |seen| seen.duty = Duty::Stopping), Reaction::None);
    }
    assert!(bench.log.is_empty());
}

#[test]
fn m31_an_error_latched_in_op_stops_with_its_code_once() {
    let mut bench = Bench::new();
    let al = Some(AlTrouble { device: 2, status: 0x18, code: Some(0x26) });
    let latched = |seen: &mut Observation<'_>| seen.exchange = Exchange::Answered { working_counter: WKC, al };
    assert_eq!(bench.cycle(latched), Reaction::QuickStop);
    assert_eq!(bench.cycle(latched), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::AlError, EventKind::Recovered]);
    assert!(bench.log[0]
        .to_string()
        .contains("device 2 is in AL state 0x0018 (OP with an error), AL status code 0x0026"));
    // From an error in OP to another state: worse.
    let gone = Exchange::Answered { working_counter: WKC, al: fell(2, 0x14) };
    assert_eq!(bench.cycle(|seen| seen.exchange = gone), Reaction::SafeState);
}

#[test]
fn m32_another_master_is_named_and_stops_and_one_damaged_frame_does_not_count() {
    let heard = |commands| move |seen: &mut Observation<'_>| seen.stranger = Stranger { commands, source: 3 };
    let mut bench = Bench::new();
    assert_eq!(
        [1, 2, 3].map(|commands| bench.cycle(heard(commands))),
        [Reaction::None, Reaction::None, Reaction::QuickStop]
    );
    assert_eq!(bench.cycle(heard(4)), Reaction::None);
    assert_eq!(bench.kinds(), [EventKind::SecondMaster, EventKind::Recovered]);
}

#[test]
fn m33_another_master_is_the_first_cause_of_states_that_are_not_ours() {
    let mut bench = Bench::new();
    let taken = |seen: &mut Observation<'_>| {
        seen.stranger = Stranger { commands: 1, source: 3 };
        seen.exchange = Exchange::Answered { working_counter: 0, al: fell(0, 1) };
    };
    assert_eq!(bench.cycle(taken), Reaction::SafeState);
    assert_eq!(bench.kinds(), [EventKind::SecondMaster, EventKind::WorkingCounter, EventKind::DeviceState]);
}

#[test]
fn m34_another_master_during_the_start_is_reported_and_enables_no_drive() {
    let mut bench = Bench::new();
    let heard = |duty| move |seen: &mut Observation<'_>| (seen.duty, seen.stranger.commands) = (duty, 5);
    for _ in 0..5 {
        assert_eq!(bench.cycle(heard(Duty::Starting)), Reaction::None);
    }
    assert_eq!(bench.cycle(heard(Duty::Enabling)), Reaction::QuickStop);
    assert_eq!(bench.kinds(), [EventKind::SecondMaster; 2]);
}
