// SPDX-License-Identifier: Apache-2.0
//! The main task: one EtherCAT exchange a cycle, the drives' state machines, supervision and its reactions.

use std::sync::Arc;

use kadenz_rt::Sender;

use super::cycle_log::CycleLog;
use super::feed_forward::FeedForward;
use super::outcome::Outcome;
use super::periodic::{Cyclic, Flow, Release};
use super::phase::Phase;
use super::reference::Reference;
use super::sync0::{Passing, Sync0};
use super::{MainQueues, Shared, StopCategory, Task, Window};
use crate::bus::{Answer, AxisFeedback, AxisSetpoint, Bus, Emergency, Wire};
use crate::cia402::{controlword, towards_enabled, DriveState};
use crate::layout::Layout;
use crate::message::{Order, TaskSample};
use crate::profile::Way;
use crate::supervise::{AxisSeen, Duty, Event, EventKind, Exchange, Observation, Reaction, Supervisor};
use crate::AXES;

/// Cycles the ring may take to reach OP, and the drives to be enabled.
const START_CYCLES: u64 = 5_000;
/// Cycles between two readings of the clocks' difference.
pub const CLOCK_EVERY: u64 = 16;
/// Cycles between two looks at the mailboxes, each between two readings of the clocks.
const MAIL_EVERY: u64 = 16;
/// Frames that look for mail in a cycle of a stop.
const MAIL_FRAMES: usize = 4;
/// The arm is held this long after a stop of category 2, cycles.
const HOLD_CYCLES: u64 = 200;
/// Cycles for which power-off is repeated after the last drive lost power, so that a lost frame does not matter.
const OFF_CYCLES: u64 = 10;
/// Cycles the first setpoint may take.
const FIRST_SETPOINT_CYCLES: u64 = 50;
/// Attempts to take a setpoint in a cycle: after each, its SYNC0 may have passed before the outputs are written.
const SETPOINT_TRIES: u32 = 3;
/// Torques older than this are reported once.
const TORQUE_LATE: u32 = 5;

/// Requirements of the layout and the lab for a run.
#[derive(Debug, Clone, Copy)]
struct Plan {
    period_ns: u64,
    /// Cycles that are measured.
    cycles: u64,
    /// Cycles a stop may take.
    stop_cycles: u64,
    /// Cycles for which drives continue along their line without a setpoint.
    drives_go_on: u32,
    /// Proof: panics in this cycle.
    panic_at: Option<u64>,
}

/// Conditions that were logged before.
#[derive(Debug, Default)]
struct Noticed {
    stop: Option<StopCategory>,
    panics: [bool; 4],
}

/// The task that exchanges process data with the drives.
pub struct MainTask<W: Wire> {
    bus: Bus<W>,
    shared: Arc<Shared>,
    orders: Sender<Order>,
    supervisor: Supervisor,
    sync0: Sync0,
    reference: Reference,
    feed_forward: FeedForward,
    log: CycleLog,
    feedback: [AxisFeedback; AXES],
    plan: Plan,
    noticed: Noticed,
    cycle: u64,
    phase: Phase,
    phase_since: u64,
    outcome: Outcome,
    first_measured: Option<u64>,
}

impl<W: Wire> MainTask<W> {
    /// `planned_cycles` are measured, from the first setpoint of the first way on.
    pub fn new(bus: Bus<W>, layout: &Layout, planned_cycles: u64, queues: MainQueues, shared: Arc<Shared>) -> Self {
        let silent = AxisFeedback {
            statusword: 0,
            state: DriveState::Unknown,
            position_counts: 0,
            position_rad: 0.0,
            velocity_rad_s: 0.0,
            error_code: 0,
            mode: None,
        };
        let period_ns = layout.period_ns();
        Self {
            supervisor: Supervisor::new(layout.supervision, bus.expected_counter(), AXES),
            bus,
            shared,
            orders: queues.orders,
            sync0: Sync0::new(period_ns, u64::from(layout.cycle.sync0_after_us) * 1000),
            reference: Reference::new(queues.setpoints, period_ns),
            feed_forward: FeedForward::new(queues.torques, queues.requests),
            log: CycleLog::new(queues.cycles, queues.events),
            feedback: [silent; AXES],
            plan: Plan {
                period_ns,
                cycles: planned_cycles,
                stop_cycles: layout.supervision.stop_cycles.into(),
                drives_go_on: layout.cycle.drives_go_on_cycles,
                panic_at: None,
            },
            noticed: Noticed::default(),
            cycle: 0,
            phase: Phase::Starting,
            phase_since: 0,
            outcome: Outcome::Done,
            first_measured: None,
        }
    }

