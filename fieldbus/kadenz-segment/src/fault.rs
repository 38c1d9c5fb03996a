// SPDX-License-Identifier: Apache-2.0
//! Faults by script: what goes wrong, where, when and how often. A fault is a moment, a scope, a kind and a repetition.

mod campaign;
mod kind;
pub mod mailbox;
mod place;
mod progress;
pub mod reaction;
pub mod schedule;

pub use campaign::Campaign;
pub use kind::{Kind, Scope};
pub use place::Place;
pub use progress::{Base, Change, Event, Now, Progress, Running, State};

use crate::command::Command;
use crate::error::{from_toml, line_of, nearest, read_text, SegmentError};
use crate::frame::Datagram;
use crate::ranges;
use kind::KINDS;
use schedule::Schedule;
use serde::Deserialize;
use std::fmt;
use std::path::Path;
use toml::Spanned;

/// A file of faults, each with its time.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The `[[fault]]` tables, in the order of the file.
    #[serde(default)]
    pub fault: Vec<Fault>,
    /// The `[[campaign]]` tables: faults drawn at random.
    #[serde(default)]
    pub campaign: Vec<Campaign>,
    /// Line of each, for messages.
    #[serde(skip)]
    lines: Vec<usize>,
    #[serde(skip)]
    campaign_lines: Vec<usize>,
}

/// One fault: what fails, where and when.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What fails; the other keys have to fit it.
    pub kind: Kind,
    /// Device by name, for faults of a device or at its port; else, with `command` or `register`, whom the datagram is
    /// addressed to.
    pub device: Option<String>,
    /// It begins with this cycle: frames with process data, counted from 1.
    pub cycle: Option<u64>,
    /// It begins with this frame of any kind, counted from 1.
    pub frame: Option<u64>,
    /// It begins at this time after the first frame, ms.
    pub time_ms: Option<f64>,
    /// It begins with this mailbox request to the device, counted from 1.
    pub request: Option<u64>,
    /// It begins with this frame that has such a datagram, counted from 1.
    pub datagram: Option<u64>,
    /// It begins after as many healthy exchanges of process data in a row.
    pub healthy: Option<u64>,
    /// It begins when the device has entered this state: 1, 2, 3, 4 or 8.
    pub enters: Option<u8>,
    /// It begins with an SDO request to the object with this index.
    pub sdo: Option<u16>,
    /// Sub-index of that object; absent: any.
    pub sub: Option<u8>,
    /// Which of the events it begins with, counted from 1; absent: the first.
    pub nth: Option<u64>,
    /// Device of the event by name; absent: the device of the fault.
    pub of: Option<String>,
    /// Duration in the unit of the start (cycles, frames, requests; frames after a start by time or event). Default
    /// without `lasting_ms`: 1 for faults of frames, of requests and with a repetition, unlimited for others.
    pub count: Option<u64>,
    /// It lasts for this long, ms.
    pub lasting_ms: Option<f64>,
    /// It begins again after as many of the unit of its start; for a start by time, ms.
    pub every: Option<u64>,
    /// How often it begins.
    pub repeat: Option<u64>,
    /// Behind this one of the unit of its start, for a start by time ms, it is over.
    pub to: Option<u64>,
    /// Command of a datagram, by name.
    pub command: Option<String>,
    /// Register or memory address that the datagram covers.
    pub register: Option<u16>,
    /// Lateness of a frame or an answer, µs.
    pub delay_us: Option<u32>,
    /// Error of a wrong working counter, mailbox counter or length.
    pub delta: Option<i16>,
    /// Byte of the frame or the answer to corrupt, from its first; absent: the last, of an answer the type (5).
    pub byte: Option<usize>,
    /// AL status code, drive error code or emergency code.
    pub code: Option<u16>,
    /// Abort code of an SDO.
    pub abort: Option<u32>,
    /// State that a device falls to or refuses: 1, 2, 3, 4 or 8.
    pub state: Option<u8>,
    /// Packet of a file's transfer; 0 is the request.
    pub packet: Option<u32>,
    /// How often a packet is answered as busy.
    pub times: Option<u32>,
    /// Clock error from then on, ppm.
    pub ppm: Option<f64>,
    /// Port of the device at which its cable breaks, or a bit error enters; absent: 0. With `attached_to`, port of that
    /// device; absent: 1.
    pub port: Option<u8>,
    /// Device that a hot-connect group joins at, by name; absent: where it was last.
    pub attached_to: Option<String>,
    /// The cable breaks, and heals, this long after the frame has entered the segment, ns; absent: before it comes.
    pub after_ns: Option<u32>,
}

