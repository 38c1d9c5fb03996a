// SPDX-License-Identifier: Apache-2.0
//! Rigid-body dynamics of a serial arm whose joints all turn: KDL 1.5 behind an interface that allocates nothing
//! after construction, so a cyclic task may call it.
//!
//! Angles in rad, torques in N·m, lengths in m, masses in kg. Joint order is from the base outwards.

mod arm;
mod bridge;
pub mod indy7;
mod linear;
mod model;

pub use arm::{Arm, DynamicsError};
pub use model::{Link, STANDARD_GRAVITY_M_S2};
