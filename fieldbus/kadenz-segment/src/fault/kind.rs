// SPDX-License-Identifier: Apache-2.0
//! Kinds of faults: what fails, at which scope, and which keys and parts of a device each needs.

use super::Place;
use serde::Deserialize;

/// Failures of a device or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The frame is lost before any device has seen it.
    LoseFrame,
    /// The devices work on the frame; it is lost on the way back.
    LoseReturn,
    /// The frame comes back twice.
    DoubleFrame,
    /// The frame comes back late.
    LateFrame,
    /// A byte of the returned frame is wrong.
    CorruptFrame,
    /// A bit of the frame is wrong from a port on.
    BitError,
    /// A symbol of the frame is none from a port on: the PHY sees it.
    SymbolError,
    /// The working counter of each datagram with process data is off.
    WrongCounter,
    /// The cable at a port of the device is broken; it heals at the end.
    BreakCable,
    /// The device has no power; it starts anew at the end.
    DeviceGone,
    /// The device loses power for a moment.
    DeviceReset,
    /// The device passes frames on and works on none.
    DeviceDeaf,
    /// The device falls to a state with an error code.
    AlError,
    /// The device refuses to enter a state.
    RefuseState,
    /// The drive reports a fault.
    DriveFault,
    /// The device's oscillator is off.
    ClockDrift,
    /// The mailbox takes requests and never answers.
    MailboxSilent,
    /// The device sends an emergency, between dialogues.
    Emergency,
    /// The device sends an emergency in front of the reply to the request.
    EmergencyDuringRequest,
    /// The device is busy with a packet of a file's transfer.
    FoeBusy,
    /// The device ends a file's transfer at a packet with an error.
    FoeError,
    /// The checksum of the EEPROM is wrong.
    EepromChecksum,
    /// A hot-connect group is plugged in; it leaves at the end.
    Join,
    /// A hot-connect group is pulled out; it joins again at the end.
    Leave,
    /// DL status of the device says that no port has a link, though frames pass.
    NoLink,
    /// A mailbox request reaches the controller, and the application never learns of it.
    LoseRequest,
    /// A request is worked on; its answer never comes.
    LoseAnswer,
    /// The answer to a request comes late.
    LateAnswer,
    /// The answer to a request comes twice.
    DoubleAnswer,
    /// A byte of the answer is wrong.
    CorruptAnswer,
    /// The mailbox counter of the answer is off.
    WrongAnswerCounter,
    /// The length in the answer's mailbox header is off.
    WrongAnswerLength,
    /// An SDO request is answered by an abort code and not worked on.
    AbortRequest,
}

/// All kinds with their names.
pub const KINDS: [(&str, Kind); 33] = [
    ("lose-frame", Kind::LoseFrame),
    ("lose-return", Kind::LoseReturn),
    ("double-frame", Kind::DoubleFrame),
    ("late-frame", Kind::LateFrame),
    ("corrupt-frame", Kind::CorruptFrame),
    ("bit-error", Kind::BitError),
    ("symbol-error", Kind::SymbolError),
    ("wrong-counter", Kind::WrongCounter),
    ("break-cable", Kind::BreakCable),
    ("join", Kind::Join),
    ("leave", Kind::Leave),
    ("device-gone", Kind::DeviceGone),
    ("device-reset", Kind::DeviceReset),
    ("device-deaf", Kind::DeviceDeaf),
    ("al-error", Kind::AlError),
    ("refuse-state", Kind::RefuseState),
    ("drive-fault", Kind::DriveFault),
    ("clock-drift", Kind::ClockDrift),
    ("mailbox-silent", Kind::MailboxSilent),
    ("emergency", Kind::Emergency),
    ("emergency-during-request", Kind::EmergencyDuringRequest),
    ("foe-busy", Kind::FoeBusy),
    ("foe-error", Kind::FoeError),
    ("eeprom-checksum", Kind::EepromChecksum),
    ("no-link", Kind::NoLink),
    ("lose-request", Kind::LoseRequest),
    ("lose-answer", Kind::LoseAnswer),
    ("late-answer", Kind::LateAnswer),
    ("double-answer", Kind::DoubleAnswer),
    ("corrupt-answer", Kind::CorruptAnswer),
    ("wrong-answer-counter", Kind::WrongAnswerCounter),
    ("wrong-answer-length", Kind::WrongAnswerLength),
    ("abort-request", Kind::AbortRequest),
];

