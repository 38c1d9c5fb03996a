// SPDX-License-Identifier: Apache-2.0
//! Ethernet over EtherCAT (EoE, ETG.1000.6): Ethernet frames in fragments through the mailbox, to and from the device's own
//! network stack, which answers ARP, ping and HTTP.

#[deny(clippy::indexing_slicing)]
pub mod fragments;
#[deny(clippy::indexing_slicing)]
mod http;
#[deny(clippy::indexing_slicing)]
pub mod page;
#[deny(clippy::indexing_slicing)]
pub mod parameters;
#[deny(clippy::indexing_slicing)]
pub mod server;
#[deny(clippy::indexing_slicing)]
pub mod settings;
#[deny(clippy::indexing_slicing)]
mod stack;

/// Bytes of the two header words.
pub const HEADER: usize = 4;
/// Longest Ethernet frame, bytes: with a VLAN tag, without its checksum.
pub const LONGEST_FRAME: usize = 1518;
/// Shortest Ethernet frame, bytes: its two addresses and its type.
pub const SHORTEST_FRAME: usize = 14;
/// Offsets and sizes count units of this many bytes.
pub const UNIT: usize = 32;

/// What a message is: the low four bits of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Kind {
    Fragment = 0,
    TimeStamp = 1,
    SetIp = 2,
    SetIpResponse = 3,
    SetFilter = 4,
    SetFilterResponse = 5,
    GetIp = 6,
    GetIpResponse = 7,
    GetFilter = 8,
    GetFilterResponse = 9,
}

impl Kind {
    /// From the low four bits of the first byte; `None` for numbers without a meaning.
    pub fn from_byte(byte: u8) -> Option<Self> {
        use Kind::*;
        let all = [
            Fragment,
            TimeStamp,
            SetIp,
            SetIpResponse,
            SetFilter,
            SetFilterResponse,
            GetIp,
            GetIpResponse,
            GetFilter,
            GetFilterResponse,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte & 0x0F)
    }
}

/// The result in the answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Outcome {
    Success = 0x0000,
    Unspecified = 0x0001,
    NoIpSupport = 0x0201,
    NoFilterSupport = 0x0401,
}

/// The first header word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Low four bits, with or without a meaning.
    pub kind: u8,
    /// Port of the device: 0 is any.
    pub port: u8,
    /// The last fragment of a frame.
    pub is_last: bool,
    /// The last four bytes of the frame are a time stamp.
    pub has_stamp: bool,
    /// The sender wants to know when the frame went on.
    pub wants_stamp: bool,
    /// The second word: number, offset and frame of a fragment, or the result of an answer.
    pub second: u16,
}

impl Header {
    /// A message of one piece.
    pub fn whole(kind: Kind, port: u8, second: u16) -> Self {
        Self { kind: kind as u8, port, is_last: true, has_stamp: false, wants_stamp: false, second }
    }

    /// Header and the bytes behind it; `None` for a message shorter than its header.
    pub fn parse(body: &[u8]) -> Option<(Self, &[u8])> {
        let ([low, high, second @ ..], rest) = body.split_first_chunk::<HEADER>()?;
        let header = Self {
            kind: low & 0x0F,
            port: low >> 4,
            is_last: high & 1 != 0,
            has_stamp: high & 2 != 0,
            wants_stamp: high & 4 != 0,
            second: u16::from_le_bytes(*second),
        };
        Some((header, rest))
    }

    /// A message with this header.
    pub fn message(&self, rest: &[u8]) -> Vec<u8> {
        let flags = u8::from(self.is_last) | u8::from(self.has_stamp) << 1 | u8::from(self.wants_stamp) << 2;
        let mut bytes = vec![self.kind & 0x0F | self.port << 4, flags];
        bytes.extend(self.second.to_le_bytes());
        bytes.extend(rest);
        bytes
    }
}
