// SPDX-License-Identifier: Apache-2.0
//! One run: brings up the bus, runs the four tasks, leaves the bus and closes the records.

use std::io::Write;
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use kadenz_record::{Map, Writer};
use kadenz_rt::{Clock, IdleStatesOff, Receiver};

use crate::bus::{Bus, Wire};
use crate::error::MotionError;
use crate::layout::Layout;
use crate::message::Events;
use crate::realtime::{become_realtime, lock_memory, pin_to_cpu, RealtimeError};
use crate::record::{MotionRecords, RunEnd};
use crate::task::{
    run as run_task, Cyclic, DynamicsTask, LogTask, MainTask, Movement, Outcome, PathPlan, Queues, Shared,
    StopCategory, Task, TrajectoryTask,
};

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Processor for all tasks.
    pub cpu: Option<usize>,
    /// SCHED_FIFO and locked memory.
    pub realtime: bool,
    /// Holds the processor's idle states off; `None` where they stay on.
    pub idle_states_off: Option<Arc<IdleStatesOff>>,
    /// Effect of the first SIGINT.
    pub on_interrupt: StopCategory,
    /// Motion of the arm.
    pub movement: Movement,
    /// Proof: the main task panics in this cycle.
    pub provoke_panic_at: Option<u64>,
    /// How the master reaches the ring, for the manifest.
    pub transport: String,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunReport {
    /// How the run ended, and what was the cause.
    pub outcome: Outcome,
    /// The drives had no power at the end, as far as they still answered.
    pub without_power: bool,
    /// Cycles of the main task, start and stop included.
    pub cycles: u64,
    /// Lines in the event log.
    pub events: u64,
}

impl RunReport {
    /// All planned and the drives off.
    pub fn passed(&self) -> bool {
        self.outcome == Outcome::Done && self.without_power
    }
}

impl std::fmt::Display for RunReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let power =
            if self.without_power { "drives are without power" } else { "drives did not confirm: their watchdogs act" };
        match self.outcome {
            Outcome::Faulted { reaction, cause } => write!(f, "{cause} (strongest: {reaction}); {power}"),
            Outcome::Stopped(category) => write!(f, "stopped, category {}; {power}", category as u32),
            Outcome::Done => write!(f, "done; {power}"),
        }
    }
}

/// The first release lies this far ahead, ns: until then all threads wait at their first sleep.
const LEAD_NS: u64 = 5_000_000;

/// How often this thread, which has no priority, looks for events to say.
const LISTEN: Duration = Duration::from_millis(20);

/// Says the events that wait.
fn say(events: &Receiver<Events>) {
    while let Some(batch) = events.receive() {
        batch.events.iter().take(batch.count as usize).for_each(|event| tracing::warn!("{event}"));
    }
}

/// Refuses a layout with nothing to move.
pub fn require_axes(layout: &Layout) -> Result<(), MotionError> {
    if layout.has_axes() {
        return Ok(());
    }
    let what = "the layout has no [[axis]] entries, so there is no motion to run";
    let remedy = "Measure its edges with `kadenz-motion edge`, or choose a layout with axes, as --built-in indy7";
    Err(MotionError::Usage(format!("{what}. {remedy}")))
}

/// Whole ways out and back that take at least this long, in cycles of the main task.
pub fn cycles_for(layout: &Layout, movement: Movement, duration_s: f64) -> u64 {
    let pair = 2 * PathPlan::new(layout, movement).way_cycles();
    let wanted = duration_s * 1e9 / layout.period_ns() as f64;
    pair * ((wanted / pair as f64 - 1e-9).ceil() as u64).max(1)
}

/// Settings that change figures, for the first frame.
pub fn settings(options: &RunOptions, layout: &Layout) -> Map<String> {
    let mut settings = Map::from([("master".to_owned(), "ethercrab 0.7.1".to_owned())]);
    if layout.has_axes() {
        settings.insert("dynamics".into(), "recursive Newton-Euler over KDL 1.5 types".into());
        settings.insert("movement".into(), options.movement.to_string());
        settings.insert("cycles_of_a_way".into(), PathPlan::new(layout, options.movement).way_cycles().to_string());
    }
    settings.insert("transport".into(), options.transport.clone());
    if let Ok(kind) = kadenz_rt::process::preemption() {
        settings.insert("preempt".into(), kind.into());
    }
    settings.insert("scheduling".into(), if options.realtime { "SCHED_FIFO" } else { "SCHED_OTHER" }.into());
    let idle_states = if options.idle_states_off.is_some() { "off: /dev/cpu_dma_latency held at 0" } else { "on" };
    settings.insert("idle_states".into(), idle_states.into());
    settings.insert("cpu".into(), options.cpu.map_or_else(|| "any".into(), |cpu| cpu.to_string()));
    settings
}