    /// Panics in this cycle: for the proof that the drives lose power then too.
    pub fn provoke_panic_at(&mut self, cycle: u64) {
        self.plan.panic_at = Some(cycle);
    }

    /// How it ended, and the bus to leave.
    pub fn finish(self) -> (Outcome, Bus<W>) {
        (self.outcome, self.bus)
    }

    /// The outcome as of the last cycle.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Every drive is without power.
    pub fn without_power(&self) -> bool {
        self.feedback.iter().all(|axis| !axis.state.powered())
    }

    /// Actual positions of all axes, rad.
    pub fn positions_rad(&self) -> [f64; AXES] {
        self.feedback.map(|axis| axis.position_rad)
    }

    /// Number of cycles that have ended.
    pub fn cycles(&self) -> u64 {
        self.cycle
    }

    /// Number of the first measured cycle, once there is one.
    pub fn first_measured(&self) -> Option<u64> {
        self.first_measured
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_since = self.cycle;
    }

    /// Begins a stop unless a stronger one is under way.
    fn stop(&mut self, category: StopCategory) {
        let stronger = match self.phase {
            Phase::Off { .. } => false,
            Phase::Stopping { category: under_way, .. } => category < under_way,
            Phase::Halting { .. } => category < StopCategory::Two,
            // Nothing moves yet: no path to slow down on.
            Phase::Starting | Phase::Enabling => {
                return self.enter(Phase::Stopping { category: category.min(StopCategory::One), since: self.cycle })
            }
            Phase::Moving => true,
        };
        if !stronger {
            return;
        }
        if category == StopCategory::Two {
            self.orders.send(&Order { kind: Order::STOP, pose_rad: [0.0; AXES] });
            self.enter(Phase::Halting { stood: None });
        } else {
            self.enter(Phase::Stopping { category, since: self.cycle });
        }
    }

    /// An event of this cycle without a reaction.
    fn note(&mut self, kind: EventKind, value: i64, expected: i64) {
        self.log.event(Event::new(self.cycle, kind, value, expected, Reaction::None));
    }

    /// Takes the setpoint of this cycle and the torques of the dynamic task.
    fn take_inputs(&mut self, release: &Release) {
        let mut now_ns = self.bus.clock().now_ns();
        let leave_ns = self.sync0.leave_ns(now_ns, release);
        // Not if the moment has come: that would be a system call in each cycle.
        if leave_ns > now_ns {
            self.bus.clock().sleep_until_ns(leave_ns);
            now_ns = self.bus.clock().now_ns();
        }
        let is_moving = self.reference.is_moving;
        let steps = self.sync0.steps(now_ns, release, self.plan.drives_go_on);
        // Before the first setpoint the trajectory task has up to a period of its own to begin.
        let is_due = is_moving || self.cycle - self.phase_since > FIRST_SETPOINT_CYCLES;
        if let Some(taken) = self.reference.advance(if is_moving { steps } else { 1 }, is_due) {
            self.log.sample.setpoint_age_ns = span(taken.sent_ns, now_ns);
            if taken.is_standing && self.phase == (Phase::Halting { stood: None }) {
                self.phase = Phase::Halting { stood: Some(self.cycle) };
            }
        }
        self.log.sample.torque_age_ns = span(self.feed_forward.take(), now_ns);
        if self.feed_forward.age == TORQUE_LATE && self.phase == Phase::Moving {
            self.note(EventKind::TorqueLate, self.feed_forward.age.into(), 0);
        }
    }

