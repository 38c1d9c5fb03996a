// SPDX-License-Identifier: Apache-2.0
//! Observation to reaction.

use super::drive_status::DriveStatus;
use super::words::CODE_UNREAD;
use super::{Duty, Event, EventKind, SupervisionLimits, SETPOINT_GRACE_CYCLES};
use crate::cia402::DriveState;

/// From this number on, frames of another master are not an accident.
const STRANGE_COMMANDS: u64 = 3;

/// Reactions, from the weakest to the strongest. A stronger one is never replaced by a weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Reaction {
    /// The motion continues as planned.
    None = 0,
    /// The drives keep the setpoint they have; the reference continues with the next exchange that works.
    Hold = 1,
    /// Controlled stop, then power off (stop category 1): the drives brake on their own ramp.
    QuickStop = 2,
    /// Power off at once (stop category 0), and nothing more is asked of the bus.
    SafeState = 3,
}

impl Reaction {
    pub(crate) fn from_code(code: u32) -> Self {
        match code {
            0 => Self::None,
            1 => Self::Hold,
            2 => Self::QuickStop,
            _ => Self::SafeState,
        }
    }
}

impl std::fmt::Display for Reaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "continuing",
            Self::Hold => "holds the last setpoint",
            Self::QuickStop => "quick stop",
            Self::SafeState => "power off",
        })
    }
}

/// A device that is not in OP, or in OP with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlTrouble {
    /// Position in the ring.
    pub device: u16,
    /// AL status: the state, and 0x10 for an error.
    pub status: u8,
    /// AL status code, 0 without an error; `None` when it could not be read.
    pub code: Option<u16>,
}

impl AlTrouble {
    /// A fault, as its event states it, and the reaction.
    pub fn finding(&self) -> (EventKind, i64, i64, Reaction) {
        let code = self.code.map_or(CODE_UNREAD, |code| i64::from(code) << 8);
        let (kind, reaction) = match self.status & 0x0F {
            8 => (EventKind::AlError, Reaction::QuickStop),
            _ => (EventKind::DeviceState, Reaction::SafeState),
        };
        (kind, self.device.into(), i64::from(self.status) | code, reaction)
    }
}

/// Commands of another master heard so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stranger {
    /// Frames with process data or a request to change the state of devices.
    pub commands: u64,
    /// Source address of the last, as a number.
    pub source: u64,
}

/// How the cycle's frame came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// With this working counter, and every device in OP without an error, or one that is not.
    Answered {
        /// Sum over the process data.
        working_counter: u16,
        /// The first device that is not in OP; else the first in OP with an error.
        al: Option<AlTrouble>,
    },
    /// Not at all before the deadline.
    Lost,
    /// The master library failed in another way.
    Failed {
        /// A number for the log.
        code: i64,
    },
}

/// State of an axis in one cycle, and its distance from its setpoint.
#[derive(Debug, Clone, Copy)]
pub struct AxisSeen {
    /// Decoded from the statusword.
    pub state: DriveState,
    /// Statusword of the drive, object 0x6041.
    pub statusword: u16,
    /// Error code of the drive, object 0x603F.
    pub error_code: u16,
    /// Object 0x6061, where it is mapped.
    pub mode: Option<i8>,
    /// Setpoint less actual, degrees.
    pub error_deg: f64,
}

/// Observations of one cycle of the main task.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// Number of the cycle.
    pub cycle: u64,
    /// Demand on the drives.
    pub duty: Duty,
    /// The counts of the cycle's frame.
    pub exchange: Exchange,
    /// Start of the cycle after its release, ns.
    pub lateness_ns: u64,
    /// Cycles left out before this one.
    pub skipped: u32,
    /// Largest difference between distributed clocks, when it was read in this cycle, ns.
    pub clock_difference_ns: Option<u32>,
    /// Who else commands the devices.
    pub stranger: Stranger,
    /// Cycles since the last new setpoint.
    pub setpoint_age: u32,
    /// What each axis reported, in the order of the layout.
    pub axes: &'a [AxisSeen],
}

/// Remembers what happens in a row.
#[derive(Debug)]
pub struct Supervisor {
    limits: SupervisionLimits,
    expected_counter: u16,
    lost: u32,
    wrong: u32,
    late: u32,
    apart: u32,
    troubled: u32,
    /// The device in trouble, as reported.
    trouble: Option<AlTrouble>,
    /// The duty of the drives when another master was reported.
    stranger_reported: Option<Duty>,
    axes: Vec<Axis>,
    reaction: Reaction,
}

