// SPDX-License-Identifier: Apache-2.0
//! The content of a network information file, element by element. Lengths of datagrams are data filled with 0, as the
//! format has it.

use crate::al::State;
use crate::command::Command;
use crate::description::{Identity, Pdo, Purpose};

/// Line of an element in its file, 0 for one that is not from a file. It does not count when networks are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// The master, and its init commands to all devices.
    pub master: Master,
    /// The devices.
    pub slaves: Vec<Slave>,
    /// Cycles with their frames.
    pub cycles: Vec<Cyclic>,
    /// Process image from the devices.
    pub inputs: Option<Image>,
    /// Process image to the devices.
    pub outputs: Option<Image>,
}

/// The master.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Master {
    /// Name of the master.
    pub name: String,
    /// Ethernet address to which frames go.
    pub destination: [u8; 6],
    /// Ethernet address of the master's card.
    pub source: [u8; 6],
    /// Init commands, before or behind those of the devices.
    pub commands: Vec<InitCommand>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slave {
    /// Place in the file.
    pub line: Line,
    /// Name of the device.
    pub name: String,
    /// Station address that the master assigns.
    pub station: Option<u16>,
    /// Auto-increment address: 0 less the place in the ring.
    pub position: Option<u16>,
    /// Vendor, product, revision, and serial number (0: any).
    pub identity: Identity,
    /// Process data, if it has any.
    pub process_data: Option<ProcessData>,
    /// The mailbox, if it has one.
    pub mailbox: Option<Mailbox>,
    /// Init commands.
    pub commands: Vec<InitCommand>,
    /// Ports to which it is, or may be, connected.
    pub previous: Vec<PreviousPort>,
    /// Distributed clock.
    pub clock: Option<Clock>,
}

/// Process data of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProcessData {
    /// In the output image of the master.
    pub send: Vec<Range>,
    /// In the input image of the master.
    pub recv: Vec<Range>,
    /// Sync managers, by number.
    pub managers: Vec<SyncManager>,
    /// PDOs from the master.
    pub rx: Vec<PdoElement>,
    /// PDOs to the master.
    pub tx: Vec<PdoElement>,
}

/// Bits in an image of the master.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    /// Place in the file.
    pub line: Line,
    /// First bit.
    pub start: u32,
    /// Number of bits.
    pub bits: u32,
}

/// A sync manager.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncManager {
    /// Place in the file.
    pub line: Line,
    /// Number of the sync manager.
    pub number: usize,
    /// Whether it holds process data or a mailbox, and whose.
    pub purpose: Purpose,
    /// Length, bytes.
    pub size: Option<u16>,
    /// First byte in the device's memory.
    pub start: u16,
    /// Control byte.
    pub control: u8,
    /// Whether the master activates it.
    pub is_enabled: bool,
    /// PDOs that are assigned to it.
    pub pdos: Vec<u16>,
}

/// A PDO of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct PdoElement {
    /// Place in the file.
    pub line: Line,
    /// Sync manager to which it is assigned.
    pub manager: Option<u8>,
    /// Index, name and entries.
    pub pdo: Pdo,
}

/// A mailbox of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mailbox {
    /// Place in the file.
    pub line: Line,
    /// To the device.
    pub send: Area,
    /// To the master.
    pub recv: Area,
    /// How often the master asks for an answer, ms.
    pub poll_ms: Option<u32>,
    /// To the device and to the master in BOOT.
    pub bootstrap: Option<(Area, Area)>,
    /// Protocols, by number in the mailbox header.
    pub protocols: Vec<u8>,
    /// SDOs.
    pub sdos: Vec<SdoCommand>,
    /// Messages of other protocols.
    pub messages: Vec<MessageCommand>,
}

/// Memory of a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Area {
    /// Place in the file.
    pub line: Line,
    /// First byte in the device's memory.
    pub start: u16,
    /// Length, bytes.
    pub length: u16,
}

/// Names of mailbox protocols, and their numbers in the mailbox header.
pub const PROTOCOLS: [(&str, u8); 6] = [("AoE", 1), ("EoE", 2), ("CoE", 3), ("FoE", 4), ("SoE", 5), ("VoE", 15)];

/// Name of a mailbox protocol.
pub(super) fn protocol_name(number: u8) -> &'static str {
    PROTOCOLS.iter().find(|(_, known)| *known == number).map_or("unknown", |(name, _)| name)
}

/// States in the letters of a transition.
const LETTERS: [(char, State); 5] =
    [('I', State::Init), ('P', State::PreOp), ('B', State::Boot), ('S', State::SafeOp), ('O', State::Op)];
/// The transitions of the format.
pub const TRANSITIONS: [&str; 15] =
    ["II", "IP", "PP", "PO", "PS", "PI", "SS", "SP", "SO", "SI", "OS", "OP", "OI", "IB", "BI"];

/// A change of state, from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition(pub State, pub State);

impl Transition {
    /// By its two letters.
    pub fn from_name(name: &str) -> Option<Self> {
        let state = |letter| LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, state)| *state);
        let mut letters = TRANSITIONS.contains(&name).then_some(name)?.chars();
        Some(Self(state(letters.next()?)?, state(letters.next()?)?))
    }

    /// Its two letters.
    pub fn name(self) -> String {
        let letter = |state| LETTERS.iter().find(|(_, known)| *known == state).map_or('?', |(letter, _)| *letter);
        [letter(self.0), letter(self.1)].iter().collect()
    }
}

