// SPDX-License-Identifier: Apache-2.0
//! The edge workload (cereia2011, section II): a 1 kHz pulse train on a digital output, paced by this machine's clock,
//! and the time of each rising edge as an input terminal stamps it with a clock of its own. The measured master reads the
//! stamps from its own ring, or another program does on a ring of its own.

mod account;
mod acquisition;
mod collector;
mod lanes;
mod operation;
mod poller;
mod program;
mod task;
#[cfg(test)]
mod two_rings;

use std::io::Write;
use std::sync::mpsc::sync_channel;
use std::sync::Arc;
use std::time::Duration;

use kadenz_record::{RecordError, Writer};
use kadenz_rt::{Clock, SoftTimer};

use self::account::{Paired, Pulse};
pub use self::acquisition::{Acquisition, ACQUISITION};
use self::collector::Collector;
use self::lanes::Lanes;
pub use self::program::{acquire, AcquireOptions, Program, NO_TABLE};
use self::task::{EdgeTask, Keeping, Train};
use crate::bus::{Bus, BusError, Wire};
use crate::error::MotionError;
use crate::layout::{EdgeLayout, Layout};
use crate::realtime::{become_realtime, lock_memory, pin_to_cpu};
use crate::task::{run as run_task, Shared, StopCategory, Task};

/// Name of the record.
pub const EDGE_JITTER: &str = "ethercat/edge-jitter";
/// Half a period of the pulse train: the output is set in one cycle and reset in the next.
const HALF_PERIOD_NS: u64 = 500_000;
/// A frame leaves as often, µs.
pub const CYCLE_US: u64 = HALF_PERIOD_NS / 1000;
/// The pulse train's period, µs.
pub const PERIOD_US: i64 = 1000;

/// Options of a measurement.
#[derive(Debug, Clone)]
pub struct EdgeOptions {
    /// Rising edges to record.
    pub edges: u64,
    /// Where pulses are due in the milliseconds of the wire's clock, µs. The kernel's timers of whole ticks stand still
    /// in them, so within a boot every pulse meets these at this distance.
    pub phase_us: u64,
    /// Releases by a timer that expires in a soft interrupt, as in the study's kernel, not by a sleep.
    pub soft_timer: bool,
    /// Who reads the stamps.
    pub acquisition: Acquisition,
    /// Processor to run on; none leaves the choice to Linux.
    pub cpu: Option<usize>,
    /// SCHED_FIFO and locked memory.
    pub realtime: bool,
}

/// Result of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeReport {
    /// Edges with a time.
    pub taken: u64,
    /// Edges without: not made, because the task was behind by more than it catches up with, or stamped while no frame
    /// came through.
    pub missed: u64,
    /// Times the ring left OP and was led back: no frame had come for as long as its watchdogs wait.
    pub led_back: u64,
}

/// Edges that may wait for the thread that writes them: 16 s of them.
const ROOM: usize = 1 << 14;
/// How often that thread looks.
const LOOK: Duration = Duration::from_millis(100);
/// From the last frame until the acquisition ends: it polls several times more.
const AFTER: Duration = Duration::from_millis(20);

/// Runs the pulse train over `wire` and writes one record. The acquisition program is there if another program reads the
/// stamps.
pub fn edge<W: Wire, O: Write>(
    wire: W,
    layout: &Layout,
    options: &EdgeOptions,
    program: Option<Program>,
    mut writer: Writer<O>,
    record: u16,
) -> Result<(EdgeReport, Writer<O>), MotionError> {
    let terminals = layout.edge.ok_or_else(|| {
        MotionError::Usage(
            "the layout has no [edge] table. Name the two terminals: docs/how-to/run-the-motion.md".into(),
        )
    })?;
    let mut lanes = Lanes::begin(&mut writer, record, options)?;
    let shared = Arc::new(Shared::default());
    shared.stop_on_signals(StopCategory::Zero);
    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    let bus = Bus::bring_up(wire, layout, &[])?;
    if let Err(error) = require(&bus, &terminals, options.acquisition) {
        // The first cause counts, not what comes of it.
        let _ = bus.leave();
        return Err(error.into());
    }
    if options.realtime {
        lock_memory()?;
    }
    let (edges_out, edges) = sync_channel(ROOM);
    let (pulses_out, pulses) = sync_channel(ROOM);
    let keeping = match program {
        None => Keeping::Edges(Collector::new(options.edges), edges_out),
        Some(_) => Keeping::Pulses(Train::new(options.edges), pulses_out),
    };
    let mut task = EdgeTask::new(bus, terminals, keeping, Arc::clone(&shared));
    let mut ordered: Vec<Pulse> = Vec::new();
    run(&mut task, options, &shared, || {
        ordered.extend(pulses.try_iter());
        lanes.take(&edges, &mut writer).inspect_err(|_| shared.request_stop(StopCategory::Zero))
    })?;
    let (mut end, bus) = task.finish(shared.panicked(Task::Main));
    if let Err(error) = bus.leave() {
        tracing::warn!("{error}");
    }
    for text in end.texts() {
        writer.text(&text)?;
    }
    let mut reason = end.reason.to_owned();
    let mut disagreement = String::new();
    if let Some(program) = program {
        // The output is off, and the acquisition has seen it.
        std::thread::sleep(AFTER);
        match program.finish() {
            Err(error) => reason = error.to_string(),
            Ok(account) => match account.pair(&ordered) {
                Err(what) => disagreement = what,
                Ok(Paired { edges, uncounted, texts }) => {
                    texts.iter().try_for_each(|text| writer.text(text))?;
                    lanes.write(edges.into_iter(), &mut writer)?;
                    end.uncounted = uncounted;
                }
            },
        }
    }
    let lane = lanes.close(&mut writer, end.uncounted, &reason, &disagreement)?;
    Ok((EdgeReport { taken: lane.taken, missed: lane.missed, led_back: end.led_back }, writer))
}

