// SPDX-License-Identifier: Apache-2.0
//! What a device maps into the process data, read from the device itself (objects 0x1C12, 0x1C13 and below), so that a
//! layout need not count bytes.

use ethercrab::error::Error;
use ethercrab::SubDeviceRef;

/// One mapped object of the process data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub index: u16,
    pub bits: u8,
    pub at_bit: usize,
}

/// A terminal whose process data are used as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Position in the ring, from 0.
    pub device: usize,
}

/// Entries in the order they are sent. `assignment` is 0x1C12 (to the device) or 0x1C13 (from it).
pub(super) async fn mapping<S>(device: &SubDeviceRef<'_, S>, assignment: u16) -> Result<Vec<Entry>, Error>
where
    S: std::ops::Deref<Target = ethercrab::SubDevice>,
{
    let mut entries = Vec::new();
    let mut at_bit = 0;
    let objects: u8 = device.sdo_read(assignment, 0).await?;
    for object in 1..=objects {
        let object: u16 = device.sdo_read(assignment, object).await?;
        let count: u8 = device.sdo_read(object, 0).await?;
        for sub in 1..=count {
            // Index in the upper half, then sub-index, then bits (ETG.1000.6, 5.6.7.4).
            let entry: u32 = device.sdo_read(object, sub).await?;
            let bits = (entry & 0xFF) as u8;
            entries.push(Entry { index: (entry >> 16) as u16, bits, at_bit });
            at_bit += usize::from(bits);
        }
    }
    Ok(entries)
}

/// Byte where an object of this width lies, if it is mapped on a byte boundary.
pub(super) fn byte_of(entries: &[Entry], index: u16, bits: u8) -> Option<usize> {
    let entry = entries.iter().find(|entry| entry.index == index && entry.bits == bits)?;
    (entry.at_bit % 8 == 0).then_some(entry.at_bit / 8)
}
