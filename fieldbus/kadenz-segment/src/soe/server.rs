// SPDX-License-Identifier: Apache-2.0
//! The service channel of a drive: elements of an IDN read and written, in fragments where a mailbox is too short, and
//! procedure commands that take their time.

use super::idn::{Idn, Procedure, Source, Write, IDNS};
use super::{element, Operation, Refusal, SoeSettings, ERROR, HEADER, INCOMPLETE};
use crate::al::State;
use crate::coe::abort::Abort;
use crate::coe::object::Dictionary;
use std::collections::VecDeque;

/// Bytes of a write in fragments that are kept; no IDN takes as many.
const MOST_BYTES: usize = 4096;
/// Notifications that wait for the master; the oldest go first.
const MOST_NOTIFICATIONS: usize = 16;

/// State of a procedure command, as element 1 gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Progress {
    Executed = 0x0003,
    Interrupted = 0x0005,
    Executes = 0x0007,
    Failed = 0x000F,
}

/// A procedure command that the master has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    idn: u16,
    procedure: Procedure,
    progress: Progress,
    /// When it ends; `None` until the first step of the grid.
    due_ns: Option<u64>,
}

/// A write whose last fragment has not come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Assembly {
    head: [u8; 2],
    bytes: Vec<u8>,
}

/// The device, as a message sees it.
#[derive(Debug)]
pub struct Target<'a> {
    /// Numbers of the drive.
    pub dictionary: &'a mut Dictionary,
    /// State of the application layer.
    pub state: State,
    /// Bytes of an answer, with its header.
    pub room: usize,
}

/// Why a message has no answer of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than its header, or a mailbox without place for data.
    TooShort,
    /// No request.
    NoRequest,
}

/// SoE of one device.
#[derive(Debug, Clone)]
pub struct Server {
    settings: SoeSettings,
    name: String,
    /// Numbers that the device keeps, and the text, by IDN.
    kept: Vec<(u16, i64)>,
    text: Vec<u8>,
    running: Vec<Running>,
    notifications: VecDeque<[u8; HEADER + 2]>,
    assembly: Option<Assembly>,
}

impl Server {
    /// SoE of a device type of this name.
    pub fn new(settings: SoeSettings, name: &str) -> Self {
        let mut server = Self {
            settings,
            name: name.chars().filter(char::is_ascii).take(60).collect(),
            kept: Vec::new(),
            text: Vec::new(),
            running: Vec::new(),
            notifications: VecDeque::new(),
            assembly: None,
        };
        server.power_on();
        server
    }

    /// Replaces the settings.
    pub fn set(&mut self, settings: SoeSettings) {
        self.settings = settings;
    }

    /// The mailbox starts anew: procedure commands and fragments are gone, data stay.
    pub fn reset(&mut self) {
        self.running.clear();
        self.notifications.clear();
        self.assembly = None;
    }

    /// Everything as after power-on.
    pub fn power_on(&mut self) {
        self.reset();
        self.load_defaults();
    }

    fn load_defaults(&mut self) {
        let default = |idn: &Idn| match idn.source {
            Source::Kept(number) => Some((idn.number, number)),
            _ => None,
        };
        self.kept = IDNS.iter().filter_map(default).collect();
        self.text.clear();
    }

    /// A procedure command executes: time alone ends it.
    #[inline]
    pub fn is_running(&self) -> bool {
        !self.running.is_empty() && self.running.iter().any(|running| running.progress == Progress::Executes)
    }

    /// The next notification for the master.
    pub fn notification(&self) -> Option<[u8; HEADER + 2]> {
        self.notifications.front().copied()
    }

    /// The next notification has found its mailbox.
    pub fn notification_taken(&mut self) {
        self.notifications.pop_front();
    }