/// History of an axis.
#[derive(Debug, Clone, Copy, Default)]
struct Axis {
    /// It came with a fault, which is acknowledged once.
    acknowledged: bool,
    /// It has been without a fault.
    was_well: bool,
    /// It has been in operation.
    was_enabled: bool,
    /// Its fault was reported.
    faulted: bool,
    status: DriveStatus,
}

impl Supervisor {
    /// `expected_counter`: working counter of a healthy exchange. `axes`: how many are observed.
    pub fn new(limits: SupervisionLimits, expected_counter: u16, axes: usize) -> Self {
        Self {
            limits,
            expected_counter,
            lost: 0,
            wrong: 0,
            late: 0,
            apart: 0,
            troubled: 0,
            trouble: None,
            stranger_reported: None,
            axes: vec![Axis::default(); axes],
            reaction: Reaction::None,
        }
    }

    /// The strongest reaction so far.
    pub fn reaction(&self) -> Reaction {
        self.reaction
    }

    /// Examines one cycle. Returns the action, and writes its findings to `log`.
    pub fn observe(&mut self, seen: &Observation<'_>, log: &mut impl FnMut(Event)) -> Reaction {
        let mut worst = Reaction::None;
        let duty = seen.duty;
        let mut found = |kind, value: i64, expected: i64, reaction: Reaction| {
            let reaction = duty.bounded(kind, reaction);
            worst = worst.max(reaction);
            log(Event::new(seen.cycle, kind, value, expected, reaction));
        };
        self.look_at_stranger(seen, &mut found);
        let trusted = self.look_at_exchange(seen, &mut found);
        if duty != Duty::Starting {
            self.look_at_time(seen, &mut found);
        }
        // Inputs of an exchange that failed are old: an axis is judged by its own last answer.
        if trusted && duty != Duty::Starting {
            self.look_at_axes(seen, &mut found);
        }
        if worst == Reaction::None {
            // In a stop silence is no sign of health: a lasting fault is reported once.
            if self.troubled > 0 && duty != Duty::Stopping {
                log(Event::new(seen.cycle, EventKind::Recovered, self.troubled.into(), 0, Reaction::None));
            }
            self.troubled = 0;
        } else {
            self.troubled += 1;
        }
        self.reaction = self.reaction.max(worst);
        worst
    }
    /// Another master commands the devices. A single frame may be a damaged one of ours, unless something else is wrong.
    fn look_at_stranger(&mut self, seen: &Observation<'_>, found: &mut impl FnMut(EventKind, i64, i64, Reaction)) {
        let Stranger { commands, source } = seen.stranger;
        let disturbed = match seen.exchange {
            Exchange::Answered { working_counter, al } => working_counter != self.expected_counter || al.is_some(),
            Exchange::Lost | Exchange::Failed { .. } => true,
        };
        let disturbs = commands > 0 && disturbed && seen.duty != Duty::Starting;
        let reported = match self.stranger_reported {
            None => false,
            // On the way up nothing followed from it.
            Some(Duty::Starting) => seen.duty == Duty::Starting,
            Some(_) => true,
        };
        if (commands >= STRANGE_COMMANDS || disturbs) && !reported {
            self.stranger_reported = Some(seen.duty);
            found(EventKind::SecondMaster, commands as i64, source as i64, Reaction::QuickStop);
        }
    }

