// SPDX-License-Identifier: Apache-2.0
//! Contents of frames besides the answer for the master library: error flags of devices, and whether another sender is on
//! the wire.

use std::hash::{BuildHasher, RandomState};

use kadenz_segment::command::Command;
use kadenz_segment::frame::datagrams;

use super::bring_up::DEVICES_MAX;
use super::wire::FRAME_MAX_BYTES;
use crate::supervise::Stranger;

/// Where an Ethernet frame has its source address.
const SOURCE: std::ops::Range<usize> = 6..12;
/// The first device sets this bit of the source address's first byte.
const PASSED: u8 = 0x02;
const AL_CONTROL: u16 = 0x0120;
const AL_STATUS: u16 = 0x0130;

/// Frames that are not ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Foreign {
    /// EtherCAT frames of another sender.
    pub frames: u64,
    /// Frames among them with process data or a request to change the state of devices.
    pub commands: u64,
    /// Source address of the last of these.
    pub source: [u8; 6],
}

impl Foreign {
    /// Who else sends on this cable, for the supervision.
    pub fn stranger(&self) -> Stranger {
        let source = self.source.into_iter().fold(0, |number, byte| number << 8 | u64::from(byte));
        Stranger { commands: self.commands, source }
    }
}

/// Whose a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Ours,
    Another,
    /// No EtherCAT frame, or one that came back as it was sent.
    Nobody,
}

/// Frames that answer none of ours.
pub(super) struct Overheard {
    /// Our address: the library's is the same for every program that uses it.
    source: [u8; 6],
    pub foreign: Foreign,
    al: [u16; DEVICES_MAX],
    devices: usize,
}

impl Overheard {
    pub fn new() -> Self {
        // Random, not multicast, and without the bit that devices set.
        let [a, b, c, d, ..] = RandomState::new().hash_one(std::process::id()).to_le_bytes();
        Self { source: [0x10, 0x4B, a, b, c, d], foreign: Foreign::default(), al: [0; DEVICES_MAX], devices: 0 }
    }

    /// Gives a frame that leaves our address.
    pub fn sign(&self, frame: &mut [u8]) {
        if let Some(source) = frame.get_mut(SOURCE) {
            source.copy_from_slice(&self.source);
        }
    }

    /// The owner of the frame; counts frames of other masters.
    pub fn whose(&mut self, frame: &mut [u8]) -> Sender {
        let Some(source) = frame.get(SOURCE).and_then(|bytes| <[u8; 6]>::try_from(bytes).ok()) else {
            return Sender::Nobody;
        };
        if source == self.source {
            return Sender::Nobody;
        }
        let mut bare = source;
        bare[0] &= !PASSED;
        if bare == self.source {
            return Sender::Ours;
        }
        let Ok(mut datagrams) = datagrams(frame) else { return Sender::Nobody };
        let commands = datagrams.any(|datagram| {
            use Command::{Apwr, Bwr, Fpwr, Lrd, Lrw, Lwr};
            match datagram.command() {
                Lrd | Lwr | Lrw => true,
                Apwr | Fpwr | Bwr => datagram.offset() == AL_CONTROL,
                _ => false,
            }
        });
        self.foreign.frames += 1;
        if commands {
            self.foreign.commands += 1;
            self.foreign.source = source;
        }
        Sender::Another
    }

    /// A new exchange begins.
    pub fn begin(&mut self) {
        self.devices = 0;
    }

    /// Takes the AL status of each device out of an answer, in the order they were asked: that of the ring. One that did
    /// not answer has none.
    pub fn take_al(&mut self, frame: &mut [u8]) {
        let Ok(datagrams) = datagrams(frame) else { return };
        for datagram in datagrams.filter(|one| one.command() == Command::Fprd && one.offset() == AL_STATUS) {
            let (Some(place), [low, high]) = (self.al.get_mut(self.devices), &*datagram.data) else { return };
            *place = if datagram.working_counter() == 1 { u16::from_le_bytes([*low, *high]) } else { 0 };
            self.devices += 1;
        }
    }

    /// AL status of the devices in the last exchange; 0 of one that did not answer.
    pub fn al(&self) -> &[u16] {
        &self.al[..self.devices]
    }
}

/// A frame that waits to leave: the library's, with our address.
pub(super) struct Leaving {
    bytes: [u8; FRAME_MAX_BYTES],
    length: usize,
}

impl Leaving {
    pub fn none() -> Self {
        Self { bytes: [0; FRAME_MAX_BYTES], length: 0 }
    }

    pub fn take(&mut self, frame: &[u8], overheard: &Overheard) {
        self.length = frame.len().min(FRAME_MAX_BYTES);
        self.bytes[..self.length].copy_from_slice(&frame[..self.length]);
        overheard.sign(&mut self.bytes[..self.length]);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with one datagram of two bytes.
    fn frame(source: [u8; 6], command: Command, address: u16, offset: u16, data: [u8; 2], counter: u16) -> Vec<u8> {
        let mut bytes = vec![0xFF; 6];
        bytes.extend(source);
        bytes.extend([0x88, 0xA4, 14, 0x10, command as u8, 7]);
        bytes.extend(address.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend([2, 0, 0, 0]);
        bytes.extend(data);
        bytes.extend(counter.to_le_bytes());
        bytes
    }

    #[test]
    fn frames_of_others_are_counted_and_ours_are_known_by_their_address() {
        let mut overheard = Overheard::new();
        let mut ours = frame([0; 6], Command::Lrw, 0, 0, [0; 2], 3);
        overheard.sign(&mut ours);
        assert_eq!(overheard.whose(&mut ours), Sender::Nobody, "it has passed no device");
        ours[6] |= PASSED;
        assert_eq!(overheard.whose(&mut ours), Sender::Ours);
        assert_eq!(overheard.foreign, Foreign::default());
        let other = [3, 1, 1, 1, 1, 1];
        for (command, offset, commands) in
            [(Command::Brd, 0x0130, 0), (Command::Fpwr, 0x0500, 0), (Command::Bwr, AL_CONTROL, 1), (Command::Lrw, 0, 2)]
        {
            assert_eq!(overheard.whose(&mut frame(other, command, 0, offset, [0; 2], 1)), Sender::Another);
            assert_eq!(overheard.foreign.commands, commands, "{command:?}");
        }
        assert_eq!((overheard.foreign.frames, overheard.foreign.source), (4, other));
        assert_eq!(overheard.whose(&mut [0x5A; 60]), Sender::Nobody);
        assert_eq!(overheard.whose(&mut []), Sender::Nobody);
    }

    #[test]
    fn error_flags_come_with_the_answers_and_the_silent_have_none() {
        let mut overheard = Overheard::new();
        overheard.begin();
        for (data, counter) in [([0x08, 0], 1), ([0x18, 0], 1), ([0x08, 0], 0)] {
            overheard.take_al(&mut frame([0; 6], Command::Fprd, 0x1000, AL_STATUS, data, counter));
        }
        overheard.take_al(&mut frame([0; 6], Command::Fprd, 0x1000, 0x0134, [9, 9], 1));
        assert_eq!(overheard.al(), [0x08, 0x18, 0]);
        overheard.begin();
        assert!(overheard.al().is_empty());
    }
}