    /// A step of the grid: procedure commands that are due end as `carry_out` says. True if one did.
    pub fn work(&mut self, now_ns: u64, mut carry_out: impl FnMut(Procedure) -> bool) -> bool {
        let duration_ns = u64::from(self.settings.procedure_ms) * 1_000_000;
        let (mut has_ended, mut loads_defaults) = (false, false);
        for running in self.running.iter_mut().filter(|running| running.progress == Progress::Executes) {
            let due_ns = *running.due_ns.get_or_insert(now_ns.saturating_add(duration_ns));
            if due_ns > now_ns {
                continue;
            }
            has_ended = true;
            let succeeds = carry_out(running.procedure);
            running.progress = if succeeds { Progress::Executed } else { Progress::Failed };
            loads_defaults |= succeeds && running.procedure == Procedure::LoadDefaults;
            if self.notifications.len() == MOST_NOTIFICATIONS {
                self.notifications.pop_front();
            }
            let ([low, high], [state, _]) = (running.idn.to_le_bytes(), (running.progress as u16).to_le_bytes());
            let head = [Operation::Notification as u8, element::DATA_STATE, low, high];
            self.notifications.push_back([head[0], head[1], head[2], head[3], state, 0]);
        }
        if loads_defaults {
            self.load_defaults();
        }
        has_ended
    }

    /// Answers one message; an answer that is longer than the mailbox comes in fragments, and a fragment has none.
    pub fn answer(&mut self, target: &mut Target<'_>, request: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        let (header, data) = request.split_first_chunk::<HEADER>().ok_or(Fault::TooShort)?;
        let room = target.room.checked_sub(HEADER).filter(|room| *room >= 2).ok_or(Fault::TooShort)?;
        let [first, elements, low, high] = *header;
        let number = u16::from_le_bytes([low, high]);
        let drive = first & 0xE0;
        let is_write = match first & 7 {
            operation if operation == Operation::ReadRequest as u8 => false,
            operation if operation == Operation::WriteRequest as u8 => true,
            _ => return Err(Fault::NoRequest),
        };
        let response = if is_write { Operation::WriteResponse } else { Operation::ReadResponse } as u8;
        let outcome = if is_write {
            let Some(bytes) = self.assemble([first, elements], data) else { return Ok(Vec::new()) };
            let idn = known(drive, number, target.dictionary);
            idn.and_then(|idn| self.write(target, idn, elements, &bytes)).map(|()| Vec::new())
        } else {
            self.assembly = None;
            known(drive, number, target.dictionary).and_then(|idn| self.read(target.dictionary, idn, elements))
        };
        let (flags, bytes) = match outcome {
            Ok(bytes) => (0, bytes),
            Err(refusal) => (ERROR, (refusal as u16).to_le_bytes().to_vec()),
        };
        Ok(fragments(response | drive | flags, elements, number, &bytes, room))
    }

    /// Collects the fragments of a write. Gives all bytes with the last one, `None` before.
    fn assemble(&mut self, [first, elements]: [u8; 2], data: &[u8]) -> Option<Vec<u8>> {
        let head = [first & !INCOMPLETE, elements];
        let mut assembly = self.assembly.take().filter(|assembly| assembly.head == head);
        let assembly = assembly.get_or_insert(Assembly { head, bytes: Vec::new() });
        // One byte too many is enough to refuse it in the end.
        let room = (MOST_BYTES + 1).saturating_sub(assembly.bytes.len());
        assembly.bytes.extend(data.iter().take(room));
        if first & INCOMPLETE == 0 {
            return Some(std::mem::take(&mut assembly.bytes));
        }
        self.assembly = Some(assembly.clone());
        None
    }

    fn read(&self, dictionary: &Dictionary, idn: &Idn, elements: u8) -> Result<Vec<u8>, Refusal> {
        if elements == 0 {
            return Err(Refusal::InvalidElement);
        }
        let mut bytes = Vec::new();
        for bit in (0..8).map(|bit| 1 << bit).filter(|bit| elements & bit != 0) {
            let bound = |bound: fn((i64, i64)) -> i64| idn.range.map(|range| number_bytes(idn, bound(range)));
            match bit {
                element::DATA_STATE => bytes.extend(self.data_state(idn).to_le_bytes()),
                element::NAME => bytes.extend(list(idn.name.as_bytes(), idn.name.len())),
                element::ATTRIBUTE => bytes.extend(idn.attribute().to_le_bytes()),
                element::UNIT if idn.unit.is_empty() => return Err(Refusal::NoUnit),
                element::UNIT => bytes.extend(list(idn.unit.as_bytes(), idn.unit.len())),
                element::MIN => bytes.extend(bound(|range| range.0).ok_or(Refusal::NoMinimum)?),
                element::MAX => bytes.extend(bound(|range| range.1).ok_or(Refusal::NoMaximum)?),
                element::VALUE => bytes.extend(self.value(dictionary, idn)),
                _ => bytes.extend(Self::default_of(idn).ok_or(Refusal::InvalidElement)?),
            }
        }
        Ok(bytes)
    }

