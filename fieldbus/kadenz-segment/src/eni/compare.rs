// SPDX-License-Identifier: Apache-2.0
//! A network information file against a ring: devices, process data, mailboxes, working counters, images. Addresses and the
//! serial numbers are the master's choice and do not count.

mod devices;
mod exchange;

use super::plan::can_assign;
use super::*;
use crate::description::{Description, Manager, Pdo, Purpose, COE_CONFIGURE};
use crate::ring::Ring;
use crate::topology::Peer;
use std::fmt::{self, Display};

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Place in the file; 0: not in the file.
    pub line: Line,
    /// What differs, and where.
    pub message: String,
}

impl Difference {
    fn new(line: Line, message: impl Display) -> Self {
        Self { line, message: message.to_string() }
    }
}

impl Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Line(0) => write!(out, "{}", self.message),
            Line(line) => write!(out, "line {line}: {}", self.message),
        }
    }
}

/// Every difference between a file and a ring, in the order of the file.
pub fn compare(network: &Network, ring: &Ring) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (in_file, in_ring) in devices::pairs(network, ring, &mut differences) {
        let (Some(slave), Some(device)) = (network.slaves.get(in_file), ring.devices.get(in_ring)) else { continue };
        let mut report = Report { place: format!("Slave {in_file} ({})", slave.name), differences: &mut differences };
        let description = &device.description;
        compare_device(&mut report, slave, description);
        // Behind a device that is missing or exchanged the cables differ, too.
        if in_file == in_ring {
            compare_cable(&mut report, network, slave, ring, in_ring);
        }
    }
    exchange::compare(network, &mut differences);
    differences.sort_by_key(|difference| (difference.line.0 == 0, difference.line.0));
    differences
}

/// Takes differences of one device.
struct Report<'a> {
    place: String,
    differences: &'a mut Vec<Difference>,
}

impl Report<'_> {
    fn add(&mut self, line: Line, message: impl Display) {
        self.differences.push(Difference::new(line, format!("{}: {message}", self.place)));
    }
}

fn compare_device(report: &mut Report<'_>, slave: &Slave, description: &Description) {
    let (in_file, in_ring) = (slave.identity, description.identity);
    if in_file.revision != in_ring.revision {
        let message = format!("revision {:#010x}, the ring has {:#010x}", in_file.revision, in_ring.revision);
        report.add(slave.line, message);
    }
    compare_mailbox(report, slave, description);
    compare_process_data(report, slave, description);
    let wants_pulses = slave.clock.filter(|clock| clock.cycle0_ns > 0);
    if let Some(clock) = wants_pulses.filter(|_| !description.has_clock) {
        report.add(clock.line, "SYNC0, but the ring's device has no distributed clock");
    }
}

fn compare_mailbox(report: &mut Report<'_>, slave: &Slave, description: &Description) {
    let Some(mailbox) = &slave.mailbox else {
        if description.has_mailbox() {
            report.add(slave.line, "no mailbox, the ring's device has one");
        }
        return;
    };
    if !description.has_mailbox() {
        return report.add(mailbox.line, "a mailbox, the ring's device has none");
    }
    for (name, area, purpose) in
        [("Send", mailbox.send, Purpose::MailboxOut), ("Recv", mailbox.recv, Purpose::MailboxIn)]
    {
        let Some(manager) = description.sync_managers.iter().find(|manager| manager.purpose == purpose) else {
            continue;
        };
        compare_area(report, name, area, manager.start, manager.sizes);
    }
    if let (Some((send, recv)), Some(bootstrap)) = (mailbox.bootstrap, description.bootstrap) {
        for (name, area, (start, size)) in [("Send", send, bootstrap.out), ("Recv", recv, bootstrap.inward)] {
            compare_area(report, &format!("BootStrap {name}"), area, start, (size, size));
        }
    }
    let known = description.protocols();
    for protocol in &mailbox.protocols {
        let name = protocol_name(*protocol);
        if !known.split(", ").any(|known| known == name) {
            report.add(mailbox.line, format!("protocol {name}, the ring's device has {known}"));
        }
    }
}

