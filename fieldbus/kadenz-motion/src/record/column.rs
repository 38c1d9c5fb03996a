// SPDX-License-Identifier: Apache-2.0
//! One lane of one record, on its way out.

use std::io::Write;

use kadenz_record::{EndLane, RecordError, Writer};

/// A value that travels.
pub trait Value: Copy {
    /// Writes values of one lane.
    fn write<W: Write>(
        writer: &mut Writer<W>,
        record: u16,
        lane: u8,
        index: u32,
        values: &[Self],
    ) -> Result<(), RecordError>
    where
        Self: Sized;
}

impl Value for u32 {
    fn write<W: Write>(w: &mut Writer<W>, record: u16, lane: u8, index: u32, v: &[u32]) -> Result<(), RecordError> {
        w.samples_u4(record, lane, index, v)
    }
}

impl Value for f64 {
    fn write<W: Write>(w: &mut Writer<W>, record: u16, lane: u8, index: u32, v: &[f64]) -> Result<(), RecordError> {
        w.samples_f8(record, lane, index, v)
    }
}

/// Values waiting, and the count of all.
#[derive(Debug)]
pub struct Column<T> {
    record: u16,
    lane: u8,
    planned: u64,
    written: u32,
    waiting: Vec<T>,
    overrun: u64,
}

impl<T: Value> Column<T> {
    /// `room` values are kept between two writings without allocating.
    pub fn new(record: u16, lane: u8, planned: u64, room: usize) -> Self {
        Self { record, lane, planned, written: 0, waiting: Vec::with_capacity(room), overrun: 0 }
    }

    /// Adds a value; a value beyond the plan is left out, so that planned = taken + missed always holds.
    pub fn push(&mut self, value: T) {
        if u64::from(self.written) + (self.waiting.len() as u64) < self.planned {
            self.waiting.push(value);
        }
    }

    /// The value just added was longer than its period.
    pub fn count_overrun(&mut self) {
        self.overrun += 1;
    }

    /// Writes the samples that wait.
    pub fn flush<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        if !self.waiting.is_empty() {
            T::write(writer, self.record, self.lane, self.written, &self.waiting)?;
            self.written += self.waiting.len() as u32;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Its count for the end of the record.
    pub fn end(&self) -> EndLane {
        let taken = u64::from(self.written);
        EndLane { taken, missed: self.planned - taken, overrun: self.overrun.min(taken) }
    }
}
