// SPDX-License-Identifier: Apache-2.0
//! Every error a user can meet: what happened, where, what to do, and the exit code (as `kadenz/errors.py`).

use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Exit code 1: the tool itself failed.
pub const EXIT_FAILED: u8 = 1;
/// The command line or a file is wrong.
pub const EXIT_USAGE: u8 = 2;

/// An error with a remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)] // of a field: the message says what it is
pub enum SegmentError {
    /// A file cannot be read or written.
    #[error("cannot {action} {path}: {source}. {remedy}")]
    File { action: &'static str, path: PathBuf, source: std::io::Error, remedy: &'static str },
    /// A file the user wrote is wrong.
    #[error("{path}: {message}. {remedy}")]
    Config {
        path: PathBuf,
        /// The problem and its place.
        message: String,
        remedy: String,
    },
    /// An argument is wrong.
    #[error("{message}. {remedy}")]
    Usage { message: String, remedy: String },
    /// A segment that runs has refused a message.
    #[error("{message}")]
    Refused {
        /// Problem and remedy, as the segment gives them.
        message: String,
    },
    /// The interface cannot be used.
    #[error("cannot {action} interface {interface}: {source}. {remedy}")]
    Interface {
        /// Open, receive from, send to.
        action: &'static str,
        interface: String,
        source: std::io::Error,
        remedy: &'static str,
    },
    /// A capture is damaged, or another program wrote it.
    #[error(
        "{path}: {message} (at byte {offset}). Only files written by `kadenz-segment run --record` can be replayed"
    )]
    Capture { path: PathBuf, message: &'static str, offset: usize },
    /// A replay gave other frames than the recording.
    #[error("replay differs from the recording: {message}. Replay with the ring file, the faults and the version of the recording")]
    ReplayDiffers { message: String },
    /// An ENI file describes another network than the ring.
    #[error("{path}: differences from the ring: {count}. Correct the ring file, or make the ENI file anew")]
    NetworkDiffers {
        path: PathBuf,
        /// Number of differences, which are listed before.
        count: usize,
    },
    /// The commands of an ENI file do not bring the ring to OP.
    #[error("{path}: {message}. {remedy}")]
    NetworkFails { path: PathBuf, message: String, remedy: String },
    /// A recording without a frame proves nothing.
    #[error("the recording holds no frame from a master. Record while one is on the interface")]
    NothingToReplay,
    /// Real-time scheduling was asked for and refused.
    #[error(
        "cannot set {what}: {source}. Run as root or grant CAP_SYS_NICE and CAP_IPC_LOCK, or leave --priority out"
    )]
    Scheduling { what: &'static str, source: std::io::Error },
}

impl SegmentError {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            SegmentError::Config { .. }
            | SegmentError::Usage { .. }
            | SegmentError::Refused { .. }
            | SegmentError::Capture { .. } => EXIT_USAGE,
            _ => EXIT_FAILED,
        }
    }

    /// A file the user wrote is wrong.
    pub fn config(path: &Path, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        SegmentError::Config { path: path.into(), message: message.into(), remedy: remedy.into() }
    }
}

/// Turns a TOML error into ours: place, and for an unknown key the nearest known one.
/// Anything else is answered by `remedy`.
pub fn from_toml(path: &Path, text: &str, error: &toml::de::Error, remedy: &str) -> SegmentError {
    let place = error.span().map_or(String::new(), |span| {
        let before = text.get(..span.start).unwrap_or("");
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("line {}, column {column}: ", line_of(text, span.start))
    });
    let message = error.message();
    let remedy = match nearest_key(message) {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => remedy.to_owned(),
    };
    SegmentError::config(path, format!("{place}{message}"), remedy)
}

/// Number of the line in which a byte lies, from 1.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

/// Longest ring or fault file, bytes.
const LONGEST_TEXT: u64 = 16 << 20;

/// Reads a whole file that the user named as `what`: missing, too long or a folder, it is the user's mistake. A
/// pipe or a device may have no end, and counts as a text.
pub fn read_bytes(path: &Path, what: &str, longest: u64, remedy: &str) -> Result<Vec<u8>, SegmentError> {
    let mut bytes = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    let longest = if is_file { longest } else { longest.min(LONGEST_TEXT) };
    let read = std::fs::File::open(path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(SegmentError::config(path, format!("cannot read {what}: {error}"), remedy)),
        Ok(length) if length as u64 > longest => {
            let message = format!("{what} is longer than {} MiB", longest >> 20);
            Err(SegmentError::config(path, message, remedy))
        }
        Ok(_) => Ok(bytes),
    }
}

/// Reads a file that another file names: a pipe would be waited for, and a device has no end.
pub fn read_file(path: &Path, what: &str, longest: u64, remedy: &str) -> Result<Vec<u8>, SegmentError> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => {
            Err(SegmentError::config(path, format!("cannot read {what}: not a regular file"), remedy))
        }
        _ => read_bytes(path, what, longest, remedy),
    }
}

/// Reads a text the user named as `what`.
pub fn read_text(path: &Path, what: &str, remedy: &str) -> Result<String, SegmentError> {
    let bytes = read_bytes(path, what, LONGEST_TEXT, remedy)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        SegmentError::config(path, format!("{what} is not text (byte {at} is not UTF-8)"), remedy)
    })
}

/// From serde's message about an unknown field or variant: the known name nearest to it.
fn nearest_key(message: &str) -> Option<&str> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    nearest(wrong, quoted)
}

/// The candidate with the least edit distance.
pub fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates.min_by_key(|candidate| distance(wrong, candidate))
}

/// Edit distance (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_answered_by_the_nearest_known() {
        let message = "unknown field `chanels`, expected one of `name`, `kind`, `channels`";
        assert_eq!(nearest_key(message), Some("channels"));
        assert_eq!(nearest_key("invalid type: string"), None);
    }
}
