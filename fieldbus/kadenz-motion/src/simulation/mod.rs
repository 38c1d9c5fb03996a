// SPDX-License-Identifier: Apache-2.0
//! The simulated ring: Indy7's drives and two terminals, in this process or behind a pair of virtual interfaces.

mod child;
mod in_process;
mod ring;
mod veth;

pub use child::{powered, simulate, RingOptions, RingProcess};
pub use in_process::InProcess;
pub use ring::{indy7_ring, indy7_segment, INDY7_RING};
