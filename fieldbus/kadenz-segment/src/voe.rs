// SPDX-License-Identifier: Apache-2.0
//! A vendor's own protocol in the mailbox (VoE, ETG.1000.6): messages with the vendor's number and a type of the vendor's. The
//! ring file says which types echo, and which are answered by a record.

use serde::Deserialize;

/// Bytes of vendor and type.
pub const HEADER: usize = 6;

/// Bytes in hexadecimal, "01 0A FF".
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Octets(pub Vec<u8>);

/// Bytes that a record may have: no mailbox is longer.
const MOST_OCTETS: usize = 4096;

impl TryFrom<String> for Octets {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let octet = |part: &str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten();
        let octets: Option<Vec<u8>> = text.split_whitespace().take(MOST_OCTETS + 1).map(octet).collect();
        match octets {
            Some(octets) if octets.len() <= MOST_OCTETS => Ok(Self(octets)),
            Some(_) => Err(format!("more than {MOST_OCTETS} bytes")),
            None => Err("no bytes in hexadecimal: write them like \"01 0A FF\"".into()),
        }
    }
}

/// A message that has an answer of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Vendor's type of request and answer.
    #[serde(rename = "type")]
    pub kind: u16,
    /// First bytes of the requests that it answers; absent: all.
    #[serde(default)]
    pub request: Octets,
    /// Bytes of the answer.
    pub answer: Octets,
}

/// Settings of the protocol: key `vendor` of the ring file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VendorSettings {
    /// Number of the vendor in the header; absent: that of the device's identity.
    pub id: Option<u32>,
    /// Types whose messages come back as they went.
    pub echo: Vec<u16>,
    /// Types with answers; the first that fits counts.
    pub records: Vec<Record>,
}

/// Why a message is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than its header.
    TooShort,
    /// Another vendor's, or of a type without an answer.
    Unknown,
    /// The answer is longer than the mailbox.
    TooLong,
}

/// Answers one message with at most `room` bytes; `vendor` is that of the device's identity.
pub fn answer(settings: &VendorSettings, vendor: u32, request: &[u8], room: usize) -> Result<Vec<u8>, Fault> {
    let ([id @ .., low, high], data) = request.split_first_chunk::<HEADER>().ok_or(Fault::TooShort)?;
    let kind = u16::from_le_bytes([*low, *high]);
    if *id != settings.id.unwrap_or(vendor).to_le_bytes() {
        return Err(Fault::Unknown);
    }
    let record = settings.records.iter().find(|record| record.kind == kind && data.starts_with(&record.request.0));
    let answer = match record {
        Some(record) => record.answer.0.as_slice(),
        None if settings.echo.contains(&kind) => data,
        None => return Err(Fault::Unknown),
    };
    let mut bytes = id.to_vec();
    bytes.extend([*low, *high]);
    bytes.extend(answer);
    if bytes.len() > room {
        return Err(Fault::TooLong);
    }
    Ok(bytes)
}