/// Keys of which a fault has one.
const MOMENTS: [&str; 8] = ["cycle", "frame", "time_ms", "request", "datagram", "healthy", "enters", "sdo"];
/// Keys that every kind takes, with its moment.
const COMMON: [&str; 9] = ["device", "sub", "nth", "of", "count", "lasting_ms", "every", "repeat", "to"];

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
        let line = |entry: &Spanned<serde::de::IgnoredAny>| line_of(text, entry.span().start);
        file.lines = lines.fault.iter().map(line).collect();
        file.campaign_lines = lines.campaign.iter().map(line).collect();
        let faults = file.fault.iter().map(Fault::problem).zip(&file.lines);
        let campaigns = file.campaign.iter().map(Campaign::problem).zip(&file.campaign_lines);
        match faults.chain(campaigns).find_map(|(problem, line)| Some((problem?, line))) {
            Some((message, line)) => Err(SegmentError::config(path, format!("line {line}: {message}"), remedy)),
            None => Ok(file),
        }
    }

    /// Checks the faults against the devices of a ring; `path` is for messages.
    pub fn check(&self, places: &[Place], path: &Path) -> Result<(), SegmentError> {
        let mut faults = self.fault.iter().zip(&self.lines);
        faults.try_for_each(|(fault, line)| fault.places_in(places).map(|_| ()).map_err(at_line(path, *line)))
    }

    /// The faults of the file, and behind them those that its campaigns draw; `path` is for messages.
    pub fn faults(&self, places: &[Place], path: &Path) -> Result<Vec<Fault>, SegmentError> {
        self.check(places, path)?;
        let mut faults = self.fault.clone();
        for (campaign, line) in self.campaign.iter().zip(&self.campaign_lines) {
            faults.extend(campaign.draw(places).map_err(at_line(path, *line))?);
        }
        Ok(faults)
    }
}

fn at_line(path: &Path, line: usize) -> impl Fn((String, String)) -> SegmentError + '_ {
    move |(message, remedy)| SegmentError::config(path, format!("line {line}: {message}"), remedy)
}

