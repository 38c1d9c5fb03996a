// SPDX-License-Identifier: Apache-2.0
//! Motion over time: the jerk-limited move of one axis, and the path all axes follow.

mod path;
mod scurve;

pub use path::{Leg, Path, Point, Way};
pub use scurve::{Limits, SCurve, State};
