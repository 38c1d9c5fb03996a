// SPDX-License-Identifier: Apache-2.0
//! The cyclic part of the edge workload: sets and resets the output, reads the stamp of the last rising edge.

use std::sync::mpsc::SyncSender;
use std::sync::Arc;

use kadenz_rt::Clock;

use super::collector::{Collector, Edge};
use super::HALF_PERIOD_NS;
use crate::bus::{Answer, Bus, Wire};
use crate::layout::EdgeLayout;
use crate::message::TaskSample;
use crate::supervise::{AlTrouble, Event, Exchange, Reaction};
use crate::task::{Cyclic, Flow, Overrun, Release, Shared};

/// Cycles until the ring must be in OP.
const START_CYCLES: u64 = 10_000;
/// Cycles without an answer, or without an edge, before it gives up.
const PATIENCE: u64 = 4_000;
/// Cycles a device has to return to OP before the next request.
const ASK_AGAIN: u64 = 1_000;

/// The task that toggles the output and reads the stamps.
pub(super) struct EdgeTask<W: Wire> {
    bus: Bus<W>,
    terminals: EdgeLayout,
    collector: Collector,
    edges: SyncSender<Edge>,
    /// Edges that found no room: the writer has been kept away for longer than the room lasts.
    refused: u64,
    shared: Arc<Shared>,
    cycle: u64,
    /// The pulse made last: half the number of the cycle that set the output.
    pulse: u64,
    operational: bool,
    /// Every device was in OP in the last answer: only then an output makes a pulse.
    all_op: bool,
    /// The device asked back last, and in which cycle.
    asked: Option<(u16, u64)>,
    led_back: u64,
    /// The first device that left OP, or had an error there.
    trouble: Option<Event>,
    idle: u64,
    broken: bool,
}

/// Result of the task.
pub(super) struct End {
    pub(super) collector: Collector,
    /// Why the record is not complete; empty if it is.
    pub(super) reason: &'static str,
    pub(super) led_back: u64,
    refused: u64,
    trouble: Option<Event>,
}

impl End {
    /// Data of the record besides the edges.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        let trouble = self.trouble.map(|event| event.to_string());
        let refused =
            (self.refused > 0).then(|| format!("{} edges could not be written in time and are missed", self.refused));
        let led_back = (self.led_back > 0)
            .then(|| format!("the ring left OP for want of frames and was led back: {} times", self.led_back));
        [trouble, refused, led_back].into_iter().flatten()
    }
}

impl<W: Wire> EdgeTask<W> {
    /// Before its first cycle.
    pub(super) fn new(
        bus: Bus<W>,
        terminals: EdgeLayout,
        wanted: u64,
        edges: SyncSender<Edge>,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            bus,
            terminals,
            collector: Collector::new(wanted),
            edges,
            refused: 0,
            shared,
            cycle: 0,
            pulse: 0,
            operational: false,
            all_op: false,
            asked: None,
            led_back: 0,
            trouble: None,
            idle: 0,
            broken: false,
        }
    }

    /// The clock of the wire.
    pub(super) fn clock(&self) -> &Clock {
        self.bus.clock()
    }

    /// The result, and the bus to leave.
    pub(super) fn finish(self, panicked: bool) -> (End, Bus<W>) {
        let reason = match (panicked, self.broken, self.operational, self.collector.done()) {
            (true, ..) => "the cyclic task panicked",
            (_, true, false, _) => "the ring did not reach OP within 5 s",
            (_, true, ..) => "no edge arrived for 2 s: is the output wired to the input?",
            (.., true) => "",
            _ => "stopped by request",
        };
        let Self { collector, led_back, refused, trouble, bus, .. } = self;
        (End { collector, reason, led_back, refused, trouble }, bus)
    }

    /// Takes the last rising edge that the input terminal reports.
    fn take_edge(&mut self) {
        let (count_at, rising_at) = (self.terminals.count_byte, self.terminals.rising_byte);
        let read = self.bus.inputs(self.terminals.input_device, |bytes| {
            let count = bytes.get(count_at..count_at + 2)?.try_into().ok().map(u16::from_le_bytes)?;
            let rising = bytes.get(rising_at..rising_at + 8)?.try_into().ok().map(u64::from_le_bytes)?;
            Some((count, rising))
        });
        if let Some((count, rising)) = read.flatten() {
            if let Some(edge) = self.collector.see(count, rising, self.pulse) {
                // Neither waits nor allocates; nobody ever waits at the other end.
                self.refused += u64::from(self.edges.try_send(edge).is_err());
            }
        }
    }

    /// A pause of this machine lets the watchdogs of the devices run out; they wait in SAFE-OP for their master.
    fn keep_operational(&mut self, answer: &Answer, deadline_ns: u64) {
        let Exchange::Answered { al, .. } = answer.exchange else { return };
        self.led_back += u64::from(!self.all_op && answer.all_op && self.operational);
        (self.all_op, self.operational) = (answer.all_op, self.operational || answer.all_op);
        let Some(trouble) = al.filter(|_| self.operational) else { return };
        let AlTrouble { device, status, .. } = trouble;
        if self.trouble.is_none() {
            let (kind, device, status, _) = trouble.finding();
            self.trouble = Some(Event::new(self.cycle, kind, device, status, Reaction::None));
        }
        if !self.asked.is_some_and(|(asked, cycle)| asked == device && self.cycle - cycle < ASK_AGAIN) {
            self.asked = Some((device, self.cycle));
            self.bus.ask_back(device, status & 0x0F, deadline_ns);
        }
    }
}

impl<W: Wire> Cyclic for EdgeTask<W> {
    fn step(&mut self, release: Release) -> Flow {
        self.cycle += 1 + u64::from(release.skipped);
        let high = self.all_op && self.cycle % 2 == 0;
        self.bus.outputs(self.terminals.output_device, |bytes| {
            if let Some(first) = bytes.first_mut() {
                *first = u8::from(high);
            }
        });
        // From the start, not the release: a period that is caught up with waits as long for its answer.
        let deadline_ns = release.start_ns + HALF_PERIOD_NS * 3 / 4;
        let answer = self.bus.exchange(deadline_ns);
        let answered = matches!(answer.exchange, Exchange::Answered { .. });
        self.keep_operational(&answer, deadline_ns);
        let before = self.collector.seen;
        if answered && self.operational {
            self.take_edge();
        }
        if high {
            self.pulse = self.cycle / 2;
        }
        self.idle = if self.collector.seen > before { 0 } else { self.idle + 1 };
        self.broken = self.idle > if self.operational { PATIENCE } else { START_CYCLES };
        let over = self.collector.done() || self.broken || self.shared.stop_requested().is_some();
        if over {
            Flow::End
        } else {
            Flow::Continue
        }
    }

    /// A late pulse is a late sample, not a missing one. The application of cereia2011 is derived from IgH's example,
    /// which adds its period to the time of an absolute sleep.
    fn overrun(&self) -> Overrun {
        Overrun::CatchUp
    }

    fn record(&mut self, _: Release, _: TaskSample) {}
}
