// SPDX-License-Identifier: Apache-2.0
//! How a run ended.

use super::StopCategory;
use crate::supervise::{Event, Reaction};

/// How the run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The whole plan was done.
    Done,
    /// Stopped by request.
    Stopped(StopCategory),
    /// The supervision stopped it; this was the first cause.
    Faulted {
        /// The strongest reaction.
        reaction: Reaction,
        /// Its cause.
        cause: Event,
    },
}
