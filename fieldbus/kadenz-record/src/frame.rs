// SPDX-License-Identifier: Apache-2.0
//! One frame: header, body, CRC, COBS.

use crate::WireError;

/// Most bytes a body may have.
pub const BODY_MAX_BYTES: usize = 4096;
const HEADER_BYTES: usize = 8;
const CRC_BYTES: usize = 4;

/// Kinds of frames of wire version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names of the format
pub enum FrameType {
    Hello = 1,
    Bench = 2,
    Begin = 3,
    Samples = 4,
    End = 5,
    Text = 6,
    Fault = 7,
    Done = 8,
    Conform = 9,
    Case = 10,
}

impl FrameType {
    /// The name the format gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hello => "HELLO",
            Self::Bench => "BENCH",
            Self::Begin => "BEGIN",
            Self::Samples => "SAMPLES",
            Self::End => "END",
            Self::Text => "TEXT",
            Self::Fault => "FAULT",
            Self::Done => "DONE",
            Self::Conform => "CONFORM",
            Self::Case => "CASE",
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        use FrameType::{Begin, Bench, Case, Conform, Done, End, Fault, Hello, Samples, Text};
        [Hello, Bench, Begin, Samples, End, Text, Fault, Done, Conform, Case]
            .into_iter()
            .find(|kind| *kind as u8 == code)
    }
}

/// A frame whose length and CRC were right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Type of the body.
    pub kind: FrameType,
    /// Counts every frame of the stream, from 0.
    pub sequence: u32,
    /// The content of the frame, at most [`BODY_MAX_BYTES`].
    pub body: Vec<u8>,
}

/// Appends the frame to `line`, with its ending zero. `scratch` is reused from call to call.
pub(crate) fn encode_into(kind: FrameType, sequence: u32, body: &[u8], scratch: &mut Vec<u8>, line: &mut Vec<u8>) {
    debug_assert!(body.len() <= BODY_MAX_BYTES);
    scratch.clear();
    scratch.extend([kind as u8, 0]);
    scratch.extend(sequence.to_le_bytes());
    scratch.extend((body.len() as u16).to_le_bytes());
    scratch.extend(body);
    let crc = crc32fast::hash(scratch);
    scratch.extend(crc.to_le_bytes());
    let start = line.len();
    line.resize(start + cobs::max_encoding_length(scratch.len()), 0);
    let used = cobs::encode(scratch, &mut line[start..]);
    line.truncate(start + used);
    line.push(0);
}

/// The frame that stood between two zeros.
pub(crate) fn decode(encoded: &[u8]) -> Result<Frame, WireError> {
    let raw = cobs::decode_vec(encoded).map_err(|_| WireError::Cobs)?;
    if raw.len() < HEADER_BYTES + CRC_BYTES {
        let expected = format!("at least {} expected", HEADER_BYTES + CRC_BYTES);
        return Err(WireError::Length { got: raw.len(), expected });
    }
    let (rest, crc) = raw.split_at(raw.len() - CRC_BYTES);
    let (header, body) = rest.split_at(HEADER_BYTES);
    let said = u32::from_le_bytes([crc[0], crc[1], crc[2], crc[3]]);
    let actual = crc32fast::hash(rest);
    if actual != said {
        return Err(WireError::Crc { actual, said });
    }
    let length = usize::from(u16::from_le_bytes([header[6], header[7]]));
    if length != body.len() || length > BODY_MAX_BYTES {
        return Err(WireError::Length { got: body.len(), expected: format!("the frame says {length}") });
    }
    let kind = FrameType::from_code(header[0]).filter(|_| header[1] == 0).ok_or(WireError::Type(header[0]))?;
    let sequence = u32::from_le_bytes([header[2], header[3], header[4], header[5]]);
    Ok(Frame { kind, sequence, body: body.to_vec() })
}
