// SPDX-License-Identifier: Apache-2.0
//! Where frames come from and go back to.

pub mod claim;
#[deny(clippy::indexing_slicing)]
pub mod embedded;
pub mod facing;
pub mod in_process;
pub mod log;
pub mod outbox;
pub mod packet;
pub mod replay;
pub mod serve;

use crate::happening::Happening;
use std::fmt;
use std::time::Duration;

/// How an interface stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// It is up and has a link.
    Up,
    /// It is up, but has no link: no cable, or a peer that is down.
    NoCarrier,
    /// It was switched off.
    Down,
    /// It does not exist any more.
    Gone,
}

/// A line of the log while a segment is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An interface has changed.
    Interface {
        /// Its name.
        interface: String,
        /// How it stands now.
        state: LinkState,
        /// Since the segment began to serve.
        at: Duration,
    },
    /// A cable of the segment has changed, a frame was lost in one, or a fault is at work.
    Segment(Happening),
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, state, at) = match self {
            Self::Interface { interface, state, at } => (interface, state, at.as_secs_f64()),
            Self::Segment(happening) => return happening.fmt(out),
        };
        write!(out, "at {at:.3} s: {name} ")?;
        match state {
            LinkState::Up => write!(out, "has a link"),
            LinkState::NoCarrier => {
                write!(out, "has no link. Plug the cable in, or bring the other end of the pair up")
            }
            LinkState::Down => write!(out, "is down. Frames pass again after `ip link set {name} up`"),
            LinkState::Gone => write!(out, "was removed"),
        }
    }
}