fn compare_area(report: &mut Report<'_>, name: &str, area: Area, start: u16, (least, most): (u16, u16)) {
    if area.start != start {
        let message = format!("mailbox {name} at {:#06x}, the ring's device has it at {start:#06x}", area.start);
        report.add(area.line, message);
    }
    if !(least..=most).contains(&area.length) {
        let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        report.add(area.line, format!("mailbox {name} of {} bytes, the ring's device takes {sizes}", area.length));
    }
}

/// Whether the file writes an object in PRE-OP.
fn writes(slave: &Slave, index: u16) -> bool {
    let sdos = slave.mailbox.iter().flat_map(|mailbox| &mailbox.sdos);
    sdos.into_iter().any(|sdo| sdo.index == index && !sdo.is_upload && !sdo.is_disabled)
}

fn compare_process_data(report: &mut Report<'_>, slave: &Slave, description: &Description) {
    let none = ProcessData::default();
    let data = slave.process_data.as_ref().unwrap_or(&none);
    let can_configure = description.coe.is_some_and(|details| details & COE_CONFIGURE != 0);
    for (name, elements, pdos) in [("RxPdo", &data.rx, &description.rx), ("TxPdo", &data.tx, &description.tx)] {
        for element in elements {
            let index = element.pdo.index;
            match pdos.iter().find(|pdo| pdo.index == index) {
                None if element.manager.is_none() => {}
                None => report.add(element.line, format!("{name} {index:#06x}, which the ring's device does not have")),
                Some(_) if can_configure && writes(slave, index) => {}
                Some(pdo) => compare_pdo(report, name, element, pdo),
            }
        }
    }
    for manager in &data.managers {
        match description.sync_managers.get(manager.number) {
            Some(known) => compare_manager(report, slave, manager, known, description),
            None if manager.is_enabled => {
                report.add(manager.line, format!("Sm{}, which the ring's device does not have", manager.number));
            }
            None => {}
        }
    }
    for (name, ranges, purpose) in [("Send", &data.send, Purpose::Outputs), ("Recv", &data.recv, Purpose::Inputs)] {
        let (in_ring, most) = expected_bits(data, description, purpose);
        let in_file: u64 = ranges.iter().map(|range| u64::from(range.bits)).sum();
        if !(in_ring..=most).contains(&in_file) {
            let line = ranges.first().map_or(slave.line, |range| range.line);
            report.add(line, format!("{name} of {in_file} bits, the ring's device has {in_ring}"));
        }
    }
}

fn compare_pdo(report: &mut Report<'_>, name: &str, element: &PdoElement, pdo: &Pdo) {
    let (in_file, index) = (&element.pdo.entries, pdo.index);
    let mapped = |entry: &crate::description::PdoEntry| {
        let object = if entry.index == 0 { "a gap".into() } else { format!("{:#06x}:{:02}", entry.index, entry.sub) };
        format!("{object} of {} bits", entry.bits)
    };
    // A file may name a PDO without its entries.
    if in_file.is_empty() {
        return;
    }
    let length = in_file.len().max(pdo.entries.len());
    let at = (0..length).find(|at| {
        let place = |entries: &[crate::description::PdoEntry]| {
            entries.get(*at).map(|entry| (entry.index, if entry.index == 0 { 0 } else { entry.sub }, entry.bits))
        };
        place(in_file) != place(&pdo.entries)
    });
    if let Some(at) = at {
        let side = |entries: &[crate::description::PdoEntry]| entries.get(at).map_or("nothing".into(), mapped);
        let (in_file, in_ring) = (side(in_file), side(&pdo.entries));
        let message = format!("{name} {index:#06x}, entry {}: {in_file}, the ring's device has {in_ring}", at + 1);
        report.add(element.line, message);
    }
}

