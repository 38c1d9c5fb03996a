// SPDX-License-Identifier: Apache-2.0
//! The process-data watchdog: outputs that stay away for too long take a device out of operation.

use super::Esc;
use crate::register::at;

/// One tick of the divider: 25 MHz.
const TICK_NS: u64 = 40;

/// The process-data watchdog of one device.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watchdog {
    time_ns: u64,
    deadline_ns: Option<u64>,
    has_expired: bool,
    /// Counter at 0x0442; it stops at 255.
    pub expirations: u8,
}

impl Watchdog {
    /// Takes the divider (0x0400) and the time (0x0420); a time of 0 switches it off.
    pub(super) fn configure(&mut self, divider: u16, time: u16) {
        self.time_ns = (u64::from(divider) + 2) * TICK_NS * u64::from(time);
        if self.time_ns == 0 {
            self.deadline_ns = None;
            self.has_expired = false;
        }
    }

    /// Time until it expires, ns; 0 when off.
    pub fn time_ns(&self) -> u64 {
        self.time_ns
    }

    /// Complete outputs arrived: its time begins anew.
    #[inline]
    pub(super) fn trigger(&mut self, now_ns: u64) {
        self.has_expired = false;
        if self.time_ns > 0 {
            self.deadline_ns = Some(now_ns.saturating_add(self.time_ns));
        }
    }

    /// Outputs are due from now on. A running watchdog is not restarted.
    pub(super) fn expect(&mut self, now_ns: u64) {
        if self.time_ns > 0 && self.deadline_ns.is_none() {
            self.deadline_ns = Some(now_ns.saturating_add(self.time_ns));
        }
    }

    /// When it would expire.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.deadline_ns
    }

    /// Not expired since the last outputs.
    pub fn is_fed(&self) -> bool {
        !self.has_expired
    }

    pub(super) fn expired(&mut self, now_ns: u64) -> bool {
        if self.deadline_ns.is_none_or(|deadline| now_ns < deadline) {
            return false;
        }
        self.deadline_ns = None;
        self.has_expired = true;
        self.expirations = self.expirations.saturating_add(1);
        true
    }
}

impl Esc {
    pub(super) fn configure_watchdog(&mut self) {
        self.watchdog.configure(self.get(at::WD_DIVIDER), self.get(at::WD_TIME));
    }

    /// From now on outputs are due in a sync manager that feeds the watchdog.
    pub fn expect_outputs(&mut self, index: usize, now_ns: u64) {
        if self.managers.get(index).is_some_and(|manager| manager.enabled() && manager.triggers_watchdog()) {
            self.watchdog.expect(now_ns);
        }
    }

    /// Lets the watchdog look at the time. True in the moment it expires.
    pub fn watch(&mut self, now_ns: u64) -> bool {
        let expired = self.watchdog.expired(now_ns);
        self.put(at::WD_STATUS.byte(0), u8::from(self.watchdog.is_fed()));
        if expired {
            self.put(at::WD_COUNT.byte(0), self.watchdog.expirations);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_values_give_one_hundred_milliseconds() {
        let mut watchdog = Watchdog::default();
        watchdog.configure(0x09C2, 1000);
        assert_eq!(watchdog.time_ns(), 100_000_000);
    }

    #[test]
    fn it_expires_once_and_counts() {
        let mut watchdog = Watchdog::default();
        watchdog.configure(0x09C2, 10);
        watchdog.trigger(0);
        assert!(!watchdog.expired(999_999));
        assert!(watchdog.expired(1_000_000));
        assert!(!watchdog.expired(2_000_000));
        assert_eq!((watchdog.expirations, watchdog.is_fed()), (1, false));
    }
}
