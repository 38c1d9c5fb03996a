// SPDX-License-Identifier: Apache-2.0
//! Notes what a master did: the frames of a recording pass through the same ring and the same faults again.
//!
//! The same frames at the same times give the same states, so that the notes have what the devices did and not what the
//! master asked them about.

use super::mail::Mail;
use crate::al::State;
use crate::command::{Addressing, Command};
use crate::fault::reaction::addressed_device;
use crate::frame::{datagrams, Datagram};
use crate::pcap::{Direction, Packet};
use crate::register::{at, manager, MEMORY_START};
use crate::ring::Ring;
use crate::segment::{Segment, Verdict};
use std::collections::BTreeMap;

/// Lines of the log that are kept.
const MOST_LINES: usize = 40;
/// EEPROM commands in 0x0502: read, write.
const EEPROM_READ: u8 = 0x01;
const EEPROM_WRITE: u8 = 0x02;
/// Request of the explicit device identification in AL control.
const ID_REQUEST: u8 = 0x20;
/// Byte of the DL control register, and its bit, that enables the alias.
const ALIAS_ENABLED: u8 = 0x01;

/// One frame with process data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// World time, ns.
    pub at_ns: u64,
    /// Logical address of its first such datagram: frames of one process image.
    pub start: u32,
    /// Sum of the working counters.
    pub counter: u16,
    /// It came back in time.
    pub is_returned: bool,
    /// All devices are in OP, without an error.
    pub all_op: bool,
}

/// What was noted of one device.
#[derive(Debug, Clone, Default)]
pub struct DeviceNotes {
    /// Its name.
    pub name: String,
    /// States that it entered, with the time, ns.
    pub states: Vec<(u64, State)>,
    /// It has the error flag at the end, with this code.
    pub error: Option<u16>,
    /// EEPROM reads and writes that the master asked for.
    pub eeprom: (u64, u64),
    /// Its mailbox.
    pub mail: Mail,
    /// Times at which the master asked for the last mailbox again, ns.
    pub repeats: Vec<u64>,
    /// Reads of the state of its send mailbox, and empty reads of the mailbox itself.
    pub polls: u64,
    /// Times at which the master read its AL status code, ns.
    pub code_reads: Vec<u64>,
    /// Its system time less that of the first device with a clock, ns.
    pub clock_offset_ns: Option<i64>,
}

impl DeviceNotes {
    /// The state at the end.
    pub fn state(&self) -> State {
        self.states.last().map_or(State::Init, |(_, state)| *state)
    }

    /// It has been in this state.
    pub fn has_been_in(&self, state: State) -> bool {
        self.states.iter().any(|(_, entered)| *entered == state)
    }
}

/// A fault, as it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultNotes {
    /// Position of its device; 0 where it names none.
    pub device: usize,
    /// Number of times that it began.
    pub begun: u64,
    /// Frame at which it first did, ns.
    pub at_ns: u64,
    /// Last frame at which it was active, ns.
    pub until_ns: u64,
}

/// What a master did.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// Frames of the master.
    pub frames: u64,
    /// Frames that hold no datagrams.
    pub unreadable: u64,
    /// World time of the first and the last frame, ns.
    pub times_ns: Option<(u64, u64)>,
    /// Datagrams by command; the first is NOP.
    pub commands: [u64; 15],
    /// Datagrams with a command that does not exist.
    pub unknown_commands: u64,
    /// Frames with process data.
    pub cycles: Vec<Cycle>,
    /// The devices by position.
    pub devices: Vec<DeviceNotes>,
    /// Broadcast reads: how a master counts devices.
    pub broadcast_reads: u64,
    /// Times at which receive times were latched, ns.
    pub latches: Vec<u64>,
    /// Datagrams that spread the time of the reference clock.
    pub time_datagrams: u64,
    /// Reads of the difference of a clock from the reference, in OP.
    pub difference_reads: u64,
    /// The event mask was set to more than 0.
    pub has_event_mask: bool,
    /// The alias was enabled as a second address.
    pub has_alias: bool,
    /// Reads of the alias register.
    pub alias_reads: u64,
    /// AL control with a request of the explicit identification.
    pub has_identification: bool,
    /// SYNC0 was activated.
    pub has_sync0: bool,
    /// The fault of the case, if there is one.
    pub fault: Option<FaultNotes>,
    /// What faults did and the master after them.
    pub log: Vec<String>,
}

