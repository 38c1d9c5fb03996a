// SPDX-License-Identifier: Apache-2.0
//! A segment in the same process: time is what the caller says, nothing sleeps. For tests and for fast simulation.

use super::outbox::Outbox;
use crate::pcap::{Direction, Packet};
use crate::segment::{Segment, Verdict};
use crate::topology::End;
use std::collections::VecDeque;

/// A segment with its own time.
pub struct InProcess {
    segment: Segment,
    now_ns: u64,
    outbox: Outbox,
    /// By the end at which they leave.
    returned: [VecDeque<Vec<u8>>; 2],
    frames: u64,
    /// What the master has sent, if it is to be kept.
    sent: Option<Vec<Packet>>,
}

impl InProcess {
    /// Starts at time 0.
    pub fn new(segment: Segment) -> Self {
        Self { segment, now_ns: 0, outbox: Outbox::default(), returned: Default::default(), frames: 0, sent: None }
    }

    /// As [`InProcess::new`], and keeps the frames of the master.
    pub fn recording(segment: Segment) -> Self {
        Self { sent: Some(Vec::new()), ..Self::new(segment) }
    }

    /// The frames of the master so far, if they are kept.
    pub fn sent(&self) -> &[Packet] {
        self.sent.as_deref().unwrap_or_default()
    }

    /// The segment at the other end.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The segment, to reach inside.
    pub fn segment_mut(&mut self) -> &mut Segment {
        &mut self.segment
    }

    /// The present world time, ns.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Lets time pass for the devices, ns.
    pub fn advance_ns(&mut self, elapsed_ns: u64) {
        self.now_ns += elapsed_ns;
        self.segment.settle(self.now_ns);
        while let Some(waiting) = self.outbox.take_due(self.now_ns) {
            self.returned[waiting.leaves.index()].push_back(waiting.bytes);
        }
    }

    /// Sends a frame; what comes back waits in [`InProcess::receive`].
    pub fn send(&mut self, frame: &[u8]) -> Verdict {
        self.send_to(End::First, frame)
    }

    /// As [`InProcess::send`], into either end of a ring.
    pub fn send_to(&mut self, end: End, frame: &[u8]) -> Verdict {
        let mut bytes = frame.to_vec();
        if let Some(sent) = &mut self.sent {
            let (time_ns, number) = (self.now_ns, self.frames + 1);
            sent.push(Packet { time_ns, direction: Direction::In, number, end, bytes: bytes.clone() });
        }
        let passed = self.segment.process_from(end, &mut bytes, self.now_ns);
        self.frames += 1;
        let returned = &mut self.returned[passed.leaves.index()];
        let sent: Result<(), std::convert::Infallible> =
            self.outbox.post(passed, &bytes, self.frames, self.now_ns, |bytes| {
                returned.push_back(bytes.to_vec());
                Ok(())
            });
        let Ok(()) = sent;
        self.segment.settle(self.now_ns);
        passed.verdict
    }

    /// The next frame that came back.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        self.receive_at(End::First)
    }

    /// The next frame that left at an end.
    pub fn receive_at(&mut self, end: End) -> Option<Vec<u8>> {
        self.returned[end.index()].pop_front()
    }

    /// Sends a frame and gives what comes back at once.
    pub fn exchange(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        self.send(frame);
        self.receive()
    }
}
