// SPDX-License-Identifier: Apache-2.0
//! Messages to bytes: counts frames and records, splits samples over frames.

use std::io::Write;

use serde::Serialize;

use crate::frame::{encode_into, FrameType, BODY_MAX_BYTES};
use crate::message::{Begin, Bench, Case, Conform, Done, End, Fault, Hello, SAMPLES_HEADER_BYTES};
use crate::RecordError;

/// Writes a stream of frames. Samples are written without allocation once the buffers have grown to a frame.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: W,
    sequence: u32,
    records: u64,
    body: Vec<u8>,
    scratch: Vec<u8>,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts the stream with one zero, which ends whatever stood on the line before.
    pub fn new(output: W) -> Result<Self, RecordError> {
        Self::resumed(output, 0)
    }

    /// As `new`, going on with frame number `sequence` of a stream that was begun elsewhere.
    pub fn resumed(mut output: W, sequence: u32) -> Result<Self, RecordError> {
        output.write_all(&[0])?;
        let room = BODY_MAX_BYTES + BODY_MAX_BYTES / 8;
        Ok(Self {
            output,
            sequence,
            records: 0,
            body: Vec::with_capacity(room),
            scratch: Vec::with_capacity(room),
            line: Vec::with_capacity(room),
        })
    }

    /// Writes HELLO, which has to be the first frame.
    pub fn hello(&mut self, hello: &Hello) -> Result<(), RecordError> {
        self.map(FrameType::Hello, hello)
    }

    /// Description of a benchmark, for `list`.
    pub fn bench(&mut self, bench: &Bench) -> Result<(), RecordError> {
        self.map(FrameType::Bench, bench)
    }

    /// Writes BEGIN, which opens a record.
    pub fn begin(&mut self, begin: &Begin) -> Result<(), RecordError> {
        self.records += 1;
        self.map(FrameType::Begin, begin)
    }

    /// Writes END, which closes a record.
    pub fn end(&mut self, end: &End) -> Result<(), RecordError> {
        self.map(FrameType::End, end)
    }

    /// A line for a person; longer text is cut at a frame's size.
    pub fn text(&mut self, text: &str) -> Result<(), RecordError> {
        let cut = (0..=text.len().min(BODY_MAX_BYTES)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.body.clear();
        self.body.extend_from_slice(&text.as_bytes()[..cut]);
        self.send(FrameType::Text)
    }

    /// Writes FAULT: the program is about to die.
    pub fn fault(&mut self, fault: &Fault) -> Result<(), RecordError> {
        self.map(FrameType::Fault, fault)
    }

    /// A conformance case that runs now.
    pub fn case(&mut self, case: &Case) -> Result<(), RecordError> {
        self.map(FrameType::Case, case)
    }

    /// The result of a conformance case.
    pub fn conform(&mut self, conform: &Conform) -> Result<(), RecordError> {
        self.map(FrameType::Conform, conform)
    }

    /// Values of a `u4` record; `index` is the place of the first in its lane.
    pub fn samples_u4(&mut self, record: u16, lane: u8, index: u32, values: &[u32]) -> Result<(), RecordError> {
        self.samples(record, lane, 0, index, values, |value| value.to_le_bytes())
    }

    /// Values of an `i4` record.
    pub fn samples_i4(&mut self, record: u16, lane: u8, index: u32, values: &[i32]) -> Result<(), RecordError> {
        self.samples(record, lane, 1, index, values, |value| value.to_le_bytes())
    }

    /// Values of an `f8` record.
    pub fn samples_f8(&mut self, record: u16, lane: u8, index: u32, values: &[f64]) -> Result<(), RecordError> {
        self.samples(record, lane, 2, index, values, |value| value.to_le_bytes())
    }

    /// The last frame; gives the output back, flushed.
    pub fn done(mut self) -> Result<W, RecordError> {
        let done = Done { records: self.records, frames: u64::from(self.sequence) + 1 };
        self.map(FrameType::Done, &done)?;
        self.output.flush()?;
        Ok(self.output)
    }

    /// Flushes the output: everything written has left.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        Ok(self.output.flush()?)
    }

    fn samples<T: Copy, const N: usize>(
        &mut self,
        record: u16,
        lane: u8,
        code: u8,
        index: u32,
        values: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> Result<(), RecordError> {
        let most = (BODY_MAX_BYTES - SAMPLES_HEADER_BYTES) / N;
        for (part, chunk) in values.chunks(most).enumerate() {
            let place = index.wrapping_add((part * most) as u32);
            self.body.clear();
            self.body.extend(record.to_le_bytes());
            self.body.extend([lane, code]);
            self.body.extend(place.to_le_bytes());
            for value in chunk {
                self.body.extend_from_slice(&bytes(*value));
            }
            self.send(FrameType::Samples)?;
        }
        Ok(())
    }

    fn map(&mut self, kind: FrameType, message: &impl Serialize) -> Result<(), RecordError> {
        self.body.clear();
        message.serialize(&mut rmp_serde::Serializer::new(&mut self.body).with_struct_map())?;
        self.send(kind)
    }

    fn send(&mut self, kind: FrameType) -> Result<(), RecordError> {
        if self.body.len() > BODY_MAX_BYTES {
            return Err(RecordError::TooLarge { kind: kind.name(), bytes: self.body.len() });
        }
        self.line.clear();
        encode_into(kind, self.sequence, &self.body, &mut self.scratch, &mut self.line);
        self.sequence = self.sequence.wrapping_add(1);
        self.output.write_all(&self.line)?;
        Ok(())
    }
}