    fn write_outputs(&mut self) {
        for k in 0..AXES {
            let feedback = self.feedback[k];
            let standing = AxisSetpoint { position_rad: feedback.position_rad, ..AxisSetpoint::default() };
            let following = AxisSetpoint {
                controlword: controlword::ENABLE,
                position_rad: self.reference.point.position[k],
                velocity_rad_s: self.reference.point.velocity[k],
                torque_nm: self.feed_forward.torque_nm(k),
            };
            let setpoint = match self.phase {
                Phase::Starting | Phase::Off { .. } => standing,
                Phase::Enabling if feedback.state == DriveState::OperationEnabled => AxisSetpoint {
                    controlword: controlword::ENABLE,
                    position_rad: self.reference.point.position[k],
                    ..standing
                },
                Phase::Enabling => {
                    // Until it is enabled the setpoint is where the axis stands, so that enabling moves nothing.
                    self.reference.point.position[k] = feedback.position_rad;
                    let controlword = match feedback.state {
                        // In another mode it would not read the values as positions.
                        DriveState::SwitchedOn if feedback.in_other_mode() => controlword::SWITCH_ON,
                        state => towards_enabled(state),
                    };
                    AxisSetpoint { controlword, ..standing }
                }
                Phase::Moving | Phase::Halting { .. } => following,
                Phase::Stopping { category: StopCategory::Zero, .. } => standing,
                Phase::Stopping { .. } => AxisSetpoint { controlword: controlword::QUICK_STOP, ..standing },
            };
            self.bus.write(k, &setpoint);
        }
    }

    fn read_inputs(&mut self) {
        for k in 0..AXES {
            if let Some(feedback) = self.bus.read(k) {
                self.feedback[k] = feedback;
            }
            self.log.sample.position_counts[k] = self.feedback[k].position_counts;
            self.log.sample.position_error_deg[k] =
                (self.reference.point.position[k] - self.feedback[k].position_rad).to_degrees();
            self.log.sample.velocity_error_deg_s[k] =
                (self.reference.point.velocity[k] - self.feedback[k].velocity_rad_s).to_degrees();
        }
    }

    fn supervise(&mut self, duty: Duty, release: &Release, exchange: Exchange, clock_difference_ns: Option<u32>) {
        let axes: [AxisSeen; AXES] = std::array::from_fn(|k| {
            let AxisFeedback { state, statusword, error_code, mode, .. } = self.feedback[k];
            AxisSeen { state, statusword, error_code, mode, error_deg: self.log.sample.position_error_deg[k] }
        });
        let seen = Observation {
            cycle: self.cycle,
            duty,
            exchange,
            lateness_ns: release.start_ns.saturating_sub(release.due_ns),
            skipped: release.skipped,
            clock_difference_ns,
            stranger: self.bus.foreign().stranger(),
            setpoint_age: if self.phase == Phase::Moving { self.reference.age } else { 0 },
            axes: &axes,
        };
        let mut cause = None;
        let log = &mut self.log;
        let reaction = self.supervisor.observe(&seen, &mut |event| {
            if event.reaction() >= Reaction::QuickStop && cause.is_none() {
                cause = Some(event);
            }
            log.event(event);
        });
        if let Some(cause) = cause {
            self.react(reaction, cause);
        }
    }

    fn react(&mut self, reaction: Reaction, cause: Event) {
        match self.outcome {
            // The first cause is kept, also over a requested stop: the user has to look at it.
            Outcome::Faulted { reaction: before, .. } if before >= reaction => {}
            Outcome::Faulted { cause, .. } => self.outcome = Outcome::Faulted { reaction, cause },
            _ => self.outcome = Outcome::Faulted { reaction, cause },
        }
        self.stop(if reaction == Reaction::SafeState { StopCategory::Zero } else { StopCategory::One });
    }

    fn look_at_requests(&mut self) {
        let requested = self.shared.stop_requested();
        if let Some(category) = requested.filter(|_| requested != self.noticed.stop) {
            self.noticed.stop = requested;
            self.note(EventKind::StopRequested, category as i64, 0);
            if self.outcome == Outcome::Done || matches!(self.outcome, Outcome::Stopped(_)) {
                self.outcome = Outcome::Stopped(category);
            }
            self.stop(category);
        }
        for task in Task::ALL {
            if self.shared.panicked(task) && !std::mem::replace(&mut self.noticed.panics[task as usize], true) {
                let reaction = if task == Task::Main { Reaction::SafeState } else { Reaction::QuickStop };
                let event = Event::new(self.cycle, EventKind::Panic, task as i64, 0, reaction);
                self.log.event(event);
                self.react(reaction, event);
            }
        }
        if let Some(refused) = self.log.newly_refused() {
            self.note(EventKind::QueueFull, Task::Log as i64, refused.into());
        }
    }

