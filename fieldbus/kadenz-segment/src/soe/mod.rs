// SPDX-License-Identifier: Apache-2.0
//! Servo drive profile over EtherCAT (SoE, ETG.1000.6 and IEC 61800-7-204): a master reads and writes a drive by
//! identification numbers (IDN).

pub mod idn;
pub mod server;

use serde::Deserialize;

/// Bytes of the header: operation and drive, elements, IDN or fragments left.
pub const HEADER: usize = 4;

/// What a message is; its low three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Operation {
    ReadRequest = 1,
    ReadResponse = 2,
    WriteRequest = 3,
    WriteResponse = 4,
    /// A procedure command has ended: from the device, by itself.
    Notification = 5,
}

/// Bit of the first byte: a fragment, and more come.
pub const INCOMPLETE: u8 = 0x08;
/// Bit of the first byte: the data are an error code.
pub const ERROR: u8 = 0x10;

/// Elements of an IDN, a bit each.
pub mod element {
    /// State of the data, or of a procedure command.
    pub const DATA_STATE: u8 = 0x01;
    /// Name, as text.
    pub const NAME: u8 = 0x02;
    /// Attribute: length, type and write protection.
    pub const ATTRIBUTE: u8 = 0x04;
    /// Unit, as text.
    pub const UNIT: u8 = 0x08;
    /// Least value.
    pub const MIN: u8 = 0x10;
    /// Greatest value.
    pub const MAX: u8 = 0x20;
    /// The operation data.
    pub const VALUE: u8 = 0x40;
    /// Operation data as they leave the factory.
    pub const DEFAULT: u8 = 0x80;
}

/// Error codes of an answer (service channel errors of IEC 61800-7-204).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Refusal {
    NoIdn = 0x1001,
    InvalidElement = 0x1009,
    NameReadOnly = 0x2004,
    AttributeReadOnly = 0x3004,
    NoUnit = 0x4001,
    UnitReadOnly = 0x4004,
    NoMinimum = 0x5001,
    MinimumReadOnly = 0x5004,
    NoMaximum = 0x6001,
    MaximumReadOnly = 0x6004,
    TooShort = 0x7002,
    TooLong = 0x7003,
    ReadOnly = 0x7004,
    ProtectedNow = 0x7005,
    BelowMinimum = 0x7006,
    AboveMaximum = 0x7007,
    Invalid = 0x7008,
    ProcedureActive = 0x7010,
    NotInterruptible = 0x7011,
    NotExecutable = 0x7012,
}

/// Settings of the protocol: key `soe` of the ring file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SoeSettings {
    /// Time that a procedure command takes, ms.
    pub procedure_ms: u32,
}

impl Default for SoeSettings {
    fn default() -> Self {
        Self { procedure_ms: 10 }
    }
}
