// SPDX-License-Identifier: Apache-2.0
//! Errors of writing and of reading.

/// Bytes between two zeros that are no frame, or a body that is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // of a field: the message says what it is
pub enum WireError {
    /// The COBS coding is broken.
    #[error("bad COBS code")]
    Cobs,
    /// The length does not fit.
    #[error("{got} bytes, {expected}")]
    Length {
        got: usize,
        /// The expected content, in words.
        expected: String,
    },
    /// The checksum does not fit.
    #[error("CRC {actual:08x}, the frame says {said:08x}")]
    Crc {
        /// Over the bytes that arrived.
        actual: u32,
        said: u32,
    },
    /// Type or reserved byte is unknown.
    #[error("unknown frame type {0}")]
    Type(u8),
    /// HELLO names a version of the format that this crate does not read.
    #[error("the program speaks wire version {spoken}, this reader reads {}", crate::WIRE_VERSION)]
    Version { spoken: u32 },
    /// The body does not have the form of its type.
    #[error("body of {kind}: {why}")]
    Body {
        /// Frame type by name.
        kind: &'static str,
        why: String,
    },
    /// Frames are missing: the sequence jumped.
    #[error("{missing} frames lost before frame {next}")]
    Gap {
        missing: u32,
        /// The first that arrived after them.
        next: u32,
    },
    /// A frame came again.
    #[error("frame {0} came twice")]
    Doubled(u32),
    /// The stream ended inside a frame.
    #[error("the stream ends inside a frame, after {0} bytes of it")]
    Truncated(usize),
}

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The place the frames go to refused them.
    #[error("cannot write the record: {0}. Check that the disk has room and the reader still runs")]
    Write(#[from] std::io::Error),
    /// A message is larger than a frame: a program's mistake.
    #[error("{kind} of {bytes} bytes does not fit a frame of {}", crate::BODY_MAX_BYTES)]
    TooLarge {
        /// Frame type by name.
        kind: &'static str,
        /// Size of its body.
        bytes: usize,
    },
    /// A message could not be packed: a program's mistake.
    #[error("cannot pack: {0}")]
    Pack(#[from] rmp_serde::encode::Error),
}
