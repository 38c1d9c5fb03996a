// SPDX-License-Identifier: Apache-2.0
//! The edge workload (cereia2011, section II): a 1 kHz pulse train on a digital output, paced by this machine's clock,
//! and the time of each rising edge as an input terminal stamps it with a clock of its own.

use std::io::Write;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::time::Duration;

use kadenz_record::{Begin, Dtype, End, EndLane, Proof, RecordError, Status, Writer};

use crate::bus::{Answer, Bus, BusError, Wire};
use crate::error::MotionError;
use crate::layout::{EdgeLayout, Layout};
use crate::message::TaskSample;
use crate::realtime::{become_realtime, lock_memory, pin_to_cpu};
use crate::record::Column;
use crate::supervise::{AlTrouble, Event, Exchange, Reaction};
use crate::task::{run as run_task, Cyclic, Flow, Release, Shared, StopCategory, Task};

/// Name of the record.
pub const EDGE_JITTER: &str = "ethercat/edge-jitter";
/// Half a period of the pulse train: the output is set in one cycle and reset in the next.
const HALF_PERIOD_NS: u64 = 500_000;
/// Cycles until the ring must be in OP.
const START_CYCLES: u64 = 10_000;
/// Cycles without an answer, or without an edge, before it gives up.
const PATIENCE: u64 = 4_000;
/// Cycles a device is given to come back into OP before it is asked again.
const ASK_AGAIN: u64 = 1_000;

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
    /// Times the ring left OP and was led back: no frame had come for as long as its watchdogs wait.
    pub led_back: u64,
}

/// Edges that may wait for the thread that writes them: 16 s of them.
const ROOM: usize = 1 << 14;
/// How often that thread looks.
const LOOK: Duration = Duration::from_millis(100);

/// A rising edge.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    /// By the terminal's clock, from the first, ns.
    time_ns: f64,
    /// Which pulse of the train it is, from 0. Pulses that were missed leave holes.
    number: f64,
}

/// Numbers edges. Pure.
#[derive(Debug)]
struct Collector {
    wanted: u64,
    last: Option<(u16, u64)>,
    /// Time and pulse of the first edge.
    first: Option<(u64, u64)>,
    /// Pulses since the first, itself included.
    seen: u64,
    /// Times that changed although the terminal had counted no edge.
    uncounted: u64,
}

impl Collector {
    fn new(wanted: u64) -> Self {
        Self { wanted, last: None, first: None, seen: 0, uncounted: 0 }
    }

    /// What the terminal says in the answer of a cycle: its counter of edges of both directions, and the time of the
    /// last rising one. `pulse` is the one that was made last before that cycle: its own the answer cannot know yet.
    fn see(&mut self, count: u16, rising_ns: u64, pulse: u64) -> Option<Edge> {
        let (last_count, last_rising) = self.last.replace((count, rising_ns))?;
        if rising_ns == last_rising || self.done() {
            return None;
        }
        let (first_ns, first_pulse) = *self.first.get_or_insert((rising_ns, pulse));
        self.uncounted += u64::from(count == last_count);
        self.seen = pulse - first_pulse + 1;
        let edge = Edge { time_ns: (rising_ns - first_ns) as f64, number: (self.seen - 1) as f64 };
        (self.seen <= self.wanted).then_some(edge)
    }

    fn done(&self) -> bool {
        self.seen >= self.wanted
    }
}

