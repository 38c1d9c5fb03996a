// SPDX-License-Identifier: Apache-2.0
//! The EoE server of a device: fragments in and out, requests for addresses, time stamps.

use super::fragments::{Assembly, Departure};
use super::parameters::{self, Parameters};
use super::settings::Abilities;
use super::stack::Stack;
use super::{Header, Kind, Outcome};
use std::collections::VecDeque;

/// Answers to requests of a time that wait; a master that fetches none loses the oldest.
const MOST_STAMPS: usize = 16;
/// Ports that the device has: 0 is any, 1 its only.
const PORTS: std::ops::RangeInclusive<u8> = 0..=1;

/// What a message is answered with, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    None,
    /// This message.
    Reply(Vec<u8>),
    /// A mailbox error: the message is shorter than it says.
    TooShort,
    /// A mailbox error: such a message is not for a device.
    NotSupported,
}

/// Ethernet frames of a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Complete frames from the master.
    pub received: u64,
    /// Frames to the master, all fragments fetched or waiting for it.
    pub sent: u64,
    /// Frames with a fragment out of order, for another port, or without a place.
    pub discarded: u64,
}

/// The server of one device.
#[derive(Debug)]
pub struct Server {
    abilities: Abilities,
    parameters: Parameters,
    /// Parameters after power-on.
    initial: Parameters,
    seed: u64,
    stack: Stack,
    assembly: Assembly,
    /// Frames whose sender asked for their time: number and port.
    asked: VecDeque<(u8, u8)>,
    /// Answers with a time.
    stamps: VecDeque<Vec<u8>>,
    departure: Option<Departure>,
    /// Number of the next frame to the master.
    number: u8,
    /// Port that the master used last.
    port: u8,
    counters: Counters,
}

impl Server {
    /// A server after power-on; the seed is of the stack's random numbers.
    pub fn new(abilities: Abilities, parameters: Parameters, seed: u64) -> Self {
        Self {
            abilities,
            stack: Stack::new(&parameters, seed),
            initial: parameters.clone(),
            parameters,
            seed,
            assembly: Assembly::default(),
            asked: VecDeque::new(),
            stamps: VecDeque::new(),
            departure: None,
            number: 0,
            port: 0,
            counters: Counters::default(),
        }
    }

    /// Forgets everything, as after power-on.
    pub fn power_on(&mut self) {
        *self = Self::new(self.abilities, self.initial.clone(), self.seed);
    }

    /// The mailbox has closed: frames on their way are lost; addresses and connections stay.
    pub fn reset(&mut self) {
        self.assembly.reset();
        self.stack.drop_frames();
        self.asked.clear();
        self.stamps.clear();
        self.departure = None;
    }

    /// Present addresses.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Frames until now.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Takes one message.
    pub fn answer(&mut self, body: &[u8]) -> Answer {
        let Some((header, rest)) = Header::parse(body) else { return Answer::TooShort };
        match Kind::from_byte(header.kind) {
            Some(Kind::Fragment) => {
                self.take_fragment(&header, rest);
                Answer::None
            }
            Some(Kind::SetIp) => self.set_ip(&header, rest),
            Some(Kind::GetIp) => {
                let answer = Header::whole(Kind::GetIpResponse, header.port, Outcome::Success as u16);
                Answer::Reply(answer.message(&self.parameters.bytes()))
            }
            Some(Kind::SetFilter) => reply(Kind::SetFilterResponse, &header, Outcome::NoFilterSupport),
            Some(Kind::GetFilter) => reply(Kind::GetFilterResponse, &header, Outcome::NoFilterSupport),
            // Answers are the device's to give.
            _ => Answer::NotSupported,
        }
    }

    fn take_fragment(&mut self, header: &Header, data: &[u8]) {
        let was_under_way = self.assembly.is_under_way();
        match self.assembly.take(header, data) {
            Ok(Some(frame)) => {
                self.port = frame.port;
                let is_ours = PORTS.contains(&frame.port);
                if is_ours && frame.wants_stamp {
                    self.asked.truncate(MOST_STAMPS - 1);
                    self.asked.push_back((frame.number, frame.port));
                }
                self.counters.received += 1;
                if !is_ours || !self.stack.receive(frame.bytes) {
                    self.counters.discarded += 1;
                }
            }
            // A first fragment has taken the place of a frame that never ended.
            Ok(None) => {
                let begins = header.second & 0x3F == 0;
                self.counters.discarded += u64::from(begins && was_under_way);
            }
            Err(_) => self.counters.discarded += 1,
        }
    }

    fn set_ip(&mut self, header: &Header, request: &[u8]) -> Answer {
        let outcome = match self.parameters.changed_by(request) {
            Err(parameters::Fault::Short) => return Answer::TooShort,
            _ if !self.abilities.ip => Outcome::NoIpSupport,
            _ if parameters::sets_mac(request) && !self.abilities.mac => Outcome::Unspecified,
            Err(parameters::Fault::Impossible) => Outcome::Unspecified,
            Ok(changed) => {
                self.parameters = changed;
                self.stack.set(&self.parameters);
                Outcome::Success
            }
        };
        reply(Kind::SetIpResponse, header, outcome)
    }

    /// Whether [`Server::work`] has something to do because frames have come.
    pub fn has_arrivals(&self) -> bool {
        !self.asked.is_empty() || self.stack.has_arrivals()
    }

    /// Whether [`Server::work`] has something to do by itself.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.stack.is_due(now_ns)
    }

    /// Lets the stack work. `stamp` is the device's time, ns, modulo 2³².
    pub fn work(&mut self, now_ns: u64, stamp: u32, page: &dyn Fn(&Parameters, &Counters) -> String) {
        for (number, port) in self.asked.drain(..) {
            if self.stamps.len() == MOST_STAMPS {
                self.stamps.pop_front();
            }
            let header =
                Header { has_stamp: true, ..Header::whole(Kind::TimeStamp, port, u16::from(number & 0x0F) << 12) };
            self.stamps.push_back(header.message(&stamp.to_le_bytes()));
        }
        let (parameters, counters) = (&self.parameters, &self.counters);
        self.stack.work(now_ns, stamp, &mut || page(parameters, counters));
    }

    /// The next message to the master, of at most `room` bytes behind the header.
    pub fn next_message(&mut self, room: usize) -> Option<Vec<u8>> {
        if let Some(stamp) = self.stamps.front() {
            return Some(stamp.clone()).filter(|_| room >= 4);
        }
        if self.departure.is_none() {
            let (bytes, stamp) = self.stack.take()?;
            self.departure =
                Some(Departure::new(bytes, self.number, self.port, Some(stamp).filter(|_| self.abilities.stamps)));
            self.number = (self.number + 1) & 0x0F;
            self.counters.sent += 1;
        }
        let message = self.departure.as_ref().and_then(|departure| departure.message(room));
        if message.is_none() {
            // The mailbox is too short for a fragment.
            self.departure = None;
            self.counters.discarded += 1;
        }
        message
    }

    /// The message was taken.
    pub fn message_taken(&mut self, room: usize) {
        if self.stamps.pop_front().is_none() {
            self.departure = self.departure.take().and_then(|departure| departure.after(room));
        }
    }
}

fn reply(kind: Kind, request: &Header, outcome: Outcome) -> Answer {
    Answer::Reply(Header::whole(kind, request.port, outcome as u16).message(&[]))
}
