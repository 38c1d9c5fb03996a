// SPDX-License-Identifier: Apache-2.0
//! A segment as a wire: frames pass it in the caller's thread. In real time, or in a time of its own that jumps from
//! deadline to deadline, so that tests run faster than the robot.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use kadenz_rt::{outside_cyclic_path, packet, Clock};
use kadenz_segment::segment::{Segment, Verdict};

use crate::bus::{Wire, FRAME_MAX_BYTES};

/// Answers that can be on their way at once.
const SLOTS: usize = 8;

struct Slot {
    due_ns: u64,
    length: usize,
    frame: [u8; FRAME_MAX_BYTES],
}

/// A segment behind no interface at all.
pub struct InProcess {
    segment: Arc<Mutex<Segment>>,
    clock: Clock,
    /// Answers under way, free ones with length 0.
    slots: Box<[Slot; SLOTS]>,
}

impl InProcess {
    /// Shares the segment with a test that looks at it; frames lock it only while they pass.
    pub fn new(segment: Arc<Mutex<Segment>>, clock: Clock) -> Self {
        let slots = std::array::from_fn(|_| Slot { due_ns: 0, length: 0, frame: [0; FRAME_MAX_BYTES] });
        Self { segment, clock, slots: Box::new(slots) }
    }

    fn keep(&mut self, frame: &[u8], due_ns: u64) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.length == 0) {
            slot.frame[..frame.len()].copy_from_slice(frame);
            (slot.length, slot.due_ns) = (frame.len(), due_ns);
        }
    }
}

impl Wire for InProcess {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if frame.len() > FRAME_MAX_BYTES {
            return Err(packet::too_long());
        }
        let now_ns = self.clock.now_ns();
        let mut copy = [0; FRAME_MAX_BYTES];
        let copy = &mut copy[..frame.len()];
        copy.copy_from_slice(frame);
        // What the segment does is the hardware's business, not the cyclic path's.
        let verdict = outside_cyclic_path(|| {
            let mut segment = self.segment.lock().unwrap_or_else(PoisonError::into_inner);
            let verdict = segment.process(copy, now_ns);
            segment.settle(now_ns);
            verdict
        });
        match verdict {
            Verdict::Ignored | Verdict::Lost => {}
            Verdict::Returned => self.keep(copy, now_ns),
            Verdict::Doubled => {
                self.keep(copy, now_ns);
                self.keep(copy, now_ns);
            }
            Verdict::Late(by_ns) => self.keep(copy, now_ns + by_ns),
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        let waiting = self.slots.iter_mut().filter(|slot| slot.length > 0);
        match waiting.min_by_key(|slot| slot.due_ns).filter(|slot| slot.due_ns <= deadline_ns) {
            Some(slot) => {
                self.clock.sleep_until_ns(slot.due_ns);
                let length = slot.length.min(buffer.len());
                buffer[..length].copy_from_slice(&slot.frame[..length]);
                slot.length = 0;
                Ok(length)
            }
            None => {
                self.clock.sleep_until_ns(deadline_ns);
                Ok(0)
            }
        }
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}
