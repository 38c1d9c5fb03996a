// SPDX-License-Identifier: Apache-2.0
//! A fault with its progress: when it begins, when it ends, how often.

use super::schedule::Schedule;
use super::{Fault, Kind, Scope};
use crate::al;
use std::sync::Arc;

/// Where the segment stands when a frame arrives, for comparing with moments.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Number of this frame.
    pub frame: u64,
    /// Number of this cycle, or of the last.
    pub cycle: u64,
    /// The frame carries process data.
    pub is_cyclic: bool,
    /// World time, ns.
    pub world_ns: u64,
    /// Since the first frame, ns.
    pub since_start_ns: u64,
}

/// What a fault counts from: the start of the segment, or where it stood when the fault was injected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Base {
    /// Cycles before.
    pub cycles: u64,
    /// Frames before.
    pub frames: u64,
    /// Requests to the device before.
    pub requests: u64,
    /// Time, ns after the first frame.
    pub since_start_ns: u64,
}

/// An event that may begin a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A device has entered a state.
    Entered(usize, al::State),
    /// A device has taken an SDO request: index and sub-index.
    Sdo(usize, u16, u8),
}

/// How far a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has not begun, or begins again.
    Waits,
    /// It has begun and not ended.
    Active,
    /// It does not begin again.
    Over,
}

/// A fault and how far it is, for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Number of the fault, from 1.
    pub number: u32,
    /// The fault as the command line takes it.
    pub text: Arc<str>,
    /// How far it is.
    pub state: State,
    /// How often it has begun.
    pub begun: u64,
}

/// A fault with its progress.
#[derive(Debug, Clone)]
pub struct Running {
    /// The fault as a file or an argument describes it.
    pub fault: Fault,
    /// Number of it, from 1.
    pub number: u32,
    /// The fault as the command line takes it.
    pub text: Arc<str>,
    /// As the log names it.
    pub label: Arc<str>,
    /// Position of its device in the ring; 0 where it names none.
    pub device: usize,
    /// Position of the device of its event.
    pub source: usize,
    /// Whether the fault has begun and not ended.
    pub is_active: bool,
    is_over: bool,
    /// A fault of a mailbox whose moment does not come again.
    has_come: bool,
    begun: u64,
    base: Base,
    schedule: Schedule,
    /// Which beginning it is at, and whether that has ended.
    beginning: Option<u64>,
    is_spent: bool,
    began_ns: u64,
    /// Frames it has concerned since its beginning.
    concerned: u64,
    /// Frames with such a datagram, or events, so far; healthy exchanges in a row.
    seen: u64,
    healthy: u64,
}

/// A change of a fault's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The fault takes effect.
    Begins,
    /// The fault is over; it comes back only if it is repeated.
    Ends,
}

