// SPDX-License-Identifier: Apache-2.0
//! Error counters: frames with errors at a port, at the processing unit, and lost links (data sheet of the ESCs, section I,
//! error counters). Each stops at 255.

use super::Esc;
use crate::register::{at, Register};
use std::ops::Range;

/// An error of a frame, as the port counts it at which the frame comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveError {
    /// The check sequence is wrong, and no device before has said so.
    Invalid,
    /// As [`ReceiveError::Invalid`], and the PHY has seen a symbol that does not exist (RX_ER).
    Symbol,
    /// A device before has marked the frame.
    Forwarded,
}

/// Counters that a write to any of them clears together.
const GROUPS: [Range<usize>; 4] = [
    at::RECEIVE_ERRORS.range().start..at::FORWARDED_ERRORS.range().end,
    at::UNIT_ERRORS.range(),
    at::PDI_ERRORS.range(),
    at::LOST_LINK.range(),
];

impl Esc {
    /// Counts a frame with an error that comes in at a port.
    pub fn count_receive_error(&mut self, port: usize, error: ReceiveError) {
        let port = port % 4;
        if error == ReceiveError::Forwarded {
            return self.count(at::FORWARDED_ERRORS.element(port));
        }
        let counters = at::RECEIVE_ERRORS.element(port);
        self.count(counters.byte(0));
        if error == ReceiveError::Symbol {
            self.count(counters.byte(1));
        }
    }

    /// Counts a frame with an error that passes the processing unit, also one that another device saw first.
    pub fn count_unit_error(&mut self) {
        self.count(at::UNIT_ERRORS);
    }

    /// Counts the lost links of ports (bit = port) at 0x0310.
    pub fn lose_links(&mut self, ports: u8) {
        (0..4).filter(|port| ports & 1 << port != 0).for_each(|port| self.count(at::LOST_LINK.element(port)));
    }

    fn count(&mut self, counter: Register<u8>) {
        self.put(counter, self.get(counter).saturating_add(1));
    }

    /// Any write to a group of error counters clears the whole group.
    pub(super) fn clear_errors(&mut self, address: usize, length: usize) {
        for group in GROUPS.into_iter().filter(|group| address < group.end && address + length > group.start) {
            if let Some(counters) = self.memory.get_mut(group) {
                counters.fill(0);
            }
        }
    }
}
