// SPDX-License-Identifier: Apache-2.0
//! The edge workload (cereia2011, section II): a 1 kHz pulse train on a digital output, paced by this machine's clock,
//! and the time of each rising edge as an input terminal stamps it with a clock of its own.

use std::io::Write;
use std::sync::Arc;

use kadenz_record::{Begin, Dtype, End, Proof, RecordError, Status, Writer};

use crate::bus::{Bus, Wire};
use crate::error::MotionError;
use crate::interrupt;
use crate::layout::{EdgeLayout, Layout};
use crate::message::TaskSample;
use crate::record::Column;
use crate::rt;
use crate::supervise::Exchange;
use crate::task::{run as run_task, Cyclic, Flow, Release, Shared, StopCategory, Task};

/// Name of the record.
pub const EDGE_JITTER: &str = "ethercat/edge-jitter";
/// Half a period of the pulse train: the output is set in one cycle and reset in the next.
const HALF_PERIOD_NS: u64 = 500_000;
/// Cycles until the ring must be in OP.
const START_CYCLES: u64 = 10_000;
/// Cycles without an answer, or without an edge, before it gives up.
const PATIENCE: u64 = 2_000;

/// What can be chosen.
#[derive(Debug, Clone)]
pub struct EdgeOptions {
    /// Rising edges.
    pub edges: u64,
    /// Processor.
    pub cpu: Option<usize>,
    /// SCHED_FIFO and locked memory.
    pub realtime: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeReport {
    /// Edges with a time.
    pub taken: u64,
    /// Edges without: not made, or stamped while no frame came through.
    pub missed: u64,
}

/// Numbers edges and keeps their times. Pure.
#[derive(Debug)]
struct Collector {
    wanted: u64,
    last: Option<(u16, u64)>,
    first_ns: u64,
    first_pulse: u64,
    /// Pulses since the first, itself included.
    seen: u64,
    times_ns: Vec<f64>,
    /// Of each time: which pulse of the train it is, from 0. Pulses that were missed leave holes.
    numbers: Vec<f64>,
    /// Times that changed although the terminal had counted no edge.
    uncounted: u64,
}

impl Collector {
    fn new(wanted: u64) -> Self {
        let room = wanted as usize;
        let (times_ns, numbers) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Self { wanted, last: None, first_ns: 0, first_pulse: 0, seen: 0, times_ns, numbers, uncounted: 0 }
    }

    /// What the terminal says in the answer of a cycle: its counter of edges of both directions, and the time of the
    /// last rising one. The output is set in even cycles, and the answer of the next one is the first that can know.
    fn see(&mut self, count: u16, rising_ns: u64, cycle: u64) {
        let Some((last_count, last_rising)) = self.last.replace((count, rising_ns)) else { return };
        if rising_ns == last_rising || self.done() {
            return;
        }
        let pulse = cycle.saturating_sub(1) / 2;
        if self.times_ns.is_empty() {
            (self.first_ns, self.first_pulse) = (rising_ns, pulse);
        }
        self.uncounted += u64::from(count == last_count);
        self.seen = pulse - self.first_pulse + 1;
        if self.seen <= self.wanted {
            self.times_ns.push((rising_ns - self.first_ns) as f64);
            self.numbers.push((self.seen - 1) as f64);
        }
    }

