// SPDX-License-Identifier: Apache-2.0
//! The bus: a wire to the devices, the master library on top, and the axes as the control application sees them.

mod axis;
mod beginning;
mod bring_up;
mod cable;
mod error;
mod image;
mod mail;
mod online;
mod overheard;
mod pump;
mod scale;
mod socket;
mod wire;

pub(crate) use bring_up::IMAGE_MAX_BYTES;

pub use axis::{Axis, AxisFeedback, AxisSetpoint};
pub use error::BusError;
pub use image::Terminal;
pub use mail::Emergency;
pub use online::{Answer, Bus};
pub use overheard::Foreign;
pub use pump::Pump;
pub use socket::Socket;
pub use wire::{Wire, FRAME_MAX_BYTES};
