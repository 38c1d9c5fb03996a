// SPDX-License-Identifier: Apache-2.0
//! What the application measured, in the lab's record format.

mod column;
mod hello;
mod series;

pub use column::Column;
pub use hello::{hello, monotonic_clock};
pub use series::{MotionRecords, RunEnd};
