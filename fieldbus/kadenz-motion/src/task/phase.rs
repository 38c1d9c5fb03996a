// SPDX-License-Identifier: Apache-2.0
//! Where the main task is between power-on and the end.

use super::StopCategory;
use crate::supervise::Duty;

/// In the order of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Phase {
    /// The ring is on its way to OP.
    Starting,
    /// The drives are on their way to operation.
    Enabling,
    /// The drives follow the path.
    Moving,
    /// Slowing on the path, then holding; `since` the arm stood.
    Halting { stood: Option<u64> },
    /// Category 1 or 0 under way since this cycle.
    Stopping { category: StopCategory, since: u64 },
    /// Without power since this cycle.
    Off { since: u64 },
}

impl Phase {
    /// The duty of the drives in it; none once they are without power.
    pub(super) fn duty(self) -> Option<Duty> {
        match self {
            Self::Starting => Some(Duty::Starting),
            Self::Enabling => Some(Duty::Enabling),
            Self::Moving | Self::Halting { .. } => Some(Duty::Operation),
            Self::Stopping { .. } => Some(Duty::Stopping),
            Self::Off { .. } => None,
        }
    }
}
