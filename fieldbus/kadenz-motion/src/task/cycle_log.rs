// SPDX-License-Identifier: Apache-2.0
//! Entries of the main task for the log: a sample of each cycle, and events.

use kadenz_rt::{Batch, Sender};

use super::dynamics::push;
use crate::message::{CycleSample, Events, TaskSample, BATCH, EVENTS};
use crate::supervise::{Event, EventKind, Reaction};

/// Cycles between two messages with events.
const EVENTS_EVERY: u64 = 32;

/// Samples and events on their way to the log task.
#[derive(Debug)]
pub(super) struct CycleLog {
    to_log: Sender<CycleSample, BATCH>,
    events_to_log: Sender<Events>,
    /// Sample of the cycle under way; sent at its end if it is measured.
    pub(super) sample: CycleSample,
    batch: Batch<CycleSample, BATCH>,
    events: Events,
    refused: u32,
}

impl CycleLog {
    pub(super) fn new(to_log: Sender<CycleSample, BATCH>, events_to_log: Sender<Events>) -> Self {
        let no_event = Event::new(0, EventKind::Recovered, 0, 0, Reaction::None);
        Self {
            to_log,
            events_to_log,
            sample: CycleSample::default(),
            batch: Batch::default(),
            events: Events { count: 0, lost: 0, events: [no_event; EVENTS] },
            refused: 0,
        }
    }

    /// A cycle begins: nothing is known of it.
    pub(super) fn begin_cycle(&mut self) {
        self.sample = CycleSample { clock_difference_ns: u32::MAX, frame_ns: u32::MAX, ..CycleSample::default() };
    }

    /// Adds an event; one without room counts as lost.
    pub(super) fn event(&mut self, event: Event) {
        match self.events.events.get_mut(self.events.count as usize) {
            Some(place) => {
                *place = event;
                self.events.count += 1;
            }
            None => self.events.lost += 1,
        }
    }

    /// Messages the log task's queues have refused in all, if there are new ones.
    pub(super) fn newly_refused(&mut self) -> Option<u32> {
        let refused = self.to_log.refused() + self.events_to_log.refused();
        let is_new = refused > std::mem::replace(&mut self.refused, refused);
        is_new.then_some(refused)
    }

    /// A cycle ends; `counts` if it is measured, `ends` if it is the last.
    pub(super) fn end_cycle(&mut self, cycle: u64, task: TaskSample, counts: bool, ends: bool) {
        self.sample.task = task;
        push(&mut self.batch, &self.to_log, counts.then_some(self.sample), ends);
        if self.events.count > 0 && (cycle % EVENTS_EVERY == 0 || ends || self.events.count as usize == EVENTS) {
            if self.events_to_log.send(&self.events) {
                self.events.lost = 0;
            } else {
                self.events.lost += self.events.count;
            }
            self.events.count = 0;
        }
    }
}
