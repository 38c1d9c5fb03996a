// SPDX-License-Identifier: Apache-2.0
//! Frames on their way back to the master: at once, twice, late or not at all.

use crate::segment::{Passed, Verdict};
use crate::topology::End;

/// A frame that waits for its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// When it is due, ns.
    pub due_ns: u64,
    /// Number of the frame it answers.
    pub number: u64,
    /// The end at which it leaves.
    pub leaves: End,
    /// The frame as it returns to the master.
    pub bytes: Vec<u8>,
}

/// Holds late frames; everything else passes straight through, without a copy.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    waiting: Vec<Waiting>,
}

impl Outbox {
    /// Applies a verdict: sends the frame with `send`, drops it, or keeps it for later.
    pub fn post<E>(
        &mut self,
        Passed { verdict, leaves }: Passed,
        bytes: &[u8],
        number: u64,
        now_ns: u64,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match verdict {
            Verdict::Ignored | Verdict::Lost => Ok(()),
            Verdict::Returned => send(bytes),
            Verdict::Doubled => {
                send(bytes)?;
                send(bytes)
            }
            Verdict::Late(delay_ns) => {
                let (due_ns, bytes) = (now_ns.saturating_add(delay_ns), bytes.to_vec());
                self.waiting.push(Waiting { due_ns, number, leaves, bytes });
                Ok(())
            }
        }
    }

    /// When the next late frame is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.waiting.iter().map(|waiting| waiting.due_ns).min()
    }

    /// Takes a frame that is due.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.due_ns <= now_ns)?;
        Some(self.waiting.remove(at))
    }
}
