// SPDX-License-Identifier: Apache-2.0
//! Frames with errors: a bit error that enters at a port, and frames whose structure is wrong. The port at which an error
//! enters counts an invalid frame, ports behind it a forwarded error, and every processing unit from there on counts it
//! too. The card of the master drops the frame.

use super::faults::fitting;
use super::{Passed, Segment, Verdict};
use crate::esc::ReceiveError;
use crate::fault::{Kind, Now, Running};
use crate::frame::FrameError;
use crate::passage::Step;
use crate::topology::End;

/// Where a bit error enters: the way of the frame, and the step at which the error does.
pub(super) struct BitError {
    steps: Vec<Step>,
    at: usize,
    error: ReceiveError,
}

impl Segment {
    /// The first bit error that a frame meets on its way.
    pub(super) fn first_bit_error(&self, from: End, frame: &mut [u8], now: &Now, now_ns: u64) -> Option<BitError> {
        let meets = |running: &&Running, frame: &mut [u8]| {
            running.fault.kind.is_at_port()
                && running.concerns(now)
                && (!running.fault.has_filter() || fitting(&running.fault, running.device, frame, &self.ring) != 0)
        };
        let faults: Vec<&Running> = self.faults.iter().filter(|running| meets(running, frame)).collect();
        if faults.is_empty() {
            return None;
        }
        let steps = self.ring.steps(from, now_ns);
        let (at, error) = steps.iter().enumerate().find_map(|(at, step)| {
            let Step::ComesIn(device, port) = *step else { return None };
            let mut here = faults.iter().filter(|running| (running.device, running.fault.port()) == (device, port));
            let first = here.next()?;
            let is_symbol =
                first.fault.kind == Kind::SymbolError || here.any(|running| running.fault.kind == Kind::SymbolError);
            Some((at, if is_symbol { ReceiveError::Symbol } else { ReceiveError::Invalid }))
        })?;
        Some(BitError { steps, at, error })
    }

    /// Devices in front of the error work on the frame, those behind it take nothing from it.
    pub(super) fn pass_with_bit_error(
        &mut self,
        from: End,
        frame: &mut [u8],
        bit_error: &BitError,
        now_ns: u64,
    ) -> Passed {
        let (before, behind) = bit_error.steps.split_at(bit_error.at);
        let visits = before.iter().filter(|step| matches!(step, Step::Works(..))).count();
        let mut passage = self.ring.passage(from).clone();
        passage.visits.truncate(visits);
        passage.loops_at = passage.loops_at.filter(|at| *at < visits);
        passage.leaves = None;
        let usual = self.ring.replace_passage(from, passage);
        let passed = self.pass(from, frame, now_ns);
        self.ring.replace_passage(from, usual);
        for (number, step) in behind.iter().enumerate() {
            let (Step::ComesIn(device, _) | Step::Works(device, _)) = *step;
            let Some(device) = self.ring.devices.get_mut(device) else { continue };
            match *step {
                Step::ComesIn(_, port) => {
                    let error = if number == 0 { bit_error.error } else { ReceiveError::Forwarded };
                    device.esc.count_receive_error(port, error);
                }
                Step::Works(..) => device.esc.count_unit_error(),
            }
        }
        passed
    }

    /// Bytes that are no frame of datagrams are nothing to answer. If the header promises more than there is, every
    /// device on the way counts an error.
    #[cold]
    pub(super) fn ignore(&mut self, from: End, error: FrameError, now_ns: u64) -> Passed {
        self.counters.ignored += 1;
        if matches!(error, FrameError::LengthBeyondFrame { .. }) {
            for step in self.ring.steps(from, now_ns) {
                let Step::Works(device, _) = step else { continue };
                if let Some(device) = self.ring.devices.get_mut(device) {
                    device.esc.count_unit_error();
                }
            }
        }
        Passed { verdict: Verdict::Ignored, leaves: from }
    }
}
