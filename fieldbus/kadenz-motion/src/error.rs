// SPDX-License-Identifier: Apache-2.0
//! Every error a user can meet: what happened, where, what to do.

use kadenz_record::RecordError;
use kadenz_rt::QueueError;
use kadenz_segment::error::SegmentError;

use crate::bus::BusError;
use crate::layout::LayoutError;
use crate::realtime::RealtimeError;

/// Why a run could not take place or could not be finished.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // of a field: the message says what it is
pub enum MotionError {
    /// The layout cannot be used; exit code 2.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The devices did not reach operation, or are not those of the layout.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Linux refused a priority, locked memory or a processor.
    #[error(transparent)]
    Realtime(#[from] RealtimeError),
    /// A message queue between the tasks could not be opened.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The simulated ring could not be built or served.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Linux refused an action on an interface, a file or a process.
    #[error("cannot {action}: {source}. {remedy}")]
    System { action: String, source: std::io::Error, remedy: &'static str },
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
}

impl MotionError {
    /// Exit code: 2 for what the user wrote, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Layout(_) | Self::Usage(_) => 2,
            _ => 1,
        }
    }
}
