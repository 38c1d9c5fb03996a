// SPDX-License-Identifier: Apache-2.0
//! What the master does after a fault: the datagrams that matter, or silence, for the log.

use super::mailbox::Sdo;
use super::Running;
use crate::al::State;
use crate::command::Addressing;
use crate::frame::{datagrams, Datagram};
use crate::happening::{Happening, What};
use crate::register::{at, manager, MEMORY_START};
use crate::ring::Ring;
use crate::topology::End;
use std::sync::Arc;

/// A master is watched for this long after a fault has begun, ns.
pub const WATCH_NS: u64 = 1_000_000_000;
/// Without a frame for this long the master is silent, ns.
pub const SILENCE_NS: u64 = 100_000_000;
/// Lines of the log for what a master did after one fault.
pub const MOST_LINES: usize = 8;
/// Of these, for devices that the fault does not concern.
const MOST_OF_OTHERS: usize = 3;
/// Faults after which the master is watched at the same time.
const MOST_WATCHES: usize = 64;

/// An act of a master, as far as it may answer a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// It writes AL control.
    State(u8),
    /// It asks by SDO, and whether that is what it asked before.
    Sdo(Sdo, bool),
    /// It sends another message to the mailbox: its protocol.
    Message(u8),
    /// It asks for the last mailbox again.
    AskAgain,
    /// It reads the state, or its code.
    ReadState,
    /// It reads which links there are.
    ReadLinks,
    /// It reads or resets error counters.
    ReadErrors,
    /// It resets the device.
    Reset,
    /// It exchanges process data: the working counter that it gets.
    ProcessData,
    /// No frame comes.
    Silence,
    /// Frames come, process data do not.
    NoProcessData,
}

/// Whom an act concerns: a device, all, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whom {
    Device(usize),
    All,
}

/// A fault after which the master is watched.
#[derive(Debug)]
struct Watch {
    number: u32,
    label: Arc<str>,
    /// Device of the fault, if it has one.
    device: Option<usize>,
    began_ns: u64,
    /// Process data came when it began.
    had_process_data: bool,
    seen: Vec<(Whom, Act)>,
}

/// The mailbox request that a device was sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    counter: u8,
    sdo: Option<Sdo>,
}

/// The watches, and what they need to know of the past.
#[derive(Debug, Default)]
pub struct Reactions {
    watches: Vec<Watch>,
    asked: Vec<Option<Asked>>,
    last_frame_ns: u64,
    last_process_data_ns: Option<u64>,
}

impl Reactions {
    /// A fault begins: from now on the master is watched.
    pub fn begin(&mut self, running: &Running, now_ns: u64) {
        let (number, label) = (running.number, Arc::clone(&running.label));
        let device = running.fault.device.as_ref().map(|_| running.device);
        self.watches.retain(|watch| watch.number != number);
        if self.watches.len() == MOST_WATCHES {
            self.watches.remove(0);
        }
        let had_process_data =
            self.last_process_data_ns.is_some_and(|last_ns| now_ns - last_ns.min(now_ns) < SILENCE_NS);
        let seen = Vec::with_capacity(MOST_LINES);
        self.watches.push(Watch { number, label, device, began_ns: now_ns, had_process_data, seen });
    }

    /// A frame comes from the master.
    pub fn see_frame(&mut self, frame: &mut [u8], ring: &Ring, now_ns: u64, log: &mut impl FnMut(Happening)) {
        self.asked.resize(ring.devices.len(), None);
        let Ok(datagrams) = datagrams(frame) else { return };
        for datagram in datagrams {
            let is_process_data = datagram.command().addressing() == Addressing::Logical;
            if is_process_data {
                self.last_process_data_ns = Some(now_ns);
            }
            let asked = self.see_request(&datagram, ring);
            if self.watches.is_empty() {
                continue;
            }
            let act = asked.or_else(|| {
                if is_process_data {
                    Some((Whom::All, Act::ProcessData))
                } else {
                    seen(&datagram, ring)
                }
            });
            if let Some((whom, act)) = act {
                self.watches.iter_mut().for_each(|watch| watch.log(whom, act, now_ns, ring, log));
            }
        }
        self.last_frame_ns = now_ns;
    }

