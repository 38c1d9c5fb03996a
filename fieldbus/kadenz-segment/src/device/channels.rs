// SPDX-License-Identifier: Apache-2.0
//! Channels of a terminal: the values of its process data that a wire or a signal reaches, in the order of the mapping,
//! whatever objects they are in.

use crate::coe::object::{Dictionary, Handle};
use crate::description::{Description, PdoEntry, Purpose};
use std::fmt;

/// Which object a channel is, or which bit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    index: u16,
    sub: u8,
    bit: Option<u8>,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#06x}:{:02x}", self.index, self.sub)?;
        self.bit.map_or(Ok(()), |bit| write!(out, ".{bit}"))
    }
}

/// Digital channels: the entries of one bit; without any, the bits of unsigned numbers.
pub fn digital(description: &Description, purpose: Purpose) -> Vec<Place> {
    let entries = description.entries(purpose);
    let bits = places(entries.iter().filter(|entry| entry.bits == 1), |_| vec![None]);
    if !bits.is_empty() {
        return bits;
    }
    let numbers = entries.iter().filter(|entry| entry.data_type.is_whole() && !entry.data_type.is_signed());
    places(numbers, |entry| (0..entry.bits as u8).map(Some).collect())
}

/// Analogue channels: the signed numbers of 16 bits and more; without any, the unsigned ones.
pub fn analog(description: &Description, purpose: Purpose) -> Vec<Place> {
    let entries = description.entries(purpose);
    let wide = |signed| {
        let fits = move |entry: &&&PdoEntry| {
            entry.bits >= 16 && entry.data_type.is_whole() && entry.data_type.is_signed() == signed
        };
        places(entries.iter().filter(fits), |_| vec![None])
    };
    let signed = wide(true);
    if signed.is_empty() {
        wide(false)
    } else {
        signed
    }
}

fn places<'a>(
    entries: impl Iterator<Item = &'a &'a PdoEntry>,
    bits: impl Fn(&PdoEntry) -> Vec<Option<u8>>,
) -> Vec<Place> {
    let mut places = Vec::new();
    for entry in entries {
        for bit in bits(entry) {
            let place = Place { index: entry.index, sub: entry.sub, bit };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

/// A channel at its place in the dictionary.
#[derive(Debug, Clone, Copy)]
pub struct Channel {
    handle: Handle,
    bit: Option<u8>,
}

impl Channel {
    /// All channels at these places; every mapped object is in the dictionary.
    pub fn find(places: &[Place], dictionary: &Dictionary) -> Vec<Self> {
        let channel = |place: &Place| Some(Self { handle: dictionary.handle(place.index, place.sub)?, bit: place.bit });
        places.iter().filter_map(channel).collect()
    }

    /// The value of the channel.
    #[inline]
    pub fn get(self, dictionary: &Dictionary) -> i64 {
        let value = dictionary.get(self.handle);
        self.bit.map_or(value, |bit| value >> bit & 1)
    }

    /// Sets its value, and no other bit.
    #[inline]
    pub fn set(self, dictionary: &mut Dictionary, value: i64) {
        let whole = match self.bit {
            None => value,
            Some(bit) => dictionary.get(self.handle) & !(1 << bit) | (value & 1) << bit,
        };
        dictionary.set(self.handle, whole);
    }
}
