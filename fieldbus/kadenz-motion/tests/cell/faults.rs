// SPDX-License-Identifier: Apache-2.0
//! Numbered fault scenarios of the whole cell: ring, drives, arm and tasks. Each asserts the reaction, the log line and
//! that no drive stays enabled. Scenarios of the supervision alone are in `src/supervise/scenarios.rs` (m01 to m34), of
//! pauses of the processor in `pauses.rs`, of the running program in `../program.rs` (p01 on).

use std::collections::VecDeque;

use crate::common::{segment, Cell, MS};
use ethercrab::error::{Error, TimeoutError};
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::BusError;
use kadenz_motion::supervise::{Event, EventKind, Reaction};
use kadenz_motion::task::{Flow, Outcome, StopCategory};

/// A fault in this cycle meets the arm in full motion on its way out.
const FAST: u64 = 2400;

fn cause(outcome: Outcome) -> (EventKind, Reaction) {
    match outcome {
        Outcome::Faulted { reaction, cause } => (cause.kind().unwrap(), reaction),
        other => panic!("{other:?} is no fault"),
    }
}

/// The run continues to its end and no drive stays enabled.
fn survives(faults: &[&str]) -> Cell {
    let mut cell = Cell::new(faults);
    assert_eq!(cell.run(20_000), Outcome::Done, "{:#?}", cell.events);
    assert_eq!(cell.powered(), 0);
    cell
}

/// The supervision ends the run; then, at the latest after the drives' watchdog (100 ms), no drive is enabled.
fn stops(faults: &[&str], kind: EventKind, reaction: Reaction) -> Cell {
    let mut cell = Cell::new(faults);
    let outcome = cell.run(20_000);
    assert_eq!(cause(outcome), (kind, reaction), "{:#?}", cell.events);
    assert!((FAST..FAST + 40).contains(&cell.first(kind).cycle), "{:#?}", cell.events);
    cell.silence(200);
    assert_eq!(cell.powered(), 0, "{:#?}", cell.events);
    assert!(cell.fastest_rad_s() < 0.01, "{} rad/s", cell.fastest_rad_s());
    cell
}

fn at(fault: &str) -> String {
    fault.replace("FAST", &FAST.to_string())
}

#[test]
fn c01_a_frame_lost_on_its_way_out_is_held_over_and_named() {
    let cell = survives(&[&at("lose-frame@cycle=FAST")]);
    let event = cell.first(EventKind::FrameLost);
    assert_eq!((event.cycle, event.reaction()), (FAST, Reaction::Hold));
    assert_eq!(cell.first(EventKind::Recovered).cycle, FAST + 1);
}

#[test]
fn c02_a_frame_lost_on_its_way_back_is_held_over() {
    assert!(survives(&[&at("lose-return@cycle=FAST")]).has(EventKind::FrameLost));
}

#[test]
fn c03_a_frame_that_comes_too_late_counts_as_lost_and_confuses_nothing() {
    let cell = survives(&[&at("late-frame@cycle=FAST,delay_us=3000")]);
    assert_eq!(cell.events.iter().filter(|event| event.kind() == Some(EventKind::FrameLost)).count(), 1);
    assert_eq!(cell.main.finish().1.strays(), 1);
}

#[test]
fn c04_a_doubled_frame_is_used_once() {
    let cell = survives(&[&at("double-frame@cycle=FAST")]);
    assert!(!cell.has(EventKind::FrameLost) && !cell.has(EventKind::MasterError));
    assert_eq!(cell.main.finish().1.strays(), 1);
}

#[test]
fn c05_a_corrupt_frame_is_not_believed() {
    // Byte 17 is the index of the first datagram: the answer belongs to no frame under way.
    let cell = survives(&[&at("corrupt-frame@cycle=FAST,byte=17")]);
    assert!(cell.has(EventKind::FrameLost) || cell.has(EventKind::MasterError), "{:#?}", cell.events);
}

#[test]
fn c06_one_wrong_working_counter_is_held_over() {
    let cell = survives(&[&at("wrong-counter@cycle=FAST,delta=-3")]);
    let event = cell.first(EventKind::WorkingCounter);
    assert_eq!((event.value, event.expected, event.reaction()), (18, 21, Reaction::Hold));
}

