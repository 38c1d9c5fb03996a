// SPDX-License-Identifier: Apache-2.0
//! A whole robot cell in one thread and in a time of its own: ring, drives, arm, and the tasks in the order in which
//! priorities would run them. Each test is repeatable to the bit and faster than the robot.
#![allow(dead_code)] // every test file uses a part of it

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::{Bus, BusError};
use kadenz_motion::layout::Layout;
use kadenz_motion::message::{CycleSample, TaskSample};
use kadenz_motion::simulation::InProcess;
use kadenz_motion::supervise::{Event, EventKind};
use kadenz_motion::task::{
    Cyclic, DynamicsTask, Flow, LogQueues, MainTask, Movement, Outcome, PathPlan, Queues, Release, Shared,
    TrajectoryTask,
};
use kadenz_motion::AXES;
use kadenz_rt::Clock;
use kadenz_segment::device::Function;
use kadenz_segment::segment::Segment;

pub const MS: u64 = 1_000_000;

/// Fate of frames on their way back.
pub type Tamper = Box<dyn FnMut(Vec<u8>, &mut VecDeque<Vec<u8>>) + Send>;

/// The ring in this process, behind a processor that may be taken away just before a frame leaves, and with somebody at
/// the cable on the way back.
pub struct Wire {
    inside: InProcess,
    stall_ns: Arc<AtomicU64>,
    tamper: Option<Tamper>,
    /// Frames made of an answer that are still to come.
    waiting: VecDeque<Vec<u8>>,
}

impl kadenz_motion::bus::Wire for Wire {
    fn send(&mut self, frame: &[u8]) -> std::io::Result<()> {
        let clock = self.inside.clock();
        clock.sleep_until_ns(clock.now_ns() + self.stall_ns.swap(0, Ordering::Relaxed));
        self.inside.send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> std::io::Result<usize> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                // One after the other: a short frame takes 6.7 µs at 100 Mbit/s.
                let clock = self.inside.clock();
                clock.sleep_until_ns(clock.now_ns() + 6_720);
                let length = frame.len().min(buffer.len());
                buffer[..length].copy_from_slice(&frame[..length]);
                return Ok(length);
            }
            let length = self.inside.receive(buffer, deadline_ns)?;
            match &mut self.tamper {
                Some(tamper) if length > 0 => tamper(buffer[..length].to_vec(), &mut self.waiting),
                _ => return Ok(length),
            }
        }
    }

    fn clock(&self) -> &Clock {
        self.inside.clock()
    }
}

/// A ring, a master and the four tasks in simulated time.
pub struct Cell {
    pub segment: Arc<Mutex<Segment>>,
    pub clock: Clock,
    pub shared: Arc<Shared>,
    pub main: MainTask<Wire>,
    /// How long the next frame waits between its setpoints and its way, ns.
    pub stall_ns: Arc<AtomicU64>,
    pub trajectory: TrajectoryTask,
    pub dynamics: DynamicsTask,
    /// Off: the task is dead.
    pub trajectory_lives: bool,
    pub dynamics_lives: bool,
    /// Off: nobody empties the log's queues.
    pub log_lives: bool,
    pub events: Vec<Event>,
    pub cycles: Vec<CycleSample>,
    logs: LogQueues,
    nominal_ns: u64,
    step: u64,
}

/// A segment with these faults, each written as on the segment's command line.
pub fn segment(faults: &[&str]) -> Arc<Mutex<Segment>> {
    Arc::new(Mutex::new(BuiltIn::Indy7.segment(faults).unwrap()))
}

/// Drives whose motor may have torque, as the ring itself says.
pub fn powered(segment: &Mutex<Segment>) -> usize {
    let segment = segment.lock().unwrap();
    let drives = segment.ring().devices.iter().filter(|device| device.has_power());
    drives.filter(|device| matches!(&device.function, Function::Drive(drive) if drive.power().has_torque())).count()
}

impl Cell {
    /// One way out and one back, planned.
    pub fn new(faults: &[&str]) -> Self {
        Self::try_new(faults).unwrap()
    }

    pub fn try_new(faults: &[&str]) -> Result<Self, BusError> {
        Self::with_layout(&BuiltIn::Indy7.layout().unwrap(), faults)
    }

    pub fn with_layout(layout: &Layout, faults: &[&str]) -> Result<Self, BusError> {
        Self::on(&segment(faults), layout, None)
    }

    /// A cell whose axes make another movement.
    pub fn moving(movement: Movement, layout: &Layout) -> Result<Self, BusError> {
        Self::made(&segment(&[]), layout, movement, None)
    }

    /// With somebody at the cable.
    pub fn on(segment: &Arc<Mutex<Segment>>, layout: &Layout, tamper: Option<Tamper>) -> Result<Self, BusError> {
        Self::made(segment, layout, Movement::OutAndBack, tamper)
    }