/// Passes a recording through a segment as it was before its first frame, and notes what the master did.
pub fn witness(mut segment: Segment, packets: &[Packet]) -> Notes {
    let device = |name: &str| DeviceNotes { name: name.into(), ..DeviceNotes::default() };
    let names = segment.ring().devices.iter().map(|known| device(&known.name)).collect();
    let mut notes = Notes { devices: names, ..Notes::default() };
    for packet in packets.iter().filter(|packet| packet.direction == Direction::In) {
        notes.frames += 1;
        notes.times_ns = Some((notes.times_ns.map_or(packet.time_ns, |(first, _)| first), packet.time_ns));
        let mut frame = packet.bytes.clone();
        notes.see_sent(&mut frame, segment.ring(), packet.time_ns);
        let all_op = segment.is_operational();
        let verdict = segment.process_from(packet.end, &mut frame, packet.time_ns).verdict;
        notes.see_returned(&mut frame, segment.ring(), verdict, (packet.time_ns, all_op));
        segment.settle(packet.time_ns);
        notes.see_segment(&mut segment, packet.time_ns);
    }
    notes.see_clocks(segment.ring());
    notes
}

/// A datagram covers a register.
fn covers(datagram: &Datagram<'_>, register: u16) -> bool {
    usize::from(register.wrapping_sub(datagram.offset())) < datagram.data.len()
}

/// Position of the one device that a returned datagram was for. By position, its address has counted every device.
fn returned_from(datagram: &Datagram<'_>, ring: &Ring) -> Option<usize> {
    match datagram.command().addressing() {
        Addressing::Position => {
            let passed = ring.devices.iter().filter(|device| device.has_power()).count();
            passed.checked_sub(usize::from(datagram.address()))
        }
        Addressing::Station => addressed_device(datagram, ring),
        _ => None,
    }
}

/// The byte of a datagram at a register.
fn byte_at(datagram: &Datagram<'_>, register: u16) -> Option<u8> {
    datagram.data.get(usize::from(register.wrapping_sub(datagram.offset()))).copied()
}

impl Notes {
    /// A frame as it comes from the master.
    fn see_sent(&mut self, frame: &mut [u8], ring: &Ring, now_ns: u64) {
        let Ok(datagrams) = datagrams(frame) else {
            self.unreadable += 1;
            return;
        };
        for datagram in datagrams {
            let command = datagram.command();
            self.commands[command as usize] += 1;
            self.unknown_commands += u64::from(datagram.is_unknown());
            if !command.addressing().is_physical() {
                continue;
            }
            self.broadcast_reads += u64::from(command == Command::Brd);
            if command.writes() {
                self.see_write(&datagram, ring, now_ns);
            }
            if command.multiple_write() && covers(&datagram, at::SYSTEM_TIME.address()) {
                self.time_datagrams += 1;
            }
        }
    }

