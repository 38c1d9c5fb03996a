// SPDX-License-Identifier: Apache-2.0
//! CANopen over EtherCAT: the object dictionary and the services that reach it through the mailbox.

pub mod abort;
pub mod emergency;
#[deny(clippy::indexing_slicing)]
pub mod information;
pub mod object;
#[deny(clippy::indexing_slicing)]
pub mod sdo;
pub mod standard;

/// CoE services, upper four bits of the CoE header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Service {
    Emergency = 1,
    SdoRequest = 2,
    SdoResponse = 3,
    SdoInformation = 8,
}

/// The CoE header: number 0 and the service.
pub fn header(service: Service) -> [u8; 2] {
    ((service as u16) << 12).to_le_bytes()
}