/// What a fault concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Frames, or those with a certain datagram.
    Frame,
    /// A device, or one of its ports.
    Device,
    /// One request to a mailbox, and its answer.
    Mailbox,
}

impl Kind {
    /// As a fault file names it.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// What it concerns.
    pub fn scope(self) -> Scope {
        use Kind::*;
        match self {
            LoseFrame | LoseReturn | DoubleFrame | LateFrame | CorruptFrame | BitError | SymbolError | WrongCounter => {
                Scope::Frame
            }
            LoseRequest | LoseAnswer | LateAnswer | DoubleAnswer | CorruptAnswer | WrongAnswerCounter
            | WrongAnswerLength | AbortRequest => Scope::Mailbox,
            _ => Scope::Device,
        }
    }

    /// It lets a hot-connect group join or leave.
    pub fn is_of_group(self) -> bool {
        matches!(self, Self::Join | Self::Leave)
    }

    /// It concerns frames that come in at a port of a device.
    pub fn is_at_port(self) -> bool {
        matches!(self, Self::BitError | Self::SymbolError)
    }

    /// Keys that it takes besides moment, repetition and device.
    pub(super) fn takes(self) -> &'static [&'static str] {
        use Kind::*;
        match self {
            LateFrame => &["delay_us", "command", "register"],
            CorruptFrame => &["byte", "command", "register"],
            BitError | SymbolError => &["port", "command", "register"],
            WrongCounter => &["delta", "command", "register"],
            LoseFrame | LoseReturn | DoubleFrame => &["command", "register"],
            AlError | RefuseState => &["code", "state"],
            ClockDrift => &["ppm"],
            BreakCable => &["port", "after_ns"],
            Join => &["attached_to", "port"],
            FoeBusy => &["packet", "times"],
            FoeError => &["packet", "code"],
            DriveFault | Emergency | EmergencyDuringRequest => &["code"],
            LateAnswer => &["delay_us"],
            CorruptAnswer => &["byte"],
            WrongAnswerCounter | WrongAnswerLength => &["delta"],
            AbortRequest => &["abort"],
            _ => &[],
        }
    }

    /// The keys that it needs.
    pub(super) fn needs(self) -> Vec<&'static str> {
        const OPTIONAL: [&str; 6] = ["byte", "port", "after_ns", "command", "register", "attached_to"];
        self.takes().iter().copied().filter(|key| !OPTIONAL.contains(key)).collect()
    }

    /// The part that a device lacks for it, and the devices that have it.
    pub(super) fn lacks(self, place: &Place) -> Option<(&'static str, &'static str)> {
        use Kind::*;
        match self {
            Join | Leave if !place.is_group => Some(("hot-connect group", "device with hot_connect in the ring file")),
            DriveFault if !place.is_drive => Some(("drive", "drive")),
            ClockDrift if !place.has_clock => Some(("distributed clock", "device with one")),
            MailboxSilent | Emergency | EmergencyDuringRequest if !place.has_mailbox => MAILBOX,
            FoeBusy | FoeError if !place.has_foe => {
                Some(("FoE", "device with it, for example a drive without an ESI file"))
            }
            AbortRequest if !place.has_coe => Some(("CoE", "drive or analogue terminal")),
            _ if self.scope() == Scope::Mailbox && !place.has_mailbox => MAILBOX,
            _ => None,
        }
    }
}

const MAILBOX: Option<(&str, &str)> = Some(("mailbox", "drive or analogue terminal"));