fn compare_manager(
    report: &mut Report<'_>,
    slave: &Slave,
    manager: &SyncManager,
    known: &Manager,
    description: &Description,
) {
    let number = manager.number;
    if manager.purpose != known.purpose {
        let message = format!("Sm{number} is for {:?}, the ring's for {:?}", manager.purpose, known.purpose);
        return report.add(manager.line, message);
    }
    if manager.start != known.start && manager.is_enabled {
        let message = format!("Sm{number} at {:#06x}, the ring's at {:#06x}", manager.start, known.start);
        report.add(manager.line, message);
    }
    if manager.pdos.is_empty() || manager.pdos == known.pdos {
        return;
    }
    let assignment = crate::coe::object::ASSIGNMENTS + number as u16;
    let list = |pdos: &[u16]| pdos.iter().map(|index| format!("{index:#06x}")).collect::<Vec<_>>().join(", ");
    let pdos = if manager.purpose == Purpose::Outputs { &description.rx } else { &description.tx };
    if let Some(index) = manager.pdos.iter().find(|index| pdos.iter().all(|pdo| pdo.index != **index)) {
        let message = format!("Sm{number} has PDO {index:#06x}, which the ring's device does not have");
        return report.add(manager.line, message);
    }
    if !can_assign(description) || !writes(slave, assignment) {
        let in_ring = if known.pdos.is_empty() { "none".into() } else { list(&known.pdos) };
        let message = format!("Sm{number} has the PDOs {}, the ring's device {in_ring}", list(&manager.pdos));
        report.add(manager.line, message + &format!(", and no SDO of the file changes {assignment:#06x}"));
    }
}

/// Bits of a direction, exact and filled to whole bytes, with the PDOs that the file assigns where it says so.
fn expected_bits(data: &ProcessData, description: &Description, purpose: Purpose) -> (u64, u64) {
    let (elements, pdos) =
        if purpose == Purpose::Outputs { (&data.rx, &description.rx) } else { (&data.tx, &description.tx) };
    let bits_of = |index: &u16| {
        let in_file = elements.iter().find(|element| element.pdo.index == *index && !element.pdo.entries.is_empty());
        let pdo = in_file.map(|element| &element.pdo).or_else(|| pdos.iter().find(|pdo| pdo.index == *index));
        pdo.map_or(0, |pdo| pdo.bits() as u64)
    };
    let carriers = description.sync_managers.iter().enumerate().filter(|(_, manager)| manager.carries(purpose));
    let bits = carriers.map(|(number, manager)| {
        let in_file = data.managers.iter().find(|other| other.number == number && !other.pdos.is_empty());
        let assigned = in_file.map_or(&manager.pdos, |in_file| &in_file.pdos);
        assigned.iter().map(bits_of).sum::<u64>()
    });
    bits.fold((0, 0), |(exact, most), bits| (exact + bits, most + bits.next_multiple_of(8)))
}

/// The port of the device in front, where the file names it.
fn compare_cable(report: &mut Report<'_>, network: &Network, slave: &Slave, ring: &Ring, at: usize) {
    let Some(previous) = slave.previous.iter().find(|previous| previous.is_selected) else { return };
    let Some(Peer::Port(other, port)) = ring.topology().peer(at, 0) else {
        return report.add(previous.line, "a PreviousPort, the ring's device is connected to the master");
    };
    let letter = |port: usize| ['A', 'B', 'C', 'D'].get(port).copied().unwrap_or('?');
    let name = |at: usize| ring.devices.get(at).map_or("", |device| &device.name);
    let of_station = |station| network.slaves.iter().position(|slave| slave.station == Some(station));
    let in_file = previous.station.and_then(of_station);
    if usize::from(previous.port) != port || in_file.is_some_and(|in_file| in_file != other) {
        let device = in_file.and_then(|at| network.slaves.get(at)).map_or("", |slave| &slave.name);
        let message = format!(
            "connected to port {} of {device}, the ring's device to port {} of {}",
            letter(previous.port.into()),
            letter(port),
            name(other)
        );
        report.add(previous.line, message);
    }
}
