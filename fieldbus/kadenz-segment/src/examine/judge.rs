// SPDX-License-Identifier: Apache-2.0
//! Judgement of a case by what the segment saw, and by how the master's process ended.

use super::catalogue::{Asks, Case};
use super::features::FEATURES;
use super::operation::{self, Judgement, ENOUGH_CYCLES};
use super::witness::{FaultNotes, Notes};
use super::{Row, Verdict};
use crate::al::State;
use std::fmt;

/// How the master's process stood when the case was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It still ran, and was ended.
    Runs,
    /// It had ended by itself with this exit code.
    Code(i32),
    /// A signal had ended it.
    Signal(i32),
}

impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs => write!(out, "still ran at the end"),
            Self::Code(127) => write!(out, "ended with exit code 127: no such command"),
            Self::Code(101) => write!(out, "ended with exit code 101, as a panic in Rust does"),
            Self::Code(code) => write!(out, "ended with exit code {code}"),
            Self::Signal(number) => write!(out, "crashed: ended by signal {number}"),
        }
    }
}

/// A case that was played.
#[derive(Debug, Clone)]
pub struct Played {
    /// The segment's observations.
    pub notes: Notes,
    /// How the master's process stood.
    pub ending: Ending,
    /// World time of the end, ns.
    pub ended_ns: u64,
    /// The master sent more frames than a case takes.
    pub has_flooded: bool,
}

/// The rows of a case.
pub fn judge(case: &Case, played: &Played) -> Vec<Row> {
    let row = |feature: &str, (verdict, reason): Judgement| Row {
        feature: feature.into(),
        case: case.name.into(),
        verdict,
        reason,
    };
    if case.asks != Asks::Everything {
        return vec![row(case.feature, of_fault(case, played))];
    }
    if let Some(reason) = misbehaviour(played) {
        return vec![row("104", (Verdict::Failed, reason))];
    }
    let ids = FEATURES.iter().map(|feature| feature.id);
    ids.filter_map(|id| Some(row(id, operation::judge(id, &played.notes)?))).collect()
}

/// What no case allows: silence, a flood, a crash.
fn misbehaviour(played: &Played) -> Option<String> {
    if played.has_flooded {
        let seconds = played.ended_ns as f64 / 1.0e9;
        return Some(format!("the master flooded the segment: {} frames in {seconds:.1} s", played.notes.frames));
    }
    if played.notes.frames == 0 {
        return Some(format!("the master sent no frame; it {}", played.ending));
    }
    match played.ending {
        Ending::Signal(_) => Some(format!("the master {}", played.ending)),
        _ => None,
    }
}

fn of_fault(case: &Case, played: &Played) -> Judgement {
    let failed = |reason: String| (Verdict::Failed, reason);
    if let Some(reason) = misbehaviour(played) {
        return failed(reason);
    }
    if case.asks == Asks::OtherRing {
        return other_ring(played);
    }
    let Some(fault) = played.notes.fault.filter(|fault| fault.begun > 0 || case.asks == Asks::Refusal) else {
        let sent: u64 = played.notes.mail().sent.iter().sum();
        let seen = format!("{} frames, {sent} mailboxes; the master {}", played.notes.frames, played.ending);
        let reason = match played.notes.cycles.iter().any(|cycle| cycle.all_op) {
            true => "the moment of the fault never came",
            false => "operation was not reached before the fault",
        };
        return (Verdict::NotApplicable, format!("{reason}: {seen}"));
    };
    match case.asks {
        Asks::Refusal => refusal(played, &fault),
        Asks::FallenDevice => fallen(played, &fault),
        Asks::LostRequest => lost_request(played, &fault),
        Asks::LostAnswer => lost_answer(played, &fault),
        Asks::Dialogue => dialogue(played, &fault),
        Asks::Emergency => emergency(played),
        Asks::Clocks => clocks(played, &fault),
        Asks::Redundancy => redundancy(played, &fault),
        Asks::Recovery | Asks::Everything | Asks::OtherRing => recovery(played, &fault),
    }
}

fn ms(from_ns: u64, to_ns: u64) -> String {
    format!("{:.1} ms", to_ns.saturating_sub(from_ns) as f64 / 1.0e6)
}

/// All devices are in OP at the end and process data whole. The reason says after which time, or what is missing.
fn recovery(played: &Played, fault: &FaultNotes) -> Judgement {
    let (healthy, since_ns) = played.notes.healthy_tail();
    if healthy >= ENOUGH_CYCLES {
        let back_ns = since_ns.unwrap_or(fault.at_ns).max(fault.at_ns);
        let again = match back_ns <= fault.at_ns {
            true => "without a disturbed cycle".into(),
            false => format!("again {} after its beginning", ms(fault.at_ns, back_ns)),
        };
        return (Verdict::Passed, format!("all devices in OP with whole process data {again}"));
    }
    (Verdict::Failed, disturbed(played))
}

