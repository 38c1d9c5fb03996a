// SPDX-License-Identifier: Apache-2.0
//! `kadenz-motion`: see `kadenz-motion --help` and docs/how-to/run-the-motion.md.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::Parser;
use kadenz_motion::bus::{Socket, Wire};
use kadenz_motion::cli::{
    AcquireArgs, BusArgs, Cli, Command, CommonArgs, EdgeArgs, LabArgs, RingArgs, RunArgs, SecondArgs, SegmentKind,
};
use kadenz_motion::console;
use kadenz_motion::edge::{acquire, edge, AcquireOptions, Acquisition, EdgeOptions, Program, CYCLE_US, NO_TABLE};
use kadenz_motion::error::MotionError;
use kadenz_motion::given::Given;
use kadenz_motion::layout::{Layout, LayoutError};
use kadenz_motion::plan::Plan;
use kadenz_motion::record::{hello, MotionRecords, Wanted};
use kadenz_motion::run::{cycles_for, motion, require_axes, settings, RunOptions};
use kadenz_motion::simulation::{cable_of, simulate, InProcess, RingOptions, RingProcess, RingShare};
use kadenz_motion::task::{Movement, StopCategory};
use kadenz_record::{Map, RecordError, Writer};
use kadenz_rt::cable::Cable;
use kadenz_rt::rights::{self, Still};
use kadenz_rt::{Clock, IdleStatesOff};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Before the first thread: that of the master library outlives a bus. A refusal is named when rights are given up.
    let _ = rights::gain_no_more();
    let result = match cli.command {
        Command::Run(arguments) => run(&arguments),
        Command::Edge(arguments) => edge_run(&arguments),
        Command::Lab(arguments) => lab(&arguments),
        Command::Ring(arguments) => ring(&arguments),
        Command::Acquire(arguments) => poll(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "kadenz-motion: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn speak(common: &CommonArgs) {
    console::speak(common.quiet);
    console::panics_in_a_line();
}

/// The wire, and what must live as long as it.
type Opened = (Box<dyn Wire>, Option<RingProcess>);

/// What the bus is, for the manifest: in front of the comma what a reader has to know.
fn transport(bus: &BusArgs) -> String {
    match (&bus.interface, bus.segment) {
        (Some(interface), _) if is_virtual(interface) => format!("virtual interface {interface}"),
        (Some(interface), _) => format!("interface {interface}"),
        (None, Some(SegmentKind::InProcess)) => "simulated ring, in the process of the tasks".into(),
        (None, _) => "simulated ring, behind a pair of virtual interfaces, on the processor of the tasks".into(),
    }
}

/// Whether the frames of an interface stay on this machine: it has no device, and stands on no other interface, as a
/// VLAN, a bridge or a bond does.
fn is_virtual(interface: &str) -> bool {
    let entries = std::fs::read_dir(Path::new("/sys/class/net").join(interface));
    let names: Vec<_> = entries.into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    let leads_out = |name: &str| ["device", "bonding", "bridge"].contains(&name) || name.starts_with("lower_");
    !names.is_empty() && !names.iter().any(|name| leads_out(&name.to_string_lossy()))
}

/// The user's layout, or the built-in one.
fn layout(common: &CommonArgs) -> Result<Layout, LayoutError> {
    common.layout.as_deref().map_or_else(|| common.built_in.layout(), Layout::load)
}

/// What changes figures, the layout among it: a built-in one is called by its name, any other by its file.
fn all_settings(options: &RunOptions, layout: &Layout, common: &CommonArgs) -> Map<String> {
    let file = common.layout.as_deref().and_then(Path::file_name);
    let name = file.map_or_else(|| common.built_in.label(), |name| name.to_string_lossy().into_owned());
    let mut settings = settings(options, layout);
    settings.insert("layout".into(), name);
    settings
}

fn open(bus: &BusArgs, common: &CommonArgs) -> Result<Opened, MotionError> {
    if bus.interface.is_some() && !common.fault.is_empty() {
        return Err(MotionError::Usage("--fault is for the simulated ring: use it with --segment".into()));
    }
    if let Some(interface) = &bus.interface {
        return Ok((Box::new(Socket::open(interface)?), None));
    }
    if bus.segment == Some(SegmentKind::InProcess) {
        let segment = common.built_in.segment(&common.fault)?;
        let wire = InProcess::new(Arc::new(Mutex::new(segment)), Clock::Monotonic);
        return Ok((Box::new(wire), None));
    }
    let ring = RingProcess::start(common.built_in, processor(common), !common.no_realtime, &common.fault)?;
    let wire = Socket::open(ring.interface())?;
    Ok((Box::new(wire), Some(ring)))
}

fn output(common: &CommonArgs) -> Result<Box<dyn Write + Send>, MotionError> {
    let Some(path) = &common.output else { return Ok(Box::new(BufWriter::new(io::stdout()))) };
    let file = File::create(path).map_err(|source| MotionError::System {
        action: format!("write {}", path.display()),
        source,
        remedy: "Choose another --output",
    })?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

/// The last processor: interrupts and other work gather on the first.
fn processor(common: &CommonArgs) -> Option<usize> {
    let last = || std::thread::available_parallelism().ok().map(|n| n.get() - 1);
    common.cpu.or_else(last)
}

/// Holds idle states off unless the user allows them; if the system refuses, warns and continues.
fn idle_states_off(common: &CommonArgs) -> Option<Arc<IdleStatesOff>> {
    if common.allow_idle_states || common.no_realtime {
        return None;
    }
    let held = IdleStatesOff::hold();
    if let Err(error) = &held {
        tracing::warn!(
            "cannot hold /dev/cpu_dma_latency: {error}. Wake-ups include leaving idle states; run as root, or pass \
             --allow-idle-states"
        );
    }
    held.ok().map(Arc::new)
}

/// After the last bus was opened: from here on the tasks need no right.
fn give_up_rights(common: &CommonArgs) {
    let stills: &[Still] = if common.no_realtime { &[] } else { &[Still::BecomeRealtime, Still::LockMemory] };
    for kept in rights::give_up(stills) {
        tracing::info!("{kept}");
    }
}

/// Options of a motion run.
fn options(common: &CommonArgs, transport: String) -> RunOptions {
    RunOptions {
        cpu: processor(common),
        realtime: !common.no_realtime,
        idle_states_off: idle_states_off(common),
        on_interrupt: StopCategory::One,
        movement: Movement::OutAndBack,
        provoke_panic_at: None,
        transport,
    }
}

/// Watches what a ring in a process of its own takes of the processor.
fn watch(bus: &BusArgs, ring: Option<&RingProcess>) -> Option<RingShare> {
    if bus.segment == Some(SegmentKind::InProcess) {
        return None;
    }
    RingShare::watch(ring.map(RingProcess::id))
}

/// Says so if it takes much of each period.
fn note_share<O: Write>(share: Option<RingShare>, period_us: u64, writer: &mut Writer<O>) -> Result<(), RecordError> {
    let note = share.and_then(|share| share.note(period_us));
    note.iter().try_for_each(|note| {
        tracing::warn!("{note}");
        writer.text(note)
    })
}

fn run(arguments: &RunArgs) -> Result<ExitCode, MotionError> {
    let common = &arguments.common;
    let seconds = arguments.duration;
    if !(seconds > 0.0 && seconds <= 1e6) {
        return Err(MotionError::Usage(format!("--duration {seconds}: give seconds, more than 0 and at most 1000000")));
    }
    let layout = layout(common)?;
    require_axes(&layout)?;
    let output = output(common)?;
    speak(common);
    let (wire, ring) = open(&arguments.bus, common)?;
    let options = RunOptions {
        on_interrupt: match arguments.on_interrupt {
            0 => StopCategory::Zero,
            1 => StopCategory::One,
            _ => StopCategory::Two,
        },
        movement: arguments.movement,
        provoke_panic_at: arguments.provoke_panic_at,
        ..options(common, transport(&arguments.bus))
    };
    give_up_rights(common);
    let mut writer = Writer::new(output)?;
    writer.hello(&hello(all_settings(&options, &layout, common)))?;
    let records = MotionRecords::new(Wanted::everything(cycles_for(&layout, options.movement, seconds)));
    let share = watch(&arguments.bus, ring.as_ref());
    let (report, mut writer) = motion(wire, &layout, &options, writer, records)?;
    note_share(share, layout.period_ns() / 1000, &mut writer)?;
    writer.done()?;
    drop(ring);
    if report.passed() {
        tracing::info!(cycles = report.cycles, events = report.events, "done, drives without power");
        return Ok(ExitCode::SUCCESS);
    }
    let _ = writeln!(io::stderr(), "kadenz-motion: {report}");
    Ok(ExitCode::FAILURE)
}

/// Options of a pulse train that a plan asks for.
fn edge_options(common: &CommonArgs, point: &Wanted) -> EdgeOptions {
    EdgeOptions {
        edges: point.samples,
        phase_us: point.number("phase_us").and_then(|phase| u64::try_from(phase).ok()).unwrap_or(0),
        soft_timer: point.number("soft_timer").is_some_and(|chosen| chosen != 0),
        acquisition: Acquisition::of(point),
        cpu: processor(common),
        realtime: !common.no_realtime,
    }
}

const TWO_INTERFACES: &str =
    "acquisition=second needs two interfaces with real terminals: the ring of the output, and \
                              that of the stamping input. `kadenz run` takes them as --bus interface=NAME,second=NAME, \
                              kadenz-motion as --interface and --second-interface";
const TWO_PROCESSES: &str =
    "acquisition=second needs a ring in a process of its own: use --segment veth, not --segment in-process";

/// A real second ring needs a real first one.
fn require_first(bus: &BusArgs, second: &SecondArgs) -> Result<(), MotionError> {
    match (&bus.interface, &second.second_interface) {
        (None, Some(_)) => {
            Err(MotionError::Usage("--second-interface needs --interface, the ring of the output".into()))
        }
        _ => Ok(()),
    }
}

/// Whether there can be a second ring; the error is what it lacks.
fn second_ring(bus: &BusArgs, second: &SecondArgs, layout: &Layout) -> Result<(), &'static str> {
    match (&bus.interface, bus.segment) {
        _ if layout.acquisition.is_none() => Err(NO_TABLE),
        (Some(_), _) if second.second_interface.is_none() && second.second_beside.is_none() => Err(TWO_INTERFACES),
        (None, Some(SegmentKind::InProcess)) => Err(TWO_PROCESSES),
        _ => Ok(()),
    }
}

/// Starts the program that polls the second ring, where the stamps are read there. The simulated one is beside the ring
/// that answers on an interface.
fn program(
    options: &EdgeOptions,
    second: &SecondArgs,
    ring: Option<&RingProcess>,
    common: &CommonArgs,
) -> Result<Option<Program>, MotionError> {
    if options.acquisition == Acquisition::Same {
        return Ok(None);
    }
    let mut arguments = Vec::new();
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    let beside = second.second_beside.clone().or_else(|| ring.map(|ring| ring.answers_on().to_owned()));
    match (&second.second_interface, beside) {
        (Some(interface), _) => add("--interface", interface.clone()),
        (None, Some(interface)) => add("--beside", interface),
        (None, None) => return Err(MotionError::Usage(TWO_INTERFACES.into())),
    }
    match &common.layout {
        Some(layout) => add("--layout", layout.display().to_string()),
        None => add("--built-in", common.built_in.to_string()),
    }
    // Pulses that follow each other closely are read as one, so there are never more stamps than pulses.
    add("--edges", (options.edges + 1024).to_string());
    if let Some(cpu) = options.cpu {
        add("--cpu", cpu.to_string());
    }
    if !options.realtime {
        arguments.push("--no-realtime".into());
    }
    Program::start(&arguments).map(Some)
}

fn edge_run(arguments: &EdgeArgs) -> Result<ExitCode, MotionError> {
    let (common, bus) = (&arguments.common, &arguments.bus);
    require_first(bus, &arguments.second)?;
    let layout = layout(common)?;
    if arguments.acquisition == Acquisition::Second {
        second_ring(bus, &arguments.second, &layout).map_err(|what| MotionError::Usage(what.into()))?;
    }
    let output = output(common)?;
    speak(common);
    let edges = EdgeOptions {
        edges: arguments.edges,
        phase_us: arguments.phase_us,
        soft_timer: arguments.soft_timer,
        acquisition: arguments.acquisition,
        cpu: processor(common),
        realtime: !common.no_realtime,
    };
    let (wire, ring) = open(bus, common)?;
    let program = program(&edges, &arguments.second, ring.as_ref(), common)?;
    let mut writer = Writer::new(output)?;
    let options = options(common, transport(bus));
    give_up_rights(common);
    writer.hello(&hello(all_settings(&options, &layout, common)))?;
    let share = watch(bus, ring.as_ref());
    let (report, mut writer) = edge(wire, &layout, &edges, program, writer, 1)?;
    note_share(share, CYCLE_US, &mut writer)?;
    writer.done()?;
    drop(ring);
    tracing::info!(taken = report.taken, missed = report.missed, led_back = report.led_back, "edges");
    Ok(if report.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Polls the second ring until standard input ends.
fn poll(arguments: &AcquireArgs) -> Result<ExitCode, MotionError> {
    console::speak(true);
    console::panics_in_a_line();
    let layout = arguments.layout.as_deref().map_or_else(|| arguments.built_in.layout(), Layout::load)?;
    let options = AcquireOptions { edges: arguments.edges, cpu: arguments.cpu, realtime: !arguments.no_realtime };
    match (&arguments.interface, &arguments.beside) {
        (Some(interface), _) => acquire(Socket::open(interface)?, &layout, options)?,
        (None, beside) => {
            let beside = beside.as_deref().unwrap_or_default();
            let cable = Cable::plug(&cable_of(beside)).map_err(|source| MotionError::System {
                action: format!("reach the second ring beside {beside}"),
                source,
                remedy: "A ring of this version is to be simulated there: `kadenz-motion ring --interface NAME`",
            })?;
            acquire(cable, &layout, options)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Executes a plan of the lab: the clock, then one motion for all records wanted of it, then the edges.
fn lab(arguments: &LabArgs) -> Result<ExitCode, MotionError> {
    let common = &arguments.common;
    let layout = layout(common)?;
    let output = output(common)?;
    let given = given(arguments);
    let bus = BusArgs {
        segment: arguments.interface.is_none().then_some(SegmentKind::Veth),
        interface: arguments.interface.clone(),
    };
    require_first(&bus, &arguments.second)?;
    let second = second_ring(&bus, &arguments.second, &layout);
    let plan = Plan::read(io::stdin().lock(), &layout, given.is_some(), second)?;
    speak(common);
    let options = options(common, transport(&bus));
    let mut writer = Writer::new(output)?;
    let mut settings = all_settings(&options, &layout, common);
    if let Some(given) = &given {
        settings.insert("master".into(), given.arguments()?.0);
        settings.shift_remove("scheduling"); // its own affair
    }
    writer.hello(&hello(settings))?;
    plan.list(&mut writer)?;
    plan.end_refused(&mut writer)?;
    plan.measure_clock(&mut writer)?;
    let mut passed = true;
    if !plan.motion.is_empty() {
        let (wire, ring) = open(&bus, common)?;
        if plan.edges.is_empty() {
            give_up_rights(common);
        }
        let share = watch(&bus, ring.as_ref());
        let (report, rest) = motion(wire, &layout, &options, writer, MotionRecords::new(plan.motion.clone()))?;
        (writer, passed) = (rest, report.passed());
        note_share(share, layout.period_ns() / 1000, &mut writer)?;
        drop(ring);
        if !passed {
            tracing::error!("{report}");
        }
    }
    if let (Some(given), Some(wanted)) = (&given, &plan.given) {
        writer = given.measure(wanted, writer)?;
    }
    for (place, point) in plan.edges.iter().enumerate() {
        let (wire, ring) = open(&bus, common)?;
        let edges = edge_options(common, point);
        let program = program(&edges, &arguments.second, ring.as_ref(), common)?;
        if place + 1 == plan.edges.len() {
            give_up_rights(common);
        }
        let share = watch(&bus, ring.as_ref());
        let (_, rest) = edge(wire, &layout, &edges, program, writer, point.record)?;
        writer = rest;
        note_share(share, CYCLE_US, &mut writer)?;
        drop(ring);
    }
    writer.done()?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program that is measured instead of this one's tasks.
fn given(arguments: &LabArgs) -> Option<Given> {
    Some(Given {
        folder: arguments.given.clone()?,
        interface: arguments.interface.clone()?,
        ring_interface: arguments.ring_interface.clone()?,
        built_in: arguments.common.built_in,
        realtime: !arguments.common.no_realtime,
    })
}

fn ring(arguments: &RingArgs) -> Result<ExitCode, MotionError> {
    simulate(&RingOptions {
        interface: arguments.interface.clone(),
        built_in: arguments.built_in,
        cpu: arguments.cpu,
        realtime: !arguments.no_realtime,
        faults: arguments.fault.clone(),
        with_parent: arguments.with_parent,
    })?;
    Ok(ExitCode::SUCCESS)
}
