// SPDX-License-Identifier: Apache-2.0
//! The cyclic part of the edge workload: sets and resets the output. It reads the stamp of the last rising edge, or counts
//! its pulses where another program reads the stamps.

use std::sync::mpsc::SyncSender;
use std::sync::Arc;

use kadenz_rt::Clock;

use super::account::Pulse;
use super::collector::{Collector, Edge};
use super::operation::{stamp, Operation};
use super::HALF_PERIOD_NS;
use crate::bus::{Bus, Wire};
use crate::layout::EdgeLayout;
use crate::message::TaskSample;
use crate::supervise::{Event, Exchange};
use crate::task::{Cyclic, Flow, Overrun, Release, Shared};

/// Cycles until the ring must be in OP.
const START_CYCLES: u64 = 10_000;
/// Cycles without an answer, or without an edge, before it gives up.
const PATIENCE: u64 = 4_000;

/// What the task keeps of its pulses.
pub(super) enum Keeping {
    /// The edges that it reads from its own ring.
    Edges(Collector, SyncSender<Edge>),
    /// The pulses themselves: another program reads their edges.
    Pulses(Train, SyncSender<Pulse>),
}

/// The pulses that were ordered.
#[derive(Debug, Default)]
pub(super) struct Train {
    wanted: u64,
    first: Option<u64>,
    /// Pulses since the first, itself included.
    seen: u64,
    /// The output's level if frames without an answer did not reach it.
    level_if_lost: bool,
    /// Its level if they did.
    level_if_applied: bool,
}

impl Train {
    pub(super) fn new(wanted: u64) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// A cycle with this level of the output; `confirmed` if its frame was answered in OP. Gives the pulse it ordered.
    fn cycle(&mut self, high: bool, confirmed: bool, number: u64) -> Option<Pulse> {
        let was_high = std::mem::replace(&mut self.level_if_applied, high);
        let if_applied = high && !was_high;
        let if_lost = high && confirmed && !self.level_if_lost;
        if confirmed {
            self.level_if_lost = high;
        }
        if !high {
            return None;
        }
        if if_lost || self.first.is_some() {
            self.seen = number - *self.first.get_or_insert(number) + 1;
        }
        let pulse = Pulse { number, if_lost, if_applied };
        Some(pulse)
    }
}

impl Keeping {
    fn seen(&self) -> u64 {
        match self {
            Self::Edges(collector, _) => collector.seen,
            Self::Pulses(train, _) => train.seen,
        }
    }

    fn done(&self) -> bool {
        match self {
            Self::Edges(collector, _) => collector.done(),
            Self::Pulses(train, _) => train.seen >= train.wanted,
        }
    }

    /// Why nothing was seen for as long as the patience lasts.
    fn silence(&self) -> &'static str {
        match self {
            Self::Edges(..) => "no edge arrived for 2 s: is the output wired to the input?",
            Self::Pulses(..) => "the output could not be switched for 2 s",
        }
    }
}

/// The task that toggles the output.
pub(super) struct EdgeTask<W: Wire> {
    bus: Bus<W>,
    terminals: EdgeLayout,
    keeping: Keeping,
    /// Edges or pulses that found no room: the writer has been kept away for longer than the room lasts.
    refused: u64,
    shared: Arc<Shared>,
    cycle: u64,
    /// The pulse made last: half the number of the cycle that set the output.
    pulse: u64,
    operation: Operation,
    idle: u64,
    broken: bool,
}

