// SPDX-License-Identifier: Apache-2.0
//! A ring of terminals stays in OP: a device that left it is led back.

use crate::bus::{Answer, Bus, Wire};
use crate::supervise::{AlTrouble, Event, Exchange, Reaction};

/// Cycles a device has to return to OP before the next request.
const ASK_AGAIN: u64 = 1_000;

/// How a ring stands, by its answers.
#[derive(Debug, Default)]
pub(super) struct Operation {
    /// Every device has been in OP.
    pub(super) begun: bool,
    /// Every device was in OP in the last answer.
    pub(super) all_op: bool,
    pub(super) led_back: u64,
    /// The first device that left OP, or had an error there.
    pub(super) trouble: Option<Event>,
    /// The device asked back last, and in which cycle.
    asked: Option<(u16, u64)>,
}

impl Operation {
    /// A pause of this machine lets the watchdogs of the devices run out; they wait in SAFE-OP for their master.
    pub(super) fn keep<W: Wire>(&mut self, bus: &mut Bus<W>, answer: &Answer, cycle: u64, deadline_ns: u64) {
        let Exchange::Answered { al, .. } = answer.exchange else { return };
        self.led_back += u64::from(!self.all_op && answer.all_op && self.begun);
        (self.all_op, self.begun) = (answer.all_op, self.begun || answer.all_op);
        let Some(trouble) = al.filter(|_| self.begun) else { return };
        let AlTrouble { device, status, .. } = trouble;
        if self.trouble.is_none() {
            let (kind, device, status, _) = trouble.finding();
            self.trouble = Some(Event::new(cycle, kind, device, status, Reaction::None));
        }
        if !self.asked.is_some_and(|(asked, at)| asked == device && cycle - at < ASK_AGAIN) {
            self.asked = Some((device, cycle));
            bus.ask_back(device, status & 0x0F, deadline_ns);
        }
    }
}

/// The terminal's answer: its counter of edges of both directions, and the time of the last rising one, ns.
pub(super) fn stamp<W: Wire>(bus: &Bus<W>, device: usize, count_at: usize, rising_at: usize) -> Option<(u16, u64)> {
    let read = bus.inputs(device, |bytes| {
        let count = bytes.get(count_at..count_at + 2)?.try_into().ok().map(u16::from_le_bytes)?;
        let rising = bytes.get(rising_at..rising_at + 8)?.try_into().ok().map(u64::from_le_bytes)?;
        Some((count, rising))
    });
    read.flatten()
}
