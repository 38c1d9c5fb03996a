// SPDX-License-Identifier: Apache-2.0
//! Bytes to messages, with everything that is wrong named and nothing of it turned into samples.

use crate::frame::decode;
use crate::{Message, WireError};

/// Content of a stream.
#[derive(Debug, Default)]
pub struct Reading {
    /// The messages in the order of their frames.
    pub messages: Vec<Message>,
    /// Damaged and missing frames, in their order.
    pub findings: Vec<WireError>,
}

/// Reads a whole stream. Bytes before the first zero stood on the line before and are left out, and so is everything
/// behind a HELLO of another version of the format.
pub fn read(stream: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut parts = stream.split(|byte| *byte == 0);
    parts.next();
    let mut parts = parts.peekable();
    let mut last: Option<u32> = None;
    while let Some(part) = parts.next() {
        if part.is_empty() {
            continue;
        }
        if parts.peek().is_none() {
            reading.findings.push(WireError::Truncated(part.len()));
            break;
        }
        match decode(part).and_then(|frame| Message::from_frame(&frame).map(|message| (frame.sequence, message))) {
            Err(finding @ WireError::Version { .. }) => {
                reading.findings.push(finding);
                break;
            }
            Err(finding) => reading.findings.push(finding),
            Ok((sequence, message)) => {
                let expected = last.map_or(0, |last| last.wrapping_add(1));
                if last == Some(sequence) {
                    reading.findings.push(WireError::Doubled(sequence));
                    continue;
                }
                if sequence != expected {
                    let missing = sequence.wrapping_sub(expected);
                    reading.findings.push(WireError::Gap { missing, next: sequence });
                }
                last = Some(sequence);
                reading.messages.push(message);
            }
        }
    }
    reading
}
