// SPDX-License-Identifier: Apache-2.0
//! `kadenz-motion`: see `kadenz-motion --help` and docs/how-to/run-the-motion.md.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::Parser;
use kadenz_motion::bus::{Socket, Wire};
use kadenz_motion::cli::{BusArgs, Cli, Command, CommonArgs, EdgeArgs, LabArgs, RingArgs, RunArgs, SegmentKind};
use kadenz_motion::console;
use kadenz_motion::edge::{edge, EdgeOptions};
use kadenz_motion::error::MotionError;
use kadenz_motion::given::Given;
use kadenz_motion::layout::{Layout, LayoutError};
use kadenz_motion::plan::Plan;
use kadenz_motion::record::{hello, MotionRecords, Wanted};
use kadenz_motion::run::{cycles_for, motion, require_axes, settings, RunOptions};
use kadenz_motion::simulation::{simulate, InProcess, RingOptions, RingProcess};
use kadenz_motion::task::{Movement, StopCategory};
use kadenz_record::{Map, Writer};
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
    let (report, writer) = motion(wire, &layout, &options, writer, records)?;
    writer.done()?;
    drop(ring);
    if report.passed() {
        tracing::info!(cycles = report.cycles, events = report.events, "done, drives without power");
        return Ok(ExitCode::SUCCESS);
    }
    let _ = writeln!(io::stderr(), "kadenz-motion: {report}");
    Ok(ExitCode::FAILURE)
}

fn edge_options(common: &CommonArgs, edges: u64, phase_us: u64, soft_timer: bool) -> EdgeOptions {
    EdgeOptions { edges, phase_us, soft_timer, cpu: processor(common), realtime: !common.no_realtime }
}

fn edge_run(arguments: &EdgeArgs) -> Result<ExitCode, MotionError> {
    let common = &arguments.common;
    let layout = layout(common)?;
    let output = output(common)?;
    speak(common);
    let (wire, ring) = open(&arguments.bus, common)?;
    let mut writer = Writer::new(output)?;
    let options = options(common, transport(&arguments.bus));
    give_up_rights(common);
    writer.hello(&hello(all_settings(&options, &layout, common)))?;
    let edges = edge_options(common, arguments.edges, arguments.phase_us, arguments.soft_timer);
    let (report, writer) = edge(wire, &layout, &edges, writer, 1)?;
    writer.done()?;
    drop(ring);
    tracing::info!(taken = report.taken, missed = report.missed, led_back = report.led_back, "edges");
    Ok(if report.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Executes a plan of the lab: the clock, then one motion for all records wanted of it, then the edges.
fn lab(arguments: &LabArgs) -> Result<ExitCode, MotionError> {
    let common = &arguments.common;
    let layout = layout(common)?;
    let output = output(common)?;
    let given = given(arguments);
    let plan = Plan::read(io::stdin().lock(), &layout, given.is_some())?;
    speak(common);
    let bus = BusArgs {
        segment: arguments.interface.is_none().then_some(SegmentKind::Veth),
        interface: arguments.interface.clone(),
    };
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
        let (report, rest) = motion(wire, &layout, &options, writer, MotionRecords::new(plan.motion.clone()))?;
        (writer, passed) = (rest, report.passed());
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
        if place + 1 == plan.edges.len() {
            give_up_rights(common);
        }
        let edges = edge_options(common, point.samples, point.phase_us(), point.soft_timer());
        let (_, rest) = edge(wire, &layout, &edges, writer, point.record)?;
        writer = rest;
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