    fn running(&self, idn: &Idn) -> Option<&Running> {
        self.running.iter().find(|running| running.idn == idn.number)
    }

    fn data_state(&self, idn: &Idn) -> u16 {
        self.running(idn).map_or(0, |running| running.progress as u16)
    }

    fn default_of(idn: &Idn) -> Option<Vec<u8>> {
        match idn.source {
            Source::Kept(number) => Some(number_bytes(idn, number)),
            Source::Text(most) => Some(list(&[], usize::from(most))),
            _ => None,
        }
    }

    fn value(&self, dictionary: &Dictionary, idn: &Idn) -> Vec<u8> {
        let idns = |fits: fn(&Idn) -> bool| -> Vec<u8> {
            let known = IDNS.iter().filter(|idn| idn.exists(dictionary) && fits(idn));
            known.flat_map(|idn| idn.number.to_le_bytes()).collect()
        };
        let whole = |bytes: &[u8]| list(bytes, bytes.len());
        match idn.source {
            Source::Object(index, sub) => number_bytes(idn, dictionary.number(index, sub)),
            Source::Kept(_) => {
                let kept = self.kept.iter().find(|(number, _)| *number == idn.number);
                number_bytes(idn, kept.map_or(0, |(_, value)| *value))
            }
            Source::Text(most) => list(&self.text, usize::from(most)),
            Source::TypeName => whole(self.name.as_bytes()),
            Source::AllIdns => whole(&idns(|_| true)),
            Source::AllProcedures => whole(&idns(|idn| idn.procedure().is_some())),
            Source::Procedure(_) => {
                let command = match self.running(idn).map(|running| running.progress) {
                    None => 0,
                    Some(Progress::Interrupted) => 1,
                    Some(_) => 3,
                };
                number_bytes(idn, command)
            }
        }
    }

    fn write(&mut self, target: &mut Target<'_>, idn: &Idn, elements: u8, bytes: &[u8]) -> Result<(), Refusal> {
        match elements {
            element::VALUE => {}
            element::NAME => return Err(Refusal::NameReadOnly),
            element::ATTRIBUTE => return Err(Refusal::AttributeReadOnly),
            element::UNIT => return Err(Refusal::UnitReadOnly),
            element::MIN => return Err(Refusal::MinimumReadOnly),
            element::MAX => return Err(Refusal::MaximumReadOnly),
            _ => return Err(Refusal::InvalidElement),
        }
        match idn.write {
            Write::Never => return Err(Refusal::ReadOnly),
            Write::PreOp if target.state != State::PreOp => return Err(Refusal::ProtectedNow),
            _ => {}
        }
        if let Source::Text(most) = idn.source {
            return self.write_text(usize::from(most), bytes);
        }
        let number = number_of(idn, bytes)?;
        match idn.source {
            Source::Object(index, sub) => {
                target.dictionary.download(index, sub, bytes, target.state).map(|_| ()).map_err(refusal)
            }
            Source::Kept(_) => {
                if let Some((_, value)) = self.kept.iter_mut().find(|(known, _)| *known == idn.number) {
                    *value = number;
                }
                Ok(())
            }
            Source::Procedure(procedure) => self.command(idn.number, procedure, number),
            _ => Err(Refusal::ReadOnly),
        }
    }

    /// Text comes with its length, and with a greatest one that does not count.
    fn write_text(&mut self, most: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let (header, text) = bytes.split_first_chunk::<4>().ok_or(Refusal::TooShort)?;
        let length = usize::from(u16::from_le_bytes([header[0], header[1]]));
        if length > most || text.len() > length {
            return Err(Refusal::TooLong);
        }
        self.text = text.get(..length).ok_or(Refusal::TooShort)?.to_vec();
        Ok(())
    }

