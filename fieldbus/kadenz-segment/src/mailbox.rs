// SPDX-License-Identifier: Apache-2.0
//! The mailbox: headers, protocols, answers that wait for the master.

use crate::al::State;
use crate::aoe;
use crate::coe::emergency::Emergency;
use crate::coe::object::{Dictionary, Written};
use crate::coe::sdo::Server;
use crate::coe::{abort, information, Service};
use crate::description::Description;
use crate::eoe;
use crate::esc::sync_manager::SyncManager;
use crate::esc::Esc;
use crate::fault::mailbox::{Fate, Steps};
use crate::foe::{self, server};
use crate::soe;
use crate::voe::{self, VendorSettings};
use std::collections::VecDeque;

/// Length, station address, channel and priority, type and counter.
const HEADER: usize = 6;
const TYPE_ERROR: u8 = 0;
const TYPE_AOE: u8 = 1;
const TYPE_EOE: u8 = 2;
const TYPE_COE: u8 = 3;
const TYPE_FOE: u8 = 4;
const TYPE_SOE: u8 = 5;
const TYPE_VOE: u8 = 15;
/// Emergencies kept while nobody fetches them; the oldest go first, as in small devices.
const EMERGENCIES: usize = 16;
/// Replies kept while nobody fetches them.
const REPLIES: usize = 64;

/// Detail of a mailbox error reply (ETG.1000.4 table 30).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Refusal {
    UnsupportedProtocol = 2,
    ServiceNotSupported = 4,
    InvalidHeader = 5,
    SizeTooShort = 6,
    InvalidSize = 8,
}

/// A mailbox header and its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Protocol: 1 is AoE, 2 EoE, 3 CoE, 4 FoE, 5 SoE, 15 VoE.
    pub protocol: u8,
    /// 1 to 7; 0 does not count.
    pub counter: u8,
    /// The bytes behind the header.
    pub body: &'a [u8],
}

/// Takes a mailbox apart; `None` if it is shorter than its header or than its header says.
pub fn parse(bytes: &[u8]) -> Option<Message<'_>> {
    let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
    let length = usize::from(u16::from_le_bytes([header[0], header[1]]));
    Some(Message { protocol: header[5] & 0x0F, counter: header[5] >> 4 & 7, body: rest.get(..length)? })
}

/// Puts a mailbox together.
pub fn assemble(protocol: u8, counter: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u16).to_le_bytes().to_vec();
    bytes.extend([0, 0, 0, protocol | (counter & 7) << 4]);
    bytes.extend(body);
    bytes
}

/// Bytes behind the header of a mailbox, with the size that the master gave it.
fn room(esc: &Esc, number: usize) -> usize {
    esc.manager(number).map_or(0, SyncManager::length).saturating_sub(HEADER)
}

/// Counter in the header of a mailbox; 0 where there is none.
fn counter(mailbox: &[u8]) -> u8 {
    mailbox.get(HEADER - 1).map_or(0, |byte| byte >> 4 & 7)
}

/// Mailbox of one device.
#[derive(Debug, Default)]
pub struct Mailbox {
    server: Server,
    has_coe: bool,
    /// FoE; None where the device has none.
    pub foe: Option<server::Server>,
    /// EoE; None where the device has none.
    pub eoe: Option<Box<eoe::server::Server>>,
    /// AoE: the name that the device gives; None where it has no AoE.
    aoe: Option<String>,
    /// SoE; None where the device has none.
    pub soe: Option<Box<soe::server::Server>>,
    /// VoE; None where the device has none. Its vendor is that of the identity, unless the settings name another.
    pub voe: Option<Box<VendorSettings>>,
    vendor: u32,
    replies: VecDeque<Vec<u8>>,
    emergencies: VecDeque<Emergency>,
    own_counter: u8,
    /// Counter of the last request taken; one that comes again with it is the same, sent twice.
    taken_counter: u8,
    /// The answer that waits for the master, and the answer that it read last: a repeat request brings the latter back.
    offered: Option<Vec<u8>>,
    last_read: Option<Vec<u8>>,
    /// A request has been taken whose reply has not been fetched.
    in_dialogue: bool,
    /// Requests taken since power-on, of any protocol.
    pub requests: u64,
    /// Fault: requests are taken and never answered.
    pub is_silent: bool,
    /// Fault: goes out before the next reply, in the middle of a dialogue.
    pub interrupting: Option<Emergency>,
    /// Faults of single requests and answers.
    pub steps: Steps,
}

