// SPDX-License-Identifier: Apache-2.0
//! The simulated ring in a process of its own, as real devices are: it outlives a master that is killed, and its drives
//! show what their watchdogs do.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kadenz_rt::cable::Outlet;
use kadenz_rt::process::end_with_parent;
use kadenz_rt::rights::{self, Still};
use kadenz_rt::signal::{self, Signal};
use kadenz_segment::device::Function;
use kadenz_segment::link::packet::{become_real_time, PacketSocket};
use kadenz_segment::link::serve::serve_since;
use kadenz_segment::link::Event;
use kadenz_segment::segment::Segment;

use super::second::{cable_of, Replacement, Second};
use super::veth::Veth;
use crate::built_in::BuiltIn;
use crate::error::MotionError;
use crate::realtime::{lock_memory, pin_to_cpu};

/// Above every task: hardware does not wait for software.
const PRIORITY: i32 = 98;
/// After the master has gone the ring lives on for this long: the watchdog of its drives (100 ms) and the longest they
/// may take to brake (2 s).
const AFTERLIFE: Duration = Duration::from_millis(2_300);
/// First word of the line that says the ring is ready.
const READY: &str = "ready";

/// How the ring is simulated, and on which processor.
#[derive(Debug, Clone, Default)]
pub struct RingOptions {
    /// Interface to answer on.
    pub interface: String,
    /// Built-in ring whose devices answer.
    pub built_in: BuiltIn,
    /// Processor, the same as the master's: across two, every frame pays for a wake-up of an idle one.
    pub cpu: Option<usize>,
    /// Whether the ring runs under SCHED_FIFO.
    pub realtime: bool,
    /// Faults, each as `kind@moment=value,…`.
    pub faults: Vec<String>,
    /// End with the parent.
    pub with_parent: bool,
}

/// Answers on the interface until SIGINT, SIGTERM or the parent's end; then says how the drives stand.
pub fn simulate(options: &RingOptions) -> Result<(), MotionError> {
    signal::catch(&[Signal::SIGINT, Signal::SIGTERM]);
    if options.with_parent {
        end_with_parent().map_err(|source| MotionError::System {
            action: "end with the parent process".into(),
            source,
            remedy: "Leave --with-parent out, and end the ring by hand",
        })?;
    }
    let mut segment = options.built_in.segment(&options.faults)?;
    let socket = PacketSocket::open(&options.interface)?;
    let outlet = Outlet::new(&cable_of(&options.interface)).map_err(|source| MotionError::System {
        action: format!("offer a second ring beside {}", options.interface),
        source,
        remedy: "End the other ring of this interface first",
    })?;
    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    if options.realtime {
        become_real_time(PRIORITY)?;
        lock_memory()?;
    }
    let stills: &[Still] = if options.realtime { &[Still::BecomeRealtime, Still::LockMemory] } else { &[] };
    for kept in rights::give_up(stills) {
        let _ = writeln!(std::io::stderr(), "simulated ring: {kept}");
    }
    // The parent may have gone already; then the ring ends by itself.
    let _ = writeln!(std::io::stdout(), "{READY}");
    let (over, replacement) = (AtomicBool::new(false), Replacement::default());
    let (built_in, realtime) = (options.built_in, options.realtime);
    let second = Second { outlet, built_in, faults: &options.faults, realtime };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(error) = second.serve(&replacement, &over) {
                let _ = writeln!(std::io::stderr(), "simulated ring: {error}");
            }
        });
        let served = serve_first(&mut segment, &socket, &over, &replacement);
        over.store(true, Ordering::Relaxed);
        served
    })?;
    // The reader may be gone, which is a case that this ring simulates.
    let (frames, powered) = (segment.counters().frames, powered(&segment));
    let _ = writeln!(std::io::stderr(), "simulated ring: {frames} frames, {powered} drives with power at the end");
    Ok(())
}

/// Answers on the interface until `over`; with another segment from when one waits. One call for each, because its time
/// begins with it: a ring must not be younger after the master has gone.
fn serve_first(
    segment: &mut Segment,
    socket: &PacketSocket,
    over: &AtomicBool,
    replacement: &Replacement,
) -> Result<(), MotionError> {
    let mut report = |event: &Event| {
        let _ = writeln!(std::io::stderr(), "simulated ring: {event}");
    };
    // A thread that looked for signals would disturb what is measured beside this ring.
    let ending: Cell<Option<Instant>> = Cell::default();
    let stop = |_: &Segment| {
        if signal::caught() > 0 && ending.get().is_none() {
            ending.set(Some(Instant::now()));
        }
        if ending.get().is_some_and(|since| since.elapsed() >= AFTERLIFE) {
            over.store(true, Ordering::Relaxed);
        }
        over.load(Ordering::Relaxed) || replacement.waits()
    };
    let mut start = Instant::now();
    loop {
        serve_since::<std::io::Sink>(start, segment, std::slice::from_ref(socket), None, &stop, None, &mut report)?;
        match replacement.take() {
            Some(replaced) if !over.load(Ordering::Relaxed) => (*segment, start) = replaced,
            _ => return Ok(()),
        }
    }
}

/// Drives whose motor may have torque.
pub fn powered(segment: &Segment) -> usize {
    let has_torque = |function: &Function| matches!(function, Function::Drive(drive) if drive.power().has_torque());
    segment.ring().devices.iter().filter(|device| device.has_power() && has_torque(&device.function)).count()
}

/// A ring in a child process behind a pair of virtual interfaces.
#[derive(Debug)]
pub struct RingProcess {
    child: Child,
    veth: Veth,
}

impl RingProcess {
    /// Starts it and waits until it answers.
    pub fn start(
        built_in: BuiltIn,
        cpu: Option<usize>,
        realtime: bool,
        faults: &[String],
    ) -> Result<Self, MotionError> {
        let veth = Veth::new()?;
        let system = |action: &str, source| MotionError::System {
            action: action.into(),
            source,
            remedy: "Run it by hand to see more: `kadenz-motion ring --interface NAME`",
        };
        let program = std::env::current_exe().map_err(|source| system("find this program", source))?;
        let mut command = Command::new(program);
        command.args(["ring", "--with-parent", "--interface", &veth.ring, "--built-in", &built_in.to_string()]);
        if let Some(cpu) = cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        if !realtime {
            command.arg("--no-realtime");
        }
        for fault in faults {
            command.args(["--fault", fault]);
        }
        let mut child = command
            .stdin(veth.lease().map_err(|source| system("share the virtual interfaces", source))?)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| system("start the simulated ring", source))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            let mut reader = BufReader::new(output);
            reader.read_line(&mut line).map_err(|source| system("hear from the simulated ring", source))?;
            child.stdout = Some(reader.into_inner());
        }
        if line.trim() != READY {
            let _ = child.wait();
            let source = std::io::Error::other("it ended before it was ready; its message is above");
            return Err(system("start the simulated ring", source));
        }
        Ok(Self { child, veth })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The interface on which it answers: the ring's end of the veth pair.
    pub fn answers_on(&self) -> &str {
        &self.veth.ring
    }

    /// The master's end of the veth pair.
    pub fn interface(&self) -> &str {
        &self.veth.master
    }
}

impl Drop for RingProcess {
    fn drop(&mut self) {
        let _ = signal::send(&self.child, Signal::SIGTERM);
        let _ = self.child.wait();
    }
}
