// SPDX-License-Identifier: Apache-2.0
//! Fieldbus memory management units: logical bits to physical bits.

use super::sync_manager::SyncManager;
use super::{Arrival, Esc};

/// Longest bit-wise mapping: byte-aligned ones have no limit.
const LONGEST_BITWISE: usize = 256;

/// One active FMMU: which logical bytes lie where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// First logical byte.
    pub logical: u32,
    /// Bytes touched in the logical address space.
    pub length: u32,
    first_bit: u8,
    last_bit: u8,
    physical: u16,
    physical_bit: u8,
    /// Whole bytes to whole bytes.
    aligned: bool,
    /// The master reads through it.
    pub read: bool,
    /// The master writes through it.
    pub write: bool,
    /// The sync manager that guards all of it: the usual case needs no search.
    manager: Option<usize>,
    /// Whole bytes, exactly those of that sync manager, three buffers of it, and in its direction.
    whole: Option<usize>,
}

/// The part of a route that a datagram covers.
struct Overlap {
    /// First byte in the datagram, and bytes.
    at: usize,
    length: usize,
    /// Bytes of the route before the datagram's first.
    skipped: usize,
}

/// How much of a route a datagram covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Covers {
    /// They have nothing to do with each other.
    Nothing,
    /// All of it, and it is all bytes of a sync manager: the usual case.
    Whole {
        /// Number of the sync manager.
        manager: usize,
        /// First byte in the datagram.
        at: usize,
        /// Bytes of the sync manager.
        length: usize,
    },
    /// A part of a sync manager, or more than one.
    Partly,
}

impl Route {
    /// Decodes the sixteen bytes at 0x0600 + 16n; `None` while inactive or empty.
    pub(super) fn decode(raw: &[u8; 16]) -> Option<Self> {
        let route = Self {
            logical: u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]),
            length: u32::from(u16::from_le_bytes([raw[4], raw[5]])),
            first_bit: raw[6] & 7,
            last_bit: raw[7] & 7,
            physical: u16::from_le_bytes([raw[8], raw[9]]),
            physical_bit: raw[10] & 7,
            read: raw[11] & 1 != 0,
            write: raw[11] & 2 != 0,
            aligned: raw[6] & 7 == 0 && raw[7] & 7 == 7 && raw[10] & 7 == 0,
            manager: None,
            whole: None,
        };
        let single = route.length == 1 && route.first_bit > route.last_bit;
        (raw[12] & 1 != 0 && route.length > 0 && !single).then_some(route)
    }

    pub(super) fn find_manager(&mut self, managers: &[SyncManager]) {
        let (start, end) = (usize::from(self.physical), usize::from(self.physical) + self.length as usize);
        self.manager = managers.iter().position(|manager| manager.covers(start) && end <= manager.end());
        let is_whole = |manager: &SyncManager| {
            let carries = !manager.is_mailbox() && self.write == manager.master_writes() && self.read != self.write;
            carries && self.aligned && manager.start() == start && manager.end() == end
        };
        self.whole = self.manager.filter(|index| managers.get(*index).is_some_and(is_whole));
    }

    /// What a datagram covers of it.
    pub(super) fn covers(&self, start: u32, length: usize) -> Covers {
        match (self.overlap(start, length), self.whole) {
            (None, _) => Covers::Nothing,
            (Some(Overlap { at, length, skipped: 0 }), Some(manager)) if length == self.length as usize => {
                Covers::Whole { manager, at, length }
            }
            _ => Covers::Partly,
        }
    }

    #[inline]
    fn overlap(&self, start: u32, length: usize) -> Option<Overlap> {
        let (route, frame) = (u64::from(self.logical), u64::from(start));
        let first = route.max(frame);
        let end = (route + u64::from(self.length)).min(frame + length as u64);
        (first < end).then(|| Overlap {
            at: (first - frame) as usize,
            length: (end - first) as usize,
            skipped: (first - route) as usize,
        })
    }

    /// Bits of the overlap, counted from the route's first bit: (first, behind the last).
    fn bits(&self, overlap: &Overlap) -> (usize, usize) {
        let total = 8 * (self.length as usize - 1) + usize::from(self.last_bit) + 1;
        let first = (8 * overlap.skipped).max(usize::from(self.first_bit));
        (
            first - usize::from(self.first_bit),
            total.min(8 * (overlap.skipped + overlap.length)) - usize::from(self.first_bit),
        )
    }
}

fn bit(bytes: &[u8], index: usize) -> bool {
    bytes.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 != 0)
}

fn set_bit(bytes: &mut [u8], index: usize, value: bool) {
    if let Some(byte) = bytes.get_mut(index / 8) {
        *byte = *byte & !(1 << (index % 8)) | u8::from(value) << (index % 8);
    }
}

/// Memory to frame. True if anything was read.
#[inline]
pub(super) fn read(esc: &mut Esc, route: &Route, start: u32, data: &mut [u8], arrival: &Arrival<'_>) -> bool {
    let Some(overlap) = route.overlap(start, data.len()) else { return false };
    let Some(part) = data.get_mut(overlap.at..overlap.at + overlap.length) else { return false };
    if route.aligned {
        return match route.manager {
            Some(manager) => esc.read_managed::<false>(manager, usize::from(route.physical) + overlap.skipped, part),
            None => esc.read::<false>(route.physical.wrapping_add(overlap.skipped as u16), part, arrival),
        };
    }
    let (first, end) = route.bits(&overlap);
    let physical_first = first + usize::from(route.physical_bit);
    let base = physical_first / 8;
    let size = (end + usize::from(route.physical_bit)).div_ceil(8) - base;
    let mut scratch = [0_u8; LONGEST_BITWISE];
    let Some(scratch) = scratch.get_mut(..size) else { return false };
    if !esc.read::<false>(route.physical.wrapping_add(base as u16), scratch, arrival) {
        return false;
    }
    let to = usize::from(route.first_bit) + first - 8 * overlap.skipped;
    for index in 0..end - first {
        set_bit(part, to + index, bit(scratch, physical_first % 8 + index));
    }
    true
}

/// Frame to memory. True if anything was written.
#[inline]
pub(super) fn write(esc: &mut Esc, route: &Route, start: u32, data: &[u8], arrival: &Arrival<'_>) -> bool {
    let Some(overlap) = route.overlap(start, data.len()) else { return false };
    let Some(part) = data.get(overlap.at..overlap.at + overlap.length) else { return false };
    if route.aligned {
        let whole = (0xFF, 0xFF);
        return match route.manager {
            Some(manager) => {
                esc.write_managed(manager, usize::from(route.physical) + overlap.skipped, part, whole, arrival)
            }
            None => esc.write(route.physical.wrapping_add(overlap.skipped as u16), part, arrival),
        };
    }
    let (first, end) = route.bits(&overlap);
    let physical_first = first + usize::from(route.physical_bit);
    let physical_last = end - 1 + usize::from(route.physical_bit);
    let base = physical_first / 8;
    let mut scratch = [0_u8; LONGEST_BITWISE];
    let Some(scratch) = scratch.get_mut(..physical_last / 8 + 1 - base) else { return false };
    let from = usize::from(route.first_bit) + first - 8 * overlap.skipped;
    for index in 0..end - first {
        set_bit(scratch, physical_first % 8 + index, bit(part, from + index));
    }
    let (first_mask, last_mask) = (0xFF << (physical_first % 8), 0xFF >> (7 - physical_last % 8));
    esc.write_masked(route.physical.wrapping_add(base as u16), scratch, first_mask, last_mask, arrival)
}