impl Mailbox {
    /// A mailbox with the protocols of the description; the network of EoE comes later.
    pub fn new(description: &Description) -> Self {
        let foe = description.foe.then(server::Server::default);
        let aoe = description.aoe.then(|| description.type_name.clone());
        let soe =
            description.soe.then(|| Box::new(soe::server::Server::new(Default::default(), &description.type_name)));
        let voe = description.voe.then(Box::default);
        Self {
            has_coe: description.coe.is_some(),
            foe,
            aoe,
            soe,
            voe,
            vendor: description.identity.vendor,
            ..Self::default()
        }
    }

    /// Queues an emergency. It waits for the end of a dialogue: masters take the next mailbox for their reply.
    pub fn raise(&mut self, emergency: Emergency) {
        if self.emergencies.len() == EMERGENCIES {
            self.emergencies.pop_front();
        }
        self.emergencies.push_back(emergency);
    }

    /// Everything as after power-on, but files and addresses.
    pub fn reset(&mut self) {
        let (has_coe, requests, is_silent) = (self.has_coe, self.requests, self.is_silent);
        let (mut foe, mut eoe, mut soe) = (self.foe.take(), self.eoe.take(), self.soe.take());
        if let Some(soe) = &mut soe {
            soe.reset();
        }
        if let Some(foe) = &mut foe {
            foe.reset();
        }
        if let Some(eoe) = &mut eoe {
            eoe.reset();
        }
        let (aoe, voe, vendor) = (self.aoe.take(), self.voe.take(), self.vendor);
        let mut steps = std::mem::take(&mut self.steps);
        steps.reset();
        *self = Self { has_coe, foe, eoe, aoe, soe, voe, vendor, requests, is_silent, steps, ..Self::default() };
    }

    /// Time alone may put mail into it.
    #[inline]
    pub fn works_by_itself(&self) -> bool {
        self.eoe.is_some() || self.steps.are_at_work() || self.soe.as_ref().is_some_and(|soe| soe.is_running())
    }

    /// Answers that a fault has kept back until now wait for the master. False if there are none.
    #[inline]
    pub fn release(&mut self, now_ns: u64) -> bool {
        self.steps.are_at_work() && self.steps.release(now_ns, &mut self.replies)
    }

    /// Takes a request if there is one, and puts the next mailbox for the master. Gives what an SDO wrote.
    pub fn serve(&mut self, esc: &mut Esc, dictionary: &mut Dictionary, state: State) -> Option<Written> {
        if esc.events.read & 0x02 != 0 {
            esc.events.read &= !0x02;
            self.last_read = self.offered.take();
            self.in_dialogue = !self.replies.is_empty();
        }
        if std::mem::take(&mut esc.events.repeat) {
            self.repeat(esc);
            esc.acknowledge_repeat();
        }
        let mut written = None;
        if esc.events.written & 0x01 != 0 {
            esc.events.written &= !0x01;
            let taken = esc.mailbox(0).map(<[u8]>::to_vec);
            esc.empty_mailbox(0);
            let counter_before = self.taken_counter;
            if let Some(request) = taken.filter(|request| !self.is_repetition(request)) {
                self.requests += 1;
                let fate = self.steps.take(&request);
                if fate == Fate::Lost {
                    // The application has not seen it: the same request once more is a new one.
                    self.taken_counter = counter_before;
                } else if let Fate::Aborted(sdo, code) = fate {
                    self.server.reset();
                    self.reply(assemble(TYPE_COE, counter(&request), &abort::message(sdo.index, sdo.sub, code)));
                    self.in_dialogue = true;
                } else if !self.is_silent {
                    written = self.answer(&request, dictionary, [room(esc, 0), room(esc, 1)], state);
                    self.in_dialogue = !self.replies.is_empty() || self.steps.has_late();
                }
            }
        }
        self.deliver(esc);
        written
    }

    /// The master has lost the answer that it read last, and gets it again, before any newer answer. If the read itself
    /// was lost on its way to the device, the answer still waits: then the answer before it is repeated, as in common stacks.
    fn repeat(&mut self, esc: &mut Esc) {
        let Some(again) = self.last_read.take() else { return };
        let is_unread = esc.mailbox(1).is_some();
        if let Some(unread) = self.offered.take().filter(|_| is_unread) {
            self.replies.push_front(unread);
        }
        esc.empty_mailbox(1);
        if esc.put_mailbox(1, &again) {
            self.offered = Some(again);
        }
    }

