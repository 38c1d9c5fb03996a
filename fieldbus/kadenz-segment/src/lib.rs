// SPDX-License-Identifier: Apache-2.0
//! A simulated EtherCAT segment that any master accepts: a ring of devices with faithful EtherCAT slave controllers,
//! mailboxes with CoE, FoE, EoE, AoE, SoE and VoE, distributed clocks, drives that move a [`Plant`], and faults by
//! script.
//!
//! # In your tests
//! A [`Segment`] is a function of frames and times: no socket, no thread, no clock of its own.
//!
//! ```
//! use kadenz_segment::{Segment, State, Verdict};
//!
//! let mut segment = Segment::from_text("[[device]]\nname = \"j0\"\nkind = \"drive\"\n")?;
//! segment.add_fault("lose-frame@frame=2")?;
//! // A broadcast read of the type register, as a master sends it to count devices.
//! let head = [[0xFF; 6].as_slice(), &[0x10; 6], &[0x88, 0xA4, 0x0D, 0x10]].concat();
//! let mut frame = [head.as_slice(), &[7, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
//! assert_eq!(segment.process(&mut frame, 0), Verdict::Returned);
//! segment.settle(0);
//! assert_eq!(frame[frame.len() - 2], 1, "the working counter: one device has answered");
//! assert_eq!(segment.process(&mut frame, 1_000), Verdict::Lost);
//! assert_eq!(segment.state_of("j0"), Some(State::Init));
//! # Ok::<(), kadenz_segment::SegmentError>(())
//! ```
//!
//! [`InProcess`] keeps the time and the frames that are under way, for a master in the same process. The examples have
//! ethercrab in process (`in_process.rs`), and masters in C (`embed.c`) and Python (`embed.py`) that send their frames
//! through a pipe to `kadenz-segment embed`. Ring files and faults:
//! `docs/reference/segment.md` of the repository, and `kadenz-segment describe --format`.
//!
//! # What is stable
//! The names at the root of this crate. Modules are the parts of which `kadenz-segment` and `kadenz-motion` are built:
//! they are public for these, hidden here, and change without notice.
//!
//! # Inside
//! A frame's way: a link receives it, [`Segment::process`] passes it through every device in place, the link sends it
//! back, and [`Segment::settle`] lets the devices' applications work.
//!
//! No input from the wire may end the process: `unwrap`, `expect` and `panic!` are denied outside tests, and slicing in the
//! modules that take bytes apart; the fuzzer in `tests/fuzz.rs` covers the rest.
#![warn(missing_docs)]

pub use al::State;
pub use device::Device;
pub use error::SegmentError;
pub use fault::Fault;
pub use happening::{Happening, What};
pub use link::in_process::InProcess;
pub use plant::Plant;
pub use ring::Ring;
pub use segment::{Counters, Passed, Segment, Verdict};
pub use settings::RingFile;
pub use topology::End;

#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod al;
#[doc(hidden)]
pub mod aoe;
#[doc(hidden)]
pub mod coe;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod command;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod control;
#[doc(hidden)]
pub mod description;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod drive;
#[doc(hidden)]
pub mod eni;
#[doc(hidden)]
pub mod eoe;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod esc;
#[doc(hidden)]
pub mod esi;
#[doc(hidden)]
pub mod examine;
#[doc(hidden)]
pub mod fault;
#[doc(hidden)]
pub mod foe;
#[doc(hidden)]
pub mod frame;
#[doc(hidden)]
pub mod happening;
#[doc(hidden)]
pub mod lead;
#[doc(hidden)]
pub mod link;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod mailbox;
#[doc(hidden)]
pub mod markup;
#[doc(hidden)]
pub mod passage;
#[doc(hidden)]
pub mod pcap;
#[doc(hidden)]
pub mod plant;
mod process_image;
#[doc(hidden)]
pub mod random;
#[doc(hidden)]
pub mod ranges;
#[doc(hidden)]
pub mod register;
#[doc(hidden)]
pub mod ring;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod segment;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod sii;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod soe;
#[doc(hidden)]
pub mod topology;
#[doc(hidden)]
#[deny(clippy::indexing_slicing)]
pub mod voe;
#[doc(hidden)]
pub mod xml;
