// SPDX-License-Identifier: Apache-2.0
//! The cyclic part of the acquisition program: reads the stamp of the last rising edge, at a third of the period.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::account::{Account, Stamp};
use super::operation::{stamp, Operation};
use crate::bus::{Bus, Wire};
use crate::layout::AcquisitionLayout;
use crate::message::TaskSample;
use crate::supervise::Exchange;
use crate::task::{Cyclic, Flow, Release, Shared};

/// A third of the pulse train's period, by a clock that is 200 ppm slower than that of the master, as the study's was:
/// the polls pass through all phases of the pulses.
pub(super) const POLL_NS: u64 = 333_400;

/// Polls the terminal and keeps its stamps in memory until the end, as the study's acquisition did.
pub(super) struct Poller<W: Wire> {
    bus: Bus<W>,
    terminal: AcquisitionLayout,
    operation: Operation,
    account: Account,
    last: Option<(u16, u64)>,
    /// When the last poll that was answered began, ns.
    answered_ns: Option<u64>,
    /// The terminal has answered in OP: the output may begin.
    is_ready: Arc<AtomicBool>,
    shared: Arc<Shared>,
    cycle: u64,
}

impl<W: Wire> Poller<W> {
    /// Before its first poll, with room for this many edges.
    pub(super) fn new(
        bus: Bus<W>,
        terminal: AcquisitionLayout,
        edges: usize,
        is_ready: Arc<AtomicBool>,
        shared: Arc<Shared>,
    ) -> Self {
        let account = Account { stamps: Vec::with_capacity(edges), ..Account::default() };
        let operation = Operation::default();
        Self { bus, terminal, operation, account, last: None, answered_ns: None, is_ready, shared, cycle: 0 }
    }

    /// What it read, and the bus to leave.
    pub(super) fn finish(self) -> (Account, Bus<W>) {
        let led_back = self.operation.led_back;
        (Account { led_back, ..self.account }, self.bus)
    }

    fn see(&mut self, count: u16, rising_ns: u64) {
        let Some((last_count, last_rising)) = self.last.replace((count, rising_ns)) else { return };
        self.account.counted += u64::from(count.wrapping_sub(last_count));
        if rising_ns == last_rising {
            return;
        }
        let stamp = Stamp { counted: self.account.counted, time_ns: rising_ns };
        if self.account.stamps.len() < self.account.stamps.capacity() {
            self.account.stamps.push(stamp);
        } else {
            self.account.refused += 1;
        }
    }
}

impl<W: Wire> Cyclic for Poller<W> {
    fn step(&mut self, release: Release) -> Flow {
        self.cycle += 1 + u64::from(release.skipped);
        let deadline_ns = release.start_ns + POLL_NS * 3 / 4;
        let answer = self.bus.exchange(deadline_ns);
        self.operation.keep(&mut self.bus, &answer, self.cycle, deadline_ns);
        if self.operation.all_op && matches!(answer.exchange, Exchange::Answered { .. }) {
            let AcquisitionLayout { input_device, count_byte, rising_byte } = self.terminal;
            if let Some((count, rising_ns)) = stamp(&self.bus, input_device, count_byte, rising_byte) {
                self.see(count, rising_ns);
                self.account.polls += 1;
                let before_ns = self.answered_ns.replace(release.start_ns).unwrap_or(release.start_ns);
                self.account.longest_ns = self.account.longest_ns.max(release.start_ns - before_ns);
                self.is_ready.store(true, Ordering::Release);
            }
        }
        if self.shared.over() {
            Flow::End
        } else {
            Flow::Continue
        }
    }

    fn record(&mut self, _: Release, _: TaskSample) {}
}