/// Names of the states in which a cyclic command is sent.
pub const STATES: [(&str, State); 4] =
    [("INIT", State::Init), ("PREOP", State::PreOp), ("SAFEOP", State::SafeOp), ("OP", State::Op)];

/// What an init command does not share with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requires {
    /// A frame.
    Frame,
    /// A cycle.
    Cycle,
}

/// A datagram with the working counter that it has to come back with.
#[derive(Debug, Clone, PartialEq)]
pub struct Datagram {
    /// Place in the file.
    pub line: Line,
    /// Command.
    pub command: Command,
    /// The 32-bit address field: address and offset, or the logical address.
    pub address: u32,
    /// What is sent.
    pub data: Vec<u8>,
    /// Working counter of a healthy network.
    pub counter: Option<u16>,
}

/// What the data of an init command has to be when it comes back.
#[derive(Debug, Clone, PartialEq)]
pub struct Validate {
    /// Data that are expected.
    pub data: Vec<u8>,
    /// Bits that count; absent: all.
    pub mask: Option<Vec<u8>>,
    /// How long the command is repeated, ms.
    pub timeout_ms: u32,
}

impl Validate {
    /// Whether this has come back.
    pub fn fits(&self, data: &[u8]) -> bool {
        let mask = |at: usize| self.mask.as_ref().map_or(0xFF, |mask| mask.get(at).copied().unwrap_or(0xFF));
        let mut bytes = self.data.iter().enumerate();
        bytes.all(|(at, wanted)| data.get(at).is_some_and(|byte| byte & mask(at) == wanted & mask(at)))
    }
}

/// An init command: a datagram that is sent at transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct InitCommand {
    /// Transitions.
    pub transitions: Vec<Transition>,
    /// Of the master: before the commands of the devices.
    pub before_slave: bool,
    /// What it does, for people.
    pub comment: String,
    /// What it does not share with others.
    pub requires: Option<Requires>,
    /// The datagram.
    pub datagram: Datagram,
    /// How often a master repeats it when the working counter is wrong.
    pub retries: u16,
    /// What has to come back.
    pub validate: Option<Validate>,
}

/// An SDO that is sent at transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct SdoCommand {
    /// Place in the file.
    pub line: Line,
    /// Transitions.
    pub transitions: Vec<Transition>,
    /// What it does, for people.
    pub comment: String,
    /// How long an answer is waited for, ms; 0 says nothing.
    pub timeout_ms: u32,
    /// From the device; else to it.
    pub is_upload: bool,
    /// Object.
    pub index: u16,
    /// Sub-index.
    pub sub: u8,
    /// What is written.
    pub data: Vec<u8>,
    /// All sub-indices at once.
    pub is_complete: bool,
    /// It is not sent.
    pub is_disabled: bool,
}

/// A message of a protocol other than CoE that is sent at transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageCommand {
    /// Place in the file.
    pub line: Line,
    /// Protocol, by number in the mailbox header.
    pub protocol: u8,
    /// Transitions.
    pub transitions: Vec<Transition>,
    /// What it does, for people.
    pub comment: String,
    /// How long an answer is waited for, ms; 0 says nothing.
    pub timeout_ms: u32,
    /// The message behind the mailbox header; absent for SoE, which the file describes by fields.
    pub data: Option<Vec<u8>>,
    /// It is not sent.
    pub is_disabled: bool,
}

/// A port to which a device is, or may be, connected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreviousPort {
    /// Place in the file.
    pub line: Line,
    /// Port of the other device, 0 to 3.
    pub port: u8,
    /// Station address of the other device.
    pub station: Option<u16>,
    /// It is connected there.
    pub is_selected: bool,
}

/// Distributed clock of a device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Clock {
    /// Place in the file.
    pub line: Line,
    /// Its clock is the reference.
    pub is_reference: bool,
    /// Cycle of SYNC0, ns; 0: none.
    pub cycle0_ns: i64,
    /// Cycle of SYNC1 behind that of SYNC0, ns.
    pub cycle1_ns: i64,
    /// Shift of SYNC0, ns.
    pub shift_ns: i64,
}

/// A cycle with its frames.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cyclic {
    /// Cycle time, µs.
    pub cycle_us: Option<u32>,
    /// Frames, in order.
    pub frames: Vec<Frame>,
}

/// A cyclic frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// Datagrams, in order.
    pub commands: Vec<CyclicCommand>,
}

/// A datagram of a cyclic frame.
#[derive(Debug, Clone, PartialEq)]
pub struct CyclicCommand {
    /// States of the master in which it is sent.
    pub states: Vec<State>,
    /// What it does, for people.
    pub comment: String,
    /// The datagram.
    pub datagram: Datagram,
    /// First byte in the input image.
    pub input: Option<u32>,
    /// First byte in the output image.
    pub output: Option<u32>,
}

/// A process image of the master.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Place in the file.
    pub line: Line,
    /// Size, bytes.
    pub bytes: u32,
    /// Named values.
    pub variables: Vec<Variable>,
}

/// A named value in a process image.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Place in the file.
    pub line: Line,
    /// Name, for people.
    pub name: String,
    /// Type, by its name in ESI files.
    pub data_type: Option<String>,
    /// Number of bits.
    pub bits: u32,
    /// First bit.
    pub offset: u32,
}
