// SPDX-License-Identifier: Apache-2.0
//! A CiA 402 servo drive: cyclic synchronous position, velocity and torque, homing, supervision.

pub mod homing;
pub mod loops;
pub mod objects;
pub mod settings;
pub mod state_machine;

use crate::coe::emergency::Emergency;
use crate::coe::object::Dictionary;
use crate::plant::AxisInput;
use homing::{Homing, Seen};
use loops::{Cascade, Limits, Target};
use objects::Handles;
use settings::DriveSettings;
use state_machine::{Power, StateMachine};

/// Modes of operation (0x6060).
#[allow(missing_docs)]
pub mod mode {
    /// No mode: the axis is held at rest.
    pub const NONE: i64 = 0;
    pub const HOMING: i64 = 6;
    pub const CSP: i64 = 8;
    pub const CSV: i64 = 9;
    pub const CST: i64 = 10;
    /// Modes of the drive; others are refused by SDO and not taken from process data.
    pub const ALL: [i64; 5] = [NONE, HOMING, CSP, CSV, CST];
}

/// Error codes (0x603F, CiA 402 table of error codes).
#[allow(missing_docs)]
pub mod fault {
    /// Communication: outputs stopped while operation was enabled.
    pub const COMMUNICATION: u16 = 0x7500;
    /// Velocity above the supervision limit.
    pub const OVERSPEED: u16 = 0x8400;
    /// Following error above its window for longer than its time-out.
    pub const FOLLOWING: u16 = 0x8611;
}

/// Below this the axis counts as standing, rad/s: one count of a 20-bit encoder in 2 ms.
const STANDING_RAD_S: f64 = 3.0e-3;
/// A reaction that has not stopped the axis by then ends in the brake, s.
const LONGEST_REACTION_S: f64 = 2.0;

/// A setpoint and how it is approached.
#[derive(Debug, Clone, Copy, Default)]
struct Approach {
    from_rad: f64,
    to_rad: f64,
    passed_s: f64,
    period_s: f64,
}

impl Approach {
    fn position_rad(&self) -> f64 {
        let share = if self.period_s > 0.0 { (self.passed_s / self.period_s).min(1.0) } else { 1.0 };
        self.from_rad + share * (self.to_rad - self.from_rad)
    }

    fn velocity_rad_s(&self) -> f64 {
        // Half a period of grace: the next setpoint comes with the same step of the grid, and may come a step later.
        let is_moving = self.period_s > 0.0 && self.passed_s < 1.5 * self.period_s;
        if is_moving {
            (self.to_rad - self.from_rad) / self.period_s
        } else {
            0.0
        }
    }
}

/// A drive by CiA 402, with its loops and its scale.
pub struct Drive {
    settings: DriveSettings,
    handles: Handles,
    machine: StateMachine,
    cascade: Cascade,
    homing: Homing,
    approach: Approach,
    /// The mode that is active: the last one asked for that the drive has.
    mode: i64,
    /// Where the axis was when the negative and the positive limit switch closed.
    closed_at_rad: [Option<f64>; 2],
    /// Counts added to the encoder by homing.
    shift: f64,
    position_rad: f64,
    velocity_rad_s: f64,
    /// Velocity of a stop ramp, rad/s.
    ramp_rad_s: f64,
    reaction_s: f64,
    following_s: f64,
    following_counts: f64,
    is_limited: bool,
    has_setpoints: bool,
    last_latch_ns: u64,
    /// SYNC0 periods since the last new position.
    missing: u32,
    /// That position, and how far the last two were apart a period, rad.
    target_rad: f64,
    line_rad: f64,
    error_code: u16,
    emergency: Option<Emergency>,
}

impl Drive {
    /// A drive whose objects are in `dictionary`; `None` if they are not.
    pub fn new(settings: DriveSettings, dictionary: &Dictionary) -> Option<Self> {
        Some(Self {
            handles: Handles::find(dictionary)?,
            position_rad: settings.start_rad,
            settings,
            machine: StateMachine::default(),
            cascade: Cascade::default(),
            homing: Homing::Idle,
            approach: Approach::default(),
            mode: mode::NONE,
            closed_at_rad: [None; 2],
            shift: 0.0,
            velocity_rad_s: 0.0,
            ramp_rad_s: 0.0,
            reaction_s: 0.0,
            following_s: 0.0,
            following_counts: 0.0,
            is_limited: false,
            has_setpoints: false,
            last_latch_ns: 0,
            missing: 0,
            target_rad: 0.0,
            line_rad: 0.0,
            error_code: 0,
            emergency: None,
        })
    }

