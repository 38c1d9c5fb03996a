// SPDX-License-Identifier: Apache-2.0
//! Judgement of the case without a fault: one row for each feature.

use super::mail::{protocol, Mail};
use super::witness::Notes;
use super::Verdict;
use crate::al::State;
use crate::command::Command;

/// Cycles with the whole working counter that show cyclic process data.
pub const ENOUGH_CYCLES: usize = 50;
/// Clocks that agree: ETG.1020 asks for a difference below 1 µs.
pub const CLOCKS_NS: i64 = 1000;

/// A verdict and its observation.
pub type Judgement = (Verdict, String);

fn passed(reason: impl Into<String>) -> Judgement {
    (Verdict::Passed, reason.into())
}

fn failed(reason: impl Into<String>) -> Judgement {
    (Verdict::Failed, reason.into())
}

fn not_applicable(reason: impl Into<String>) -> Judgement {
    (Verdict::NotApplicable, reason.into())
}

/// What the segment cannot see, or does not have: feature and reason.
const UNSEEN: &[(&str, &str)] = &[
    ("103", "the segment has no device with emulation"),
    ("106", "the segment takes no VLAN tags"),
    ("108", "the segment takes no UDP"),
    ("202", "not visible from the segment"),
    ("203", "not visible from the segment"),
    ("403", "the devices have one mailbox channel"),
    ("506", "the devices have no PDO services in CoE"),
    ("602", "not visible from the segment"),
    ("603", "not visible from the segment"),
    ("1201", "not visible from the segment"),
    ("1301", "not visible from the segment"),
];

/// The verdict on a feature, by what the master did without a fault. None for features of other cases.
pub fn judge(feature: &str, notes: &Notes) -> Option<Judgement> {
    let mail = notes.mail();
    if let Some((_, reason)) = UNSEEN.iter().find(|(id, _)| *id == feature) {
        return Some(not_applicable(*reason));
    }
    Some(match feature {
        "101" => commands(notes),
        "102" => used(notes.has_event_mask, "the event mask (0x0200) was set", "the event mask (0x0200) was never set"),
        "104" => states(notes),
        "107" => frame_types(notes),
        "201" => process_data(notes),
        "301" => scanning(notes),
        "303" => used(
            notes.has_identification,
            "a device was asked for its identification (0x0120.5)",
            format!("no device was asked (0x0120.5); aliases (0x0012) were read {} times", notes.alias_reads),
        ),
        "304" => used(notes.has_alias, "the alias was enabled (0x0103)", "the alias was never enabled (0x0103)"),
        "305" => eeprom(notes),
        "401" => mailbox(&mail),
        "404" => polling(notes, &mail),
        "501" => sdo(&mail),
        "502" => used(mail.segments > 0, format!("{} segments", mail.segments), "no transfer needed segments"),
        "503" => used(mail.complete > 0, format!("{} requests", mail.complete), "never asked for"),
        "504" => answered(mail.information.0, mail.information.1),
        "601" => of_protocol(&mail, protocol::EOE),
        "701" => of_protocol(&mail, protocol::FOE),
        "702" => files(&mail),
        "703" => used(
            notes.devices.iter().any(|device| device.has_been_in(State::Boot)),
            "a device was in BOOT",
            "no device was in BOOT",
        ),
        "801" => of_protocol(&mail, protocol::SOE),
        "901" => of_protocol(&mail, protocol::AOE),
        "1001" => of_protocol(&mail, protocol::VOE),
        "1101" => clocks(notes),
        "1102" => compensation(notes),
        "1103" => used(
            notes.difference_reads > 0,
            format!("0x092C was read {} times in OP", notes.difference_reads),
            "0x092C was never read in OP",
        ),
        _ => return None,
    })
}

fn used(is_used: bool, how: impl Into<String>, unused: impl Into<String>) -> Judgement {
    if is_used {
        passed(how)
    } else {
        not_applicable(unused)
    }
}

fn commands(notes: &Notes) -> Judgement {
    let names: Vec<&str> = Command::NAMES
        .into_iter()
        .zip(notes.commands)
        .skip(1)
        .filter(|(_, count)| *count > 0)
        .map(|(name, _)| name)
        .collect();
    if notes.unknown_commands > 0 {
        return failed(format!("{} datagrams with a command that does not exist", notes.unknown_commands));
    }
    passed(format!("used: {}", names.join(" ")))
}

fn frame_types(notes: &Notes) -> Judgement {
    if notes.unreadable > 0 {
        return failed(format!("{} of {} frames hold no datagrams", notes.unreadable, notes.frames));
    }
    passed(format!("{} frames of EtherType 0x88A4", notes.frames))
}

/// Which devices are not in OP, with state and code: by name, or their number where they are many.
pub fn not_operational(notes: &Notes) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for device in notes.devices.iter().filter(|device| device.state() != State::Op || device.error.is_some()) {
        let error = device.error.map_or(String::new(), |code| format!(" with error {code:#06x}"));
        let state = format!("{}{error}", device.state().name());
        match groups.iter_mut().find(|(known, _)| *known == state) {
            Some((_, names)) => names.push(&device.name),
            None => groups.push((state, vec![&device.name])),
        }
    }
    let who = |names: &[&str]| match names.len() {
        0..=2 => names.join(" and "),
        count if count == notes.devices.len() => "all devices".into(),
        count => format!("{count} devices"),
    };
    groups.iter().map(|(state, names)| format!("{} in {state}", who(names))).collect()
}

