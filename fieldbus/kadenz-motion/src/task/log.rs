// SPDX-License-Identifier: Apache-2.0
//! The log task: takes the samples of the others out of their queues and writes records, with its own times.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use kadenz_record::{RecordError, Writer};

use super::periodic::{Cyclic, Flow, Release};
use super::{LogQueues, Shared, Task};
use crate::message::TaskSample;
use crate::record::{MotionRecords, RunEnd};

/// The task that writes samples and events.
pub struct LogTask<W: Write> {
    writer: Writer<W>,
    records: MotionRecords,
    queues: LogQueues,
    shared: Arc<Shared>,
    /// The first failure to write; nothing more is written after it.
    failed: Option<RecordError>,
    /// Reused, so that events cost no allocation either.
    line: String,
    events: u64,
    lost_events: u64,
}

impl<W: Write> LogTask<W> {
    /// Records must be open.
    pub fn new(writer: Writer<W>, records: MotionRecords, queues: LogQueues, shared: Arc<Shared>) -> Self {
        Self {
            writer,
            records,
            queues,
            shared,
            failed: None,
            line: String::with_capacity(256),
            events: 0,
            lost_events: 0,
        }
    }

    fn drain(&mut self) -> Result<(), RecordError> {
        while let Some(batch) = self.queues.dynamics.receive_batch() {
            batch.values().iter().for_each(|sample| self.records.add_task(Task::Dynamics, sample));
        }
        while let Some(batch) = self.queues.trajectory.receive_batch() {
            batch.values().iter().for_each(|sample| self.records.add_task(Task::Trajectory, sample));
        }
        while let Some(batch) = self.queues.cycles.receive_batch() {
            batch.values().iter().for_each(|sample| self.records.add_cycle(sample));
        }
        while let Some(batch) = self.queues.events.receive() {
            // Refused ones are counted by the queue; the record has them all.
            self.queues.said.send(&batch);
            for event in batch.events.iter().take(batch.count as usize) {
                self.events += 1;
                self.line.clear();
                // Writing into a String cannot fail.
                let _ = write!(self.line, "{event}");
                self.writer.text(&self.line)?;
            }
            self.lost_events += batch.lost;
        }
        self.records.flush(&mut self.writer)
    }

    /// After all tasks have ended: writes the rest and closes the records. Gives the writer back and the number of
    /// events seen.
    pub fn finish(mut self, run: &RunEnd) -> Result<(Writer<W>, u64), RecordError> {
        if self.failed.is_none() {
            self.drain()?;
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.lost_events > 0 {
            self.writer.text(&format!("{} events found no room in the log and are missing above", self.lost_events))?;
        }
        self.records.end(&mut self.writer, run)?;
        Ok((self.writer, self.events))
    }
}

impl<W: Write> Cyclic for LogTask<W> {
    fn step(&mut self, _: Release) -> Flow {
        if self.failed.is_none() {
            self.failed = self.drain().err();
        }
        if self.shared.over() {
            Flow::End
        } else {
            Flow::Continue
        }
    }

    fn record(&mut self, release: Release, sample: TaskSample) {
        if self.shared.measures(release.nominal_ns) {
            self.records.add_task(Task::Log, &sample);
        }
    }
}