    /// State of the power state machine.
    pub fn power(&self) -> Power {
        self.machine.state()
    }

    /// Settings from the ring file.
    pub fn settings(&self) -> &DriveSettings {
        &self.settings
    }

    /// Last error code; 0 after a reset.
    pub fn error_code(&self) -> u16 {
        self.error_code
    }

    /// An emergency to send, once.
    pub fn take_emergency(&mut self) -> Option<Emergency> {
        self.emergency.take()
    }

    pub(crate) fn power_cycle(&mut self, dictionary: &Dictionary) {
        let fresh = Self::new(self.settings.clone(), dictionary);
        if let Some(fresh) = fresh {
            *self = Self { position_rad: self.position_rad, ..fresh };
        }
    }

    /// A fault from inside or by script.
    pub fn fail(&mut self, code: u16) {
        if matches!(self.machine.state(), Power::Fault | Power::FaultReactionActive) {
            return;
        }
        self.machine.fail();
        self.error_code = code;
        self.begin_ramp();
        // Error register: generic, and its class; motion faults have only the manufacturer's bit.
        let register =
            if code & 0xFF00 == 0x7500 || code & 0xF000 == 0x8000 && code & 0x0F00 == 0x0100 { 0x11 } else { 0x81 };
        self.emergency = Some(Emergency { code, register, data: [0; 5] });
    }

    /// Resets a fault, as a rising edge of bit 7 of the controlword does. False if there is still one.
    pub(crate) fn reset_fault(&mut self) -> bool {
        let is_free = self.machine.reset_fault();
        if is_free {
            self.error_code = 0;
            self.following_s = 0.0;
        }
        is_free
    }

    /// Outputs do not count any more.
    pub(crate) fn lose_control(&mut self) {
        self.has_setpoints = false;
        if self.machine.state().has_torque() {
            self.fail(fault::COMMUNICATION);
        } else {
            self.machine.disable();
        }
    }

    fn begin_ramp(&mut self) {
        self.ramp_rad_s = self.velocity_rad_s;
        self.reaction_s = 0.0;
    }

    fn joint(&self, counts: f64) -> f64 {
        self.settings.rad(counts - self.shift)
    }

    /// Outputs are latched: by SYNC0, or without it when they arrive. `are_new`: they were written since the last time.
    pub(crate) fn latch(&mut self, dictionary: &Dictionary, world_ns: u64, period_ns: Option<u32>, are_new: bool) {
        if are_new || !self.extrapolate(world_ns) {
            self.take_setpoints(dictionary, world_ns, period_ns);
        }
    }

    /// SYNC0 came and no new outputs had. True: the drive goes on along the line of the last two positions that came, or
    /// stays where that has led to; false: it is not following positions.
    fn extrapolate(&mut self, world_ns: u64) -> bool {
        let follows = self.machine.state() == Power::OperationEnabled && self.mode == mode::CSP;
        if !follows || self.settings.extrapolated_periods == 0 {
            return false;
        }
        let from_rad = self.arrived_rad(world_ns);
        self.missing = self.missing.saturating_add(1);
        let goes_on = self.missing <= self.settings.extrapolated_periods;
        let to_rad = if goes_on { from_rad + self.line_rad } else { from_rad };
        self.approach = Approach { from_rad, to_rad, passed_s: 0.0, period_s: self.approach.period_s };
        true
    }

    /// Where the approach has come to at this latch; after a pause longer than its period it has arrived.
    fn arrived_rad(&mut self, world_ns: u64) -> f64 {
        let elapsed_s = world_ns.saturating_sub(self.last_latch_ns) as f64 * 1.0e-9;
        self.last_latch_ns = world_ns;
        let mut reached = self.approach;
        reached.passed_s = reached.passed_s.max(elapsed_s.min(reached.period_s));
        reached.position_rad()
    }

