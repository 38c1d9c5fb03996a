// SPDX-License-Identifier: Apache-2.0
//! Sync managers: consistent exchange between master and application, by one buffer (a mailbox) or by three.

use super::MEMORY_END;
use crate::register::MEMORY_START;
use std::ops::Range;

/// First byte that a sync manager may guard: the outputs of a digital I/O interface (0x0F00, ETG.1000.4) have no buffers.
pub const FIRST: usize = 0x0F00;
/// First byte behind these outputs.
const OUTPUTS_END: usize = 0x0F10;
/// Bytes of a digital I/O interface: sync managers of so few lie close together, and overlap with their buffers.
const DIGITAL: usize = 4;

/// Most bytes of a sync manager at `start`, if the next one begins at `next`.
pub fn room(start: usize, next: usize, control: u8) -> usize {
    let (end, buffers) = match start {
        FIRST..OUTPUTS_END => (OUTPUTS_END, 1),
        MEMORY_START..MEMORY_END if control & 0x03 == 2 => (MEMORY_END, 1),
        MEMORY_START..MEMORY_END => (MEMORY_END, 3),
        _ => return 0,
    };
    let beside = (next.min(end) - start) / buffers;
    beside.max(DIGITAL.min(end - start)).min((end - start) / buffers)
}

/// Mailbox, full (status bit 3).
const FULL: u8 = 0x08;

/// One sync manager, by its registers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncManager {
    start: usize,
    length: usize,
    control: u8,
    activate: u8,
    enabled: bool,
    /// Mailbox: written and not yet read.
    full: bool,
    /// The first byte has been accessed and the last not yet.
    open: bool,
    /// Three buffers: which one is the writer's, which holds the newest, which is the reader's.
    writer: u8,
    newest: u8,
    reader: u8,
    fresh: bool,
    interrupt: u8,
}

impl SyncManager {
    /// Takes the eight configuration bytes. True if the repeat bit toggled on a manager otherwise unchanged.
    pub(super) fn configure(&mut self, raw: [u8; 8]) -> bool {
        let start = usize::from(u16::from_le_bytes([raw[0], raw[1]]));
        let length = usize::from(u16::from_le_bytes([raw[2], raw[3]]));
        let (control, activate) = (raw[4], raw[6]);
        if (start, length, control, activate & 1) == (self.start, self.length, self.control, self.activate & 1) {
            let toggled = (activate ^ self.activate) & 0x02 != 0;
            self.activate = activate;
            return toggled;
        }
        let mut fresh = Self { start, length, control, activate, writer: 0, newest: 1, reader: 2, ..Self::default() };
        // Three buffers that leave the memory, or an unknown mode, disable the manager; the AL state machine names it.
        fresh.enabled = activate & 1 != 0
            && length > 0
            && matches!(control & 0x03, 0 | 2)
            && matches!(control & 0x0C, 0 | 4)
            && length <= room(start, MEMORY_END, control);
        *self = fresh;
        false
    }

    /// First address in the device's memory.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Length of the buffer, bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Address behind the last.
    pub fn end(&self) -> usize {
        self.start + self.length
    }

    /// Control byte: buffers in bits 0 and 1, direction in bits 2 and 3.
    pub fn control(&self) -> u8 {
        self.control
    }

    /// Configured so that it can work, and activated.
    #[inline]
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// One buffer with handshake, not three.
    pub fn is_mailbox(&self) -> bool {
        self.control & 0x03 == 2
    }

    /// The master writes, the application reads.
    #[inline]
    pub fn master_writes(&self) -> bool {
        self.control & 0x0C == 4
    }

    /// A complete write feeds the process-data watchdog.
    pub fn triggers_watchdog(&self) -> bool {
        self.control & 0x40 != 0
    }

    /// Does it guard this address?
    #[inline]
    pub fn covers(&self, address: usize) -> bool {
        self.enabled && address >= self.start && address < self.end()
    }

    /// Something waits for the master to read it.
    pub(super) fn has_news(&self) -> bool {
        self.enabled && !self.master_writes() && if self.is_mailbox() { self.full } else { self.fresh }
    }

    /// The status byte at +5.
    pub fn status(&self) -> u8 {
        let buffer = if self.enabled && !self.is_mailbox() { self.newest << 4 } else { 0 };
        self.interrupt | if self.full { FULL } else { 0 } | buffer
    }

    /// The second and third buffer lie behind the memory that a master sees, each at the same place: no other sync
    /// manager can be in their way.
    fn buffer(&self, which: u8) -> usize {
        self.start + usize::from(which) * MEMORY_END
    }

    /// Where a master's read at `address` finds its bytes; `None` denies it.
    #[inline]
    pub(super) fn open_read(&mut self, address: usize) -> Option<usize> {
        if self.master_writes() || (self.is_mailbox() && !self.full) {
            return None;
        }
        if address == self.start {
            self.open = true;
            if !self.is_mailbox() {
                self.turn_to_newest();
            }
        }
        if !self.open {
            return None;
        }
        Some(if self.is_mailbox() { address } else { self.buffer(self.reader) + (address - self.start) })
    }

    /// Ends a master's read that reached `end`; true if it reached the last byte.
    #[inline]
    pub(super) fn close_read(&mut self, end: usize) -> bool {
        if end < self.end() {
            return false;
        }
        self.open = false;
        self.full = false;
        self.interrupt = 0x02;
        true
    }