    fn done(&self) -> bool {
        self.seen >= self.wanted
    }
}

struct EdgeTask<W: Wire> {
    bus: Bus<W>,
    terminals: EdgeLayout,
    collector: Collector,
    shared: Arc<Shared>,
    cycle: u64,
    operational: bool,
    idle: u64,
    broken: bool,
}

impl<W: Wire> Cyclic for EdgeTask<W> {
    fn step(&mut self, release: Release) -> Flow {
        self.cycle += 1 + u64::from(release.skipped);
        let high = self.operational && self.cycle % 2 == 0;
        self.bus.outputs(self.terminals.output_device, |bytes| {
            if let Some(first) = bytes.first_mut() {
                *first = u8::from(high);
            }
        });
        let answer = self.bus.exchange(release.start_ns + HALF_PERIOD_NS * 3 / 4);
        let answered = matches!(answer.exchange, Exchange::Answered { .. });
        self.operational |= answer.all_op;
        let before = self.collector.seen;
        if answered && self.operational {
            let (count_at, rising_at) = (self.terminals.count_byte, self.terminals.rising_byte);
            let read = self.bus.inputs(self.terminals.input_device, |bytes| {
                let count = bytes.get(count_at..count_at + 2)?.try_into().ok().map(u16::from_le_bytes)?;
                let rising = bytes.get(rising_at..rising_at + 8)?.try_into().ok().map(u64::from_le_bytes)?;
                Some((count, rising))
            });
            if let Some((count, rising)) = read.flatten() {
                self.collector.see(count, rising, self.cycle);
            }
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

    fn record(&mut self, _: Release, _: TaskSample) {}
}

/// Runs the pulse train over `wire` and writes one record.
pub fn edge<W: Wire, O: Write>(
    wire: W,
    layout: &Layout,
    options: &EdgeOptions,
    mut writer: Writer<O>,
    record: u16,
) -> Result<(EdgeReport, Writer<O>), MotionError> {
    let terminals = layout.edge.ok_or_else(|| {
        MotionError::Usage("the layout has no [edge] table. Name the two terminals: docs/fieldbus/motion.md".into())
    })?;
    writer.begin(&Begin {
        record,
        bench: EDGE_JITTER.into(),
        planned: options.edges,
        lanes: vec!["rising".into(), "rising:cycle".into()],
        dtype: Dtype::F8,
        unit: "ns".into(),
        params: [("period_us".to_owned(), 1000), ("n".to_owned(), options.edges as i64)].into(),
        ranks: [("priority".to_owned(), Task::Main.priority().into())].into(),
    })?;
    let shared = Arc::new(Shared::default());
    interrupt::stops(&shared, StopCategory::Zero);
    if let Some(cpu) = options.cpu {
        rt::pin_to_cpu(cpu)?;
    }
    let bus = Bus::bring_up(wire, layout, &[])?;
    let mut task = EdgeTask {
        bus,
        terminals,
        collector: Collector::new(options.edges),
        shared: Arc::clone(&shared),
        cycle: 0,
        operational: false,
        idle: 0,
        broken: false,
    };
    if options.realtime {
        rt::lock_memory()?;
    }
    std::thread::scope(|scope| {
        let run = || -> Result<(), MotionError> {
            if options.realtime {
                rt::become_realtime(Task::Main.priority())?;
            }
            run_task(Task::Main, HALF_PERIOD_NS, &mut task, rt::now_ns() + HALF_PERIOD_NS, &shared);
            Ok(())
        };
        match scope.spawn(run).join() {
            Ok(result) => result,
            Err(_) => Ok(()), // caught inside and reported below
        }
    })?;
    let panicked = shared.panicked(Task::Main);
    let EdgeTask { bus, collector, broken, operational, .. } = task;
    if let Err(error) = bus.leave() {
        tracing::warn!("{error}");
    }
    let reason = match (panicked, broken, operational, collector.done()) {
        (true, ..) => "the cyclic task panicked",
        (_, true, false, _) => "the ring did not reach OP within 5 s",
        (_, true, ..) => "no edge arrived for a second: is the output wired to the input?",
        (.., true) => "",
        _ => "stopped by request",
    };
    let report = close(&mut writer, record, options.edges, &collector, reason)?;
    Ok((report, writer))
}

fn close<O: Write>(
    writer: &mut Writer<O>,
    record: u16,
    planned: u64,
    collector: &Collector,
    reason: &str,
) -> Result<EdgeReport, RecordError> {
    let mut column = Column::new(record, 0, planned, collector.times_ns.len());
    collector.times_ns.iter().for_each(|time| column.push(*time));
    column.flush(writer)?;
    let mut numbers = Column::new(record, 1, planned, collector.numbers.len());
    collector.numbers.iter().for_each(|number| numbers.push(*number));
    numbers.flush(writer)?;
    let lane = column.end();
    // Each time belongs to an edge the terminal counted.
    let proof = Proof {
        checked: lane.taken,
        failed: collector.uncounted,
        reason: if collector.uncounted > 0 {
            "a time changed although no edge was counted".into()
        } else {
            String::new()
        },
    };
    let status = match (reason.is_empty(), collector.uncounted) {
        (true, 0) => Status::Ok,
        (true, _) => Status::Invalid,
        (false, _) => Status::Failed,
    };
    let reason = if status == Status::Invalid { &proof.reason } else { reason };
    writer.end(&End { record, status, reason: reason.into(), lanes: vec![lane], proof, drains: vec![] })?;
    Ok(EdgeReport { taken: lane.taken, missed: lane.missed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rising_edge_is_taken_once() {
        let mut collector = Collector::new(3);
        // Set in cycles 10, 12 and 14, known one cycle later and still in the one after.
        for (count, rising, cycle) in
            [(7, 0, 10), (8, 1000, 11), (9, 1000, 12), (10, 2010, 13), (11, 2010, 14), (12, 2995, 15), (13, 2995, 16)]
        {
            collector.see(count, rising, cycle);
        }
        assert_eq!(
            (collector.times_ns.as_slice(), collector.numbers.as_slice()),
            (&[0.0, 1010.0, 1995.0][..], &[0.0, 1.0, 2.0][..])
        );
        assert!(collector.done() && collector.uncounted == 0);
    }

    #[test]
    fn an_answer_that_was_lost_does_not_change_the_number_of_an_edge() {
        let mut collector = Collector::new(10);
        for (count, rising, cycle) in [(7, 0, 10), (8, 1000, 11), (11, 2010, 14)] {
            collector.see(count, rising, cycle);
        }
        assert_eq!(collector.numbers, [0.0, 1.0]);
    }

    #[test]
    fn pulses_of_cycles_that_were_left_out_are_holes() {
        let mut collector = Collector::new(10);
        // Cycles 12 to 17 did not take place: the pulses of 12, 14 and 16 were never made. The counter wraps.
        for (count, rising, cycle) in [(65_534, 0, 10), (65_535, 1000, 11), (0, 5003, 19)] {
            collector.see(count, rising, cycle);
        }
        assert_eq!((collector.seen, collector.numbers.as_slice()), (5, &[0.0, 4.0][..]));
    }

    #[test]
    fn a_time_without_an_edge_is_no_proof() {
        let mut collector = Collector::new(10);
        for (count, rising, cycle) in [(7, 0, 10), (7, 1000, 11)] {
            collector.see(count, rising, cycle);
        }
        assert_eq!(collector.uncounted, 1);
    }
}