    /// Takes the setpoints of the dictionary. `period_ns` is SYNC0's, where there is one.
    fn take_setpoints(&mut self, dictionary: &Dictionary, world_ns: u64, period_ns: Option<u32>) {
        self.has_setpoints = true;
        let before = self.machine.state();
        if self.machine.command(dictionary.get(self.handles.controlword) as u16) {
            self.error_code = 0;
            self.following_s = 0.0;
        }
        if before != Power::QuickStopActive && self.machine.state() == Power::QuickStopActive {
            self.begin_ramp();
        }
        let target = self.joint(dictionary.get(self.handles.target_position) as f64);
        let period_s = match period_ns {
            Some(ns) if ns > 0 => f64::from(ns) * 1.0e-9,
            _ => {
                let exponent = dictionary.get(self.handles.interpolation_exponent).clamp(-9, 0) as i32;
                dictionary.get(self.handles.interpolation) as f64 * 10_f64.powi(exponent)
            }
        };
        let from_rad = self.arrived_rad(world_ns);
        // Over the time between them: catching up after a pause is not a velocity to keep.
        self.line_rad = (target - self.target_rad) / (f64::from(self.missing) + 1.0);
        (self.target_rad, self.missing) = (target, 0);
        self.approach = Approach { from_rad, to_rad: target, passed_s: 0.0, period_s };
        if before != Power::OperationEnabled || self.mode != mode::CSP {
            // No movement from wherever the setpoint last was.
            (self.approach.from_rad, self.line_rad) = (self.position_rad, 0.0);
        }
    }

    fn limits(&self, dictionary: &Dictionary) -> Limits {
        let permille = dictionary.get(self.handles.max_torque) as f64;
        Limits {
            velocity_rad_s: self.settings.rad(dictionary.get(self.handles.max_velocity) as f64),
            torque_nm: self.settings.rated_torque_nm * permille / 1000.0,
        }
    }

    fn seen(&self) -> Seen {
        let [low, high] = self.settings.switches_rad.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        Seen {
            negative: self.position_rad <= low,
            positive: self.position_rad >= high,
            revolution: (self.position_rad / std::f64::consts::TAU).floor() as i64,
        }
    }

    /// One step of the loops, after the plant has told where the axis is: what to apply during the next `dt_s`.
    pub fn step(
        &mut self,
        dictionary: &mut Dictionary,
        position_rad: f64,
        velocity_rad_s: f64,
        dt_s: f64,
    ) -> AxisInput {
        (self.position_rad, self.velocity_rad_s) = (position_rad, velocity_rad_s);
        self.approach.passed_s += dt_s;
        if self.machine.state() == Power::NotReady {
            self.machine.command(0);
        }
        self.follow_mode(dictionary);
        self.follow_switches();
        self.supervise(dictionary, dt_s);
        let limits = self.limits(dictionary);
        let target = match self.machine.state() {
            Power::OperationEnabled => self.enabled_target(dictionary),
            Power::QuickStopActive | Power::FaultReactionActive => self.ramp(dictionary, dt_s),
            _ => Target::Off,
        };
        let torque_nm = self.cascade.step(target, position_rad, velocity_rad_s, &self.settings.gains, &limits, dt_s);
        self.is_limited |= self.cascade.is_limited;
        AxisInput { torque_nm, brake: !self.machine.state().has_torque() }
    }

    fn follow_mode(&mut self, dictionary: &Dictionary) {
        let wanted = dictionary.get(self.handles.mode);
        if wanted != self.mode && mode::ALL.contains(&wanted) {
            self.mode = wanted;
            self.homing = Homing::Idle;
            self.approach.from_rad = self.position_rad;
        }
    }

    fn follow_switches(&mut self) {
        let seen = self.seen();
        for (place, closed) in self.closed_at_rad.iter_mut().zip([seen.negative, seen.positive]) {
            *place = if closed { place.or(Some(self.position_rad)) } else { None };
        }
    }