/// Result of the task.
pub(super) struct End {
    /// Times that changed although the terminal had counted no edge.
    pub(super) uncounted: u64,
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
    pub(super) fn new(bus: Bus<W>, terminals: EdgeLayout, keeping: Keeping, shared: Arc<Shared>) -> Self {
        Self {
            bus,
            terminals,
            keeping,
            refused: 0,
            shared,
            cycle: 0,
            pulse: 0,
            operation: Operation::default(),
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
        let reason = match (panicked, self.broken, self.operation.begun, self.keeping.done()) {
            (true, ..) => "the cyclic task panicked",
            (_, true, false, _) => "the ring did not reach OP within 5 s",
            (_, true, ..) => self.keeping.silence(),
            (.., true) => "",
            _ => "stopped by request",
        };
        let uncounted = match &self.keeping {
            Keeping::Edges(collector, _) => collector.uncounted,
            Keeping::Pulses(..) => 0,
        };
        let Operation { led_back, trouble, .. } = self.operation;
        (End { uncounted, reason, led_back, refused: self.refused, trouble }, self.bus)
    }

    /// Keeps the last rising edge that the input terminal reports, or the pulse that this cycle began.
    fn keep(&mut self, high: bool, answered: bool) {
        let EdgeLayout { input_device, count_byte, rising_byte, .. } = self.terminals;
        // Neither way waits or allocates; nobody ever waits at the other end.
        let refused = match &mut self.keeping {
            Keeping::Edges(collector, edges) if answered && self.operation.begun => {
                let read = stamp(&self.bus, input_device, count_byte, rising_byte);
                let edge = read.and_then(|(count, rising)| collector.see(count, rising, self.pulse));
                edge.is_some_and(|edge| edges.try_send(edge).is_err())
            }
            Keeping::Edges(..) => false,
            Keeping::Pulses(train, pulses) => {
                let confirmed = answered && self.operation.all_op;
                let pulse = train.cycle(high, confirmed, self.cycle / 2);
                pulse.is_some_and(|pulse| pulses.try_send(pulse).is_err())
            }
        };
        self.refused += u64::from(refused);
    }
}

impl<W: Wire> Cyclic for EdgeTask<W> {
    fn step(&mut self, release: Release) -> Flow {
        self.cycle += 1 + u64::from(release.skipped);
        let high = self.operation.all_op && self.cycle % 2 == 0;
        self.bus.outputs(self.terminals.output_device, |bytes| {
            if let Some(first) = bytes.first_mut() {
                *first = u8::from(high);
            }
        });
        // From the start, not the release: a period that is caught up with waits as long for its answer.
        let deadline_ns = release.start_ns + HALF_PERIOD_NS * 3 / 4;
        let answer = self.bus.exchange(deadline_ns);
        let answered = matches!(answer.exchange, Exchange::Answered { .. });
        self.operation.keep(&mut self.bus, &answer, self.cycle, deadline_ns);
        let before = self.keeping.seen();
        self.keep(high, answered);
        if high {
            self.pulse = self.cycle / 2;
        }
        self.idle = if self.keeping.seen() > before { 0 } else { self.idle + 1 };
        self.broken = self.idle > if self.operation.begun { PATIENCE } else { START_CYCLES };
        let over = self.keeping.done() || self.broken || self.shared.stop_requested().is_some();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the pulses with an edge, if frames were lost before the output, and if their answers were.
    fn edges(cycles: &[(bool, bool)]) -> (Vec<u64>, Vec<u64>) {
        let mut train = Train::new(3);
        let numbered = cycles.iter().enumerate();
        let pulses: Vec<_> =
            numbered.filter_map(|(cycle, (high, answered))| train.cycle(*high, *answered, cycle as u64 / 2)).collect();
        let numbers = |has_edge: fn(&Pulse) -> bool| {
            pulses.iter().filter(|pulse| has_edge(pulse)).map(|pulse| pulse.number).collect()
        };
        (numbers(|pulse| pulse.if_lost), numbers(|pulse| pulse.if_applied))
    }

    #[test]
    fn a_reset_that_was_lost_joins_two_pulses() {
        let cycles = [(false, true), (true, true), (false, false), (true, true), (false, true), (true, true)];
        assert_eq!(edges(&cycles), (vec![0, 2], vec![0, 1, 2]));
    }

    #[test]
    fn a_pulse_that_was_lost_with_its_reset_leaves_a_hole() {
        let cycles = [(false, true), (true, false), (false, false), (true, true), (false, true), (true, true)];
        assert_eq!(edges(&cycles), (vec![1, 2], vec![0, 1, 2]));
    }
}
