// SPDX-License-Identifier: Apache-2.0
//! Faults by script: what goes wrong, when, and for how long.

use crate::device::{Device, Function};
use crate::error::{from_toml, line_of, nearest, read_text, SegmentError};
use crate::ranges;
use crate::ring::Ring;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// A file of faults, each with its time.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The `[[fault]]` tables, in the order of the file.
    #[serde(default)]
    pub fault: Vec<Fault>,
    /// Line of each, for messages.
    #[serde(skip)]
    lines: Vec<usize>,
}

/// One fault: what fails, where and when.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What fails; the other keys have to fit it.
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
    /// Duration in the unit of the start (cycles, frames, requests; frames after a start by time). Default without
    /// `lasting_ms`: 1 for faults of frames, unlimited for others.
    pub count: Option<u64>,
    /// It lasts for this long, ms.
    pub lasting_ms: Option<f64>,
    /// Lateness of a frame, µs.
    pub delay_us: Option<u32>,
    /// Error of a wrong working counter.
    pub delta: Option<i16>,
    /// Byte of the frame to corrupt, from its first; absent: the last.
    pub byte: Option<usize>,
    /// AL status code, drive error code or emergency code.
    pub code: Option<u16>,
    /// State that a device falls to or refuses: 1, 2, 3, 4 or 8.
    pub state: Option<u8>,
    /// Packet of a file's transfer; 0 is the request.
    pub packet: Option<u32>,
    /// How often a packet is answered as busy.
    pub times: Option<u32>,
    /// Clock error from then on, ppm.
    pub ppm: Option<f64>,
    /// Port of the device at which its cable breaks; absent: 0.
    pub port: Option<u8>,
    /// The cable breaks, and heals, this long after the frame has entered the segment, ns; absent: before it comes.
    pub after_ns: Option<u32>,
}

/// Keys that a kind takes and does not need.
const OPTIONAL: [&str; 3] = ["byte", "port", "after_ns"];

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
    /// DL status of the device says that no port has a link, though frames pass.
    NoLink,
}

const KINDS: [(&str, Kind); 21] = [
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
    ("foe-busy", Kind::FoeBusy),
    ("foe-error", Kind::FoeError),
    ("eeprom-checksum", Kind::EepromChecksum),
    ("no-link", Kind::NoLink),
];

impl Kind {
    /// As a fault file names it.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Keys that it takes besides moment, length and device.
    fn takes(self) -> &'static [&'static str] {
        use Kind::*;
        match self {
            LateFrame => &["delay_us"],
            CorruptFrame => &["byte"],
            WrongCounter => &["delta"],
            AlError | RefuseState => &["code", "state"],
            ClockDrift => &["ppm"],
            BreakCable => &["port", "after_ns"],
            FoeBusy => &["packet", "times"],
            FoeError => &["packet", "code"],
            DriveFault | Emergency | EmergencyDuringRequest => &["code"],
            _ => &[],
        }
    }

    /// The part that a device lacks for it, and the devices that have it.
    fn lacks(self, device: &Device) -> Option<(&'static str, &'static str)> {
        use Kind::*;
        let is_drive = matches!(device.function, Function::Drive(_));
        match self {
            DriveFault if !is_drive => Some(("drive", "drive")),
            ClockDrift if device.esc.clock.is_none() => Some(("distributed clock", "device with one")),
            MailboxSilent | Emergency | EmergencyDuringRequest if device.mailbox.is_none() => {
                Some(("mailbox", "drive or analogue terminal"))
            }
            FoeBusy | FoeError if device.mailbox.as_ref().is_none_or(|mailbox| mailbox.foe.is_none()) => {
                Some(("FoE", "device with it, for example a drive without an ESI file"))
            }
            _ => None,
        }
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
        Self::parse(&read_text(path, "fault file", "docs/reference/segment.md shows an example")?, path)
    }

    /// Parses text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SegmentError> {
        let remedy = "docs/reference/segment.md lists the faults and their keys";
        ranges::check(path, text, ranges::FAULTS, remedy)?;
        let mut file: Self = toml::from_str(text).map_err(|error| from_toml(path, text, &error, remedy))?;
        let lines: Lines = toml::from_str(text).map_err(|error| from_toml(path, text, &error, remedy))?;
        file.lines = lines.fault.iter().map(|fault| line_of(text, fault.span().start)).collect();
        for (fault, line) in file.fault.iter().zip(&file.lines) {
            if let Some(message) = fault.problem() {
                return Err(SegmentError::config(path, format!("line {line}: {message}"), remedy));
            }
        }
        Ok(file)
    }

    /// Checks the faults against the devices of a ring; `path` is for messages.
    pub fn check(&self, ring: &Ring, path: &Path) -> Result<(), SegmentError> {
        let mut faults = self.fault.iter().zip(&self.lines);
        faults.try_for_each(|(fault, line)| {
            let wrong = |(message, remedy)| SegmentError::config(path, format!("line {line}: {message}"), remedy);
            fault.device_in(ring).map(|_| ()).map_err(wrong)
        })
    }
}

