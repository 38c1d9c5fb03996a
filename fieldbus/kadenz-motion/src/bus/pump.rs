// SPDX-License-Identifier: Apache-2.0
//! Drives the master library's futures from one thread: sends its frames, waits for the answer, polls again.
//!
//! The library's own senders are a second thread or an executor; each costs a wake-up a frame and, through its timers, a
//! lock and an allocation. Here the calling task does it all. The library is given no time-out of its own for frames
//! (`Duration::MAX` never registers a timer); time is kept by the deadline of the wire.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ethercrab::{PduRx, PduTx};
use kadenz_rt::Clock;

use super::overheard::{Leaving, Overheard, Sender};
use super::wire::{Wire, FRAME_MAX_BYTES};

/// Why a future did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stalled {
    /// Nothing came back in time.
    #[error("no answer")]
    NoAnswer,
    /// The interface refuses frames; the number is errno.
    #[error("the interface refuses frames ({})", std::io::Error::from_raw_os_error(*.0))]
    WireFailed(i32),
}

/// How long to wait for an answer.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// Until this time, without a retry: cyclic operation.
    Until(u64),
    /// This long for each frame, with a number of retries: start and end.
    Retry {
        /// For one answer, ns; each frame sent or answered starts it anew.
        wait_ns: u64,
        /// Number of times a frame is resent.
        times: u32,
    },
}

/// Time an answer may take outside cyclic operation.
const ANSWER_NS: u64 = 20_000_000;
/// Start and end of operation: three retries.
pub const AT_EASE: Patience = Patience::Retry { wait_ns: ANSWER_NS, times: 3 };
/// Answers that can still be on their way: no master has more frames under way.
const UNDER_WAY: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Received {
    Answer,
    /// Of another sender, or too late.
    Stray,
    Nothing,
}

/// Frames in and out.
pub struct Pump<W> {
    wire: W,
    tx: PduTx<'static>,
    rx: PduRx<'static>,
    buffer: [u8; FRAME_MAX_BYTES],
    /// The frame sent last.
    last: Leaving,
    /// Error flags of devices, and frames of another sender.
    pub(super) overheard: Overheard,
    /// Frames that answered nothing: late, doubled or damaged.
    pub strays: u64,
    /// Frames resent because no answer came.
    pub resent: u64,
}

impl<W: Wire> Pump<W> {
    /// Takes both ends of the library's frame storage.
    pub fn new(wire: W, tx: PduTx<'static>, rx: PduRx<'static>) -> Self {
        let buffer = [0; FRAME_MAX_BYTES];
        Self { wire, tx, rx, buffer, last: Leaving::none(), overheard: Overheard::new(), strays: 0, resent: 0 }
    }

    /// The clock of the wire's deadlines.
    pub fn clock(&self) -> &Clock {
        self.wire.clock()
    }

    /// Runs `future` to its end or until patience does.
    pub fn run<F: Future>(&mut self, future: F, patience: Patience) -> Result<F::Output, Stalled> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        let (mut tries, mut began_ns) = (0, self.wire.clock().now_ns());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            if self.send_all()? {
                (tries, began_ns) = (0, self.wire.clock().now_ns());
            }
            let deadline_ns = match patience {
                Patience::Until(moment_ns) => moment_ns,
                Patience::Retry { wait_ns, .. } => began_ns + wait_ns,
            };
            // Frames that are no answer do not extend the wait, however many come.
            match self.receive(deadline_ns)? {
                Received::Answer => {
                    began_ns = self.wire.clock().now_ns();
                    continue;
                }
                Received::Stray if self.wire.clock().now_ns() < deadline_ns => continue,
                Received::Stray | Received::Nothing => {}
            }
            began_ns = self.wire.clock().now_ns();
            match patience {
                Patience::Retry { times, .. } if tries < times => {
                    tries += 1;
                    self.resent += 1;
                    self.wire
                        .send(self.last.bytes())
                        .map_err(|error| Stalled::WireFailed(error.raw_os_error().unwrap_or(0)))?;
                }
                _ => return Err(Stalled::NoAnswer),
            }
        }
    }

    /// Whether another master is heard within this time; sends nothing.
    pub fn hears_another(&mut self, for_ns: u64) -> Result<bool, Stalled> {
        let until_ns = self.clock().now_ns() + for_ns;
        while self.overheard.foreign.commands == 0 && self.clock().now_ns() < until_ns {
            self.receive(until_ns)?;
        }
        Ok(self.overheard.foreign.commands > 0)
    }

    /// The wire, once no answer is under way: a new attempt must not take an old answer for its own.
    pub fn into_quiet_wire(mut self) -> Result<W, Stalled> {
        for _ in 0..UNDER_WAY {
            if self.receive(self.wire.clock().now_ns() + ANSWER_NS)? == Received::Nothing {
                break;
            }
        }
        Ok(self.wire)
    }

    /// Sends the frames that the library has ready; true if there was anything.
    fn send_all(&mut self) -> Result<bool, Stalled> {
        let mut any = false;
        while let Some(frame) = self.tx.next_sendable_frame() {
            any = true;
            let mut failed = None;
            let sent = frame.send_blocking(|bytes| {
                self.last.take(bytes, &self.overheard);
                match self.wire.send(self.last.bytes()) {
                    Ok(()) => Ok(bytes.len()),
                    Err(error) => {
                        failed = Some(error.raw_os_error().unwrap_or(0));
                        Err(ethercrab::error::Error::SendFrame)
                    }
                }
            });
            if sent.is_err() {
                return Err(Stalled::WireFailed(failed.unwrap_or(0)));
            }
        }
        Ok(any)
    }

    /// Waits for one frame, at most until the deadline.
    fn receive(&mut self, deadline_ns: u64) -> Result<Received, Stalled> {
        let length = self
            .wire
            .receive(&mut self.buffer, deadline_ns)
            .map_err(|error| Stalled::WireFailed(error.raw_os_error().unwrap_or(0)))?;
        if length == 0 {
            return Ok(Received::Nothing);
        }
        let frame = &mut self.buffer[..length];
        match self.overheard.whose(frame) {
            // The library would take another's frame for an answer where their numbers meet.
            Sender::Another => return Ok(Received::Stray),
            Sender::Ours | Sender::Nobody => {}
        }
        // A frame nobody waits for is not an error of this cycle; it shows as a lost one if it was needed.
        if matches!(self.rx.receive_frame(frame), Ok(ethercrab::ReceiveAction::Processed)) {
            self.overheard.take_al(frame);
            return Ok(Received::Answer);
        }
        self.strays += 1;
        Ok(Received::Stray)
    }
}
