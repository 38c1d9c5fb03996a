// SPDX-License-Identifier: Apache-2.0
//! The status of a drive beside its state: warning, internal limit, following, mode of operation.

use super::{AxisSeen, EventKind, Reaction};
use crate::cia402::{status, DriveState, MODE_CSP};

/// History of one drive; counts are of cycles in a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DriveStatus {
    warned: bool,
    limited: u32,
    ignoring: u32,
    behind: u32,
    strange_mode: bool,
}

impl DriveStatus {
    /// Looks at one cycle. A bit is reported in its first cycle and stops the arm in cycle `limit`.
    pub(super) fn look(
        &mut self,
        axis: i64,
        seen: &AxisSeen,
        limit: u32,
        found: &mut impl FnMut(EventKind, i64, i64, Reaction),
    ) {
        let has = |bit: u16| seen.statusword & bit != 0;
        let warns = has(status::WARNING);
        if warns && !self.warned {
            found(EventKind::DriveWarning, axis, seen.statusword.into(), Reaction::None);
        }
        self.warned = warns;
        // The other bits mean this in operation only.
        let follows = seen.state == DriveState::OperationEnabled;
        let strange_mode = seen.mode.filter(|mode| follows && *mode != MODE_CSP);
        if let Some(mode) = strange_mode.filter(|_| !self.strange_mode) {
            found(EventKind::DriveMode, axis, mode.into(), Reaction::QuickStop);
        }
        self.strange_mode = strange_mode.is_some();
        // In another mode bits 12 and 13 mean something else.
        let in_mode = follows && strange_mode.is_none();
        let rows = [
            (&mut self.limited, follows && has(status::INTERNAL_LIMIT), EventKind::InternalLimit),
            (&mut self.ignoring, in_mode && !has(status::FOLLOWS), EventKind::NotFollowing),
            (&mut self.behind, in_mode && has(status::FOLLOWING_ERROR), EventKind::DriveFollowingError),
        ];
        for (count, is_so, kind) in rows {
            *count = if is_so { count.saturating_add(1) } else { 0 };
            match *count {
                n if n == limit => found(kind, axis, n.into(), Reaction::QuickStop),
                1 => found(kind, axis, 1, Reaction::None),
                _ => {}
            }
        }
    }
}
