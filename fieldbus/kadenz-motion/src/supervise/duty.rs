// SPDX-License-Identifier: Apache-2.0
//! The duty of the drives in a cycle. It decides which checks apply and which reactions may follow.

use super::{EventKind, Reaction};

/// From power-on to standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// The ring is on its way to OP: no drive has power, and only frames are checked.
    Starting,
    /// The drives are being enabled, one sooner than the other; an enabled one holds its position.
    Enabling,
    /// All drives follow setpoints.
    Operation,
    /// A stop is under way: nothing gentler can follow, and a lasting fault is reported once.
    Stopping,
}

impl Duty {
    /// Reaction to a finding that would cause `reaction` in operation.
    pub(super) fn bounded(self, kind: EventKind, reaction: Reaction) -> Reaction {
        // No axis moves while drives are being enabled: late and skipped cycles do no harm.
        let of_time = matches!(kind, EventKind::Late | EventKind::Skipped | EventKind::ClockDifference);
        match self {
            Self::Operation => reaction,
            Self::Enabling if !of_time => reaction,
            Self::Stopping if reaction == Reaction::SafeState => reaction,
            _ => Reaction::None,
        }
    }

    /// Whether the `count`-th finding in a row is reported.
    pub(super) fn tells(self, count: u32) -> bool {
        count == 1 || matches!(self, Self::Enabling | Self::Operation)
    }
}