    /// A request to a mailbox, and whether the master sent the same before.
    fn see_request(&mut self, datagram: &Datagram<'_>, ring: &Ring) -> Option<(Whom, Act)> {
        let is_physical = datagram.command().addressing().is_physical();
        if !is_physical
            || !datagram.command().writes()
            || datagram.offset() < MEMORY_START as u16
            || datagram.data.len() < 6
        {
            return None;
        }
        let Some(Whom::Device(device)) = addressed(datagram, ring) else { return None };
        let manager = ring.devices.get(device)?.esc.manager(0)?;
        if !manager.enabled() || manager.start() != usize::from(datagram.offset()) {
            return None;
        }
        let kind = *datagram.data.get(5)?;
        let asked = Asked { counter: kind >> 4 & 7, sdo: Sdo::of(datagram.data) };
        let before = self.asked.get_mut(device)?.replace(asked);
        let is_again = before.is_some_and(|before| before.sdo == asked.sdo);
        let act = asked.sdo.map_or(Act::Message(kind & 0x0F), |sdo| Act::Sdo(sdo, is_again));
        Some((Whom::Device(device), act))
    }

    /// Time goes on: what is silent is logged, and watches end.
    pub fn see_time(&mut self, now_ns: u64, ring: &Ring, log: &mut impl FnMut(Happening)) {
        let (frame_ns, process_data_ns) = (self.last_frame_ns, self.last_process_data_ns.unwrap_or(0));
        for watch in &mut self.watches {
            let since = |last_ns: u64| last_ns.max(watch.began_ns).saturating_add(SILENCE_NS);
            let end_ns = watch.began_ns.saturating_add(WATCH_NS);
            let (silent_ns, lacking_ns) = (since(frame_ns), since(process_data_ns));
            if silent_ns <= now_ns.min(end_ns) {
                watch.log(Whom::All, Act::Silence, silent_ns, ring, log);
            } else if watch.had_process_data && lacking_ns <= now_ns.min(end_ns) {
                watch.log(Whom::All, Act::NoProcessData, lacking_ns, ring, log);
            }
            let is_answered = watch.seen.iter().any(|(_, act)| *act != Act::ProcessData);
            if end_ns <= now_ns && !is_answered {
                let text = format!("the master does nothing else within {} s", WATCH_NS / 1_000_000_000);
                log(Happening { world_ns: end_ns, what: What::Fault { label: Arc::clone(&watch.label), text } });
            }
        }
        self.watches.retain(|watch| now_ns < watch.began_ns.saturating_add(WATCH_NS));
    }
}

impl Watch {
    /// Masters read the states of all devices in a row, and speak with others: that would fill the log.
    fn matters(&self, whom: Whom, act: Act) -> bool {
        let is_of_other = |whom: Whom| matches!((whom, self.device), (Whom::Device(at), Some(device)) if at != device);
        let others = self.seen.iter().filter(|(whom, _)| is_of_other(*whom)).count();
        match act {
            Act::ReadState | Act::ReadLinks | Act::ReadErrors => {
                !is_of_other(whom) && !self.seen.iter().any(|(_, before)| *before == act)
            }
            Act::Sdo(..) | Act::Message(_) | Act::AskAgain => !is_of_other(whom),
            Act::State(_) | Act::Reset => !is_of_other(whom) || others < MOST_OF_OTHERS,
            Act::ProcessData | Act::Silence | Act::NoProcessData => true,
        }
    }

    fn log(&mut self, whom: Whom, act: Act, now_ns: u64, ring: &Ring, log: &mut impl FnMut(Happening)) {
        if self.seen.len() == MOST_LINES || self.seen.contains(&(whom, act)) || !self.matters(whom, act) {
            return;
        }
        self.seen.push((whom, act));
        let name = match whom {
            Whom::Device(device) => ring.devices.get(device).map_or("", |device| device.name.as_str()),
            Whom::All => "all devices",
        };
        let after_ms = now_ns.saturating_sub(self.began_ns) as f64 / 1.0e6;
        let text = format!("after {after_ms:.3} ms {}", sentence(act, name));
        log(Happening { world_ns: now_ns, what: What::Fault { label: Arc::clone(&self.label), text } });
    }
}