    /// The request before, once more (ETG.1000.4, mailbox counter): its return was lost, and it has been worked on.
    fn is_repetition(&mut self, request: &[u8]) -> bool {
        let counter = counter(request);
        // 0 does not take part.
        let is_same = counter != 0 && counter == self.taken_counter;
        if counter != 0 {
            self.taken_counter = counter;
        }
        is_same
    }

    /// Puts the next mailbox for the master, if there is place for it.
    pub(crate) fn deliver(&mut self, esc: &mut Esc) {
        if let Some(emergency) = self.interrupting.take_if(|_| !self.replies.is_empty()) {
            let bytes = self.wrap(emergency);
            self.replies.push_front(bytes);
        }
        if let Some(reply) = self.replies.front() {
            if esc.put_mailbox(1, reply) {
                self.offered = self.replies.pop_front();
            }
        } else if !self.in_dialogue {
            match self.emergencies.front().copied().filter(|_| !self.is_transferring()) {
                Some(emergency) => {
                    if self.offer(esc, TYPE_COE, &emergency.bytes()) {
                        self.emergencies.pop_front();
                    }
                }
                None if self.deliver_notification(esc) => {}
                None => self.deliver_frame(esc),
            }
        }
    }

    /// Puts the next notification of SoE. False if none waits.
    fn deliver_notification(&mut self, esc: &mut Esc) -> bool {
        let Some(notification) = self.soe.as_ref().and_then(|soe| soe.notification()) else { return false };
        if self.offer(esc, TYPE_SOE, &notification) {
            if let Some(soe) = &mut self.soe {
                soe.notification_taken();
            }
        }
        true
    }

    /// Puts the next fragment of an Ethernet frame. A transfer does not stop them: it may never end.
    fn deliver_frame(&mut self, esc: &mut Esc) {
        let Some(mut eoe) = self.eoe.take_if(|_| self.offered.is_none()) else { return };
        let room = room(esc, 1).saturating_sub(eoe::HEADER);
        if let Some(body) = eoe.next_message(room) {
            if self.offer(esc, TYPE_EOE, &body) {
                eoe.message_taken(room);
            }
        }
        self.eoe = Some(eoe);
    }

    /// Puts a mailbox that is not an answer, with a counter of the device's own. False if there is no place.
    fn offer(&mut self, esc: &mut Esc, protocol: u8, body: &[u8]) -> bool {
        let counter = self.own_counter % 7 + 1;
        let bytes = assemble(protocol, counter, body);
        let is_put = esc.put_mailbox(1, &bytes);
        if is_put {
            self.own_counter = counter;
            self.offered = Some(bytes);
        }
        is_put
    }

    fn wrap(&mut self, emergency: Emergency) -> Vec<u8> {
        self.own_counter = self.own_counter % 7 + 1;
        assemble(TYPE_COE, self.own_counter, &emergency.bytes())
    }

    /// A transfer goes on with the master's next request.
    fn is_transferring(&self) -> bool {
        self.server.is_busy() || self.foe.as_ref().is_some_and(server::Server::is_busy)
    }

    /// Answers a request; `rooms` are the bytes behind the mailbox header, to the device and to the master.
    fn answer(
        &mut self,
        request: &[u8],
        dictionary: &mut Dictionary,
        rooms: [usize; 2],
        state: State,
    ) -> Option<Written> {
        let Some(message) = parse(request) else {
            self.refuse(0, Refusal::InvalidSize);
            return None;
        };
        let in_boot = state == State::Boot;
        match message.protocol {
            // Bootstrap is for files alone.
            TYPE_COE if self.has_coe && !in_boot => return self.answer_coe(&message, dictionary, rooms[1], state),
            TYPE_FOE if self.foe.is_some() => self.answer_foe(&message, rooms, in_boot),
            TYPE_EOE if self.eoe.is_some() && !in_boot => self.answer_eoe(&message),
            TYPE_AOE if self.aoe.is_some() && !in_boot => {
                return self.answer_aoe(&message, dictionary, rooms[1], state)
            }
            TYPE_SOE if self.soe.is_some() && !in_boot => self.answer_soe(&message, dictionary, rooms[1], state),
            TYPE_VOE if self.voe.is_some() && !in_boot => self.answer_voe(&message, rooms[1]),
            _ => self.refuse(message.counter, Refusal::UnsupportedProtocol),
        }
        None
    }

