// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::built_in::BuiltIn;
use crate::edge::Acquisition;
use crate::task::Movement;

/// Six-axis motion control over EtherCAT in four real-time tasks, on a simulated ring or on real drives.
#[derive(Debug, Parser)]
#[command(name = "kadenz-motion", version, about)]
pub struct Cli {
    /// Command to execute.
    #[command(subcommand)]
    pub command: Command,
}

/// Command of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Moves every joint out and back, or home, or holds the arm, and records response times, position and velocity
    /// errors.
    Run(RunArgs),
    /// A 1 kHz pulse train on a digital output, time-stamped by an input terminal.
    Edge(EdgeArgs),
    /// Executes a plan from standard input, as `kadenz run` gives it (docs/reference/wire-format.md).
    Lab(LabArgs),
    /// Simulates the ring on an interface, for a master elsewhere.
    Ring(RingArgs),
    /// Polls the second ring of `--acquisition second`; `edge` and `lab` start it.
    #[command(hide = true)]
    Acquire(AcquireArgs),
}

/// Where the simulated ring is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SegmentKind {
    /// In a process of its own, behind a pair of virtual interfaces. Needs root.
    Veth,
    /// In this process, without interfaces.
    InProcess,
}

/// The bus: simulated or real.
#[derive(Debug, Args)]
#[group(required = true, multiple = false, id = "bus")]
pub struct BusArgs {
    /// A simulated ring, started for this run.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "veth", value_name = "WHERE", group = "bus")]
    pub segment: Option<SegmentKind>,
    /// Real drives behind this network interface.
    #[arg(long, value_name = "NAME", group = "bus")]
    pub interface: Option<String>,
}

/// Common settings of runs.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Devices, motion and limits [default: the built-in layout].
    #[arg(long, value_name = "FILE.toml")]
    pub layout: Option<PathBuf>,
    /// Built-in layout, and the ring that is simulated for it.
    #[arg(long, value_enum, value_name = "NAME", default_value_t, conflicts_with = "layout")]
    pub built_in: BuiltIn,
    /// Write the frames to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Processor for all tasks and the simulated ring [default: the last one].
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Run without SCHED_FIFO and locked memory: a trial without privileges; its figures mean little.
    #[arg(long)]
    pub no_realtime: bool,
    /// Leave the processor's idle states on. By default /dev/cpu_dma_latency is held at 0 while the program runs.
    #[arg(long)]
    pub allow_idle_states: bool,
    /// A fault of the simulated ring, for example lose-frame@cycle=1000,count=3; may be repeated.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Only errors and events on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `run`: the four tasks on a real or simulated bus.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub bus: BusArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArgs,
    /// Motion of the arm before it is braked and loses power. The way to the first pose is not measured.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub movement: Movement,
    /// Measured time, s; rounded up to whole ways out and back.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub duration: f64,
    /// Stop category of the first SIGINT or SIGTERM; the second is always 0.
    #[arg(long, value_name = "0|1|2", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub on_interrupt: u8,
    /// Panic in this cycle of the main task, to see that the drives lose power.
    #[arg(long, value_name = "CYCLE")]
    pub provoke_panic_at: Option<u64>,
}

/// Options of `edge`: a pulse train and the stamps of its edges.
#[derive(Debug, Args)]
pub struct EdgeArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub bus: BusArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArgs,
    /// Number of rising edges. The study took a million, in 17 minutes.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub edges: u64,
    /// Where pulses are due in the milliseconds of this machine's clock, µs: timers of the kernel stand still in them.
    #[arg(long, value_name = "US", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..1000))]
    pub phase_us: u64,
    /// Releases by a timer that expires in a soft interrupt (timerfd), not by a sleep.
    #[arg(long)]
    pub soft_timer: bool,
    /// Who reads the stamps: this master from its own ring, or a second program from a ring of its own.
    #[arg(long, value_enum, value_name = "WHO", default_value_t)]
    pub acquisition: Acquisition,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub second: SecondArgs,
}

/// Where the second ring is.
#[derive(Debug, Default, Args)]
pub struct SecondArgs {
    /// Real input terminal of `acquisition=second`, behind this network interface.
    #[arg(long, value_name = "NAME")]
    pub second_interface: Option<String>,
    /// Simulated second ring, beside the one that is simulated on this interface.
    #[arg(long, value_name = "NAME", hide = true, conflicts_with = "second_interface")]
    pub second_beside: Option<String>,
}

/// Options of `acquire`.
#[derive(Debug, Args)]
pub struct AcquireArgs {
    /// Real terminal behind this network interface.
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Simulated ring, beside the one that is simulated on this interface.
    #[arg(long, value_name = "NAME", required_unless_present = "interface", conflicts_with = "interface")]
    pub beside: Option<String>,
    /// Devices [default: the built-in layout].
    #[arg(long, value_name = "FILE.toml")]
    pub layout: Option<PathBuf>,
    /// Built-in layout.
    #[arg(long, value_enum, value_name = "NAME", default_value_t, conflicts_with = "layout")]
    pub built_in: BuiltIn,
    /// Edges for which there is room.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub edges: usize,
    /// Processor to run on.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Run without SCHED_FIFO and locked memory.
    #[arg(long)]
    pub no_realtime: bool,
}

/// Options of `lab`: a plan on standard input, frames on standard output.
#[derive(Debug, Args)]
pub struct LabArgs {
    /// Real drives behind this network interface [default: the simulated ring].
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Measure the program in this folder instead, which drives the ring over --interface.
    #[arg(long, value_name = "DIR", requires = "interface", requires = "ring_interface")]
    pub given: Option<PathBuf>,
    /// Interface on which the ring of --given is simulated.
    #[arg(long, value_name = "NAME", requires = "given")]
    pub ring_interface: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub second: SecondArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArgs,
}

/// Options of `ring`: a simulated ring alone.
#[derive(Debug, Args)]
pub struct RingArgs {
    /// Interface to answer on.
    #[arg(long, value_name = "NAME")]
    pub interface: String,
    /// Built-in ring to simulate.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    pub built_in: BuiltIn,
    /// Processor to run on.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Run without SCHED_FIFO and locked memory.
    #[arg(long)]
    pub no_realtime: bool,
    /// A fault, for example break-cable@time_ms=2000,device=joint-3; may be repeated.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// End with the process that started it.
    #[arg(long, hide = true)]
    pub with_parent: bool,
}