    /// The frame, its working counter and the devices' states. True if what came can be believed.
    fn look_at_exchange(
        &mut self,
        seen: &Observation<'_>,
        found: &mut impl FnMut(EventKind, i64, i64, Reaction),
    ) -> bool {
        let limits = self.limits;
        let (working_counter, al) = match seen.exchange {
            Exchange::Answered { working_counter, al } => (working_counter, al),
            Exchange::Lost | Exchange::Failed { .. } => {
                self.lost += 1;
                let (kind, value) = match seen.exchange {
                    Exchange::Failed { code } => (EventKind::MasterError, code),
                    _ => (EventKind::FrameLost, self.lost.into()),
                };
                if seen.duty.tells(self.lost) {
                    found(kind, value, 0, grows(self.lost, limits.lost_frames));
                }
                return false;
            }
        };
        self.lost = 0;
        if seen.duty == Duty::Starting {
            // Outputs count from OP on.
            return true;
        }
        let good = working_counter == self.expected_counter;
        self.wrong = if good { 0 } else { self.wrong + 1 };
        if !good && seen.duty.tells(self.wrong) {
            let reaction = grows(self.wrong, limits.wrong_counters);
            found(EventKind::WorkingCounter, working_counter.into(), self.expected_counter.into(), reaction);
        }
        // Only a device that answered has a state; one that is gone shows in the working counter.
        let state = |trouble: Option<AlTrouble>| trouble.map(|trouble| (trouble.device, trouble.status));
        if state(self.trouble) != state(al) {
            self.trouble = al;
            if let Some(trouble) = al {
                let (kind, device, status, reaction) = trouble.finding();
                found(kind, device, status, reaction);
            }
        }
        good
    }

    /// Release, cycles left out, distributed clocks, and the setpoints' way.
    fn look_at_time(&mut self, seen: &Observation<'_>, found: &mut impl FnMut(EventKind, i64, i64, Reaction)) {
        let limits = self.limits;
        let stops = |yes: bool| if yes { Reaction::QuickStop } else { Reaction::None };
        if seen.skipped > 0 {
            found(EventKind::Skipped, seen.skipped.into(), 0, stops(seen.skipped >= limits.skipped_cycles));
        }
        let late = seen.lateness_ns > limits.late_ns;
        self.late = if late { self.late + 1 } else { 0 };
        if late {
            let reaction = stops(self.late >= limits.late_cycles);
            found(EventKind::Late, seen.lateness_ns as i64, limits.late_ns as i64, reaction);
        }
        if let Some(difference) = seen.clock_difference_ns {
            let apart = difference > limits.clock_difference_ns;
            self.apart = if apart { self.apart + 1 } else { 0 };
            if apart {
                let reaction = stops(self.apart >= limits.clock_readings);
                found(EventKind::ClockDifference, difference.into(), limits.clock_difference_ns.into(), reaction);
            }
        }
        if seen.setpoint_age > 0 {
            let reaction = match grows(seen.setpoint_age, limits.setpoint_cycles) {
                Reaction::Hold if seen.setpoint_age <= SETPOINT_GRACE_CYCLES => Reaction::None,
                reaction => reaction,
            };
            found(EventKind::SetpointLate, seen.setpoint_age.into(), limits.setpoint_cycles.into(), reaction);
        }
    }

    fn look_at_axes(&mut self, seen: &Observation<'_>, found: &mut impl FnMut(EventKind, i64, i64, Reaction)) {
        for (k, (was, now)) in self.axes.iter_mut().zip(seen.axes).enumerate() {
            let (axis, AxisSeen { state, statusword, error_code, error_deg, .. }) = (k as i64, *now);
            if state.faulted() {
                if seen.duty == Duty::Enabling && !was.was_well {
                    if !std::mem::replace(&mut was.acknowledged, true) {
                        found(EventKind::FaultAcknowledged, axis, error_code.into(), Reaction::None);
                    }
                } else if !std::mem::replace(&mut was.faulted, true) {
                    found(EventKind::DriveFault, axis, error_code.into(), Reaction::SafeState);
                }
                continue;
            }
            was.was_well |= !matches!(state, DriveState::NotReady | DriveState::Unknown);
            let follows = state == DriveState::OperationEnabled;
            was.was_enabled |= follows;
            if seen.duty == Duty::Stopping {
                continue;
            }
            was.status.look(axis, now, self.limits.status_cycles, found);
            if seen.duty == Duty::Enabling && !was.was_enabled {
                continue;
            }
            if !follows {
                found(EventKind::DriveDropped, axis, statusword.into(), Reaction::QuickStop);
            } else if error_deg.abs() > self.limits.following_error_deg || error_deg.is_nan() {
                let micro_degrees = (error_deg * 1e6) as i64;
                found(EventKind::FollowingError, axis, micro_degrees, Reaction::QuickStop);
            }
        }
    }
}

/// Holds, and from the limit on stops.
fn grows(count: u32, limit: u32) -> Reaction {
    if count >= limit {
        Reaction::QuickStop
    } else {
        Reaction::Hold
    }
}