    fn see_write(&mut self, datagram: &Datagram<'_>, ring: &Ring, now_ns: u64) {
        if covers(datagram, at::PORT_TIMES.address()) {
            self.latches.push(now_ns);
        }
        let has = |register: u16, bits: u8| byte_at(datagram, register).is_some_and(|byte| byte & bits != 0);
        self.has_event_mask |= has(at::EVENT_MASK.address(), 0xFF) || has(at::EVENT_MASK.address() + 1, 0xFF);
        self.has_alias |= has(at::DL_CONTROL.address() + 3, ALIAS_ENABLED);
        self.has_sync0 |= has(at::ACTIVATION.address(), 0x02);
        self.has_identification |= has(at::AL_CONTROL.address(), ID_REQUEST);
        let position = addressed_device(datagram, ring);
        let Some(device) = position.and_then(|position| ring.devices.get(position)) else { return };
        let Some(notes) = position.and_then(|position| self.devices.get_mut(position)) else { return };
        match byte_at(datagram, at::EEPROM_CONTROL.address() + 1).map(|byte| byte & 0x07) {
            Some(EEPROM_READ) => notes.eeprom.0 += 1,
            Some(EEPROM_WRITE) => notes.eeprom.1 += 1,
            _ => {}
        }
        let repeat = at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION).address();
        if covers(datagram, repeat) && datagram.data.len() <= 2 {
            notes.repeats.push(now_ns);
        }
        let is_mailbox = device
            .esc
            .manager(0)
            .is_some_and(|first| first.enabled() && first.start() == usize::from(datagram.offset()));
        if is_mailbox && datagram.offset() >= MEMORY_START as u16 && device.mailbox.is_some() {
            notes.mail.send(datagram.data);
        }
    }

    /// A frame as it leaves the segment, at a time, and whether all devices were in OP before.
    fn see_returned(&mut self, frame: &mut [u8], ring: &Ring, verdict: Verdict, (now_ns, all_op): (u64, bool)) {
        let is_returned = matches!(verdict, Verdict::Returned | Verdict::Doubled);
        let Ok(datagrams) = datagrams(frame) else { return };
        let mut cycle: Option<Cycle> = None;
        for datagram in datagrams {
            let command = datagram.command();
            if command.addressing() == Addressing::Logical {
                let start = datagram.logical();
                let cycle = cycle.get_or_insert(Cycle { at_ns: now_ns, start, counter: 0, is_returned, all_op });
                cycle.counter = cycle.counter.wrapping_add(datagram.working_counter());
            } else if command.reads() && command.addressing().is_physical() {
                self.see_read(&datagram, ring, is_returned, (now_ns, all_op));
            }
        }
        self.cycles.extend(cycle);
    }

    fn see_read(&mut self, datagram: &Datagram<'_>, ring: &Ring, is_returned: bool, (now_ns, all_op): (u64, bool)) {
        self.difference_reads += u64::from(all_op && covers(datagram, at::DIFFERENCE.address()));
        let Some(position) = returned_from(datagram, ring) else { return };
        let Some((device, notes)) = ring.devices.get(position).zip(self.devices.get_mut(position)) else { return };
        self.alias_reads += u64::from(datagram.offset() == at::ALIAS.address());
        if covers(datagram, at::AL_CODE.address()) {
            notes.code_reads.push(now_ns);
        }
        let status = at::SYNC_MANAGER.element(1).byte(manager::STATUS).address();
        notes.polls += u64::from(covers(datagram, status) && datagram.data.len() <= 8);
        let Some(second) = device.esc.manager(1).filter(|second| second.enabled() && device.mailbox.is_some()) else {
            return;
        };
        if usize::from(datagram.offset()) == second.start() {
            if datagram.working_counter() == 0 {
                notes.polls += 1;
            } else if is_returned {
                notes.mail.receive(datagram.data);
            }
        }
    }

    /// The segment behind a frame: states, the fault, the log.
    fn see_segment(&mut self, segment: &mut Segment, now_ns: u64) {
        for (notes, device) in self.devices.iter_mut().zip(&segment.ring().devices) {
            let state = device.al.state();
            if notes.states.last().map(|(_, last)| *last) != Some(state) {
                notes.states.push((now_ns, state));
            }
            notes.error = (device.al.status() & 0x10 != 0).then(|| device.al.code());
        }
        if let Some(running) = segment.faults().first() {
            let progress = running.progress();
            if progress.begun > 0 || running.is_active {
                let first =
                    FaultNotes { device: running.device, begun: progress.begun, at_ns: now_ns, until_ns: now_ns };
                let notes = self.fault.get_or_insert(first);
                notes.begun = progress.begun;
                if running.is_active {
                    notes.until_ns = now_ns;
                }
            }
        }
        let room = MOST_LINES.saturating_sub(self.log.len());
        self.log.extend(segment.take_happenings().iter().take(room).map(ToString::to_string));
    }

    /// How far the clocks are apart at the last frame.
    fn see_clocks(&mut self, ring: &Ring) {
        let Some((_, last_ns)) = self.times_ns else { return };
        let times: Vec<Option<u64>> = ring.devices.iter().map(|device| device.esc.system_time(last_ns)).collect();
        let Some(reference) = times.iter().flatten().next().copied() else { return };
        for (notes, time) in self.devices.iter_mut().zip(times) {
            notes.clock_offset_ns = time.map(|time| time.wrapping_sub(reference) as i64);
        }
    }

    /// All mailboxes together.
    pub fn mail(&self) -> Mail {
        let mut sum = Mail::default();
        self.devices.iter().for_each(|device| sum.add(&device.mail));
        sum
    }

    /// The working counter of each part of the process image when all is well: the most frequent one in OP.
    pub fn whole(&self) -> BTreeMap<u32, u16> {
        let mut counts: BTreeMap<u32, BTreeMap<u16, u64>> = BTreeMap::new();
        for cycle in self.cycles.iter().filter(|cycle| cycle.all_op && cycle.is_returned) {
            *counts.entry(cycle.start).or_default().entry(cycle.counter).or_default() += 1;
        }
        let most = |of: BTreeMap<u16, u64>| of.into_iter().max_by_key(|(counter, times)| (*times, *counter));
        counts.into_iter().filter_map(|(start, of)| Some((start, most(of)?.0))).collect()
    }

    /// Healthy cycles in a row at the end of the recording, and the time of the first of them.
    pub fn healthy_tail(&self) -> (usize, Option<u64>) {
        let whole = self.whole();
        let is_healthy =
            |cycle: &&Cycle| cycle.all_op && cycle.is_returned && whole.get(&cycle.start) == Some(&cycle.counter);
        let tail: Vec<&Cycle> = self.cycles.iter().rev().take_while(is_healthy).collect();
        (tail.len(), tail.last().map(|cycle| cycle.at_ns))
    }
}