#[test]
fn c07_a_lasting_wrong_working_counter_stops_by_the_ramp() {
    let cell =
        stops(&[&at("wrong-counter@cycle=FAST,delta=-1,count=500")], EventKind::WorkingCounter, Reaction::QuickStop);
    assert!(cell.has(EventKind::PowerRemoved));
}

#[test]
fn c08_a_cable_broken_in_the_middle_stops_both_halves() {
    stops(&[&at("break-cable@cycle=FAST,device=joint-3")], EventKind::WorkingCounter, Reaction::SafeState);
}

#[test]
fn c09_a_cable_broken_at_the_master_leaves_it_to_the_watchdogs() {
    let cell = stops(&[&at("lose-frame@cycle=FAST,count=100000")], EventKind::FrameLost, Reaction::SafeState);
    assert!(cell.has(EventKind::StopTimedOut), "{:#?}", cell.events);
    // The thirtieth, long before the watchdogs: after that the drives no longer go on along their line.
    let first_stop = cell.events.iter().find(|event| event.reaction() >= Reaction::QuickStop).unwrap();
    assert_eq!((first_stop.kind(), first_stop.cycle), (Some(EventKind::FrameLost), FAST + 29));
}

#[test]
fn c10_a_cable_that_heals_after_three_cycles_is_held_over() {
    let cell = survives(&[&at("lose-frame@cycle=FAST,count=3")]);
    assert_eq!(cell.first(EventKind::Recovered).value, 3);
}

#[test]
fn c71_frames_lost_for_as_long_as_drives_go_on_leave_the_arm_on_its_path() {
    // A cable that heals in time; and answers that come too late for cycles that begin late.
    for kind in ["lose-frame", "lose-return"] {
        let cell = survives(&[&at(&format!("{kind}@cycle=FAST,count=29"))]);
        assert_eq!(cell.first(EventKind::Recovered).value, 29);
        let errors = cell.cycles.iter().flat_map(|cycle| cycle.position_error_deg);
        let largest = errors.fold(0.0_f64, |most, error| most.max(error.abs()));
        assert!(largest < 0.25, "{kind}: {largest} degrees");
    }
}

#[test]
fn c11_a_device_without_power_stops_the_others() {
    stops(&[&at("device-gone@cycle=FAST,device=joint-5")], EventKind::WorkingCounter, Reaction::SafeState);
}

