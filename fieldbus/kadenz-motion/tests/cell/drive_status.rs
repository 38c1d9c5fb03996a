// SPDX-License-Identifier: Apache-2.0
//! The status of a drive beside its state, in the whole cell: limits, following, warnings, modes (c53 to c58).

use crate::common::{powered, segment, Cell, Tamper};
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::supervise::{EventKind, Reaction};
use kadenz_motion::task::{Flow, Outcome};
use kadenz_segment::command::Command;
use kadenz_segment::frame::datagrams;

/// In full motion on the way out.
const FAST: u64 = 2400;
/// Inputs of a simulated drive, bytes; statusword and mode display within them.
const INPUTS: usize = 20;
const STATUSWORD: usize = 0;
const MODE_DISPLAY: usize = 12;

/// From this cycle on, the status of a joint's drive is changed on its way back.
fn says(joint: usize, from: u64, change: impl Fn(&mut [u8]) + Send + 'static) -> Tamper {
    let mut cycles = 0;
    Box::new(move |mut frame, out| {
        for datagram in datagrams(&mut frame).unwrap().filter(|datagram| datagram.command() == Command::Lrw) {
            cycles += 1;
            if cycles >= from {
                change(&mut datagram.data[joint * INPUTS..][..INPUTS]);
            }
        }
        out.push_back(frame);
    })
}

fn with_bits(set: u16, cleared: u16) -> impl Fn(&mut [u8]) {
    move |inputs| {
        let word = u16::from_le_bytes([inputs[STATUSWORD], inputs[STATUSWORD + 1]]);
        inputs[STATUSWORD..STATUSWORD + 2].copy_from_slice(&((word | set) & !cleared).to_le_bytes());
    }
}

fn cell(tamper: Tamper) -> Cell {
    Cell::on(&segment(&[]), &BuiltIn::Indy7.layout().unwrap(), Some(tamper)).unwrap()
}

/// Told in the first cycle, stopped in the fiftieth (`status_cycles`).
fn told_and_stopped(tamper: Tamper, kind: EventKind, joint: i64) {
    let mut cell = cell(tamper);
    let outcome = cell.run(20_000);
    let Outcome::Faulted { reaction, cause } = outcome else { panic!("{outcome:?}") };
    assert_eq!((reaction, cause.kind(), cause.value), (Reaction::QuickStop, Some(kind), joint), "{cause}");
    assert_eq!(cell.first(kind).reaction(), Reaction::None);
    assert_eq!(cause.cycle, cell.first(kind).cycle + 49);
    assert!((FAST..FAST + 60).contains(&cause.cycle), "{cause}");
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c53_a_joint_at_a_limit_of_its_drive_is_named_and_stopped() {
    // The layout is wrong by two, and the drives say neither scale nor limits: abort instead of the answers.
    let hidden = [[0x43, 0x8F, 0x60], [0x43, 0x92, 0x60], [0x43, 0x7D, 0x60]];
    let hide: Tamper = Box::new(move |mut frame, out| {
        if let Some(at) = frame.windows(3).position(|part| hidden.iter().any(|reply| part == reply)) {
            frame[at] = 0x80;
            frame[at + 4..at + 8].copy_from_slice(&0x0602_0000_u32.to_le_bytes());
        }
        out.push_back(frame);
    });
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    layout.axis[0].counts_per_turn *= 2.0;
    let mut cell = Cell::on(&segment(&[]), &layout, Some(hide)).unwrap();
    let outcome = cell.run(20_000);
    let Outcome::Faulted { reaction, cause } = outcome else { panic!("{outcome:?}") };
    assert_eq!((reaction, cause.kind(), cause.value), (Reaction::QuickStop, Some(EventKind::InternalLimit), 0));
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c54_a_drive_that_stops_following_is_named_and_stopped() {
    told_and_stopped(says(2, FAST, with_bits(0, 1 << 12)), EventKind::NotFollowing, 2);
}

#[test]
fn c55_a_following_error_a_drive_sees_itself_is_named_and_stopped() {
    told_and_stopped(says(5, FAST, with_bits(1 << 13, 0)), EventKind::DriveFollowingError, 5);
}

#[test]
fn c56_a_warning_is_reported_once_and_the_motion_continues() {
    let mut cell = cell(says(1, FAST, with_bits(1 << 7, 0)));
    assert_eq!(cell.run(20_000), Outcome::Done);
    let warned: Vec<_> = cell.events.iter().filter(|event| event.kind() == Some(EventKind::DriveWarning)).collect();
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert_eq!((warned[0].value, warned[0].reaction()), (1, Reaction::None));
}

#[test]
fn c57_a_drive_that_changes_its_mode_in_operation_is_named_and_stopped_at_once() {
    let mut cell = cell(says(3, FAST, |inputs| inputs[MODE_DISPLAY] = 9));
    let outcome = cell.run(20_000);
    let Outcome::Faulted { reaction, cause } = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (reaction, cause.kind(), cause.value, cause.expected),
        (Reaction::QuickStop, Some(EventKind::DriveMode), 3, 9)
    );
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c58_a_drive_in_another_mode_is_never_enabled_and_the_start_says_so() {
    let segment = segment(&[]);
    let tamper = says(3, 0, |inputs| inputs[MODE_DISPLAY] = 1);
    let mut cell = Cell::on(&segment, &BuiltIn::Indy7.layout().unwrap(), Some(tamper)).unwrap();
    while cell.cycle() == Flow::Continue {
        // The others are; they hold their place.
        assert!(powered(&segment) <= 5 && cell.fastest_rad_s() < 0.01);
    }
    let outcome = cell.main.outcome();
    let Outcome::Faulted { cause, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!((cause.kind(), cause.value, cause.expected), (Some(EventKind::DriveMode), 3, 1));
    assert_eq!(powered(&segment), 0);
}