impl Running {
    /// A fault waiting for its moment, of the devices at these positions.
    pub fn new(fault: Fault, number: u32, (device, source): (usize, usize), base: Base) -> Self {
        let place = fault.device.as_ref().map_or(String::new(), |name| format!(" at {name}"));
        let mut schedule = fault.schedule();
        if fault.kind.scope() == Scope::Mailbox {
            // The requests are counted in the mailbox.
            schedule.count = Some(1);
        }
        Self {
            text: fault.to_string().into(),
            label: format!("fault {number}, {}{place}", fault.kind.name()).into(),
            fault,
            number,
            device,
            source,
            is_active: false,
            is_over: false,
            has_come: false,
            begun: 0,
            base,
            schedule,
            beginning: None,
            is_spent: false,
            began_ns: 0,
            concerned: 0,
            seen: 0,
            healthy: 0,
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let state = match (self.is_active, self.is_over) {
            (true, _) => State::Active,
            (_, true) => State::Over,
            _ => State::Waits,
        };
        Progress { number: self.number, text: Arc::clone(&self.text), state, begun: self.begun }
    }

    /// It is over, whatever its schedule is.
    pub fn end(&mut self) {
        (self.is_active, self.is_over) = (false, true);
    }

    /// It does not begin again.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The mailbox has let it concern a request.
    pub fn hit(&mut self, is_last: bool) {
        self.begun += 1;
        self.is_over |= is_last && (self.fault.counts_requests() || self.has_come);
    }

    /// A frame with such a datagram comes.
    pub fn see_datagram(&mut self) {
        self.seen += 1;
    }

    /// An exchange of process data was healthy, or not.
    pub fn see_exchange(&mut self, is_healthy: bool) {
        let Some(wanted) = self.fault.healthy else { return };
        self.healthy = if is_healthy { self.healthy + 1 } else { 0 };
        if self.healthy >= wanted {
            (self.seen, self.healthy) = (self.seen + 1, 0);
        }
    }

    /// An event has happened.
    pub fn see(&mut self, event: Event) {
        let fault = &self.fault;
        self.seen += u64::from(match event {
            Event::Entered(device, state) => device == self.source && fault.enters == Some(state as u8),
            Event::Sdo(device, index, sub) => {
                device == self.source && fault.sdo == Some(index) && fault.sub.is_none_or(|wanted| wanted == sub)
            }
        });
    }

    /// Which beginning this is, from 0, and how far past it: (0, 0) is the first of whatever counts.
    fn place(&self, now: &Now, requests: u64) -> Option<(u64, u64)> {
        let (fault, base) = (&self.fault, &self.base);
        let counted = |beginning| if self.beginning == Some(beginning) { self.concerned } else { 0 };
        if let Some(time_ms) = fault.time_ms {
            let since_ns = now.since_start_ns.checked_sub(base.since_start_ns.saturating_add(ns(time_ms)))?;
            let every_ns = self.schedule.every.map(|ms| ms.saturating_mul(1_000_000));
            let beginning = every_ns.map_or(0, |every_ns| since_ns / every_ns.max(1));
            let end_ns = self.schedule.to.map(|ms| ms.saturating_mul(1_000_000).saturating_add(base.since_start_ns));
            let is_in = end_ns.is_none_or(|end_ns| now.since_start_ns <= end_ns)
                && self.schedule.repeat.is_none_or(|repeat| beginning < repeat);
            return is_in.then(|| (beginning, counted(beginning)));
        }
        if fault.is_of_event() {
            let behind = self.seen.checked_sub(self.schedule.from)?;
            let last = self.schedule.repeat.map_or(u64::MAX, |repeat| repeat.saturating_sub(1));
            let beginning = (behind / self.schedule.every.unwrap_or(1).max(1)).min(last);
            return Some((beginning, counted(beginning)));
        }
        let unit = match (fault.cycle, fault.frame, fault.datagram) {
            (Some(_), ..) => now.cycle.checked_sub(base.cycles)?,
            (_, Some(_), _) => now.frame.checked_sub(base.frames)?,
            (.., Some(_)) => self.seen,
            // A request is the next one from when its predecessor has been taken.
            _ => (requests + 1).checked_sub(base.requests)?,
        };
        self.schedule.place(unit)
    }

    /// Looks at the moment. `requests` is the number of mailbox requests that the device of its event has taken.
    pub fn update(&mut self, now: &Now, requests: u64) -> Option<Change> {
        let is_of_mailbox = self.fault.kind.scope() == Scope::Mailbox;
        if self.is_over || is_of_mailbox && self.fault.counts_requests() {
            return None;
        }
        let place = self.place(now, requests);
        if place.is_some() && place.map(|(beginning, _)| beginning) != self.beginning {
            (self.beginning, self.is_spent) = (place.map(|(beginning, _)| beginning), false);
            (self.began_ns, self.concerned) = (now.since_start_ns, 0);
        }
        if place.is_some() && (now.is_cyclic || self.fault.kind != Kind::WrongCounter) {
            self.concerned += 1;
        }
        let has_passed = place.zip(self.schedule.count).is_some_and(|((_, passed), count)| passed >= count);
        let has_lasted = self.fault.lasting_ms.is_some_and(|lasting| now.since_start_ns - self.began_ns >= ns(lasting));
        self.is_spent |= place.is_some() && (has_passed || has_lasted);
        let holds = place.is_some() && !self.is_spent;
        let change = match (self.is_active, holds) {
            (false, true) => Some(Change::Begins),
            (true, false) => Some(Change::Ends),
            _ => None,
        };
        // A fault of a mailbox begins with the request that it meets.
        self.begun += u64::from(change == Some(Change::Begins) && !is_of_mailbox);
        self.is_active = holds;
        let is_last = self.beginning.zip(self.schedule.repeat).is_some_and(|(at, repeat)| at + 1 >= repeat);
        let is_cut = self.schedule.to.is_some() && self.beginning.is_some() && place.is_none();
        if is_of_mailbox {
            self.has_come |= is_last || is_cut;
        } else {
            self.is_over = !holds && ((self.is_spent && is_last) || is_cut);
        }
        change
    }

    /// As [`Running::update`], for a cable: it breaks or heals at a moment of its own, up to `horizon_ns` after the frame
    /// comes. Gives the moment after the first frame, ns, or `None` for that of the frame, and whether it stands then.
    pub fn update_cable(&mut self, now: &Now, requests: u64, horizon_ns: u64) -> Option<(Option<u64>, bool)> {
        let ahead = Now { since_start_ns: now.since_start_ns.saturating_add(horizon_ns), ..*now };
        match self.update(&ahead, requests)? {
            Change::Begins => {
                let repeated_ns = self.beginning.unwrap_or(0).saturating_mul(self.schedule.every.unwrap_or(0));
                let later_ns = repeated_ns.saturating_mul(1_000_000).saturating_add(self.base.since_start_ns);
                let at_ns = self.fault.time_ms.map(|time_ms| ns(time_ms).saturating_add(later_ns));
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

fn ns(ms: f64) -> u64 {
    (ms.max(0.0) * 1.0e6) as u64
}
