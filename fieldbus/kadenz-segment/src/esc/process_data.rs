// SPDX-License-Identifier: Apache-2.0
//! A logical datagram at one controller: through every route it crosses, or, where it holds whole sync managers, part by
//! part as worked out in advance.

use super::fmmu::{self, Covers, Route};
use super::{Arrival, Esc};

/// The part of a datagram that is all bytes of a sync manager with three buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    manager: usize,
    writes: bool,
    at: usize,
    length: usize,
    /// Its contribution to the working counter: each controller counts once a direction.
    pub(crate) counts: u16,
}

impl Part {
    /// The bytes of the part in the datagram's data; none where those end before.
    #[inline]
    pub(crate) fn of<'a>(&self, data: &'a mut [u8]) -> Option<&'a mut [u8]> {
        data.get_mut(self.at..)?.get_mut(..self.length)
    }
}

impl Esc {
    /// Carries process data between a frame's logical address space and memory. Gives (read, written).
    pub fn logical(
        &mut self,
        start: u32,
        data: &mut [u8],
        read: bool,
        write: bool,
        arrival: &Arrival<'_>,
    ) -> (bool, bool) {
        let (mut has_read, mut has_written) = (false, false);
        // On the wire each byte is taken before it is replaced: first all writes, then all reads.
        // By number: a write may reach the registers of the FMMUs themselves.
        let mut index = 0;
        while let Some(route) = self.writes.get(index).copied().filter(|_| write) {
            has_written |= fmmu::write(self, &route, start, data, arrival);
            index += 1;
        }
        index = 0;
        while let Some(route) = self.reads.get(index).copied().filter(|_| read) {
            has_read |= fmmu::read(self, &route, start, data, arrival);
            index += 1;
        }
        (has_read, has_written)
    }

    /// Changes whenever [`Esc::parts`] may.
    #[inline]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The parts of a logical datagram here, in the order in which they are exchanged. False if a piece belongs to no
    /// part: then only [`Esc::logical`] does it right.
    pub fn parts(&self, start: u32, length: usize, read: bool, write: bool, mut take: impl FnMut(Part)) -> bool {
        let mut direction = |routes: &[Route], writes: bool, mut counts: u16| {
            routes.iter().all(|route| match route.covers(start, length) {
                Covers::Nothing => true,
                Covers::Partly => false,
                Covers::Whole { manager, at, length } => {
                    take(Part { manager, writes, at, length, counts: std::mem::take(&mut counts) });
                    true
                }
            })
        };
        (!write || direction(&self.writes, true, if read { 2 } else { 1 }))
            && (!read || direction(&self.reads, false, 1))
    }

    /// The master writes all outputs of a sync manager, or reads all its inputs.
    #[inline]
    pub fn exchange_part(&mut self, part: &Part, data: &mut [u8], world_ns: u64) -> bool {
        let Some(manager) = self.managers.get_mut(part.manager) else { return false };
        let place = if part.writes { manager.write_all() } else { manager.read_all() };
        let Some(memory) = self.memory.get_mut(place).filter(|memory| memory.len() == data.len()) else { return false };
        if part.writes {
            memory.copy_from_slice(data);
            manager.has_written_all();
            self.events.written |= 1 << part.manager;
            if manager.triggers_watchdog() {
                self.watchdog.trigger(world_ns);
            }
        } else {
            data.copy_from_slice(memory);
            self.events.read |= 1 << part.manager;
        }
        true
    }
}