/// The state at the end of a case: whole cycles or missing devices, and a silence.
fn disturbed(played: &Played) -> String {
    let missing = operation::not_operational(&played.notes);
    let last_ns = played.notes.times_ns.map_or(0, |(_, last_ns)| last_ns);
    let silent_ns = played.ended_ns.saturating_sub(last_ns);
    let state = if missing.is_empty() {
        format!("{} whole cycles at the end", played.notes.healthy_tail().0)
    } else {
        missing.join(", ")
    };
    let silence = match played.ending {
        Ending::Runs if silent_ns > 1_000_000_000 => format!(", sent no frame for {}", ms(0, silent_ns)),
        _ => String::new(),
    };
    format!("{state}; the master {}{silence}", played.ending)
}

fn refusal(played: &Played, fault: &FaultNotes) -> Judgement {
    let Some(device) = played.notes.devices.get(fault.device) else { return (Verdict::NotApplicable, String::new()) };
    let (name, reads) = (&device.name, device.code_reads.len());
    if !device.has_been_in(State::PreOp) || device.error.is_none() && reads == 0 {
        return (Verdict::NotApplicable, format!("{name} was never asked for SAFE-OP; the master {}", played.ending));
    }
    if reads == 0 {
        return (
            Verdict::Failed,
            format!("the AL status code (0x0134) of {name} was not read; the master {}", played.ending),
        );
    }
    (Verdict::Passed, format!("reads of the AL status code of {name}: {reads}; the master {}", played.ending))
}

fn fallen(played: &Played, fault: &FaultNotes) -> Judgement {
    let (verdict, reason) = recovery(played, fault);
    if verdict == Verdict::Passed {
        return (verdict, format!("the master led the device back: {reason}"));
    }
    match played.ending {
        Ending::Code(code) if code != 0 => {
            (Verdict::Passed, format!("the master ended operation, and {}", played.ending))
        }
        _ => {
            let reads = played.notes.devices.iter().flat_map(|device| &device.code_reads);
            let has_read = reads.into_iter().any(|at_ns| *at_ns > fault.at_ns);
            let code = if has_read { "its code was read" } else { "its code (0x0134) was not read" };
            (Verdict::Failed, format!("{reason}; {code}"))
        }
    }
}

fn lost_request(played: &Played, fault: &FaultNotes) -> Judgement {
    let resent = played.notes.mail().resent;
    let (verdict, reason) = dialogue(played, fault);
    (verdict, format!("repetitions of the request with its counter: {resent}; {reason}"))
}

fn lost_answer(played: &Played, fault: &FaultNotes) -> Judgement {
    let repeats = played.notes.devices.iter().flat_map(|device| &device.repeats);
    let first = repeats.filter(|at_ns| **at_ns > fault.at_ns).min();
    let (verdict, reason) = dialogue(played, fault);
    match first {
        Some(at_ns) => {
            (verdict, format!("the mailbox was asked for again (0x080E) after {}; {reason}", ms(fault.at_ns, *at_ns)))
        }
        None => (Verdict::Failed, format!("the mailbox was not asked for again (0x080E); {reason}")),
    }
}

/// The dialogue has gone on: all devices reach OP after the fault.
fn dialogue(played: &Played, fault: &FaultNotes) -> Judgement {
    if played.notes.cycles.iter().any(|cycle| cycle.all_op && cycle.at_ns > fault.at_ns) {
        return (Verdict::Passed, format!("all devices in OP; the master {}", played.ending));
    }
    (Verdict::Failed, disturbed(played))
}

fn emergency(played: &Played) -> Judgement {
    match played.notes.mail().emergencies {
        0 => (Verdict::Failed, "the emergency was not fetched while process data went on".into()),
        count => (Verdict::Passed, format!("fetched from the mailbox: {count}")),
    }
}

fn clocks(played: &Played, fault: &FaultNotes) -> Judgement {
    let since_ns = played.notes.times_ns.map_or(0, |(_, last_ns)| last_ns);
    let (verdict, reason) = operation::clocks(&played.notes);
    (verdict, format!("{} after the change {reason}", ms(fault.at_ns, since_ns)))
}

fn redundancy(played: &Played, fault: &FaultNotes) -> Judgement {
    let fallen = played.notes.devices.iter().find(|device| {
        let since = device.states.iter().filter(|(at_ns, _)| *at_ns > fault.at_ns);
        since.into_iter().any(|(_, state)| *state != State::Op)
    });
    match fallen {
        Some(device) => (Verdict::Failed, format!("{} left OP; {}", device.name, disturbed(played))),
        None => recovery(played, fault),
    }
}