fn states(notes: &Notes) -> Judgement {
    let count = notes.devices.len();
    let reached = notes.devices.iter().filter(|device| device.has_been_in(State::Op)).count();
    if reached < count {
        return failed(format!("{reached} of {count} devices reached OP: {}", not_operational(notes).join(", ")));
    }
    passed(format!("{count} of {count} devices reached OP"))
}

fn process_data(notes: &Notes) -> Judgement {
    let whole = notes.whole();
    let in_op = notes.cycles.iter().filter(|cycle| cycle.all_op);
    let (mut healthy, mut all) = (0, 0);
    for cycle in in_op {
        all += 1;
        healthy += usize::from(cycle.is_returned && whole.get(&cycle.start) == Some(&cycle.counter));
    }
    let counters: Vec<String> = whole.values().map(u16::to_string).collect();
    let text = format!("{healthy} of {all} frames in OP with working counter {}", counters.join(" or "));
    match healthy {
        0 => failed("no process data in OP"),
        _ if healthy < ENOUGH_CYCLES => failed(text),
        _ => passed(text),
    }
}

fn scanning(notes: &Notes) -> Judgement {
    let read = notes.devices.iter().filter(|device| device.eeprom.0 > 0).count();
    let text =
        format!("{} broadcast reads, the EEPROM of {read} of {} devices", notes.broadcast_reads, notes.devices.len());
    if notes.broadcast_reads > 0 && read == notes.devices.len() {
        return passed(text);
    }
    not_applicable(format!("{text}: a master that reads an ENI needs no more"))
}

fn eeprom(notes: &Notes) -> Judgement {
    let (reads, writes) =
        notes.devices.iter().fold((0, 0), |sum, device| (sum.0 + device.eeprom.0, sum.1 + device.eeprom.1));
    if reads == 0 {
        return failed("the EEPROM of no device was read");
    }
    passed(format!("{reads} reads, {writes} writes"))
}

fn mailbox(mail: &Mail) -> Judgement {
    let (sent, received): (u64, u64) = (mail.sent.iter().sum(), mail.received.iter().sum());
    if sent == 0 {
        return not_applicable("no mailbox was sent");
    }
    let errors = mail.received.first().copied().unwrap_or(0);
    let text = format!("{sent} requests, {received} answers, {errors} mailbox errors");
    if received == 0 {
        failed(text)
    } else {
        passed(text)
    }
}

fn polling(notes: &Notes, mail: &Mail) -> Judgement {
    let polls: u64 = notes.devices.iter().map(|device| device.polls).sum();
    if mail.sent.iter().sum::<u64>() == 0 {
        return not_applicable("no mailbox was sent");
    }
    used(polls > 0, format!("{polls} looks for a mailbox that may have come"), "no look for a mailbox was seen")
}

fn sdo(mail: &Mail) -> Judgement {
    let text = format!(
        "{} uploads, {} downloads, {} expedited; aborts: {} by devices, {} by the master",
        mail.uploads, mail.downloads, mail.expedited, mail.aborts.0, mail.aborts.1
    );
    used(mail.uploads + mail.downloads > 0, text, "no SDO was sent")
}

fn answered(requests: u64, answers: u64) -> Judgement {
    let text = format!("{requests} requests, {answers} answers");
    match (requests, answers) {
        (0, _) => not_applicable("never asked for"),
        (_, 0) => failed(text),
        _ => passed(text),
    }
}

fn of_protocol(mail: &Mail, number: u8) -> Judgement {
    let count = |of: &[u64; 16]| of.get(usize::from(number)).copied().unwrap_or(0);
    match (count(&mail.sent), count(&mail.received)) {
        (0, _) => not_applicable("never used"),
        (sent, 0) => failed(format!("{sent} messages, no answer reached the master")),
        (sent, received) => passed(format!("{sent} messages, {received} answers")),
    }
}

fn files(mail: &Mail) -> Judgement {
    let (reads, writes) = mail.files;
    used(reads + writes > 0, format!("{reads} files read, {writes} written"), "no file was read or written")
}

/// The farthest clock: device and distance.
pub fn farthest(notes: &Notes) -> Option<(&str, i64)> {
    let offsets = notes.devices.iter().filter_map(|device| Some((device.name.as_str(), device.clock_offset_ns?)));
    offsets.max_by_key(|(_, offset)| offset.unsigned_abs())
}

/// Whether the clocks agree at the end.
pub fn clocks(notes: &Notes) -> Judgement {
    if notes.latches.is_empty() {
        return not_applicable("no clock was set up: receive times (0x0900) were never latched");
    }
    let Some((device, offset_ns)) = farthest(notes) else { return not_applicable("no device has a clock") };
    let pulses = if notes.has_sync0 { "with SYNC0" } else { "without SYNC0" };
    let text = format!(
        "{device} is {offset_ns} ns from the reference at the end, {pulses}, {} time datagrams",
        notes.time_datagrams
    );
    if offset_ns.abs() < CLOCKS_NS {
        passed(text)
    } else {
        failed(text)
    }
}

fn compensation(notes: &Notes) -> Judgement {
    let op_ns = notes.cycles.iter().find(|cycle| cycle.all_op).map(|cycle| cycle.at_ns);
    let later = notes.latches.iter().filter(|at_ns| op_ns.is_some_and(|op_ns| **at_ns > op_ns)).count();
    used(later > 0, format!("receive times were latched {later} times in OP"), "receive times were never latched in OP")
}
