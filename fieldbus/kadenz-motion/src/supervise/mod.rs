// SPDX-License-Identifier: Apache-2.0
//! What neither master library checks: each cycle is looked at, each fault has one reaction, each is logged with its
//! cycle number. Pure: observations in, reaction out; no clock and no bus, so every case can be tested.

mod drive_status;
mod duty;
mod event;
mod limits;
mod supervisor;
mod words;

#[cfg(test)]
mod scenarios;

pub use duty::Duty;
pub use event::{Event, EventKind};
pub use limits::{SupervisionLimits, SETPOINT_GRACE_CYCLES};
pub use supervisor::{AlTrouble, AxisSeen, Exchange, Observation, Reaction, Stranger, Supervisor};