    /// Runs the velocity down; ends the reaction when the axis stands. Quick stop takes its deceleration from what 0x605A
    /// says, a fault reaction always that of quick stop.
    fn ramp(&mut self, dictionary: &Dictionary, dt_s: f64) -> Target {
        let option = dictionary.get(self.handles.quick_stop_option);
        let is_slow = matches!(option, 1 | 5) && self.machine.state() == Power::QuickStopActive;
        let h = &self.handles;
        let deceleration = if is_slow { h.profile_deceleration } else { h.quick_stop_deceleration };
        let step = self.settings.rad(dictionary.get(deceleration) as f64) * dt_s;
        self.ramp_rad_s -= self.ramp_rad_s.clamp(-step, step);
        self.reaction_s += dt_s;
        if (self.ramp_rad_s == 0.0 && self.velocity_rad_s.abs() < STANDING_RAD_S)
            || self.reaction_s > LONGEST_REACTION_S
        {
            self.machine.stopped(option >= 5);
        }
        if self.machine.state().has_torque() {
            Target::Velocity(self.ramp_rad_s, 0.0)
        } else {
            Target::Off
        }
    }

    fn enabled_target(&mut self, dictionary: &mut Dictionary) -> Target {
        self.is_limited = false;
        let rated = self.settings.rated_torque_nm / 1000.0;
        let offset_nm = dictionary.get(self.handles.torque_offset) as f64 * rated;
        match self.mode {
            mode::CSP => {
                let wanted = self.approach.position_rad();
                let held = self.within_limits(dictionary, wanted);
                self.is_limited = held != wanted;
                let extra = self.settings.rad(dictionary.get(self.handles.velocity_offset) as f64);
                let forward = if self.is_limited { 0.0 } else { self.approach.velocity_rad_s() + extra };
                Target::Position(held, forward, offset_nm)
            }
            mode::CSV => {
                let sum = dictionary.get(self.handles.target_velocity) + dictionary.get(self.handles.velocity_offset);
                let wanted = self.settings.rad(sum as f64);
                self.is_limited = self.is_barred(dictionary, wanted);
                Target::Velocity(if self.is_limited { 0.0 } else { wanted }, offset_nm)
            }
            mode::CST => {
                let torque_nm = dictionary.get(self.handles.target_torque) as f64 * rated + offset_nm;
                let is_moving = self.velocity_rad_s.abs() > STANDING_RAD_S;
                // Beyond a limit no torque leads further out, and what still moves that way is braked.
                self.is_limited = self.is_barred(dictionary, torque_nm)
                    || is_moving && self.is_barred(dictionary, self.velocity_rad_s);
                if self.is_limited {
                    Target::Velocity(0.0, 0.0)
                } else {
                    Target::Torque(torque_nm)
                }
            }
            mode::HOMING => self.home(dictionary),
            _ => Target::Velocity(0.0, 0.0),
        }
    }

    /// Software limits (0x607D), rad.
    fn software_limits(&self, dictionary: &Dictionary) -> (f64, f64) {
        let joint = |handle| self.joint(dictionary.get(handle) as f64);
        (joint(self.handles.lowest_position), joint(self.handles.highest_position))
    }

    /// Does this direction lead on from a software limit that is reached, or from a limit switch that is closed?
    fn is_barred(&self, dictionary: &Dictionary, direction: f64) -> bool {
        let (low, high) = self.software_limits(dictionary);
        let seen = self.seen();
        (direction < 0.0 && (self.position_rad <= low || seen.negative))
            || (direction > 0.0 && (self.position_rad >= high || seen.positive))
    }

    /// A position, or the nearest one within the software limits and not beyond where a switch has closed.
    fn within_limits(&self, dictionary: &Dictionary, wanted: f64) -> f64 {
        let (low, high) = self.software_limits(dictionary);
        let [negative, positive] = self.closed_at_rad;
        wanted.max(low.max(negative.unwrap_or(low))).min(high.min(positive.unwrap_or(high)))
    }

