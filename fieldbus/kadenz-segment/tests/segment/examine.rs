// SPDX-License-Identifier: Apache-2.0
//! What a master did, from its frames alone: notes and judgements of recordings of our own small master.

use crate::support::master::Master;
use kadenz_segment::al::State;
use kadenz_segment::examine::catalogue::{self, by_name};
use kadenz_segment::examine::judge::{judge, Ending, Played};
use kadenz_segment::examine::witness::witness;
use kadenz_segment::examine::Verdict;
use kadenz_segment::link::in_process::InProcess;

/// What the master sends to the ring of a case; then the case as if it had been on a stage.
fn played(case: &str, act: impl FnOnce(&mut Master)) -> Played {
    let build = || catalogue::build(by_name(case).unwrap(), None).unwrap().ok().unwrap().segment;
    let mut master = Master::over(InProcess::recording(build()));
    act(&mut master);
    let notes = witness(build(), master.link.sent());
    Played { notes, ending: Ending::Runs, ended_ns: master.link.now_ns(), has_flooded: false }
}

fn verdict(case: &str, feature: &str, played: &Played) -> (Verdict, String) {
    let rows = judge(by_name(case).unwrap(), played);
    let row = rows.iter().find(|row| row.feature == feature).unwrap_or_else(|| panic!("{rows:?}"));
    (row.verdict.clone(), row.reason.clone())
}

fn cycles(master: &mut Master, count: usize) {
    for _ in 0..count {
        master.cycle();
    }
}

#[test]
fn the_way_to_operation_is_noted_device_by_device() {
    let played = played("operation", |master| {
        master.bring_up();
        cycles(master, 100);
    });
    assert!(played.notes.devices.iter().all(|device| device.state() == State::Op), "{:?}", played.notes.devices);
    assert_eq!(played.notes.devices[1].name, "j0");
    assert_eq!(verdict("operation", "104", &played).0, Verdict::Passed);
    let (result, reason) = verdict("operation", "201", &played);
    assert_eq!(result, Verdict::Passed);
    assert!(reason.contains("working counter 9"), "two drives, an output, an input: {reason}");
    assert_eq!(verdict("operation", "701", &played).0, Verdict::NotApplicable);
}

#[test]
fn objects_that_are_read_are_counted_by_service() {
    let played = played("operation", |master| {
        master.bring_up();
        master.upload(1, 0x1000, 0, false);
        master.upload(1, 0x1C12, 0, true);
        master.upload(1, 0x5FFF, 0, false);
    });
    let mail = played.notes.mail();
    assert_eq!((mail.uploads, mail.complete, mail.aborts), (3, 1, (1, 0)));
    assert_eq!(verdict("operation", "503", &played).0, Verdict::Passed);
    assert_eq!(verdict("operation", "502", &played).0, Verdict::NotApplicable);
}

#[test]
fn a_lost_frame_is_one_cycle_and_a_master_that_stops_there_has_not_recovered() {
    let through = |after: usize| {
        played("frame-lost", |master| {
            master.bring_up();
            cycles(master, 110 + after);
        })
    };
    assert_eq!(verdict("frame-lost", "105", &through(100)).0, Verdict::Passed);
    let (result, reason) = verdict("frame-lost", "105", &through(5));
    assert_eq!(result, Verdict::Failed, "{reason}");
    assert!(reason.contains("whole cycles at the end"), "{reason}");
}

#[test]
fn a_device_that_falls_and_is_left_alone_is_named_with_its_state_and_code() {
    let played = played("device-falls", |master| {
        master.bring_up();
        cycles(master, 300);
    });
    let (result, reason) = verdict("device-falls", "105", &played);
    assert_eq!(result, Verdict::Failed);
    assert!(reason.contains("inputs in SAFE-OP with error 0x001b"), "{reason}");
    assert!(reason.contains("was not read"), "{reason}");
}
