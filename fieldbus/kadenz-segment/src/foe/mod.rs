// SPDX-License-Identifier: Apache-2.0
//! File access over EtherCAT (FoE, ETG.1000.6): a master reads and writes files of the device, for example its firmware.

#[deny(clippy::indexing_slicing)]
pub mod files;
#[deny(clippy::indexing_slicing)]
mod folder;
#[deny(clippy::indexing_slicing)]
pub mod server;

/// Bytes of the operation, a reserved byte, and the number behind them.
pub const HEADER: usize = 6;

/// The six messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Operation {
    Read = 1,
    Write = 2,
    Data = 3,
    Acknowledge = 4,
    Error = 5,
    Busy = 6,
}

impl Operation {
    /// From the first byte; `None` for numbers without a meaning.
    pub fn from_byte(byte: u8) -> Option<Self> {
        use Operation::*;
        [Read, Write, Data, Acknowledge, Error, Busy].into_iter().find(|operation| *operation as u8 == byte)
    }
}

/// Why a device refuses, as the error message's number (ETG.1000.6, FoE error codes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Refusal {
    NotFound = 0x8001,
    AccessDenied = 0x8002,
    DiskFull = 0x8003,
    Illegal = 0x8004,
    PacketNumber = 0x8005,
    Exists = 0x8006,
    BootstrapOnly = 0x8008,
    NotInBootstrap = 0x8009,
    Password = 0x800A,
    Program = 0x800B,
}

/// What an error message says beside its number; the rest of the numbers are for faults.
const TEXTS: [(u32, &str); 12] = [
    (0x8000, "not defined"),
    (Refusal::NotFound as u32, "file not found"),
    (Refusal::AccessDenied as u32, "access denied"),
    (Refusal::DiskFull as u32, "disk full"),
    (Refusal::Illegal as u32, "illegal operation or file name"),
    (Refusal::PacketNumber as u32, "packet number wrong"),
    (Refusal::Exists as u32, "file exists already"),
    (0x8007, "no user"),
    (Refusal::BootstrapOnly as u32, "in bootstrap only"),
    (Refusal::NotInBootstrap as u32, "not in bootstrap"),
    (Refusal::Password as u32, "password wrong"),
    (Refusal::Program as u32, "program error"),
];

/// A message: operation, its number (password, packet number, error code, done and entire), and what follows.
pub fn message(operation: Operation, number: u32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![operation as u8, 0];
    bytes.extend(number.to_le_bytes());
    bytes.extend(rest);
    bytes
}

/// The error message with this code and its text, no longer than `room` bytes behind the header.
pub fn error(code: u32, room: usize) -> Vec<u8> {
    let text = TEXTS.iter().find(|(known, _)| *known == code).map_or("", |(_, text)| text);
    message(Operation::Error, code, text.as_bytes().get(..room.min(text.len())).unwrap_or_default())
}