fn other_ring(played: &Played) -> Judgement {
    let in_op = played.notes.devices.iter().filter(|device| device.has_been_in(State::Op)).count();
    match in_op {
        0 => {
            (Verdict::Passed, format!("no device of the shorter ring was brought to OP; the master {}", played.ending))
        }
        _ => (Verdict::NotApplicable, format!("the master takes the ring as it is: {in_op} devices in OP")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine::catalogue::by_name;
    use crate::examine::witness::{Cycle, DeviceNotes};

    /// A master that had one device in OP for some cycles, with a fault in the middle.
    fn played(before: u64, after: u64, ending: Ending) -> Played {
        let cycle = |number: u64| Cycle {
            at_ns: number * 1_000_000,
            start: 0,
            counter: if number == before { 2 } else { 3 },
            is_returned: number != before,
            all_op: true,
        };
        let states = vec![(0, State::Init), (1, State::Op)];
        let notes = Notes {
            frames: before + after,
            times_ns: Some((0, (before + after) * 1_000_000)),
            cycles: (0..before + after).map(cycle).collect(),
            devices: vec![DeviceNotes { name: "j0".into(), states, ..DeviceNotes::default() }],
            fault: Some(FaultNotes { device: 0, begun: 1, at_ns: before * 1_000_000, until_ns: before * 1_000_000 }),
            ..Notes::default()
        };
        Played { notes, ending, ended_ns: (before + after) * 1_000_000, has_flooded: false }
    }

    fn verdict(case: &str, played: &Played) -> (Verdict, String) {
        let rows = judge(by_name(case).expect("a case"), played);
        (rows[0].verdict.clone(), rows[0].reason.clone())
    }

    #[test]
    fn a_master_that_goes_on_after_a_lost_frame_has_recovered_and_the_time_is_said() {
        let (result, reason) = verdict("frame-lost", &played(100, 200, Ending::Runs));
        assert_eq!(result, Verdict::Passed);
        assert!(reason.contains("again 1.0 ms after"), "{reason}");
    }

    #[test]
    fn a_master_that_ends_crashes_is_silent_or_floods_fails_with_its_name() {
        let (result, reason) = verdict("frame-lost", &played(100, 10, Ending::Code(1)));
        assert_eq!(result, Verdict::Failed);
        assert!(reason.contains("ended with exit code 1"), "{reason}");
        let (_, reason) = verdict("frame-lost", &played(100, 10, Ending::Signal(11)));
        assert!(reason.contains("ended by signal 11"), "{reason}");
        let mut silent = played(100, 10, Ending::Runs);
        silent.ended_ns += 7_000_000_000;
        let (result, reason) = verdict("frame-lost", &silent);
        assert_eq!(result, Verdict::Failed);
        assert!(reason.contains("sent no frame for 7000.0 ms"), "{reason}");
        let mut flood = played(100, 200, Ending::Runs);
        flood.has_flooded = true;
        let (result, reason) = verdict("frame-lost", &flood);
        assert_eq!(result, Verdict::Failed);
        assert!(reason.contains("flooded"), "{reason}");
    }

    #[test]
    fn a_fault_whose_moment_never_came_says_nothing_about_the_master() {
        let mut played = played(100, 200, Ending::Runs);
        played.notes.fault = None;
        assert_eq!(verdict("emergency", &played).0, Verdict::NotApplicable);
    }

    #[test]
    fn a_lost_answer_has_to_be_asked_for_again() {
        let mut played = played(100, 200, Ending::Runs);
        let (result, reason) = verdict("answer-lost", &played);
        assert_eq!(result, Verdict::Failed);
        assert!(reason.contains("not asked for again"), "{reason}");
        played.notes.devices[0].repeats.push(103_000_000);
        let (result, reason) = verdict("answer-lost", &played);
        assert_eq!(result, Verdict::Passed);
        assert!(reason.contains("after 3.0 ms"), "{reason}");
    }

    #[test]
    fn an_emergency_that_nobody_fetches_and_a_fallen_device_left_alone_are_failures() {
        let mut played = played(100, 200, Ending::Runs);
        assert_eq!(verdict("emergency", &played).0, Verdict::Failed);
        played.notes.devices[0].mail.emergencies = 1;
        assert_eq!(verdict("emergency", &played).0, Verdict::Passed);
        assert_eq!(verdict("device-falls", &played).0, Verdict::Passed);
        played.notes.devices[0].states.push((100_000_000, State::SafeOp));
        played.notes.devices[0].error = Some(0x1B);
        played.notes.cycles.iter_mut().skip(100).for_each(|cycle| cycle.all_op = false);
        let (result, reason) = verdict("device-falls", &played);
        assert_eq!(result, Verdict::Failed);
        assert!(reason.contains("j0 in SAFE-OP with error 0x001b"), "{reason}");
        played.ending = Ending::Code(3);
        assert_eq!(verdict("device-falls", &played).0, Verdict::Passed, "it ended operation");
    }
}
