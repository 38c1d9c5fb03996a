// SPDX-License-Identifier: Apache-2.0
//! EtherCAT network information files (ETG.2100): one network, and the script by which a master brings it to OP. A file is
//! made from a ring, written, read, compared with a ring, and replayed.

pub mod compare;
mod dialogue;
mod network;
mod plan;
mod read;
pub mod replay;
mod write;

pub use network::*;
pub use plan::plan;
pub use read::{parse, read};
pub use write::write;
