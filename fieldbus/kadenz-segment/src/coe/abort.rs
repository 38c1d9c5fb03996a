// SPDX-License-Identifier: Apache-2.0
//! SDO abort codes (ETG.1000.6 table 40).

use super::{header, Service};
use thiserror::Error;

/// Why a service was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[repr(u32)]
pub enum Abort {
    /// A segment came twice or one is missing.
    #[error("toggle bit not changed")]
    Toggle = 0x0503_0000,
    /// The command byte means nothing, or not now.
    #[error("command specifier invalid or unknown")]
    Command = 0x0504_0001,
    /// More than the device holds.
    #[error("out of memory")]
    Memory = 0x0504_0005,
    /// Complete access where there is none, and the like.
    #[error("unsupported access to an object")]
    Unsupported = 0x0601_0000,
    /// Reading what can only be written.
    #[error("object is write-only")]
    WriteOnly = 0x0601_0001,
    /// Writing what can only be read.
    #[error("object is read-only")]
    ReadOnly = 0x0601_0002,
    /// Sub-index 0 must be 0 before the list is changed.
    #[error("sub-index cannot be written while sub-index 0 is not 0")]
    CountNotZero = 0x0601_0003,
    /// The dictionary has no object with this index.
    #[error("object does not exist")]
    NoObject = 0x0602_0000,
    /// The object cannot be mapped into process data.
    #[error("object cannot be mapped to a PDO")]
    NotMappable = 0x0604_0041,
    /// The mapping is longer than the process data may be.
    #[error("mapped objects exceed the PDO length")]
    MappingTooLong = 0x0604_0042,
    /// Length differs from the object's.
    #[error("length does not match")]
    Length = 0x0607_0010,
    /// More bytes than the object has.
    #[error("length too high")]
    TooLong = 0x0607_0012,
    /// Fewer bytes than the object has.
    #[error("length too low")]
    TooShort = 0x0607_0013,
    /// The object has no entry with this sub-index.
    #[error("sub-index does not exist")]
    NoSubIndex = 0x0609_0011,
    /// Outside the object's range.
    #[error("value range exceeded")]
    Range = 0x0609_0030,
    /// Not in this state of the device.
    #[error("cannot be transferred in the present device state")]
    State = 0x0800_0022,
}

/// An SDO abort with any code: CoE header and SDO.
pub fn message(index: u16, sub: u8, code: u32) -> Vec<u8> {
    let [low, high] = index.to_le_bytes();
    let mut bytes = header(Service::SdoRequest).to_vec();
    bytes.extend([0x80, low, high, sub]);
    bytes.extend(code.to_le_bytes());
    bytes
}