    /// Logs emergencies. One frame in [`MAIL_EVERY`] cycles looks for them, and one a cycle while there are any. In a stop
    /// there is time for more, and there may be no later chance.
    fn take_mail(&mut self, deadline_ns: u64) {
        let stops = !matches!(self.phase.duty(), Some(Duty::Starting | Duty::Enabling | Duty::Operation));
        for _ in 0..if stops { MAIL_FRAMES } else { 1 } {
            let due = stops || self.bus.has_mail() || self.cycle % MAIL_EVERY == MAIL_EVERY / 2;
            if !due || self.bus.clock().now_ns() >= deadline_ns {
                return;
            }
            if let Some(Emergency { device, bytes }) = self.bus.look_for_mail(deadline_ns) {
                self.note(EventKind::Emergency, device.into(), i64::from_le_bytes(bytes));
            }
        }
    }

    /// The reason that keeps the ring from OP or the drives from operation.
    fn stuck(&self, answer: &Answer) -> Event {
        let by_frame = match answer.exchange {
            Exchange::Answered { al: Some(trouble), .. } => {
                let (kind, device, status, _) = trouble.finding();
                Some((kind, device, status))
            }
            Exchange::Answered { working_counter, .. } if !answer.all_op => {
                Some((EventKind::WorkingCounter, working_counter.into(), self.bus.expected_counter().into()))
            }
            Exchange::Answered { .. } => None,
            Exchange::Lost | Exchange::Failed { .. } => Some((EventKind::FrameLost, 1, 0)),
        };
        let mut axes = self.feedback.iter().enumerate().filter(|(_, axis)| axis.state != DriveState::OperationEnabled);
        let by_axis = axes.next().map(|(k, axis)| match axis.state.faulted() {
            true => (EventKind::DriveFault, k as i64, axis.error_code.into()),
            false if axis.state == DriveState::SwitchedOn && axis.in_other_mode() => {
                (EventKind::DriveMode, k as i64, axis.mode.unwrap_or_default().into())
            }
            false => (EventKind::DriveDropped, k as i64, axis.statusword.into()),
        });
        let (kind, value, expected) = by_frame.or(by_axis).unwrap_or((EventKind::DeviceState, 0, 0));
        Event::new(self.cycle, kind, value, expected, Reaction::SafeState)
    }

    /// From phase to phase after the exchange.
    fn advance(&mut self, answer: &Answer) -> Flow {
        let waited = self.cycle - self.phase_since;
        match self.phase {
            Phase::Starting if answer.all_op => self.enter(Phase::Enabling),
            Phase::Enabling if self.feedback.iter().all(|axis| axis.state == DriveState::OperationEnabled) => {
                self.orders.send(&Order { kind: Order::START, pose_rad: self.reference.point.position });
                self.enter(Phase::Moving);
                self.reference.age = 0;
            }
            Phase::Starting | Phase::Enabling if waited > START_CYCLES => {
                let event = self.stuck(answer);
                self.log.event(event);
                self.react(Reaction::SafeState, event);
            }
            Phase::Halting { stood: Some(stood) } if self.cycle - stood >= HOLD_CYCLES => {
                self.enter(Phase::Stopping { category: StopCategory::One, since: self.cycle });
            }
            Phase::Halting { stood: None } if self.reference.age > self.plan.stop_cycles as u32 => {
                self.enter(Phase::Stopping { category: StopCategory::One, since: self.cycle });
            }
            Phase::Stopping { since, .. } if self.without_power() && self.cycle > since + 1 => {
                let took = (self.cycle - since) as i64;
                self.note(EventKind::PowerRemoved, took, 0);
                self.enter(Phase::Off { since: self.cycle });
            }
            Phase::Stopping { category, since } if self.cycle - since > self.plan.stop_cycles => {
                let event = Event::new(
                    self.cycle,
                    EventKind::StopTimedOut,
                    (self.cycle - since) as i64,
                    0,
                    Reaction::SafeState,
                );
                self.log.event(event);
                self.react(Reaction::SafeState, event);
                if category == StopCategory::Zero {
                    // No device answers: only the drives' watchdogs are left.
                    self.enter(Phase::Off { since: self.cycle });
                }
            }
            Phase::Off { since } if self.cycle - since >= OFF_CYCLES => return Flow::End,
            _ => {}
        }
        Flow::Continue
    }

