// SPDX-License-Identifier: Apache-2.0
//! Faults by script: what goes wrong, when, and for how long.

use crate::error::{from_toml, nearest, SegmentError};
use serde::Deserialize;
use std::path::Path;

/// A fault file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The faults.
    #[serde(default)]
    pub fault: Vec<Fault>,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: Kind,
    /// Device by name, for faults of a device.
    pub device: Option<String>,
    /// It begins with this cycle: frames with process data, counted from 1.
    pub cycle: Option<u64>,
    /// It begins with this frame of any kind, counted from 1.
    pub frame: Option<u64>,
    /// It begins at this time after the first frame, ms.
    pub time_ms: Option<f64>,
    /// It begins with this mailbox request to the device, counted from 1.
    pub request: Option<u64>,
    /// It lasts for so many of the same (cycles, frames, requests), from a time on for so many frames; absent without
    /// `lasting_ms`: 1 for faults of frames, for ever for others.
    pub count: Option<u64>,
    /// It lasts for this long, ms.
    pub lasting_ms: Option<f64>,
    /// Lateness of a frame, µs.
    pub delay_us: Option<u32>,
    /// What a wrong working counter is off by.
    pub delta: Option<i16>,
    /// Byte of the frame to corrupt, from its first; absent: the last.
    pub byte: Option<usize>,
    /// AL status code, drive error code or emergency code.
    pub code: Option<u16>,
    /// State that a device falls to or refuses: 1, 2, 4 or 8.
    pub state: Option<u8>,
    /// Clock error from then on, ppm.
    pub ppm: Option<f64>,
}

/// What can go wrong.
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
    /// The working counter of each datagram with process data is off.
    WrongCounter,
    /// The cable in front of the device is broken; it heals at the end.
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
    /// The checksum of the EEPROM is wrong.
    EepromChecksum,
    /// DL status of the device says that no port has a link, though frames pass.
    NoLink,
}

const KINDS: [(&str, Kind); 19] = [
    ("lose-frame", Kind::LoseFrame),
    ("lose-return", Kind::LoseReturn),
    ("double-frame", Kind::DoubleFrame),
    ("late-frame", Kind::LateFrame),
    ("corrupt-frame", Kind::CorruptFrame),
    ("wrong-counter", Kind::WrongCounter),
    ("break-cable", Kind::BreakCable),
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
    ("eeprom-checksum", Kind::EepromChecksum),
    ("no-link", Kind::NoLink),
];

impl Kind {
    /// As a fault file names it.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// It concerns frames, not a device.
    pub fn is_of_frames(self) -> bool {
        use Kind::*;
        matches!(self, LoseFrame | LoseReturn | DoubleFrame | LateFrame | CorruptFrame | WrongCounter)
    }
}

impl FaultFile {
    /// Reads a fault file.
    pub fn read(path: &Path) -> Result<Self, SegmentError> {
        let text = std::fs::read_to_string(path).map_err(|source| SegmentError::File {
            action: "read fault file",
            path: path.into(),
            source,
            remedy: "docs/fieldbus/segment.md shows how one looks",
        })?;
        Self::parse(&text, path)
    }

    /// Parses text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SegmentError> {
        let file: Self = toml::from_str(text).map_err(|error| from_toml(path, text, &error))?;
        for (at, fault) in file.fault.iter().enumerate() {
            if let Some(message) = fault.problem() {
                return Err(SegmentError::config(
                    path,
                    format!("fault {at}: {message}"),
                    "docs/fieldbus/segment.md lists the faults",
                ));
            }
        }
        Ok(file)
    }
}