/// Runs the motion of `layout` over `wire` for as long as `records` want and writes them. Returns the writer, for
/// further records and the last frame.
pub fn motion<W, O>(
    wire: W,
    layout: &Layout,
    options: &RunOptions,
    mut writer: Writer<O>,
    records: MotionRecords,
) -> Result<(RunReport, Writer<O>), MotionError>
where
    W: Wire,
    O: Write + Send,
{
    require_axes(layout)?;
    let cycles = cycles_for(layout, options.movement, records.cycles() as f64 * layout.period_ns() as f64 / 1e9);
    records.begin(&mut writer)?;
    let seconds = cycles as f64 * layout.period_ns() as f64 / 1e9;
    tracing::info!(cycles, seconds, "measured window");

    let shared = Arc::new(Shared::default());
    shared.stop_on_signals(options.on_interrupt);
    let queues = Queues::open()?;
    let plan = PathPlan::new(layout, options.movement);
    let log = LogTask::new(writer, records, queues.log, Arc::clone(&shared));
    let dynamics = DynamicsTask::new(layout.drive_trains(), queues.dynamics, Arc::clone(&shared));
    let trajectory = TrajectoryTask::new(plan, queues.trajectory, Arc::clone(&shared));

    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    let bus = Bus::bring_up(wire, layout, &layout.axis)?;
    tracing::info!(expected_counter = bus.expected_counter(), "operation requested");
    let mut main = MainTask::new(bus, layout, cycles, queues.main, Arc::clone(&shared));
    if let Some(cycle) = options.provoke_panic_at {
        main.provoke_panic_at(cycle);
    }
    if options.realtime {
        lock_memory()?;
    }
    let mut tasks = Tasks { main, dynamics, trajectory, log };
    tasks.run(options.realtime, &shared, &queues.to_say)?;
    tasks.finish(&queues.to_say)
}

struct Tasks<W: Wire, O: Write> {
    main: MainTask<W>,
    dynamics: DynamicsTask,
    trajectory: TrajectoryTask,
    log: LogTask<O>,
}

impl<W: Wire, O: Write + Send> Tasks<W, O> {
    /// Runs each in a thread of its own until main ends, and says events meanwhile.
    fn run(&mut self, realtime: bool, shared: &Shared, to_say: &Receiver<Events>) -> Result<(), MotionError> {
        let launch = Launch::new(realtime, shared);
        let works: [(Task, &mut (dyn Cyclic + Send)); 4] = [
            (Task::Log, &mut self.log),
            (Task::Trajectory, &mut self.trajectory),
            (Task::Dynamics, &mut self.dynamics),
            (Task::Main, &mut self.main),
        ];
        let (ready, readiness) = channel();
        thread::scope(|scope| {
            for (task, work) in works {
                let (launch, ready) = (&launch, ready.clone());
                let thread = thread::Builder::new().name(format!("kdz-{}", task.name()));
                if let Err(source) = thread.spawn_scoped(scope, move || launch.run(task, work, &ready)) {
                    shared.end();
                    let remedy = "Raise the number of threads (`ulimit -u`)";
                    return Err(MotionError::System { action: "start a task".into(), source, remedy });
                }
            }
            for outcome in readiness.iter().take(Task::ALL.len()) {
                if let Err(error) = outcome {
                    shared.request_stop(StopCategory::Zero);
                    shared.end();
                    return Err(error.into());
                }
            }
            while !shared.over() {
                thread::sleep(LISTEN);
                say(to_say);
            }
            Ok(())
        })
    }

    /// Leaves the bus and closes the records.
    fn finish(self, to_say: &Receiver<Events>) -> Result<(RunReport, Writer<O>), MotionError> {
        let first_measured = self.main.first_measured();
        let (without_power, cycles) = (self.main.without_power(), self.main.cycles());
        let (outcome, bus) = self.main.finish();
        leave(bus);
        let (mut writer, events) = self.log.finish(&run_end(outcome))?;
        say(to_say);
        if let Some(cycle) = first_measured {
            // Events carry cycle numbers: with this a reader knows which of them lie in the measured time.
            writer.text(&format!("cycle {cycle}: measurement started: continuing"))?;
        }
        Ok((RunReport { outcome, without_power, cycles, events }, writer))
    }
}

/// How the tasks start: together, by one clock.
struct Launch<'a> {
    realtime: bool,
    shared: &'a Shared,
    /// The tasks share a bus in real time: a clock that waits by jumping would jump for all of them.
    clock: Clock,
    first_ns: u64,
}

impl<'a> Launch<'a> {
    fn new(realtime: bool, shared: &'a Shared) -> Self {
        let clock = Clock::Monotonic;
        let first_ns = clock.now_ns() + LEAD_NS;
        Self { realtime, shared, clock, first_ns }
    }

    /// Runs one task in this thread, after reporting whether it may.
    fn run(&self, task: Task, work: &mut (dyn Cyclic + Send), ready: &Sender<Result<(), RealtimeError>>) {
        let outcome = if self.realtime { become_realtime(task.priority()) } else { Ok(()) };
        let is_ready = outcome.is_ok();
        // The receiver lives until all have reported.
        let _ = ready.send(outcome);
        if is_ready {
            run_task(task, task.period_ns(), work, self.first_ns, self.shared, &self.clock);
        }
        if task == Task::Main {
            self.shared.end();
        }
    }
}

/// Reports what else was on the wire, and leaves the bus.
fn leave<W: Wire>(bus: Bus<W>) {
    let strays = bus.strays();
    if strays > 0 {
        tracing::warn!(strays, "unexpected frames: late, doubled or damaged");
    }
    let foreign = bus.foreign();
    if foreign.frames > 0 {
        tracing::warn!(
            frames = foreign.frames,
            commanding = foreign.commands,
            "another program used this interface during the run and may have disturbed every figure"
        );
    }
    if let Err(error) = bus.leave() {
        tracing::warn!("{error}");
    }
}

/// How the records end.
fn run_end(outcome: Outcome) -> RunEnd {
    match outcome {
        Outcome::Done => RunEnd { complete: true, reason: String::new() },
        Outcome::Stopped(category) => {
            RunEnd { complete: false, reason: format!("stopped by request, category {}", category as u32) }
        }
        Outcome::Faulted { cause, .. } => RunEnd { complete: false, reason: cause.to_string() },
    }
}