/// The places of the tables in a file.
#[derive(Deserialize)]
struct Lines {
    #[serde(default)]
    fault: Vec<Spanned<serde::de::IgnoredAny>>,
    #[serde(default)]
    campaign: Vec<Spanned<serde::de::IgnoredAny>>,
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
            datagram: None,
            healthy: None,
            enters: None,
            sdo: None,
            sub: None,
            nth: None,
            of: None,
            count: None,
            lasting_ms: None,
            every: None,
            repeat: None,
            to: None,
            command: None,
            register: None,
            delay_us: None,
            delta: None,
            byte: None,
            code: None,
            abort: None,
            state: None,
            packet: None,
            times: None,
            ppm: None,
            port: None,
            attached_to: None,
            after_ns: None,
        }
    }

    /// From the command line: `kind@moment=value,key=value…`, for example `lose-frame@cycle=1000,count=3`.
    pub fn from_argument(text: &str) -> Result<Self, SegmentError> {
        Self::from_notation(text, "--fault")
    }

    /// As [`Fault::from_argument`]; `origin` is for messages.
    pub fn from_notation(text: &str, origin: &str) -> Result<Self, SegmentError> {
        let (kind, rest) = text.split_once('@').unwrap_or((text, ""));
        if !KINDS.iter().any(|(name, _)| *name == kind) {
            let known = nearest(kind, KINDS.iter().map(|(name, _)| *name)).unwrap_or("");
            let message = format!("{origin} {text}: unknown kind \"{kind}\"");
            return Err(SegmentError::Usage { message, remedy: format!("Did you mean \"{known}\"?") });
        }
        let mut toml = format!("[[fault]]\nkind = \"{kind}\"\n");
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let is_number = value.parse::<f64>().is_ok() || value.starts_with("0x");
            toml += &if is_number { format!("{key} = {value}\n") } else { format!("{key} = {value:?}\n") };
        }
        let mut file = FaultFile::parse(&toml, Path::new(&format!("{origin} {text}"))).map_err(without_line)?;
        file.fault
            .pop()
            .ok_or_else(|| SegmentError::Usage { message: format!("{origin}: empty"), remedy: String::new() })
    }

    /// The mistake in it, whatever the ring is; None if it has none.
    fn problem(&self) -> Option<String> {
        let checks = [
            Self::moment_problem,
            Self::scope_problem,
            Self::key_problem,
            Self::repetition_problem,
            Self::value_problem,
        ];
        checks.iter().find_map(|check| check(self))
    }

    fn moment_problem(&self) -> Option<String> {
        let keys = self.keys();
        let moments = keys.iter().filter(|(key, _)| MOMENTS.contains(key)).count();
        let has_event = self.enters.is_some() || self.sdo.is_some();
        let has_source = has_event || self.request.is_some();
        let source = self.source_key();
        [
            (moments != 1, format!("give one moment: {} or sdo", MOMENTS[..7].join(", "))),
            (has_source && self.source().is_none(), format!("{source} needs a device, or of")),
            (self.of.is_some() && !has_source, "of needs the moment request, enters or sdo".into()),
            (self.nth.is_some() && !has_event, "nth needs the moment enters or sdo".into()),
            (self.sub.is_some() && self.sdo.is_none(), "sub needs the moment sdo".into()),
            (
                self.kind == Kind::EmergencyDuringRequest && self.request.is_none(),
                "emergency-during-request needs the moment request".into(),
            ),
            (self.datagram.is_some() && !self.has_filter(), "datagram needs command or register".into()),
            (
                self.after_ns.is_some() && self.time_ms.is_some(),
                "after_ns counts from a frame: give cycle or frame instead of time_ms".into(),
            ),
        ]
        .into_iter()
        .find_map(|(is_wrong, message)| is_wrong.then_some(message))
    }

    fn scope_problem(&self) -> Option<String> {
        let name = self.kind.name();
        match self.kind.scope() {
            Scope::Frame if self.device.is_none() && self.kind.is_at_port() => Some(format!("{name} needs a device")),
            Scope::Frame if self.device.is_some() && !self.has_filter() && !self.kind.is_at_port() => {
                Some(format!("{name} concerns frames and takes no device without command or register"))
            }
            Scope::Device | Scope::Mailbox if self.device.is_none() => Some(format!("{name} needs a device")),
            Scope::Mailbox if self.counts_requests() && self.of.is_some() => {
                Some(format!("{name} concerns the request itself: give device, not of"))
            }
            Scope::Mailbox if self.lasting_ms.is_some() => {
                Some(format!("{name} concerns requests: give count instead of lasting_ms"))
            }
            _ => None,
        }
    }

    fn key_problem(&self) -> Option<String> {
        let (name, keys) = (self.kind.name(), self.keys());
        let is_known = |key: &str| MOMENTS.contains(&key) || COMMON.contains(&key) || self.kind.takes().contains(&key);
        if let Some((key, _)) = keys.iter().find(|(key, _)| !is_known(key)) {
            return Some(format!("{name} takes no {key}"));
        }
        let needs = self.kind.needs();
        let lacks = needs.iter().any(|needed| !keys.iter().any(|(key, _)| key == needed));
        lacks.then(|| format!("{name} needs {}", needs.join(" and ")))
    }

    fn repetition_problem(&self) -> Option<String> {
        let is_event = self.is_of_event();
        let from = self.cycle.or(self.frame).or(self.request).or(self.datagram);
        let from = from.or(self.time_ms.map(|ms| ms.max(0.0) as u64));
        let is_shorter = !is_event
            && self.time_ms.is_none()
            && self.every.zip(self.count).is_some_and(|(every, count)| every < count);
        [
            (self.count.is_some() && self.lasting_ms.is_some(), "give count or lasting_ms, not both".to_owned()),
            (is_shorter, "every is less than count: it would begin before it ends".into()),
            (
                self.repeat.is_some() && self.every.is_none() && !is_event,
                "repeat needs every, or the moment healthy, enters or sdo".into(),
            ),
            (
                self.to.is_some() && from.is_none(),
                "to needs the moment cycle, frame, request, datagram or time_ms".into(),
            ),
            (self.to.zip(from).is_some_and(|(to, from)| to < from), "to is before the beginning".into()),
        ]
        .into_iter()
        .find_map(|(is_wrong, message)| is_wrong.then_some(message))
    }

    fn value_problem(&self) -> Option<String> {
        let states: &[u8] = if self.kind == Kind::RefuseState { &[2, 3, 4, 8] } else { &[1, 2, 4, 8] };
        if let Some(state) = self.state.filter(|state| !states.contains(state)) {
            let states: Vec<String> = states.iter().map(u8::to_string).collect();
            return Some(format!("state = {state}, for {} state is {}", self.kind.name(), one_of(&states)));
        }
        if let Some(state) = self.enters.filter(|state| ![1, 2, 3, 4, 8].contains(state)) {
            return Some(format!("enters = {state}, a state is 1, 2, 3, 4 or 8"));
        }
        if let Some(command) = self.command.as_deref().filter(|name| Command::from_name(name).is_none()) {
            let known = nearest(&command.to_uppercase(), Command::NAMES.into_iter()).unwrap_or("");
            return Some(format!("command = \"{command}\" is none: did you mean \"{known}\"?"));
        }
        if self.kind == Kind::Join && self.port.is_some() && (self.attached_to.is_none() || self.port == Some(0)) {
            return Some("port of a join is 1, 2 or 3 of the device of attached_to".into());
        }
        match (self.kind, self.delta, self.code) {
            (Kind::WrongCounter, Some(0), _) => Some("delta = 0 leaves the working counter right".into()),
            (Kind::WrongAnswerCounter, Some(delta), _) if delta % 7 == 0 => {
                Some(format!("delta = {delta} leaves the counter right: it goes from 1 to 7"))
            }
            (Kind::WrongAnswerLength, Some(0), _) => Some("delta = 0 leaves the length right".into()),
            (Kind::DriveFault, _, Some(0)) => Some("code = 0 is not a fault of a drive".into()),
            _ => None,
        }
    }

    /// The keys that are given, besides the kind, with their values as the command line takes them.
    fn keys(&self) -> Vec<(&'static str, String)> {
        fn plain<T: ToString>(value: &Option<T>) -> Option<String> {
            value.as_ref().map(T::to_string)
        }
        fn hex(value: Option<u16>) -> Option<String> {
            value.map(|value| format!("{value:#06x}"))
        }
        let keys = [
            ("cycle", plain(&self.cycle)),
            ("frame", plain(&self.frame)),
            ("time_ms", plain(&self.time_ms)),
            ("request", plain(&self.request)),
            ("datagram", plain(&self.datagram)),
            ("healthy", plain(&self.healthy)),
            ("enters", plain(&self.enters)),
            ("sdo", hex(self.sdo)),
            ("sub", plain(&self.sub)),
            ("nth", plain(&self.nth)),
            ("of", self.of.clone()),
            ("device", self.device.clone()),
            ("command", self.command.clone()),
            ("register", hex(self.register)),
            ("count", plain(&self.count)),
            ("lasting_ms", plain(&self.lasting_ms)),
            ("every", plain(&self.every)),
            ("repeat", plain(&self.repeat)),
            ("to", plain(&self.to)),
            ("delay_us", plain(&self.delay_us)),
            ("delta", plain(&self.delta)),
            ("byte", plain(&self.byte)),
            ("code", hex(self.code)),
            ("abort", self.abort.map(|code| format!("{code:#010x}"))),
            ("state", plain(&self.state)),
            ("packet", plain(&self.packet)),
            ("times", plain(&self.times)),
            ("ppm", plain(&self.ppm)),
            ("attached_to", self.attached_to.clone()),
            ("port", plain(&self.port)),
            ("after_ns", plain(&self.after_ns)),
        ];
        keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn source_key(&self) -> &'static str {
        match (self.request, self.enters) {
            (Some(_), _) => "request",
            (_, Some(_)) => "enters",
            _ => "sdo",
        }
    }

    /// Name of the device whose requests, states and SDO requests count.
    fn source(&self) -> Option<&str> {
        self.of.as_deref().or(self.device.as_deref())
    }

    /// It begins with an event, not with a number or a time.
    pub fn is_of_event(&self) -> bool {
        self.healthy.is_some() || self.enters.is_some() || self.sdo.is_some()
    }

    /// A fault of the mailbox whose moment is one of its requests.
    pub fn counts_requests(&self) -> bool {
        self.request.is_some() || self.sdo.is_some()
    }

    /// It concerns certain datagrams.
    pub fn has_filter(&self) -> bool {
        self.command.is_some() || self.register.is_some()
    }

    /// Whether it concerns a datagram. `is_to` says whether that is addressed to the device at a position.
    pub fn fits(&self, datagram: &Datagram<'_>, is_to: impl FnOnce() -> bool) -> bool {
        let command = datagram.command();
        let covers = |register: u16| {
            let behind = usize::from(register.wrapping_sub(datagram.offset()));
            command.addressing().is_physical() && behind < datagram.data.len()
        };
        self.command.as_deref().is_none_or(|name| Command::from_name(name) == Some(command))
            && self.register.is_none_or(covers)
            && (self.device.is_none() || self.kind.is_at_port() || is_to())
    }

    /// When it begins and how often, in the unit of its moment.
    pub fn schedule(&self) -> Schedule {
        let from = self.cycle.or(self.frame).or(self.request).or(self.datagram);
        let is_repeated = self.every.is_some() || self.repeat.is_some();
        let is_once = match self.kind.scope() {
            Scope::Frame => is_repeated || self.to.is_none(),
            Scope::Mailbox => true,
            Scope::Device => is_repeated,
        };
        let is_limited = self.count.is_none() && self.lasting_ms.is_none() && is_once;
        let one_at_least = |repeat: Option<u64>| if self.every.is_none() { repeat.or(Some(1)) } else { repeat };
        Schedule {
            from: from.or(self.nth).unwrap_or(1),
            count: if is_limited { Some(1) } else { self.count },
            every: self.every,
            repeat: one_at_least(self.repeat),
            to: self.to,
        }
    }

    /// Port of the cable that breaks, or at which a bit error enters.
    pub fn port(&self) -> usize {
        self.port.unwrap_or(0).into()
    }

    /// Positions of the device it concerns and of that of its event, 0 for none; (message, remedy) where the ring has no
    /// such device, or one that cannot have the fault.
    pub fn places_in(&self, places: &[Place]) -> Result<(usize, usize), (String, String)> {
        let kind = self.kind.name();
        let position = |name: Option<&str>| match name {
            None => Ok(0),
            Some(name) => places.iter().position(|place| place.name == name).ok_or_else(|| {
                let known = nearest(name, places.iter().map(|place| place.name.as_str())).unwrap_or("");
                (format!("{kind}: no device \"{name}\""), format!("Did you mean \"{known}\"?"))
            }),
        };
        let (device, source) = (position(self.device.as_deref())?, position(self.source())?);
        position(self.attached_to.as_deref())?;
        let place = places.get(device).filter(|_| self.device.is_some());
        let needs_cable = self.kind == Kind::BreakCable || self.kind.is_at_port();
        if let Some(place) = place.filter(|place| needs_cable && !place.has_cable(self.port())) {
            let message = format!("{kind}: device \"{}\" has no cable at port {}", place.name, self.port());
            let remedy = "Name a port that another device is attached to, or serve the ring with two interfaces";
            return Err((message, remedy.into()));
        }
        let lacks = place.and_then(|place| self.kind.lacks(place).map(|(what, fitting)| (&place.name, what, fitting)));
        let of_source = places.get(source).filter(|from| self.counts_requests() && !from.has_mailbox);
        let lacks = lacks.or(of_source.map(|from| (&from.name, "mailbox requests", "drive or analogue terminal")));
        match lacks {
            Some((name, what, fitting)) => {
                Err((format!("{kind}: device \"{name}\" has no {what}"), format!("Name a {fitting}")))
            }
            None => Ok((device, source)),
        }
    }
}

/// As the command line takes it.
impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        write!(out, "{}@{}", self.kind.name(), keys.join(","))
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