    /// Where a master's write at `address` goes; `None` denies it.
    #[inline]
    pub(super) fn open_write(&mut self, address: usize) -> Option<usize> {
        if !self.master_writes() || (self.is_mailbox() && self.full) {
            return None;
        }
        if address == self.start {
            self.open = true;
        }
        if !self.open {
            return None;
        }
        Some(if self.is_mailbox() { address } else { self.buffer(self.writer) + (address - self.start) })
    }

    /// Ends a master's write that reached `end`; true if it reached the last byte.
    #[inline]
    pub(super) fn close_write(&mut self, end: usize) -> bool {
        if end < self.end() {
            return false;
        }
        self.open = false;
        self.interrupt = 0x01;
        if self.is_mailbox() {
            self.full = true;
        } else {
            self.has_written_all();
        }
        true
    }

    /// Three buffers: where the master finds the newest inputs, all of them at once.
    #[inline]
    pub(super) fn read_all(&mut self) -> Range<usize> {
        self.turn_to_newest();
        (self.open, self.interrupt) = (false, 0x02);
        self.whole(self.reader)
    }

    /// Three buffers: where the master puts outputs, all of them at once; [`SyncManager::has_written_all`] follows.
    #[inline]
    pub(super) fn write_all(&self) -> Range<usize> {
        self.whole(self.writer)
    }

    /// The outputs are complete.
    #[inline]
    pub(super) fn has_written_all(&mut self) {
        std::mem::swap(&mut self.writer, &mut self.newest);
        (self.open, self.fresh, self.interrupt) = (false, true, 0x01);
    }

    /// The reader gets the newest buffer, if it has not had it.
    #[inline]
    fn turn_to_newest(&mut self) {
        if self.fresh {
            std::mem::swap(&mut self.reader, &mut self.newest);
            self.fresh = false;
        }
    }

    #[inline]
    fn whole(&self, which: u8) -> Range<usize> {
        let start = self.buffer(which);
        start..start + self.length
    }

    pub(super) fn take_outputs(&mut self) -> Option<Range<usize>> {
        if !self.enabled || !self.master_writes() {
            return None;
        }
        if self.is_mailbox() {
            return std::mem::take(&mut self.full).then(|| self.start..self.end());
        }
        if !self.fresh {
            return None;
        }
        self.turn_to_newest();
        Some(self.whole(self.reader))
    }

    pub(super) fn inputs_place(&self) -> Option<Range<usize>> {
        if !self.enabled || self.master_writes() {
            return None;
        }
        if self.is_mailbox() {
            return self.empty_mailbox();
        }
        Some(self.whole(self.writer))
    }

    pub(super) fn put_inputs(&mut self) {
        if self.is_mailbox() {
            self.full = true;
            return;
        }
        std::mem::swap(&mut self.writer, &mut self.newest);
        self.fresh = true;
    }

    pub(super) fn full_mailbox(&self) -> Option<Range<usize>> {
        (self.enabled && self.is_mailbox() && self.full).then(|| self.start..self.end())
    }

    pub(super) fn empty_mailbox(&self) -> Option<Range<usize>> {
        (self.enabled && self.is_mailbox() && !self.full).then(|| self.start..self.end())
    }

    pub(super) fn set_full(&mut self, full: bool) {
        if self.enabled && self.is_mailbox() {
            self.full = full;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(start: u16, length: u16, control: u8) -> SyncManager {
        let [s0, s1] = start.to_le_bytes();
        let [l0, l1] = length.to_le_bytes();
        let mut manager = SyncManager::default();
        manager.configure([s0, s1, l0, l1, control, 0, 1, 0]);
        manager
    }

    #[test]
    fn a_full_mailbox_refuses_a_second_write() {
        let mut mailbox = configured(0x1000, 128, 0x26);
        assert!(mailbox.open_write(0x1000).is_some());
        assert!(mailbox.close_write(0x1080));
        assert_eq!(mailbox.status() & FULL, FULL);
        assert_eq!(mailbox.open_write(0x1000), None);
    }

    #[test]
    fn a_mailbox_counts_only_when_its_last_byte_is_written() {
        let mut mailbox = configured(0x1000, 128, 0x26);
        assert!(mailbox.open_write(0x1000).is_some());
        assert!(!mailbox.close_write(0x1010));
        assert_eq!(mailbox.full_mailbox(), None);
    }

    #[test]
    fn an_empty_mailbox_cannot_be_read() {
        assert_eq!(configured(0x1080, 128, 0x22).open_read(0x1080), None);
    }

    #[test]
    fn a_reader_keeps_its_buffer_while_the_writer_continues() {
        let mut outputs = configured(0x1100, 4, 0x64);
        let mut write = || {
            let place = outputs.open_write(0x1100);
            outputs.close_write(0x1104);
            place
        };
        let first = write();
        let mut outputs_reader = outputs;
        let read = outputs_reader.take_outputs().map(|range| range.start);
        assert_eq!(read, first);
        for _ in 0..5 {
            assert_ne!(outputs_reader.open_write(0x1100), read, "the writer must not touch the reader's buffer");
            outputs_reader.close_write(0x1104);
        }
    }

    #[test]
    fn three_buffers_outside_the_memory_disable_the_manager() {
        assert!(!configured(0x2F00, 0x80, 0x64).enabled());
        assert!(configured(0x2F00, 0x55, 0x64).enabled());
    }
}
