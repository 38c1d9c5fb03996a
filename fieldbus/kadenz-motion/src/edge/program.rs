// SPDX-License-Identifier: Apache-2.0
//! The acquisition program: a process of its own, as in the study another computer. It polls the second ring from before
//! the first pulse until after the last, then tells what it read.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kadenz_rt::process::end_with_parent;
use kadenz_rt::rights::{self, Still};
use kadenz_rt::signal::{self, Signal};

use super::account::Account;
use super::poller::{Poller, POLL_NS};
use super::require_stamps;
use crate::bus::{Bus, Wire};
use crate::error::MotionError;
use crate::layout::Layout;
use crate::realtime::{become_realtime, lock_memory, pin_to_cpu};
use crate::task::{run, Shared, Task};

/// SCHED_FIFO of the polls: below every task, and below the threads of interrupts (50), where both are on one processor.
const PRIORITY: i32 = 40;
/// First word of the line that says that the terminal answers.
const READY: &str = "ready";
/// What the second ring has to reach OP.
const START: Duration = Duration::from_secs(5);
/// The first poll is this far ahead, ns.
const LEAD_NS: u64 = 5_000_000;
/// How often the thread without priority looks.
const LOOK: Duration = Duration::from_millis(5);

/// Options of the acquisition program.
#[derive(Debug, Clone, Copy)]
pub struct AcquireOptions {
    /// Edges for which there is room.
    pub edges: usize,
    /// Processor to run on.
    pub cpu: Option<usize>,
    /// SCHED_FIFO and locked memory.
    pub realtime: bool,
}

/// Polls the terminal of the layout's [acquisition] over `wire` until standard input ends; then writes what it read.
pub fn acquire<W: Wire>(wire: W, layout: &Layout, options: AcquireOptions) -> Result<(), MotionError> {
    let system = |action: &str, source| MotionError::System {
        action: action.into(),
        source,
        remedy: "`kadenz-motion edge --acquisition second` starts this program",
    };
    // Its end is that of its input: a signal for the whole group must not take what it has read.
    signal::catch(&[Signal::SIGINT, Signal::SIGHUP]);
    end_with_parent().map_err(|source| system("end with the parent process", source))?;
    let Some(terminal) = layout.acquisition else {
        return Err(MotionError::Usage(NO_TABLE.into()));
    };
    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    let bus = Bus::bring_up(wire, layout, &[])?;
    require_stamps(&bus, "acquisition", terminal.input_device, terminal.count_byte, terminal.rising_byte)?;
    if options.realtime {
        lock_memory()?;
    }
    let stills: &[Still] = if options.realtime { &[Still::BecomeRealtime, Still::LockMemory] } else { &[] };
    for kept in rights::give_up(stills) {
        tracing::info!("{kept}");
    }
    let (is_ready, shared) = (Arc::new(AtomicBool::new(false)), Arc::new(Shared::default()));
    let clock = bus.clock().clone();
    let mut poller = Poller::new(bus, terminal, options.edges, Arc::clone(&is_ready), Arc::clone(&shared));
    std::thread::scope(|scope| {
        let polls = scope.spawn(|| -> Result<(), MotionError> {
            if options.realtime {
                become_realtime(PRIORITY)?;
            }
            run(Task::Main, POLL_NS, &mut poller, clock.now_ns() + LEAD_NS, &shared, &clock);
            Ok(())
        });
        let begun = Instant::now();
        while !is_ready.load(Ordering::Acquire) && !polls.is_finished() && begun.elapsed() < START {
            std::thread::sleep(LOOK);
        }
        if is_ready.load(Ordering::Acquire) {
            // The parent may have gone already; then the input ends.
            let _ = writeln!(std::io::stdout(), "{READY}");
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        }
        shared.end();
        polls.join().unwrap_or(Ok(()))
    })?;
    let (account, bus) = poller.finish();
    if let Err(error) = bus.leave() {
        tracing::warn!("{error}");
    }
    if !is_ready.load(Ordering::Acquire) {
        let source = std::io::Error::other(format!("it did not reach OP within {} s", START.as_secs()));
        return Err(system("poll the second ring", source));
    }
    write(&account).map_err(|source| system("tell what was read", source))
}

/// A layout without the table.
pub const NO_TABLE: &str = "the layout has no [acquisition] table. Name the input terminal of the second ring there: \
                            docs/how-to/run-the-motion.md";

fn write(account: &Account) -> std::io::Result<()> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    account.lines().try_for_each(|line| writeln!(output, "{line}"))?;
    output.flush()
}

/// The acquisition program while it runs.
#[derive(Debug)]
pub struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it with these arguments and waits until its terminal answers.
    pub fn start(arguments: &[String]) -> Result<Self, MotionError> {
        let system = |source| MotionError::System {
            action: "start the acquisition on the second ring".into(),
            source,
            remedy: "Its message is above",
        };
        let program = std::env::current_exe().map_err(system)?;
        let mut command = Command::new(program);
        command.arg("acquire").args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(system)?;
        let output = child.stdout.take().ok_or_else(|| system(std::io::ErrorKind::BrokenPipe.into()))?;
        let mut program = Self { child, output: BufReader::new(output) };
        let mut line = String::new();
        program.output.read_line(&mut line).map_err(system)?;
        if line.trim() != READY {
            return Err(system(std::io::Error::other("it ended before it was ready")));
        }
        Ok(program)
    }

    /// Ends it and takes what it read.
    pub(super) fn finish(mut self) -> Result<Account, MotionError> {
        drop(self.child.stdin.take());
        let mut text = String::new();
        let read = self.output.read_to_string(&mut text);
        let account = read.map(|_| Account::read(text.lines().map(str::to_owned)));
        let broken = || std::io::Error::other("it ended before it had told all");
        account.and_then(|account| account.ok_or_else(broken)).map_err(|source| MotionError::System {
            action: "take the stamps of the second ring".into(),
            source,
            remedy: "Measure again; a message of the acquisition is above",
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