    fn open_window(&mut self, release: &Release) {
        if self.reference.way == Way::Out && self.phase == Phase::Moving && self.shared.window().is_none() {
            let end_ns = release.nominal_ns + self.plan.cycles * self.plan.period_ns;
            self.shared.open_window(Window { start_ns: release.nominal_ns, end_ns });
            self.first_measured = Some(self.cycle);
        }
        if self.phase == Phase::Moving && self.shared.window().is_some_and(|w| release.nominal_ns >= w.end_ns) {
            self.stop(StopCategory::Two);
        }
    }
}

impl<W: Wire> Cyclic for MainTask<W> {
    fn step(&mut self, release: Release) -> Flow {
        self.cycle += 1 + u64::from(release.skipped);
        if self.plan.panic_at.take_if(|at| *at <= self.cycle).is_some() {
            panic!("provoked");
        }
        self.log.begin_cycle();
        self.look_at_requests();
        let mut tries = 0;
        let sent_ns = loop {
            let on_path = matches!(self.phase, Phase::Moving | Phase::Halting { .. });
            if on_path {
                self.take_inputs(&release);
                self.open_window(&release);
            }
            self.write_outputs();
            let now_ns = self.bus.clock().now_ns();
            tries += 1;
            if !on_path || tries == SETPOINT_TRIES || self.sync0.still_meets(now_ns, &release) {
                break now_ns;
            }
        };
        // An answer that comes later than this is no use to the next cycle.
        let deadline_ns = (release.due_ns + self.plan.period_ns * 3 / 4).max(sent_ns + self.plan.period_ns / 8);
        let answer = self.bus.exchange(deadline_ns);
        let answered = matches!(answer.exchange, Exchange::Answered { .. });
        let (since_sync0_ns, system_time_ns) = (answer.since_sync0_ns, answer.system_time_ns);
        let passing = answered.then_some(Passing { since_sync0_ns, system_time_ns });
        self.shared.set_shift_ns(self.shared.shift_ns() + self.sync0.follow(passing, sent_ns, &release));
        let mut difference = None;
        if answered {
            self.log.sample.frame_ns = span(sent_ns, self.bus.clock().now_ns());
            self.log.sample.sent_ns = span(release.due_ns, sent_ns);
            self.read_inputs();
            if self.cycle % CLOCK_EVERY == 0 {
                difference = self.bus.clock_difference_ns(deadline_ns);
                self.log.sample.clock_difference_ns = difference.unwrap_or(u32::MAX);
            }
        }
        self.log.sample.way = self.reference.way as u32;
        if let Some(duty) = self.phase.duty() {
            self.supervise(duty, &release, answer.exchange, difference);
            if duty == Duty::Operation {
                let now_ns = self.bus.clock().now_ns();
                self.feed_forward.request(now_ns, self.reference.next_point());
            }
        }
        self.take_mail(deadline_ns);
        self.advance(&answer)
    }

    fn record(&mut self, release: Release, task: TaskSample) {
        let ends = matches!(self.phase, Phase::Off { since } if self.cycle - since >= OFF_CYCLES);
        let counts = self.shared.measures(release.nominal_ns);
        self.log.end_cycle(self.cycle, task, counts, ends);
    }

    /// Power off, as far as the bus still works; a second panic gives up and leaves the drives to their watchdogs.
    fn after_panic(&mut self) -> Flow {
        if self.noticed.panics[Task::Main as usize] {
            return Flow::End;
        }
        self.look_at_requests();
        Flow::Continue
    }
}

fn span(from_ns: u64, to_ns: u64) -> u32 {
    u32::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(u32::MAX)
}