    fn home(&mut self, dictionary: &mut Dictionary) -> Target {
        let controlword = dictionary.get(self.handles.controlword);
        let (start, halt) = (controlword & 0x10 != 0, controlword & 0x100 != 0);
        let seen = self.seen();
        if !start {
            self.homing = Homing::Idle;
        } else if self.homing == Homing::Idle {
            let method = dictionary.get(self.handles.homing_method);
            let needs_switches = matches!(method, 17 | 18) && self.settings.switches_rad.is_none();
            self.homing = if needs_switches || !objects::knows_homing(method) {
                Homing::Error
            } else {
                Homing::start(method, &seen)
            };
            if self.homing == Homing::Attained {
                self.set_home(dictionary);
            }
        }
        if halt || !start {
            return Target::Velocity(0.0, 0.0);
        }
        let speed = |handle| self.settings.rad(dictionary.get(handle) as f64);
        let (fast, slow) = (speed(self.handles.homing_fast), speed(self.handles.homing_slow));
        let before = self.homing;
        let velocity = self.homing.step(&seen, fast, slow);
        self.is_limited = self.homing == Homing::Error && (seen.negative || seen.positive);
        if before != Homing::Attained && self.homing == Homing::Attained {
            self.set_home(dictionary);
        }
        Target::Velocity(velocity, 0.0)
    }

    /// The present position becomes the home offset.
    fn set_home(&mut self, dictionary: &Dictionary) {
        self.shift = dictionary.get(self.handles.home_offset) as f64 - self.settings.counts(self.position_rad).round();
    }

    fn supervise(&mut self, dictionary: &Dictionary, dt_s: f64) {
        if !self.machine.state().has_torque() {
            self.following_s = 0.0;
            self.following_counts = 0.0;
            return;
        }
        let overspeed = self.settings.rad(dictionary.get(self.handles.overspeed) as f64);
        if self.velocity_rad_s.abs() > overspeed {
            self.fail(fault::OVERSPEED);
            return;
        }
        if self.machine.state() != Power::OperationEnabled || self.mode != mode::CSP {
            self.following_s = 0.0;
            self.following_counts = 0.0;
            return;
        }
        // Against the position the drive follows: a limited target is not a following error.
        let demand = self.within_limits(dictionary, self.approach.position_rad());
        self.following_counts = self.settings.counts(demand - self.position_rad);
        if self.following_counts.abs() <= dictionary.get(self.handles.following_window) as f64 {
            self.following_s = 0.0;
            return;
        }
        self.following_s += dt_s;
        if self.following_s * 1000.0 >= dictionary.get(self.handles.following_timeout_ms) as f64 {
            self.fail(fault::FOLLOWING);
        }
    }

    fn statusword(&self) -> u16 {
        let state = self.machine.state();
        let mut word = state.status_bits();
        if matches!(
            state,
            Power::ReadyToSwitchOn | Power::SwitchedOn | Power::OperationEnabled | Power::QuickStopActive
        ) {
            word |= 1 << 4;
        }
        if self.has_setpoints {
            word |= 1 << 9;
        }
        if self.is_limited && state == Power::OperationEnabled {
            word |= 1 << 11;
        }
        if state == Power::OperationEnabled {
            match (self.mode, self.homing) {
                (mode::HOMING, Homing::Attained) => word |= 1 << 12 | 1 << 10,
                (mode::HOMING, Homing::Error) => word |= 1 << 13,
                (mode::HOMING, _) => {}
                // In the cyclic modes bit 12 says that the drive follows the setpoint.
                (mode::CSP | mode::CSV | mode::CST, _) => word |= 1 << 12,
                _ => {}
            }
            if self.mode == mode::CSP && self.following_s > 0.0 {
                word |= 1 << 13;
            }
        }
        word
    }

    /// Actual values into the dictionary.
    pub(crate) fn publish(&mut self, dictionary: &mut Dictionary) {
        let h = self.handles;
        let counts = |value: f64| value.round().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i64;
        let permille = self.cascade.torque_nm() / self.settings.rated_torque_nm * 1000.0;
        let seen = self.seen();
        dictionary.set(h.statusword, i64::from(self.statusword()));
        dictionary.set(h.position, counts(self.settings.counts(self.position_rad) + self.shift));
        dictionary.set(h.velocity, counts(self.settings.counts(self.velocity_rad_s)));
        dictionary.set(h.torque, permille.round().clamp(-32768.0, 32767.0) as i64);
        dictionary.set(h.mode_display, self.mode);
        dictionary.set(h.following_error, counts(self.following_counts));
        dictionary.set(h.error_code, i64::from(self.error_code));
        if self.error_code == 0 {
            dictionary.set(h.error_register, 0);
        }
        dictionary.set(h.digital_inputs, i64::from(seen.negative) | i64::from(seen.positive) << 1);
    }
}
