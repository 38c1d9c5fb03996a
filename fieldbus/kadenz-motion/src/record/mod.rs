// SPDX-License-Identifier: Apache-2.0
//! Measurements of the application, in the lab's record format.

mod column;
mod hello;
mod series;

pub use column::Column;
pub use hello::{hello, monotonic_clock};
pub use series::{MotionRecords, RunEnd, Wanted};
pub use series::{
    CLOCK_DIFFERENCE, EXECUTION_TIME, FRAME_TIME, POSITION_ERROR, QUEUE_AGE, RELEASE_LATENCY, RESPONSE_TIME,
    VELOCITY_ERROR,
};