    /// Sets (3), interrupts (1) or cancels (0) a procedure command.
    fn command(&mut self, idn: u16, procedure: Procedure, command: i64) -> Result<(), Refusal> {
        let running = self.running.iter_mut().find(|running| running.idn == idn);
        match (command, running) {
            (0, _) => self.running.retain(|running| running.idn != idn),
            (3, None) => self.running.push(Running { idn, procedure, progress: Progress::Executes, due_ns: None }),
            (3, Some(running)) if running.progress == Progress::Interrupted => {
                (running.progress, running.due_ns) = (Progress::Executes, None);
            }
            (3, Some(_)) => return Err(Refusal::ProcedureActive),
            (1, Some(running)) if running.progress == Progress::Executes => running.progress = Progress::Interrupted,
            (1, Some(_)) => return Err(Refusal::NotInterruptible),
            (1, None) => return Err(Refusal::NotExecutable),
            _ => return Err(Refusal::Invalid),
        }
        Ok(())
    }
}

/// Gives the numbers of the drive that a master may write their defaults, from the objects as they leave the factory.
pub fn load_defaults(dictionary: &mut Dictionary, pristine: &Dictionary) {
    for idn in IDNS.iter().filter(|idn| idn.write != Write::Never) {
        let Source::Object(index, sub) = idn.source else { continue };
        if let Some(handle) = dictionary.handle(index, sub) {
            dictionary.set(handle, pristine.number(index, sub));
        }
    }
}

/// The IDN of a request; a device is one drive, number 0.
fn known(drive: u8, number: u16, dictionary: &Dictionary) -> Result<&'static Idn, Refusal> {
    if drive != 0 {
        return Err(Refusal::NoIdn);
    }
    Idn::of(number, dictionary)
}

/// Text or a list with its header: present length and greatest one, bytes.
fn list(bytes: &[u8], most: usize) -> Vec<u8> {
    let mut list = (bytes.len() as u16).to_le_bytes().to_vec();
    list.extend((most as u16).to_le_bytes());
    list.extend(bytes);
    list
}

fn number_bytes(idn: &Idn, number: i64) -> Vec<u8> {
    number.to_le_bytes().into_iter().take(idn.shape.bytes().unwrap_or(0)).collect()
}

/// The number in the bytes of a write, within its range.
fn number_of(idn: &Idn, bytes: &[u8]) -> Result<i64, Refusal> {
    let length = idn.shape.bytes().unwrap_or(0);
    match bytes.len().cmp(&length) {
        std::cmp::Ordering::Less => return Err(Refusal::TooShort),
        std::cmp::Ordering::Greater => return Err(Refusal::TooLong),
        std::cmp::Ordering::Equal => {}
    }
    let mut raw = [0; 8];
    raw.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let shift = 64 - 8 * length.clamp(1, 8) as u32;
    let is_signed = matches!(idn.shape, super::idn::Shape::I16 | super::idn::Shape::I32);
    let unsigned = u64::from_le_bytes(raw);
    let number = if is_signed { (unsigned << shift) as i64 >> shift } else { unsigned as i64 };
    match idn.range {
        Some((least, _)) if number < least => Err(Refusal::BelowMinimum),
        Some((_, most)) if number > most => Err(Refusal::AboveMaximum),
        _ => Ok(number),
    }
}

fn refusal(abort: Abort) -> Refusal {
    match abort {
        Abort::ReadOnly => Refusal::ReadOnly,
        Abort::State => Refusal::ProtectedNow,
        Abort::TooLong => Refusal::TooLong,
        Abort::TooShort | Abort::Length => Refusal::TooShort,
        _ => Refusal::Invalid,
    }
}

/// An answer in messages of at most `room` bytes behind the header. All but the last have the number of those left in
/// place of the IDN.
fn fragments(first: u8, elements: u8, number: u16, bytes: &[u8], room: usize) -> Vec<Vec<u8>> {
    let count = bytes.len().div_ceil(room).max(1);
    let mut parts = bytes.chunks(room);
    let message = |at: usize| {
        let left = count - 1 - at;
        let (flag, word) = if left > 0 { (INCOMPLETE, left as u16) } else { (0, number) };
        let mut message = vec![first | flag, elements];
        message.extend(word.to_le_bytes());
        message.extend(parts.next().unwrap_or_default());
        message
    };
    (0..count).map(message).collect()
}
