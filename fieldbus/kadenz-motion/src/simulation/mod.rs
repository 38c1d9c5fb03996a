// SPDX-License-Identifier: Apache-2.0
//! The simulated ring, in this process or behind a pair of virtual interfaces.

mod child;
mod in_process;
mod second;
mod share;
mod veth;

pub use child::{powered, simulate, RingOptions, RingProcess};
pub use in_process::InProcess;
pub use second::cable_of;
pub use share::{Overload, RingShare};
