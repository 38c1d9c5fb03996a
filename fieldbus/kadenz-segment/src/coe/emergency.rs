// SPDX-License-Identifier: Apache-2.0
//! Emergency messages: errors that a device reports unasked.

use super::{header, Service};

/// An emergency (CiA 301 section 7.2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emergency {
    /// Error code; 0x0000 says that the error has gone.
    pub code: u16,
    /// Error register, as object 0x1001.
    pub register: u8,
    /// Five bytes of the manufacturer's.
    pub data: [u8; 5],
}

impl Emergency {
    /// The CoE part of the mailbox.
    pub fn bytes(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&header(Service::Emergency));
        bytes[2..4].copy_from_slice(&self.code.to_le_bytes());
        bytes[4] = self.register;
        bytes[5..].copy_from_slice(&self.data);
        bytes
    }
}
