// SPDX-License-Identifier: Apache-2.0
//! Records on the wire: `docs/reference/wire-format.md`, version 1, as the fieldbus programs speak it. C and Python
//! speak the same and are held against the same golden frames.
//!
//! [`Writer`] is what a program needs; [`read`] turns a stream back into messages, for tests and for tools.

mod error;
mod frame;
mod message;
mod reader;
mod writer;

pub use error::{RecordError, WireError};
pub use frame::{Frame, FrameType, BODY_MAX_BYTES};
pub use message::{
    Begin, Bench, Case, Clock, Conform, Done, Dtype, End, EndLane, Fault, Hello, Map, Message, Param, Proof, Samples,
    Status, Value, Values, WIRE_VERSION,
};
pub use reader::{read, Reading};
pub use writer::Writer;