/// Whom a datagram with a physical address is for.
fn addressed(datagram: &Datagram<'_>, ring: &Ring) -> Option<Whom> {
    match datagram.command().addressing() {
        Addressing::Position => {
            // Positions count on the way of the frame, which groups that join elsewhere change.
            let position = usize::from(0_u16.wrapping_sub(datagram.address()));
            ring.passage(End::First).visits.get(position).map(|(device, _)| Whom::Device(*device))
        }
        Addressing::Station => {
            ring.devices.iter().position(|device| device.esc.is_station(datagram.address())).map(Whom::Device)
        }
        Addressing::Broadcast => Some(Whom::All),
        Addressing::Logical | Addressing::None => None,
    }
}

/// The one device that a datagram is addressed to, as it comes from the master.
pub fn addressed_device(datagram: &Datagram<'_>, ring: &Ring) -> Option<usize> {
    match addressed(datagram, ring) {
        Some(Whom::Device(position)) => Some(position),
        _ => None,
    }
}

/// Whether a datagram is addressed to the device at a position, and to no other.
pub fn is_to(datagram: &Datagram<'_>, position: usize, ring: &Ring) -> bool {
    addressed(datagram, ring) == Some(Whom::Device(position))
}

/// What a datagram to registers says.
fn seen(datagram: &Datagram<'_>, ring: &Ring) -> Option<(Whom, Act)> {
    let (command, start) = (datagram.command(), datagram.offset());
    let length = datagram.data.len();
    let covers = |register: u16| usize::from(register.wrapping_sub(start)) < length;
    let repeat = at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION).address();
    let act = if command.writes() && covers(at::AL_CONTROL.address()) {
        let behind = usize::from(at::AL_CONTROL.address().wrapping_sub(start));
        Act::State(*datagram.data.get(behind)? & 0x1F)
    } else if command.writes() && covers(at::RESET.address()) {
        Act::Reset
    } else if command.writes() && covers(repeat) && length <= 2 {
        Act::AskAgain
    } else if command.reads() && (covers(at::AL_STATUS.address()) || covers(at::AL_CODE.address())) {
        Act::ReadState
    } else if command.reads() && covers(at::DL_STATUS.address()) {
        Act::ReadLinks
    } else if (at::RECEIVE_ERRORS.address()..at::RECEIVE_ERRORS.address() + 0x14).contains(&start) {
        Act::ReadErrors
    } else {
        return None;
    };
    Some((addressed(datagram, ring)?, act))
}

fn sentence(act: Act, name: &str) -> String {
    match act {
        Act::State(control) => {
            let state = State::from_code(u16::from(control)).map_or("an unknown state", State::name);
            let acknowledges = if control & 0x10 == 0 { "" } else { "acknowledges the error and " };
            format!("the master {acknowledges}requests {state} of {name}")
        }
        Act::Sdo(Sdo { index, sub, writes }, is_again) => {
            let verb = if writes { "write" } else { "read" };
            let again = if is_again { "repeats" } else { "sends" };
            format!("the master {again} the SDO {verb} of {index:#06x}:{sub:02} to {name}")
        }
        Act::Message(1) => format!("the master sends an AoE message to {name}"),
        Act::Message(2) => format!("the master sends an EoE message to {name}"),
        Act::Message(3) => format!("the master sends another CoE message to {name}"),
        Act::Message(4) => format!("the master sends an FoE message to {name}"),
        Act::Message(5) => format!("the master sends an SoE message to {name}"),
        Act::Message(protocol) => format!("the master sends a mailbox of type {protocol} to {name}"),
        Act::AskAgain => format!("the master asks {name} for the last mailbox again"),
        Act::ReadState => format!("the master reads the state of {name}"),
        Act::ReadLinks => format!("the master reads the links of {name}"),
        Act::ReadErrors => format!("the master reads or resets error counters of {name}"),
        Act::Reset => format!("the master resets {name}"),
        Act::ProcessData => "the master exchanges process data".into(),
        Act::Silence => "no frame has come for 100 ms".into(),
        Act::NoProcessData => "no process data have come for 100 ms, other frames have".into(),
    }
}