impl Fault {
    /// A fault of a kind with nothing else said.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            device: None,
            cycle: None,
            frame: None,
            time_ms: None,
            request: None,
            count: None,
            lasting_ms: None,
            delay_us: None,
            delta: None,
            byte: None,
            code: None,
            state: None,
            ppm: None,
        }
    }

    /// From the command line: `kind@moment=value,key=value…`, for example `lose-frame@cycle=1000,count=3`.
    pub fn from_argument(text: &str) -> Result<Self, SegmentError> {
        let (kind, rest) = text.split_once('@').unwrap_or((text, ""));
        if !KINDS.iter().any(|(name, _)| *name == kind) {
            let known = nearest(kind, KINDS.iter().map(|(name, _)| *name)).unwrap_or("");
            let message = format!("--fault {text}: unknown kind \"{kind}\"");
            return Err(SegmentError::Usage { message, remedy: format!("Did you mean \"{known}\"?") });
        }
        let mut toml = format!("[[fault]]\nkind = \"{kind}\"\n");
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let is_number = value.parse::<f64>().is_ok() || value.starts_with("0x");
            toml += &if is_number { format!("{key} = {value}\n") } else { format!("{key} = {value:?}\n") };
        }
        let mut file = FaultFile::parse(&toml, Path::new("--fault"))?;
        file.fault.pop().ok_or_else(|| SegmentError::Usage { message: "--fault: empty".into(), remedy: String::new() })
    }

    fn problem(&self) -> Option<String> {
        let moments = [self.cycle.is_some(), self.frame.is_some(), self.time_ms.is_some(), self.request.is_some()];
        if moments.iter().filter(|given| **given).count() != 1 {
            return Some("give one moment: cycle, frame, time_ms or request".into());
        }
        if self.kind.is_of_frames() == self.device.is_some() {
            let what = if self.device.is_some() { "concerns frames and takes no device" } else { "needs a device" };
            return Some(format!("{} {what}", self.kind.name()));
        }
        if self.request.is_some() && self.device.is_none() {
            return Some("request needs a device".into());
        }
        if self.kind == Kind::EmergencyDuringRequest && self.request.is_none() {
            return Some("emergency-during-request needs the moment request".into());
        }
        let needed = match self.kind {
            Kind::LateFrame => ("delay_us", self.delay_us.is_some()),
            Kind::WrongCounter => ("delta", self.delta.is_some()),
            Kind::AlError => ("code and state", self.code.is_some() && self.state.is_some()),
            Kind::RefuseState => ("code and state", self.code.is_some() && self.state.is_some()),
            Kind::ClockDrift => ("ppm", self.ppm.is_some()),
            Kind::DriveFault | Kind::Emergency | Kind::EmergencyDuringRequest => ("code", self.code.is_some()),
            _ => ("", true),
        };
        if !needed.1 {
            return Some(format!("{} needs {}", self.kind.name(), needed.0));
        }
        self.state.is_some_and(|state| ![1, 2, 4, 8].contains(&state)).then(|| "state is 1, 2, 4 or 8".into())
    }
}

/// Where the segment stands when a frame arrives, for comparing with moments.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Number of this frame.
    pub frame: u64,
    /// Number of this cycle, or of the last.
    pub cycle: u64,
    /// The frame carries process data.
    pub is_cyclic: bool,
    /// Since the first frame, ns.
    pub since_start_ns: u64,
}

/// A fault with its progress.
#[derive(Debug, Clone)]
pub struct Running {
    /// The fault.
    pub fault: Fault,
    /// Its device's position.
    pub device: usize,
    /// Active now.
    pub is_active: bool,
    is_over: bool,
    began_ns: u64,
    /// Frames it has concerned since its time.
    concerned: u64,
}

/// A change of a fault's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It begins.
    Begins,
    /// It ends.
    Ends,
}

impl Running {
    /// A fault waiting for its moment.
    pub fn new(fault: Fault, device: usize) -> Self {
        Self { fault, device, is_active: false, is_over: false, began_ns: 0, concerned: 0 }
    }

    /// Looks at the moment. `requests` is the number of mailbox requests the device has taken.
    pub fn update(&mut self, now: &Now, requests: u64) -> Option<Change> {
        if self.is_over {
            return None;
        }
        let ms = |ms: f64| (ms.max(0.0) * 1.0e6) as u64;
        let fault = &self.fault;
        // How far past its beginning: Some(0) is the first of whatever counts.
        let passed = match (fault.cycle, fault.frame, fault.request, fault.time_ms) {
            (Some(cycle), ..) => now.cycle.checked_sub(cycle),
            (_, Some(frame), ..) => now.frame.checked_sub(frame),
            // A request is the next one from when its predecessor has been taken.
            (.., Some(request), _) => (requests + 1).checked_sub(request),
            (.., Some(time_ms)) => now.since_start_ns.checked_sub(ms(time_ms)).map(|_| self.concerned),
            _ => None,
        };
        let default = if fault.kind.is_of_frames() { Some(1) } else { None };
        let count = fault.count.or(if fault.lasting_ms.is_some() { None } else { default });
        if passed.is_some() && !self.is_active {
            self.began_ns = now.since_start_ns;
        }
        if passed.is_some() && (now.is_cyclic || fault.kind != Kind::WrongCounter) {
            self.concerned += 1;
        }
        let outlived = passed.zip(count).is_some_and(|(passed, count)| passed >= count)
            || (passed.is_some()
                && fault.lasting_ms.is_some_and(|lasting| now.since_start_ns - self.began_ns >= ms(lasting)));
        match (self.is_active, passed.is_some(), outlived) {
            (false, true, false) => {
                self.is_active = true;
                Some(Change::Begins)
            }
            (false, true, true) => {
                self.is_over = true;
                None
            }
            (true, _, true) => {
                (self.is_active, self.is_over) = (false, true);
                Some(Change::Ends)
            }
            _ => None,
        }
    }

    /// Does it concern this frame? A fault whose moment is a cycle leaves other frames alone.
    pub fn concerns(&self, now: &Now) -> bool {
        self.is_active && (self.fault.cycle.is_none() || now.is_cyclic)
    }
}