struct EdgeTask<W: Wire> {
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

impl<W: Wire> EdgeTask<W> {
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
        let deadline_ns = release.start_ns + HALF_PERIOD_NS * 3 / 4;
        let answer = self.bus.exchange(deadline_ns);
        let answered = matches!(answer.exchange, Exchange::Answered { .. });
        self.keep_operational(&answer, deadline_ns);
        let before = self.collector.seen;
        if answered && self.operational {
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
    // Whoever listens knows from now on how long it will take.
    writer.flush()?;
    let shared = Arc::new(Shared::default());
    shared.stop_on_signals(StopCategory::Zero);
    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    let bus = Bus::bring_up(wire, layout, &[])?;
    if let Err(error) = require(&bus, &terminals) {
        // The first cause counts, not what comes of it.
        let _ = bus.leave();
        return Err(error.into());
    }
    let clock = bus.clock().clone();
    let (sender, edges) = sync_channel(ROOM);
    let mut lanes = Lanes::new(record, options.edges);
    let mut task = EdgeTask {
        bus,
        terminals,
        collector: Collector::new(options.edges),
        edges: sender,
        refused: 0,
        shared: Arc::clone(&shared),
        cycle: 0,
        pulse: 0,
        operational: false,
        all_op: false,
        asked: None,
        led_back: 0,
        trouble: None,
        idle: 0,
        broken: false,
    };
    if options.realtime {
        lock_memory()?;
    }
    std::thread::scope(|scope| {
        let run = || -> Result<(), MotionError> {
            if options.realtime {
                become_realtime(Task::Main.priority())?;
            }
            run_task(Task::Main, HALF_PERIOD_NS, &mut task, clock.now_ns() + HALF_PERIOD_NS, &shared, &clock);
            Ok(())
        };
        let cyclic = scope.spawn(run);
        let mut written = Ok(());
        while !cyclic.is_finished() {
            std::thread::sleep(LOOK);
            if written.is_ok() {
                written = lanes.take(&edges, &mut writer);
                if written.is_err() {
                    shared.request_stop(StopCategory::Zero);
                }
            }
        }
        written?;
        match cyclic.join() {
            Ok(result) => result,
            Err(_) => Ok(()), // caught inside and reported below
        }
    })?;
    lanes.take(&edges, &mut writer)?;
    let panicked = shared.panicked(Task::Main);
    let EdgeTask { bus, collector, refused, led_back, trouble, broken, operational, .. } = task;
    if let Err(error) = bus.leave() {
        tracing::warn!("{error}");
    }
    let reason = match (panicked, broken, operational, collector.done()) {
        (true, ..) => "the cyclic task panicked",
        (_, true, false, _) => "the ring did not reach OP within 5 s",
        (_, true, ..) => "no edge arrived for 2 s: is the output wired to the input?",
        (.., true) => "",
        _ => "stopped by request",
    };
    if let Some(event) = trouble {
        writer.text(&event.to_string())?;
    }
    if refused > 0 {
        writer.text(&format!("{refused} edges could not be written down in time and are missed"))?;
    }
    if led_back > 0 {
        writer.text(&format!("the ring left OP for want of frames and was led back: {led_back} times"))?;
    }
    let lane = lanes.close(&mut writer, &collector, reason)?;
    let report = EdgeReport { taken: lane.taken, missed: lane.missed, led_back };
    Ok((report, writer))
}

/// The terminals are on the ring and have what is written to and read from them.
fn require<W: Wire>(bus: &Bus<W>, terminals: &EdgeLayout) -> Result<(), BusError> {
    let EdgeLayout { output_device, input_device, count_byte, rising_byte } = *terminals;
    bus.require(output_device, "edge.output_device", 1, 0)?;
    bus.require(input_device, "edge.input_device", 0, 1)?;
    bus.require(input_device, &format!("edge.count_byte = {count_byte}"), 0, count_byte.saturating_add(2))?;
    bus.require(input_device, &format!("edge.rising_byte = {rising_byte}"), 0, rising_byte.saturating_add(8))
}

/// The lanes of the record: times, and beside each the number of its pulse.
struct Lanes {
    record: u16,
    times: Column<f64>,
    numbers: Column<f64>,
}

impl Lanes {
    fn new(record: u16, planned: u64) -> Self {
        let column = |lane| Column::new(record, lane, planned, ROOM);
        Self { record, times: column(0), numbers: column(1) }
    }

    /// Writes what waits.
    fn take<O: Write>(&mut self, edges: &Receiver<Edge>, writer: &mut Writer<O>) -> Result<(), RecordError> {
        for edge in edges.try_iter() {
            self.times.push(edge.time_ns);
            self.numbers.push(edge.number);
        }
        self.times.flush(writer)?;
        self.numbers.flush(writer)?;
        writer.flush()
    }

    fn close<O: Write>(
        &self,
        writer: &mut Writer<O>,
        collector: &Collector,
        reason: &str,
    ) -> Result<EndLane, RecordError> {
        let (record, lane) = (self.record, self.times.end());
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
        Ok(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges that were taken of what the terminal said: its count, the time, the pulse made last before.
    fn taken(collector: &mut Collector, said: &[(u16, u64, u64)]) -> Vec<(f64, f64)> {
        let edges = said.iter().filter_map(|(count, rising, pulse)| collector.see(*count, *rising, *pulse));
        edges.map(|edge| (edge.time_ns, edge.number)).collect()
    }

    #[test]
    fn every_rising_edge_is_taken_once() {
        let mut collector = Collector::new(3);
        // Known one cycle after its pulse, and still in the one after that.
        let said = [(7, 0, 4), (8, 1000, 5), (9, 1000, 5), (10, 2010, 6), (11, 2010, 6), (12, 2995, 7), (13, 2995, 7)];
        assert_eq!(taken(&mut collector, &said), [(0.0, 0.0), (1010.0, 1.0), (1995.0, 2.0)]);
        assert!(collector.done() && collector.uncounted == 0);
    }

    #[test]
    fn an_answer_that_was_lost_does_not_change_the_number_of_an_edge() {
        // The second edge is known in the cycle of the third pulse, which is not made before its frame has left.
        let said = [(7, 0, 4), (8, 1000, 5), (11, 2010, 6), (12, 3001, 7)];
        assert_eq!(taken(&mut Collector::new(10), &said), [(0.0, 0.0), (1010.0, 1.0), (2001.0, 2.0)]);
    }

    #[test]
    fn a_pause_behind_a_pulse_leaves_its_number_and_makes_holes_behind_it() {
        let mut collector = Collector::new(10);
        // The machine pauses after pulse 6: its edge is known late, the next pulse is 9. The counter wraps.
        let said = [(65_533, 0, 4), (65_534, 1000, 5), (65_535, 2000, 6), (0, 2000, 6), (1, 5003, 9)];
        assert_eq!(taken(&mut collector, &said), [(0.0, 0.0), (1000.0, 1.0), (4003.0, 4.0)]);
        assert_eq!(collector.seen, 5);
    }

    #[test]
    fn a_time_without_an_edge_is_no_proof() {
        let mut collector = Collector::new(10);
        taken(&mut collector, &[(7, 0, 4), (7, 1000, 5)]);
        assert_eq!(collector.uncounted, 1);
    }
}
