// SPDX-License-Identifier: Apache-2.0
//! Observation to reaction.

use super::{Event, EventKind, SupervisionLimits, SETPOINT_GRACE_CYCLES};
use crate::cia402::DriveState;

/// What is done, from least to most. A stronger one is never replaced by a weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Reaction {
    /// Nothing: as planned.
    None = 0,
    /// The drives keep the setpoint they have; the reference goes on when the next exchange works.
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
            Self::None => "goes on",
            Self::Hold => "holds the last setpoint",
            Self::QuickStop => "quick stop",
            Self::SafeState => "power off",
        })
    }
}

/// How the cycle's frame came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// With this working counter, and every device in OP or the first that is not, with its AL state.
    Answered {
        /// Sum over the process data.
        working_counter: u16,
        /// Position in the ring and AL state of the first device that is not in OP.
        not_in_op: Option<(u16, u8)>,
    },
    /// Not at all before the deadline.
    Lost,
    /// The master library failed in another way.
    Failed {
        /// A number for the log.
        code: i64,
    },
}

/// What one cycle of the main task saw.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// Number of the cycle.
    pub cycle: u64,
    /// Of the frame.
    pub exchange: Exchange,
    /// Start of the cycle after its release, ns.
    pub lateness_ns: u64,
    /// Cycles left out before this one.
    pub skipped: u32,
    /// Largest difference between distributed clocks, when it was read in this cycle, ns.
    pub clock_difference_ns: Option<u32>,
    /// Cycles since the last new setpoint.
    pub setpoint_age: u32,
    /// Of each axis: state, statusword, error code (object 0x603F), setpoint less actual in degrees.
    pub axes: &'a [(DriveState, u16, u16, f64)],
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
    reaction: Reaction,
}

impl Supervisor {
    /// `expected_counter`: working counter of a healthy exchange.
    pub fn new(limits: SupervisionLimits, expected_counter: u16) -> Self {
        Self { limits, expected_counter, lost: 0, wrong: 0, late: 0, apart: 0, troubled: 0, reaction: Reaction::None }
    }

    /// The strongest reaction so far.
    pub fn reaction(&self) -> Reaction {
        self.reaction
    }

    /// Looks at one cycle in which the drives are in operation. Says what to do and tells `log` what was found.
    pub fn observe(&mut self, seen: &Observation<'_>, log: &mut impl FnMut(Event)) -> Reaction {
        let mut worst = Reaction::None;
        let mut found = |kind, value: i64, expected: i64, reaction: Reaction| {
            worst = worst.max(reaction);
            log(Event::new(seen.cycle, kind, value, expected, reaction));
        };
        let limits = self.limits;
        let grows = |count: u32, limit: u32| if count >= limit { Reaction::QuickStop } else { Reaction::Hold };

        let mut answered = false;
        match seen.exchange {
            Exchange::Lost => {
                self.lost += 1;
                found(EventKind::FrameLost, i64::from(self.lost), 0, grows(self.lost, limits.lost_frames));
            }
            Exchange::Failed { code } => {
                self.lost += 1;
                found(EventKind::MasterError, code, 0, grows(self.lost, limits.lost_frames));
            }
            Exchange::Answered { working_counter, not_in_op } => {
                answered = true;
                self.lost = 0;
                let good = working_counter == self.expected_counter;
                self.wrong = if good { 0 } else { self.wrong + 1 };
                if !good {
                    let reaction = grows(self.wrong, limits.wrong_counters);
                    found(EventKind::WorkingCounter, working_counter.into(), self.expected_counter.into(), reaction);
                }
                if let Some((device, state)) = not_in_op {
                    // Only a device that answered has a state; one that is gone shows in the working counter.
                    found(EventKind::DeviceState, device.into(), state.into(), Reaction::SafeState);
                }
            }
        }

        if seen.skipped > 0 {
            let reaction = if seen.skipped >= limits.skipped_cycles { Reaction::QuickStop } else { Reaction::None };
            found(EventKind::Skipped, seen.skipped.into(), 0, reaction);
        }
        let late = seen.lateness_ns > limits.late_ns;
        self.late = if late { self.late + 1 } else { 0 };
        if late {
            let reaction = if self.late >= limits.late_cycles { Reaction::QuickStop } else { Reaction::None };
            found(EventKind::Late, seen.lateness_ns as i64, limits.late_ns as i64, reaction);
        }
        if let Some(difference) = seen.clock_difference_ns {
            let apart = difference > limits.clock_difference_ns;
            self.apart = if apart { self.apart + 1 } else { 0 };
            if apart {
                let reaction = if self.apart >= limits.clock_readings { Reaction::QuickStop } else { Reaction::None };
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
        // Inputs of an exchange that failed are old: an axis is judged by what it really said.
        let trusted = answered && self.wrong == 0;
        for (axis, (state, statusword, error_code, error_deg)) in seen.axes.iter().enumerate().filter(|_| trusted) {
            if state.faulted() {
                found(EventKind::DriveFault, axis as i64, (*error_code).into(), Reaction::SafeState);
            } else if *state != DriveState::OperationEnabled {
                found(EventKind::DriveDropped, axis as i64, (*statusword).into(), Reaction::QuickStop);
            } else if error_deg.abs() > limits.following_error_deg || error_deg.is_nan() {
                let micro_degrees = (error_deg * 1e6) as i64;
                found(EventKind::FollowingError, axis as i64, micro_degrees, Reaction::QuickStop);
            }
        }
        if worst == Reaction::None {
            if self.troubled > 0 {
                log(Event::new(seen.cycle, EventKind::Recovered, self.troubled.into(), 0, Reaction::None));
            }
            self.troubled = 0;
        } else {
            self.troubled += 1;
        }
        self.reaction = self.reaction.max(worst);
        worst
    }
}
