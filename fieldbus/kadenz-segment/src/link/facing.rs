// SPDX-License-Identifier: Apache-2.0
//! Frames that come back: where a second segment answers at the other end of the cable, each would answer the other's
//! answers without end.

use crate::frame::{is_returned, DATAGRAM_HEADER, ETHERCAT_HEADER, ETHERNET_HEADER};

/// An answer to our answer comes within this time; a master's next frame of the same number later.
const SOON_NS: u64 = 500_000;
/// From this number on, returned frames are not a coincidence.
const ENOUGH: u32 = 3;

/// The first datagram of a frame that devices of ours have worked on: command, counter on its way back, and when.
#[derive(Debug, Clone, Copy)]
struct Answer {
    command: u8,
    counter: u16,
    time_ns: u64,
}

/// Looks for frames that were answered before.
#[derive(Debug)]
pub struct Facing {
    answers: [Option<Answer>; 256],
    returned: u32,
}

impl Default for Facing {
    fn default() -> Self {
        Self { answers: [None; 256], returned: 0 }
    }
}

/// Command, index and working counter of the first datagram, where the frame holds it.
#[inline]
fn first(frame: &[u8]) -> Option<(u8, u8, u16)> {
    let head = frame.get(ETHERNET_HEADER + ETHERCAT_HEADER..)?;
    let length = usize::from(u16::from_le_bytes([*head.get(6)?, *head.get(7)?]) & 0x07FF);
    let counter = head.get(DATAGRAM_HEADER + length..)?.first_chunk::<2>()?;
    Some((*head.first()?, *head.get(1)?, u16::from_le_bytes(*counter)))
}

impl Facing {
    /// A frame arrives: is it one of our answers, answered? It has our mark then. Masters send a working counter of 0, so
    /// that one look decides; one with two interfaces sends a frame on that came back, under its own address.
    #[inline]
    pub fn is_own_answer(&mut self, frame: &[u8], now_ns: u64) -> bool {
        let Some((command, index, counter)) = first(frame).filter(|(.., counter)| *counter != 0) else { return false };
        if !is_returned(frame) {
            return false;
        }
        let is_own = self.answers[usize::from(index)].is_some_and(|answer| {
            answer.command == command && counter >= answer.counter && now_ns.saturating_sub(answer.time_ns) < SOON_NS
        });
        self.returned += u32::from(is_own);
        is_own
    }

    /// A frame leaves whose first datagram had this counter when it came.
    #[inline]
    pub fn answered(&mut self, frame: &[u8], counter_before: u16, time_ns: u64) {
        if let Some((command, index, counter)) = first(frame) {
            let is_ours = counter != counter_before;
            self.answers[usize::from(index)] = is_ours.then_some(Answer { command, counter, time_ns });
        }
    }

    /// The working counter of a frame's first datagram.
    #[inline]
    pub fn counter(frame: &[u8]) -> u16 {
        first(frame).map_or(0, |(.., counter)| counter)
    }

    /// A second segment is at the other end.
    pub fn is_certain(&self) -> bool {
        self.returned >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::frame::{address, datagrams, mark_returned, FrameBuilder};
    use crate::register::at;

    fn frame(index: u8, counter: u16) -> Vec<u8> {
        let mut frame =
            FrameBuilder::default().datagram(Command::Brd, index, address(0, at::AL_STATUS), &[0; 2]).build();
        datagrams(&mut frame).unwrap().next().unwrap().force_working_counter(counter);
        if counter != 0 {
            mark_returned(&mut frame);
        }
        frame
    }

    #[test]
    fn our_answers_are_known_when_they_come_back_answered() {
        let mut facing = Facing::default();
        for turn in 0..3_u64 {
            let now_ns = turn * 1_000_000;
            assert!(!facing.is_own_answer(&frame(7, 0), now_ns), "as a master sends it");
            facing.answered(&frame(7, 9), 0, now_ns);
            assert!(!facing.is_certain());
            assert!(facing.is_own_answer(&frame(7, 18), now_ns + 100_000));
        }
        assert!(facing.is_certain());
    }

    #[test]
    fn real_devices_in_front_of_the_segment_are_not_a_second_segment() {
        let mut facing = Facing::default();
        for turn in 0..100_u64 {
            let now_ns = turn * 100_000;
            // Two devices have worked on it before, nine do here; the numbers of frames repeat.
            assert!(!facing.is_own_answer(&frame(turn as u8 % 2, 2), now_ns));
            facing.answered(&frame(turn as u8 % 2, 11), 2, now_ns);
            // A frame for one of those devices alone.
            assert!(!facing.is_own_answer(&frame(3, 1), now_ns));
            facing.answered(&frame(3, 1), 1, now_ns);
        }
    }
}