    fn answer_foe(&mut self, message: &Message<'_>, rooms: [usize; 2], in_boot: bool) {
        if message.body.len() < foe::HEADER {
            return self.refuse(message.counter, Refusal::SizeTooShort);
        }
        let [inward, outward] = rooms.map(|room| room.saturating_sub(foe::HEADER));
        let passage = server::Passage { inward, outward, in_boot };
        let answer = self.foe.as_mut().and_then(|server| server.answer(message.body, passage));
        if let Some(body) = answer {
            self.reply(assemble(TYPE_FOE, message.counter, &body));
        }
    }

    fn answer_aoe(
        &mut self,
        message: &Message<'_>,
        dictionary: &mut Dictionary,
        room: usize,
        state: State,
    ) -> Option<Written> {
        let name = self.aoe.as_deref().unwrap_or_default();
        match aoe::answer(&mut aoe::Target { dictionary, state, name, room }, message.body) {
            Ok(answer) => {
                self.reply(assemble(TYPE_AOE, message.counter, &answer.bytes));
                return answer.written;
            }
            Err(aoe::Fault::TooShort) => self.refuse(message.counter, Refusal::SizeTooShort),
            Err(aoe::Fault::NoRequest) => self.refuse(message.counter, Refusal::InvalidHeader),
        }
        None
    }

    fn answer_soe(&mut self, message: &Message<'_>, dictionary: &mut Dictionary, room: usize, state: State) {
        use soe::server::{Fault, Target};
        let Some(server) = &mut self.soe else { return };
        match server.answer(&mut Target { dictionary, state, room }, message.body) {
            Ok(parts) => {
                parts.iter().for_each(|part| self.reply(assemble(TYPE_SOE, message.counter, part)));
            }
            Err(Fault::TooShort) => self.refuse(message.counter, Refusal::SizeTooShort),
            Err(Fault::NoRequest) => self.refuse(message.counter, Refusal::InvalidHeader),
        }
    }

    fn answer_voe(&mut self, message: &Message<'_>, room: usize) {
        let Some(settings) = &self.voe else { return };
        match voe::answer(settings, self.vendor, message.body, room) {
            Ok(body) => self.reply(assemble(TYPE_VOE, message.counter, &body)),
            Err(voe::Fault::TooShort) => self.refuse(message.counter, Refusal::SizeTooShort),
            Err(voe::Fault::Unknown) => self.refuse(message.counter, Refusal::InvalidHeader),
            Err(voe::Fault::TooLong) => self.refuse(message.counter, Refusal::InvalidSize),
        }
    }

    fn answer_eoe(&mut self, message: &Message<'_>) {
        use eoe::server::Answer;
        match self.eoe.as_mut().map_or(Answer::None, |server| server.answer(message.body)) {
            Answer::None => {}
            Answer::Reply(body) => self.reply(assemble(TYPE_EOE, message.counter, &body)),
            Answer::TooShort => self.refuse(message.counter, Refusal::SizeTooShort),
            Answer::NotSupported => self.refuse(message.counter, Refusal::ServiceNotSupported),
        }
    }

    fn answer_coe(
        &mut self,
        message: &Message<'_>,
        dictionary: &mut Dictionary,
        room: usize,
        state: State,
    ) -> Option<Written> {
        let Some(header) = message.body.first_chunk::<2>() else {
            self.refuse(message.counter, Refusal::SizeTooShort);
            return None;
        };
        let service = u16::from_le_bytes(*header) >> 12;
        if service == Service::SdoRequest as u16 {
            let answer = self.server.answer(dictionary, message.body, room, state);
            if !answer.bytes.is_empty() {
                self.reply(assemble(TYPE_COE, message.counter, &answer.bytes));
            }
            return answer.written;
        }
        if service == Service::SdoInformation as u16 {
            for part in information::answer(dictionary, message.body, room) {
                self.reply(assemble(TYPE_COE, message.counter, &part));
            }
        } else {
            self.refuse(message.counter, Refusal::ServiceNotSupported);
        }
        None
    }

    fn refuse(&mut self, counter: u8, refusal: Refusal) {
        let [low, high] = (refusal as u16).to_le_bytes();
        self.reply(assemble(TYPE_ERROR, counter, &[1, 0, low, high]));
    }

    fn reply(&mut self, bytes: Vec<u8>) {
        if self.replies.len() < REPLIES {
            self.steps.answer(bytes, &mut self.replies);
        }
    }
}