#[test]
fn c12_a_device_that_was_reset_removes_power_of_all() {
    let cell = Cell::new(&[&at("device-reset@cycle=FAST,device=joint-2")]);
    let mut cell = cell;
    let (_, reaction) = cause(cell.run(20_000));
    assert!(reaction >= Reaction::QuickStop, "{:#?}", cell.events);
    cell.silence(200);
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c13_a_deaf_device_is_stopped_by_its_watchdog_and_the_others_by_the_ramp() {
    let cell = stops(&[&at("device-deaf@cycle=FAST,device=joint-0")], EventKind::WorkingCounter, Reaction::SafeState);
    assert!(cell.has(EventKind::WorkingCounter));
}

#[test]
fn c14_a_device_that_falls_to_safe_op_removes_power_of_all() {
    let cell = stops(
        &[&at("al-error@cycle=FAST,device=joint-4,state=4,code=27")],
        EventKind::DeviceState,
        Reaction::SafeState,
    );
    assert_eq!(cell.first(EventKind::DeviceState).value, 5, "position in the ring");
}

#[test]
fn c15_a_drive_fault_removes_power_of_all_and_names_axis_and_code() {
    let cell =
        stops(&[&at("drive-fault@cycle=FAST,device=joint-1,code=8976")], EventKind::DriveFault, Reaction::SafeState);
    let event = cell.first(EventKind::DriveFault);
    assert_eq!((event.value, event.expected), (1, 0x2310));
}

#[test]
fn c16_a_clock_that_runs_away_is_found_and_stops() {
    let mut cell = Cell::new(&[&at("clock-drift@cycle=FAST,device=joint-3,ppm=50000")]);
    let (kind, reaction) = cause(cell.run(20_000));
    assert!(cell.has(EventKind::ClockDifference), "{kind:?} {:#?}", cell.events);
    assert!(reaction >= Reaction::QuickStop);
    cell.silence(200);
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c17_an_emergency_in_operation_disturbs_no_cycle() {
    survives(&[&at("emergency@cycle=FAST,device=joint-2,code=4660")]);
}

#[test]
fn c18_an_emergency_during_an_sdo_is_an_error_with_a_remedy_and_no_panic() {
    // The library (pinned: ethercrab 0.7.1) panics; that it does so is kept inside, and said with the step and a remedy.
    let error = Cell::try_new(&["emergency-during-request@request=3,device=joint-2,code=4660"]).err();
    let error = error.expect("a library that copes is better still: expect the cell to survive");
    let BusError::MasterPanicked { step, .. } = &error else { panic!("{error}") };
    assert_eq!(*step, "setting the interpolation period (0x60C2)");
    assert!(error.to_string().contains("emergency"), "{error}");
}

#[test]
fn c19_a_mailbox_that_never_answers_is_an_error_that_says_where() {
    let error = Cell::try_new(&["mailbox-silent@request=2,device=joint-2"]).err().expect("it cannot come up");
    assert!(matches!(error, BusError::Master { .. }), "{error}");
}

#[test]
fn c20_a_ring_without_link_is_an_error_with_a_remedy() {
    for fault in ["lose-frame@frame=1,count=100000", "break-cable@frame=1,device=coupler"] {
        let error = Cell::try_new(&[fault]).err().expect("nobody is there");
        assert!(error.to_string().contains("cable"), "{error}");
    }
}

#[test]
fn c21_a_cable_broken_during_bring_up_is_an_error_and_no_panic() {
    // Virtual time: each moment has its own end. The first breaks the answer to a request that the
    // library repeats until its limit, the others to requests that it sends once.
    let unheard = Error::WorkingCounter { expected: 1, received: 0 };
    for (frame, wanted_step, wanted) in [
        (40, "looking for devices", Error::Timeout(TimeoutError::StateTransition)),
        (400, "looking for devices", unheard),
        (1000, "looking for devices", unheard),
        (13_250, "distributed clocks", unheard),
    ] {
        let fault = format!("break-cable@frame={frame},device=joint-2");
        let said = Cell::try_new(&[&fault]).err().expect("half a ring cannot come up");
        let BusError::Master { step, error } = &said else { panic!("frame {frame}: {said}") };
        assert_eq!((*step, error), (wanted_step, &wanted), "frame {frame}");
        assert!(said.to_string().contains("--layout"), "no remedy: {said}");
    }
}

#[test]
fn c22_a_device_that_refuses_op_ends_the_start() {
    let mut cell = Cell::new(&["refuse-state@frame=1,device=joint-3,state=8,code=27"]);
    let (kind, _) = cause(cell.run(20_000));
    assert_eq!(kind, EventKind::DeviceState);
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c23_lost_frames_during_bring_up_are_resent() {
    let mut cell = Cell::new(&["lose-frame@frame=100", "lose-return@frame=5000", "double-frame@frame=900"]);
    assert_eq!(cell.run(20_000), Outcome::Done);
}

#[test]
fn c42_the_bring_up_recovers_from_an_answer_lost_anywhere() {
    // Reading a mailbox empties it, so the second copy of such a frame finds nothing: one moment in five or so.
    for frame in [100, 3000, 7000].into_iter().chain(12_700..12_712) {
        for kind in ["lose-return", "lose-frame"] {
            let fault = format!("{kind}@frame={frame}");
            if let Err(error) = Cell::try_new(&[&fault]) {
                panic!("{fault}: {error}");
            }
        }
    }
}

#[test]
fn c24_a_cycle_that_begins_late_is_named() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.cycle_late_by(600_000);
    assert_eq!(cell.run(20_000), Outcome::Done);
    assert_eq!(cell.first(EventKind::Late).value, 600_000);
}

#[test]
fn c25_cycles_that_begin_late_again_and_again_stop() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    for _ in 0..80 {
        cell.cycle_late_by(600_000);
    }
    assert_eq!(cause(cell.run(20_000)), (EventKind::Late, Reaction::QuickStop));
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c27_a_long_gap_stops() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.cycle_late_by(85 * MS);
    assert_eq!(cause(cell.run(20_000)), (EventKind::Skipped, Reaction::QuickStop));
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c28_a_dead_trajectory_task_is_held_and_then_stopped() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.trajectory_lives = false;
    assert_eq!(cause(cell.run(20_000)), (EventKind::SetpointLate, Reaction::QuickStop));
    let late = cell.events.iter().filter(|event| event.kind() == Some(EventKind::SetpointLate));
    let reactions: Vec<_> = late.map(Event::reaction).take(10).collect();
    assert_eq!(reactions, [[Reaction::None; 2].as_slice(), &[Reaction::Hold; 7], &[Reaction::QuickStop]].concat());
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c29_a_dead_dynamic_task_is_named_and_the_motion_continues() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.dynamics_lives = false;
    assert_eq!(cell.run(20_000), Outcome::Done, "{:#?}", cell.events);
    assert!(cell.has(EventKind::TorqueLate));
}

#[test]
fn c30_a_dead_log_task_fills_its_queue_and_disturbs_no_cycle() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.log_lives = false;
    cell.run_for(500);
    cell.log_lives = true;
    assert_eq!(cell.run(20_000), Outcome::Done);
    assert!(cell.has(EventKind::QueueFull), "{:#?}", cell.events);
    assert!(!cell.has(EventKind::SetpointLate) && !cell.has(EventKind::FrameLost));
}