/// The places of the faults in a file.
#[derive(Deserialize)]
struct Lines {
    #[serde(default)]
    fault: Vec<Spanned<serde::de::IgnoredAny>>,
}

impl Fault {
    /// A fault of a kind with no other key given.
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
            packet: None,
            times: None,
            ppm: None,
            port: None,
            after_ns: None,
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
        let mut file = FaultFile::parse(&toml, Path::new(&format!("--fault {text}"))).map_err(without_line)?;
        file.fault.pop().ok_or_else(|| SegmentError::Usage { message: "--fault: empty".into(), remedy: String::new() })
    }

    fn problem(&self) -> Option<String> {
        let moments = [self.cycle.is_some(), self.frame.is_some(), self.time_ms.is_some(), self.request.is_some()];
        if moments.iter().filter(|given| **given).count() != 1 {
            return Some("give one moment: cycle, frame, time_ms or request".into());
        }
        if self.count.is_some() && self.lasting_ms.is_some() {
            return Some("give count or lasting_ms, not both".into());
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
        if let Some((key, _)) = self.given().into_iter().find(|(key, given)| *given && !self.kind.takes().contains(key))
        {
            return Some(format!("{} takes no {key}", self.kind.name()));
        }
        let lacks =
            |key: &&str| !OPTIONAL.contains(key) && self.given().iter().any(|(known, given)| known == key && !given);
        if self.kind.takes().iter().any(lacks) {
            return Some(format!("{} needs {}", self.kind.name(), self.kind.takes().join(" and ")));
        }
        let states: &[u8] = if self.kind == Kind::RefuseState { &[2, 3, 4, 8] } else { &[1, 2, 4, 8] };
        if let Some(state) = self.state.filter(|state| !states.contains(state)) {
            let states: Vec<String> = states.iter().map(u8::to_string).collect();
            return Some(format!("state = {state}, for {} state is {}", self.kind.name(), one_of(&states)));
        }
        if self.after_ns.is_some() && self.time_ms.is_some() {
            return Some("after_ns counts from a frame: give cycle or frame instead of time_ms".into());
        }
        match (self.kind, self.delta, self.code) {
            (Kind::WrongCounter, Some(0), _) => Some("delta = 0 leaves the working counter right".into()),
            (Kind::DriveFault, _, Some(0)) => Some("code = 0 is not a fault of a drive".into()),
            _ => None,
        }
    }

    /// Keys that not every kind takes, and whether they are given.
    fn given(&self) -> [(&'static str, bool); 10] {
        [
            ("delay_us", self.delay_us.is_some()),
            ("delta", self.delta.is_some()),
            ("byte", self.byte.is_some()),
            ("code", self.code.is_some()),
            ("state", self.state.is_some()),
            ("packet", self.packet.is_some()),
            ("times", self.times.is_some()),
            ("ppm", self.ppm.is_some()),
            ("port", self.port.is_some()),
            ("after_ns", self.after_ns.is_some()),
        ]
    }

    /// Port of the cable that breaks.
    pub fn port(&self) -> usize {
        self.port.unwrap_or(0).into()
    }

    /// Position of the device it concerns, 0 for a fault of frames; (message, remedy) where the ring has no such device, or
    /// one that cannot have the fault.
    pub fn device_in(&self, ring: &Ring) -> Result<usize, (String, String)> {
        let Some(name) = &self.device else { return Ok(0) };
        let kind = self.kind.name();
        let Some(position) = ring.position(name) else {
            let known = nearest(name, ring.devices.iter().map(|device| device.name.as_str())).unwrap_or("");
            return Err((format!("{kind}: no device \"{name}\""), format!("Did you mean \"{known}\"?")));
        };
        let Some(device) = ring.devices.get(position) else { return Ok(position) };
        if self.kind == Kind::BreakCable && !ring.topology().has_cable(position, self.port()) {
            let message = format!("{kind}: device \"{name}\" has no cable at port {}", self.port());
            let remedy = "Name a port that another device is attached to, or serve the ring with two interfaces";
            return Err((message, remedy.into()));
        }
        let lacks = self.kind.lacks(device).or_else(|| {
            (self.request.is_some() && device.mailbox.is_none())
                .then_some(("mailbox requests", "drive or analogue terminal"))
        });
        match lacks {
            Some((what, fitting)) => {
                Err((format!("{kind}: device \"{name}\" has no {what}"), format!("Name a {fitting}")))
            }
            None => Ok(position),
        }
    }
}

/// Removes the line number: an argument has no lines, although it was parsed as a file.
fn without_line(error: SegmentError) -> SegmentError {
    let SegmentError::Config { path, message, remedy } = error else { return error };
    let rest = message.strip_prefix("line ").and_then(|rest| Some(rest.split_once(": ")?.1.to_owned()));
    SegmentError::Config { path, message: rest.unwrap_or(message), remedy }
}

fn one_of(words: &[String]) -> String {
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => words.join(""),
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
    /// The fault as a file or an argument describes it.
    pub fault: Fault,
    /// Position of its device in the ring; 0 where it names none.
    pub device: usize,
    /// Whether the fault has begun and not ended.
    pub is_active: bool,
    is_over: bool,
    began_ns: u64,
    /// Frames it has concerned since its time.
    concerned: u64,
}

/// A change of a fault's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The fault takes effect.
    Begins,
    /// The fault is over and does not come back.
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

    /// As [`Running::update`], for a cable: it breaks or heals at a moment of its own, up to `horizon_ns` after the frame
    /// comes. Gives the moment after the first frame, ns, or `None` for that of the frame, and whether it stands then.
    pub fn update_cable(&mut self, now: &Now, requests: u64, horizon_ns: u64) -> Option<(Option<u64>, bool)> {
        let ahead = Now { since_start_ns: now.since_start_ns.saturating_add(horizon_ns), ..*now };
        let change = self.update(&ahead, requests)?;
        let ns = |ms: f64| (ms.max(0.0) * 1.0e6) as u64;
        match change {
            Change::Begins => {
                let at_ns = self.fault.time_ms.map(ns);
                self.began_ns = at_ns.unwrap_or(now.since_start_ns);
                Some((at_ns, false))
            }
            Change::Ends => {
                let lasting_ns = self.fault.lasting_ms.map(ns);
                Some((lasting_ns.map(|lasting_ns| self.began_ns.saturating_add(lasting_ns)), true))
            }
        }
    }

    /// Does it concern this frame? A fault whose moment is a cycle leaves other frames alone.
    pub fn concerns(&self, now: &Now) -> bool {
        self.is_active && (self.fault.cycle.is_none() || now.is_cyclic)
    }
}
