// SPDX-License-Identifier: Apache-2.0
//! The other end of a segment's socket: `kadenz-segment control`.

use crate::error::SegmentError;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Longest answer that is read, bytes.
const LONGEST_ANSWER: u64 = 16 << 20;
/// Other clients may be served first.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends a message to the segment behind a socket; gives its answer. A message that the segment refuses is a mistake of
/// use.
pub fn send(path: &Path, message: &str) -> Result<String, SegmentError> {
    let fail = |source| SegmentError::File {
        action: "speak with the segment at",
        path: path.into(),
        source,
        remedy: "Start it with --control and this path, as the same user",
    };
    let mut stream = UnixStream::connect(path).map_err(fail)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(fail)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(fail)?;
    stream.write_all(format!("{}\n", message.replace('\n', " ")).as_bytes()).map_err(fail)?;
    let mut answer = String::new();
    stream.take(LONGEST_ANSWER).read_to_string(&mut answer).map_err(fail)?;
    match answer.split_once('\n') {
        Some(("ok", text)) => Ok(text.to_owned()),
        Some(("error", text)) => Err(SegmentError::Refused { message: text.trim_end().to_owned() }),
        _ => Err(fail(std::io::ErrorKind::UnexpectedEof.into())),
    }
}