/// Runs the task in a thread of its own, and `write` now and then until the first failure; once more at the end.
fn run<W: Wire>(
    task: &mut EdgeTask<W>,
    options: &EdgeOptions,
    shared: &Shared,
    mut write: impl FnMut() -> Result<(), RecordError>,
) -> Result<(), MotionError> {
    let clock = if options.soft_timer { soft_clock()? } else { task.clock().clone() };
    std::thread::scope(|scope| {
        let cyclic = scope.spawn(|| -> Result<(), MotionError> {
            if options.realtime {
                become_realtime(Task::Main.priority())?;
            }
            run_task(Task::Main, HALF_PERIOD_NS, task, first_ns(clock.now_ns(), options.phase_us), shared, &clock);
            Ok(())
        });
        let mut written = Ok(());
        while !cyclic.is_finished() {
            std::thread::sleep(LOOK);
            if written.is_ok() {
                written = write();
            }
        }
        written?;
        // A panic was caught inside and is reported with the record.
        cyclic.join().unwrap_or(Ok(()))
    })?;
    Ok(write()?)
}

fn soft_clock() -> Result<Clock, MotionError> {
    let timer = SoftTimer::new().map_err(|source| MotionError::System {
        action: "create a timer".into(),
        source,
        remedy: "Raise the number of open files (`ulimit -n`)",
    })?;
    Ok(Clock::Soft(Arc::new(timer)))
}

/// The first release after `now_ns`, half a period before a pulse that is due at `phase_us` in a millisecond.
fn first_ns(now_ns: u64, phase_us: u64) -> u64 {
    let period_ns = 2 * HALF_PERIOD_NS;
    (now_ns / period_ns + 1) * period_ns + HALF_PERIOD_NS + phase_us * 1000
}

/// The terminals are on the ring and have the outputs and inputs of the benchmark.
fn require<W: Wire>(bus: &Bus<W>, terminals: &EdgeLayout, acquisition: Acquisition) -> Result<(), BusError> {
    let EdgeLayout { output_device, input_device, count_byte, rising_byte } = *terminals;
    bus.require(output_device, "edge.output_device", 1, 0)?;
    match acquisition {
        Acquisition::Same => require_stamps(bus, "edge", input_device, count_byte, rising_byte),
        Acquisition::Second => Ok(()),
    }
}

/// A device has the inputs that a table of the layout says.
fn require_stamps<W: Wire>(
    bus: &Bus<W>,
    table: &str,
    device: usize,
    count_byte: usize,
    rising_byte: usize,
) -> Result<(), BusError> {
    bus.require(device, &format!("{table}.input_device"), 0, 1)?;
    bus.require(device, &format!("{table}.count_byte = {count_byte}"), 0, count_byte.saturating_add(2))?;
    bus.require(device, &format!("{table}.rising_byte = {rising_byte}"), 0, rising_byte.saturating_add(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulses_are_due_at_their_phase_in_a_millisecond_of_the_clock() {
        for now_ns in [0, 1, 999_999, 1_000_000, 77_123_456_789] {
            for phase_us in [0, 1, 499, 500, 999] {
                let first = first_ns(now_ns, phase_us);
                assert_eq!((first + HALF_PERIOD_NS) % 1_000_000, phase_us * 1000);
                assert!(first > now_ns && first - now_ns < 3_000_000);
            }
        }
    }
}
