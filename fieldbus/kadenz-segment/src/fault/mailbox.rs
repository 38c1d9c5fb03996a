// SPDX-License-Identifier: Apache-2.0
//! Faults of one step of a mailbox: a request, or its answer.

use super::schedule::Schedule;
use super::{Fault, Kind};
use crate::coe::Service;
use std::collections::VecDeque;

/// Bytes of a mailbox header; its counter is in the upper half of the last one.
const HEADER: usize = 6;
const TYPE: usize = HEADER - 1;
const TYPE_COE: u8 = 3;
/// Faults that wait in one mailbox: more than a file may have.
const MOST_WAITING: usize = 16_384;
/// Late answers that are kept; further ones come at once.
const MOST_LATE: usize = 64;

/// An SDO request that names an object; a segment names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdo {
    /// Index of the object.
    pub index: u16,
    /// Sub-index.
    pub sub: u8,
    /// The master writes.
    pub writes: bool,
}

impl Sdo {
    /// Of a whole mailbox, if it holds the first message of an SDO transfer.
    pub fn of(mailbox: &[u8]) -> Option<Self> {
        let [.., kind] = *mailbox.first_chunk::<HEADER>()?;
        let [_, service, command, low, high, sub] = *mailbox.get(HEADER..)?.first_chunk()?;
        let is_sdo = kind & 0x0F == TYPE_COE && service >> 4 == Service::SdoRequest as u8;
        let writes = match command >> 5 {
            1 => true,
            2 => false,
            _ => return None,
        };
        is_sdo.then(|| Self { index: u16::from_le_bytes([low, high]), sub, writes })
    }
}

/// A fault that waits for requests.
#[derive(Debug, Clone)]
struct Rule {
    number: u32,
    fault: Fault,
    schedule: Schedule,
    /// Requests so far that it counts.
    seen: u64,
}

impl Rule {
    fn counts(&self, sdo: Option<Sdo>) -> bool {
        let fault = &self.fault;
        let is_wanted = |sdo: Sdo| fault.sdo == Some(sdo.index) && fault.sub.is_none_or(|sub| sub == sdo.sub);
        (fault.sdo.is_none() || sdo.is_some_and(is_wanted)) && (fault.kind != Kind::AbortRequest || sdo.is_some())
    }
}

/// A fault that has met a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Number of the fault.
    pub number: u32,
    /// The request, where it is an SDO.
    pub sdo: Option<Sdo>,
    /// The fault is over with it.
    pub is_last: bool,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The application works on it.
    Served,
    /// The application never learns of it.
    Lost,
    /// It is answered by this code.
    Aborted(Sdo, u32),
}

/// The faults of a mailbox. Empty, they cost a look at two lengths.
#[derive(Debug, Default)]
pub struct Steps {
    rules: Vec<Rule>,
    /// What the answer to the request of now meets.
    met: Vec<Fault>,
    /// Late answers, with the time when each is due.
    late: VecDeque<(u64, Vec<u8>)>,
    /// What has met a request since the last look.
    pub hits: Vec<Hit>,
    /// The last SDO request that was taken, until somebody looks.
    pub taken: Option<Sdo>,
    now_ns: u64,
}

impl Steps {
    /// Lets a fault wait for requests, counted from `seen` on. False if too many wait.
    pub fn add(&mut self, number: u32, fault: Fault, seen: u64) -> bool {
        let mut schedule = fault.schedule();
        if !fault.counts_requests() {
            // It was its moment that has been repeated: now come the requests.
            schedule =
                Schedule { from: 1, count: Some(fault.count.unwrap_or(1)), every: None, repeat: Some(1), to: None };
        }
        let has_room = self.rules.len() < MOST_WAITING;
        if has_room {
            self.rules.push(Rule { number, fault, schedule, seen });
        }
        has_room
    }

    /// Removes one fault by its number, or all.
    pub fn remove(&mut self, number: Option<u32>) {
        self.rules.retain(|rule| number.is_some_and(|number| rule.number != number));
    }

    /// A request has come. Decides what happens to it.
    pub fn take(&mut self, request: &[u8]) -> Fate {
        let sdo = Sdo::of(request);
        self.taken = sdo;
        self.met.clear();
        for rule in &mut self.rules {
            if rule.counts(sdo) {
                rule.seen += 1;
                if rule.schedule.holds(rule.seen) {
                    let is_last = rule.schedule.is_past(rule.seen);
                    self.hits.push(Hit { number: rule.number, sdo, is_last });
                    self.met.push(rule.fault.clone());
                }
            }
        }
        self.rules.retain(|rule| !rule.schedule.is_past(rule.seen));
        let met = |kind| self.met.iter().find(|fault| fault.kind == kind);
        if met(Kind::LoseRequest).is_some() {
            return Fate::Lost;
        }
        let abort = met(Kind::AbortRequest).and_then(|fault| fault.abort).zip(sdo);
        abort.map_or(Fate::Served, |(code, sdo)| Fate::Aborted(sdo, code))
    }

    /// Puts an answer to the replies, as the faults leave it.
    pub fn answer(&mut self, mut bytes: Vec<u8>, replies: &mut VecDeque<Vec<u8>>) {
        let (mut copies, mut delay_ns) = (1, None);
        for fault in &self.met {
            let delta = fault.delta.unwrap_or(0);
            match fault.kind {
                Kind::LoseAnswer => copies = 0,
                Kind::DoubleAnswer => copies = 2,
                Kind::LateAnswer => delay_ns = fault.delay_us.map(|us| u64::from(us) * 1000),
                Kind::CorruptAnswer => {
                    let last = bytes.len().saturating_sub(1);
                    if let Some(byte) = bytes.get_mut(fault.byte.unwrap_or(TYPE).min(last)) {
                        *byte ^= 0xFF;
                    }
                }
                Kind::WrongAnswerCounter => miscount(&mut bytes, delta),
                Kind::WrongAnswerLength => {
                    if let Some(length) = bytes.first_chunk_mut::<2>() {
                        *length = u16::from_le_bytes(*length).wrapping_add_signed(delta).to_le_bytes();
                    }
                }
                _ => {}
            }
        }
        for _ in 0..copies {
            match delay_ns {
                Some(delay_ns) if self.late.len() < MOST_LATE => {
                    self.late.push_back((self.now_ns.saturating_add(delay_ns), bytes.clone()));
                }
                _ => replies.push_back(bytes.clone()),
            }
        }
    }

    /// A fault waits, or an answer does.
    #[inline]
    pub fn are_at_work(&self) -> bool {
        !(self.rules.is_empty() && self.late.is_empty())
    }

    /// Time goes on: late answers that are due join the replies.
    pub fn release(&mut self, now_ns: u64, replies: &mut VecDeque<Vec<u8>>) -> bool {
        self.now_ns = now_ns;
        let waiting = replies.len();
        while let Some(at) = self.late.iter().position(|(due_ns, _)| *due_ns <= now_ns) {
            replies.extend(self.late.remove(at).map(|(_, bytes)| bytes));
        }
        replies.len() > waiting
    }

    /// An answer waits for its time.
    pub fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// The device starts anew: answers are gone, faults stay.
    pub fn reset(&mut self) {
        self.met.clear();
        self.late.clear();
    }
}

/// Shifts the counter of a mailbox header, which goes from 1 to 7.
fn miscount(bytes: &mut [u8], delta: i16) {
    if let Some(byte) = bytes.get_mut(TYPE) {
        let counter = i32::from(*byte >> 4 & 7) - 1 + i32::from(delta);
        *byte = *byte & 0x8F | (counter.rem_euclid(7) as u8 + 1) << 4;
    }
}
