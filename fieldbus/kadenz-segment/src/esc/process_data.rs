// SPDX-License-Identifier: Apache-2.0
//! A logical datagram at one controller: every route it crosses, first all writes, then all reads.

use super::{fmmu, Arrival, Esc};

impl Esc {
    /// Carries process data between a frame's logical address space and memory. Gives (read, written).
    #[inline]
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
        if write {
            // By number: a write may reach the registers of the FMMUs themselves.
            let mut index = 0;
            while let Some(route) = self.writes.get(index) {
                index += 1;
                has_written |= match route.whole(start, data) {
                    Some((manager, part)) => self.write_whole(manager, part, arrival.world_ns),
                    None => {
                        let route = *route;
                        fmmu::write(self, &route, start, data, arrival)
                    }
                };
            }
        }
        if read {
            let mut index = 0;
            while let Some(route) = self.reads.get(index) {
                index += 1;
                has_read |= match route.whole(start, data) {
                    Some((manager, part)) => self.read_whole(manager, part),
                    None => {
                        let route = *route;
                        fmmu::read(self, &route, start, data, arrival)
                    }
                };
            }
        }
        (has_read, has_written)
    }

    /// The master reads all inputs of a sync manager.
    #[inline]
    fn read_whole(&mut self, index: usize, data: &mut [u8]) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(source) = self.memory.get(manager.read_all()).filter(|source| source.len() == data.len()) else {
            return false;
        };
        data.copy_from_slice(source);
        self.events.read |= 1 << index;
        true
    }

    /// The master writes all outputs of a sync manager.
    #[inline]
    fn write_whole(&mut self, index: usize, data: &[u8], world_ns: u64) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(target) = self.memory.get_mut(manager.write_all()).filter(|target| target.len() == data.len()) else {
            return false;
        };
        target.copy_from_slice(data);
        manager.has_written_all();
        self.events.written |= 1 << index;
        if manager.triggers_watchdog() {
            self.watchdog.trigger(world_ns);
        }
        true
    }
}
