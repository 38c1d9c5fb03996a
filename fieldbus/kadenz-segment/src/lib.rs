// SPDX-License-Identifier: Apache-2.0
//! A simulated EtherCAT segment that any master accepts: a ring of devices with faithful EtherCAT slave controllers,
//! mailboxes with CoE, FoE, EoE, AoE, SoE and VoE, distributed clocks, drives that move a [`plant::Plant`], and faults by script or by
//! [`control`].
//!
//! A frame's way: a [`link`] receives it, [`segment::Segment::process`] passes it through every device in place,
//! the link sends it back, and [`segment::Segment::settle`] lets the devices' applications work.
//!
//! No input from the wire may end the process: `unwrap`, `expect` and `panic!` are denied outside tests, and slicing in the
//! modules that take bytes apart; the fuzzer in `tests/fuzz.rs` covers the rest.

#[deny(clippy::indexing_slicing)]
pub mod al;
pub mod aoe;
pub mod coe;
#[deny(clippy::indexing_slicing)]
pub mod command;
#[deny(clippy::indexing_slicing)]
pub mod control;
pub mod description;
pub mod device;
pub mod drive;
pub mod eni;
pub mod eoe;
pub mod error;
pub mod esc;
pub mod esi;
pub mod fault;
pub mod foe;
pub mod frame;
pub mod happening;
pub mod lead;
pub mod link;
#[deny(clippy::indexing_slicing)]
pub mod mailbox;
pub mod passage;
pub mod pcap;
pub mod plant;
mod process_image;
pub mod random;
pub mod ranges;
pub mod register;
pub mod ring;
#[deny(clippy::indexing_slicing)]
pub mod segment;
pub mod settings;
pub mod sii;
#[deny(clippy::indexing_slicing)]
pub mod soe;
pub mod topology;
#[deny(clippy::indexing_slicing)]
pub mod voe;
pub mod xml;
