// SPDX-License-Identifier: Apache-2.0
//! How a run ended.

use super::StopCategory;
use crate::supervise::{Event, Reaction};

/// How the run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The whole plan was done.
    Done,
    /// A stop of this category was requested before anything failed.
    Stopped(StopCategory),
    /// The supervision stopped it; this was the first cause.
    Faulted {
        /// The strongest reaction of the run.
        reaction: Reaction,
        /// The first event that asked for a stop; a stronger reaction later keeps it.
        cause: Event,
    },
}