#[test]
fn c31_a_stop_of_category_0_removes_power_at_once() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.shared.request_stop(StopCategory::Zero);
    cell.run_for(3);
    assert_eq!(cell.powered(), 0);
    assert_eq!(cell.run(1000), Outcome::Stopped(StopCategory::Zero));
}

#[test]
fn c32_a_stop_of_category_1_brakes_before_power_goes() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    let before = cell.fastest_rad_s();
    cell.shared.request_stop(StopCategory::One);
    cell.run_for(10);
    assert!(cell.powered() == 6 && cell.fastest_rad_s() < before, "braking under power");
    assert_eq!(cell.run(1000), Outcome::Stopped(StopCategory::One));
    assert_eq!(cell.powered(), 0);
    assert!(cell.fastest_rad_s() < 0.01);
}

#[test]
fn c33_a_stop_of_category_2_halts_on_the_path_and_holds_before_power_goes() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    cell.shared.request_stop(StopCategory::Two);
    cell.run_for(400);
    assert_eq!(cell.powered(), 6, "held");
    assert!(cell.fastest_rad_s() < 0.01, "{} rad/s", cell.fastest_rad_s());
    assert_eq!(cell.run(2000), Outcome::Stopped(StopCategory::Two));
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c34_a_fault_during_a_gentle_stop_removes_power() {
    let mut cell = Cell::new(&[&at("drive-fault@cycle=FAST,device=joint-1,code=8976")]);
    while cell.main.cycles() < FAST - 20 {
        assert_eq!(cell.cycle(), Flow::Continue);
    }
    cell.shared.request_stop(StopCategory::Two);
    assert_eq!(cause(cell.run(2000)), (EventKind::DriveFault, Reaction::SafeState));
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c35_a_stop_before_the_drives_are_enabled_enables_none() {
    let mut cell = Cell::new(&[]);
    cell.cycle();
    cell.shared.request_stop(StopCategory::Two);
    assert!(matches!(cell.run(5000), Outcome::Stopped(_)));
    assert_eq!(cell.powered(), 0);
    assert!(cell.cycles.is_empty());
}

#[test]
fn c36_a_master_that_falls_silent_leaves_no_drive_enabled() {
    let mut cell = Cell::new(&[]);
    cell.run_until_fast();
    assert_eq!(cell.powered(), 6);
    // The watchdog expires after 100 ms; then the drives brake, and lose power once they stand.
    cell.silence(98);
    assert_eq!(cell.powered(), 6);
    cell.silence(700);
    assert_eq!(cell.powered(), 0);
    assert!(cell.fastest_rad_s() < 0.01);
}

#[test]
fn c43_a_fault_from_before_the_run_is_reported_and_acknowledged_once() {
    let cell = survives(&["drive-fault@frame=12000,device=joint-2,code=8976"]);
    let told: Vec<_> = cell.events.iter().filter(|e| e.kind() == Some(EventKind::FaultAcknowledged)).collect();
    assert_eq!(told.iter().map(|e| (e.value, e.expected)).collect::<Vec<_>>(), [(2, 8976)]);
    assert!(!cell.has(EventKind::DriveFault));
}

#[test]
fn c44_a_fault_while_drives_are_enabled_removes_power_before_anything_moves() {
    let mut cell = Cell::new(&["drive-fault@cycle=1,device=joint-2,code=8976"]);
    assert_eq!(cause(cell.run(2000)), (EventKind::DriveFault, Reaction::SafeState));
    assert_eq!((cell.first(EventKind::DriveFault).value, cell.powered()), (2, 0));
    assert!(cell.cycles.is_empty() && cell.fastest_rad_s() < 0.01);
}

#[test]
fn c45_a_cable_broken_while_drives_are_enabled_ends_the_start_at_the_fifth_wrong_counter() {
    let mut cell = Cell::new(&["break-cable@cycle=4,device=joint-3"]);
    assert_eq!(cause(cell.run(200)), (EventKind::WorkingCounter, Reaction::QuickStop));
    assert_eq!(cell.events.iter().filter(|e| e.kind() == Some(EventKind::WorkingCounter)).count(), 5);
    cell.silence(200);
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c47_a_cable_broken_on_the_way_to_op_is_named_and_enables_no_drive() {
    let mut cell = Cell::new(&["break-cable@cycle=1,device=joint-3"]);
    while cell.cycle() == Flow::Continue {
        assert_eq!(cell.powered(), 0);
    }
    assert_eq!(cause(cell.main.outcome()), (EventKind::WorkingCounter, Reaction::SafeState));
}

#[test]
fn c46_a_fault_during_a_stop_is_reported_and_removes_power() {
    let mut cell = Cell::new(&[&at("drive-fault@cycle=FAST,device=joint-1,code=8976")]);
    while cell.main.cycles() < FAST - 10 {
        assert_eq!(cell.cycle(), Flow::Continue);
    }
    cell.shared.request_stop(StopCategory::One);
    assert_eq!(cause(cell.run(2000)), (EventKind::DriveFault, Reaction::SafeState));
    assert_eq!((cell.first(EventKind::DriveFault).expected, cell.powered()), (8976, 0));
}

#[test]
fn c48_a_flood_of_foreign_frames_costs_answers_and_no_cycle() {
    let mut answers = 0;
    let flood = Box::new(move |frame: Vec<u8>, out: &mut VecDeque<Vec<u8>>| {
        answers += 1;
        // In full motion, behind a bring-up of some 13,750 frames: no answer any more, and the cable never quiet.
        if answers < 13_750 + FAST {
            out.push_back(frame);
        } else {
            out.extend(std::iter::repeat_with(|| vec![0x5A; 60]).take(3_000));
        }
    });
    let mut cell = Cell::on(&segment(&[]), &BuiltIn::Indy7.layout().unwrap(), Some(flood)).unwrap();
    // Nobody confirms the stop either: power off is asked for, and the drives' watchdogs see to it.
    assert_eq!(cause(cell.run(20_000)), (EventKind::FrameLost, Reaction::SafeState));
    assert!(!cell.has(EventKind::Skipped), "{:#?}", cell.events);
    cell.silence(200);
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c49_a_flood_during_bring_up_ends_it_in_bounded_time() {
    let flood = Box::new(|_: Vec<u8>, out: &mut VecDeque<Vec<u8>>| {
        out.extend(std::iter::repeat_with(|| vec![0x5A; 60]).take(10_000));
    });
    let error = Cell::on(&segment(&[]), &BuiltIn::Indy7.layout().unwrap(), Some(flood)).err().expect("nobody answers");
    assert!(matches!(error, BusError::Stalled { .. }), "{error}");
}

#[test]
fn c50_a_device_that_says_it_has_no_link_is_an_error_with_a_remedy_and_no_panic() {
    // The library (pinned: ethercrab 0.7.1) panics over DL status without a port in use.
    let error = Cell::try_new(&["no-link@frame=1,device=joint-2"]).err().expect("the library cannot place it");
    let BusError::MasterPanicked { step, .. } = &error else { panic!("{error}") };
    assert_eq!(*step, "looking for devices");
    assert!(error.to_string().contains("without link"), "{error}");
}
