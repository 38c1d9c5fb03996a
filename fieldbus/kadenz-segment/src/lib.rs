// SPDX-License-Identifier: Apache-2.0
//! A simulated EtherCAT segment that any master accepts: a ring of devices with faithful EtherCAT slave controllers,
//! mailbox CoE, distributed clocks, drives that move a [`plant::Plant`], and faults by script.
//!
//! A frame's way: a [`link`] receives it, [`segment::Segment::process`] passes it through every device in place,
//! the link sends it back, and [`segment::Segment::settle`] lets the devices' applications work.

pub mod al;
pub mod coe;
pub mod command;
pub mod description;
pub mod device;
pub mod drive;
pub mod error;
pub mod esc;
pub mod esi;
pub mod fault;
pub mod frame;
pub mod link;
pub mod mailbox;
pub mod pcap;
pub mod plant;
pub mod random;
pub mod register;
pub mod ring;
pub mod segment;
pub mod settings;
pub mod sii;
pub mod topology;
