// SPDX-License-Identifier: Apache-2.0
//! The other side of the controller: what a device's application takes from its memory and puts there.

use super::Esc;

impl Esc {
    /// The application takes what the master wrote last into a buffered sync manager; `None` if nothing is new.
    pub fn take_outputs(&mut self, index: usize) -> Option<&[u8]> {
        let manager = self.managers.get_mut(index)?;
        let range = manager.take_outputs()?;
        self.memory.get(range)
    }

    /// The application offers inputs to the master.
    pub fn put_inputs(&mut self, index: usize, fill: impl FnOnce(&mut [u8])) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(place) = manager.inputs_place().and_then(|range| self.memory.get_mut(range)) else { return false };
        fill(place);
        manager.put_inputs();
        true
    }

    /// A message of the master in a mailbox, until [`Esc::empty_mailbox`].
    pub fn mailbox(&self, index: usize) -> Option<&[u8]> {
        let manager = self.managers.get(index)?;
        self.memory.get(manager.full_mailbox()?)
    }

    /// Makes room for the master's next mailbox.
    pub fn empty_mailbox(&mut self, index: usize) {
        if let Some(manager) = self.managers.get_mut(index) {
            manager.set_full(false);
        }
    }

    /// Puts a mailbox for the master; false while the last one is unread or the sync manager is off.
    pub fn put_mailbox(&mut self, index: usize, bytes: &[u8]) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(range) = manager.empty_mailbox() else { return false };
        let Some(place) = self.memory.get_mut(range) else { return false };
        if bytes.len() > place.len() {
            return false;
        }
        place.fill(0);
        place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        manager.set_full(true);
        true
    }
}