    fn made(
        segment: &Arc<Mutex<Segment>>,
        layout: &Layout,
        movement: Movement,
        tamper: Option<Tamper>,
    ) -> Result<Self, BusError> {
        let (segment, clock) = (Arc::clone(segment), Clock::new_virtual());
        let stall_ns = Arc::new(AtomicU64::new(0));
        let inside = InProcess::new(Arc::clone(&segment), clock.clone());
        let wire = Wire { inside, stall_ns: Arc::clone(&stall_ns), tamper, waiting: VecDeque::new() };
        let bus = Bus::bring_up(wire, layout, &layout.axis)?;
        let shared = Arc::new(Shared::default());
        let plan = PathPlan::new(layout, movement);
        let queues = Queues::open().unwrap();
        let main = MainTask::new(bus, layout, 2 * plan.way_cycles(), queues.main, Arc::clone(&shared));
        let nominal_ns = clock.now_ns() + MS;
        Ok(Self {
            main,
            trajectory: TrajectoryTask::new(plan, queues.trajectory, Arc::clone(&shared)),
            dynamics: DynamicsTask::new(layout.drive_trains(), queues.dynamics, Arc::clone(&shared)),
            segment,
            stall_ns,
            clock,
            shared,
            trajectory_lives: true,
            dynamics_lives: true,
            log_lives: true,
            events: Vec::new(),
            cycles: Vec::new(),
            logs: queues.log,
            nominal_ns,
            step: 0,
        })
    }

    /// One millisecond, begun this much late.
    pub fn cycle_late_by(&mut self, late_ns: u64) -> Flow {
        let mut due_ns = self.nominal_ns.saturating_add_signed(self.shared.shift_ns());
        self.clock.sleep_until_ns(due_ns + late_ns);
        let start_ns = self.clock.now_ns();
        let skipped = start_ns.saturating_sub(due_ns) / MS;
        self.nominal_ns += skipped * MS;
        due_ns += skipped * MS;
        let release = Release { nominal_ns: self.nominal_ns, due_ns, start_ns, skipped: skipped as u32 };
        if self.dynamics_lives {
            self.dynamics.step(release);
        }
        let flow = self.main.step(release);
        self.main.record(release, TaskSample::default());
        if self.trajectory_lives && self.step % 2 == 0 {
            self.trajectory.step(release);
        }
        self.step += 1;
        self.nominal_ns += MS;
        if self.log_lives {
            self.drain();
        }
        flow
    }

    pub fn cycle(&mut self) -> Flow {
        self.cycle_late_by(0)
    }

    pub fn drain(&mut self) {
        while let Some(batch) = self.logs.cycles.receive_batch() {
            self.cycles.extend_from_slice(batch.values());
        }
        while let Some(batch) = self.logs.events.receive() {
            self.events.extend_from_slice(&batch.events[..batch.count as usize]);
        }
    }

    /// Until main has ended, at most `most_ms`.
    pub fn run(&mut self, most_ms: u64) -> Outcome {
        for _ in 0..most_ms {
            if self.cycle() == Flow::End {
                self.drain();
                return self.main.outcome();
            }
        }
        panic!("not over after {most_ms} ms: {:?}, {:?}", self.main.outcome(), self.events.last());
    }

    /// For `ms` ms, which main must survive.
    pub fn run_for(&mut self, ms: u64) {
        for _ in 0..ms {
            assert_eq!(self.cycle(), Flow::Continue, "{:?}", self.main.outcome());
        }
    }

    /// Until the arm is on its way out and fast.
    pub fn run_until_fast(&mut self) {
        for _ in 0..5000 {
            assert_eq!(self.cycle(), Flow::Continue, "{:?}", self.main.outcome());
            if self.fastest_rad_s() > 0.8 {
                return;
            }
        }
        panic!("never moved: {:?}", self.events);
    }

    /// No frames while time passes: what the segment does alone.
    pub fn silence(&mut self, ms: u64) {
        for _ in 0..ms {
            self.nominal_ns += MS;
            self.clock.sleep_until_ns(self.nominal_ns);
            self.segment.lock().unwrap().settle(self.clock.now_ns());
        }
    }

    /// Drives whose motor may have torque, as the ring itself says.
    pub fn powered(&self) -> usize {
        powered(&self.segment)
    }

    /// Largest speed of a joint, rad/s.
    pub fn fastest_rad_s(&self) -> f64 {
        let segment = self.segment.lock().unwrap();
        (0..AXES).map(|axis| segment.ring().plant().velocity_rad_s(axis).abs()).fold(0.0, f64::max)
    }

    pub fn has(&self, kind: EventKind) -> bool {
        self.events.iter().any(|event| event.kind() == Some(kind))
    }

    pub fn first(&self, kind: EventKind) -> &Event {
        let found = self.events.iter().find(|event| event.kind() == Some(kind));
        found.unwrap_or_else(|| panic!("no {kind:?} among {:#?}", self.events))
    }
}
