// SPDX-License-Identifier: Apache-2.0
//! What happens to cables and to frames in them, and what faults do: for the log of a run.

use crate::topology::End;
use std::fmt;
use std::sync::Arc;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// World time, ns.
    pub world_ns: u64,
    /// What happened.
    pub what: What,
}

/// Kinds of happenings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A cable broke, or stands again.
    Cable {
        /// Name of the device at one end.
        device: String,
        /// Port there.
        port: usize,
        /// Whether it stands now.
        stands: bool,
    },
    /// A frame was under way when a cable broke or healed, and did not come back.
    FrameLost {
        /// Number of the frame.
        number: u64,
        /// End at which it came in.
        from: End,
    },
    /// A fault began or ended, or the master did something after it.
    Fault {
        /// The fault: its number, kind and device.
        label: Arc<str>,
        /// What happened.
        text: String,
    },
    /// A hot-connect group joined the segment or left it.
    Group {
        /// Name of its first device.
        head: String,
        /// Number of its devices.
        size: usize,
        /// Device that it was plugged into.
        device: String,
        /// Port there.
        port: usize,
        /// It is there from now on.
        joins: bool,
    },
    /// A frame with the mark of a circulating one met a closed port 0.
    FrameDestroyed {
        /// Number of the frame.
        number: u64,
        /// End at which it came in.
        from: End,
    },
}

impl fmt::Display for Happening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "at {:.6} s: ", self.world_ns as f64 * 1.0e-9)?;
        match &self.what {
            What::Cable { device, port, stands: false } => {
                write!(out, "the cable at port {port} of {device} is broken")
            }
            What::Cable { device, port, stands: true } => {
                write!(out, "the cable at port {port} of {device} stands again")
            }
            What::FrameLost { number, from } => {
                write!(out, "frame {number}, from interface {}, was lost under way", from.index() + 1)
            }
            What::Group { head, size, device, port, joins } => {
                let verb = if *joins { "joins at" } else { "leaves" };
                let devices = if *size == 1 { "1 device".into() } else { format!("{size} devices") };
                write!(out, "group {head} ({devices}) {verb} port {port} of {device}")
            }
            What::Fault { label, text } => write!(out, "{label}: {text}"),
            What::FrameDestroyed { number, from } => {
                write!(out, "frame {number}, from interface {}, circulated and was destroyed", from.index() + 1)
            }
        }
    }
}
