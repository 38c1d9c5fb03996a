// SPDX-License-Identifier: Apache-2.0
//! Transports of frames.

use kadenz_rt::Clock;

/// Longest Ethernet frame without its checksum.
pub const FRAME_MAX_BYTES: usize = 1518;

/// A way to the first device and back. Frames are whole Ethernet frames without checksum.
pub trait Wire: Send {
    /// Sends one frame and does not wait for its answer.
    fn send(&mut self, frame: &[u8]) -> std::io::Result<()>;

    /// Waits for a frame until a moment of its clock; 0 bytes when none came. Must not allocate.
    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> std::io::Result<usize>;

    /// The clock of its deadlines.
    fn clock(&self) -> &Clock {
        static MONOTONIC: Clock = Clock::Monotonic;
        &MONOTONIC
    }
}

impl Wire for Box<dyn Wire> {
    fn send(&mut self, frame: &[u8]) -> std::io::Result<()> {
        (**self).send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> std::io::Result<usize> {
        (**self).receive(buffer, deadline_ns)
    }

    fn clock(&self) -> &Clock {
        (**self).clock()
    }
}
