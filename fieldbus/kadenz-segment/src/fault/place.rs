// SPDX-License-Identifier: Apache-2.0
//! What a device has, as far as a fault needs it: enough to check a fault without the ring.

use crate::device::{Device, Function};
use crate::topology::Topology;

/// A device, as a fault names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name in the ring file.
    pub name: String,
    /// It is a drive.
    pub is_drive: bool,
    /// It has a distributed clock.
    pub has_clock: bool,
    /// It has a mailbox.
    pub has_mailbox: bool,
    /// Its mailbox speaks CoE.
    pub has_coe: bool,
    /// Its mailbox speaks FoE.
    pub has_foe: bool,
    /// It is the head of a hot-connect group.
    pub is_group: bool,
    cables: [bool; 4],
}

impl Place {
    /// Of the device at a position of the ring.
    pub fn of(device: &Device, position: usize, topology: &Topology) -> Self {
        Self {
            name: device.name.clone(),
            is_drive: matches!(device.function, Function::Drive(_)),
            has_clock: device.esc.clock.is_some(),
            has_mailbox: device.mailbox.is_some(),
            has_coe: device.mailbox.is_some() && device.description.coe.is_some(),
            has_foe: device.mailbox.as_ref().is_some_and(|mailbox| mailbox.foe.is_some()),
            is_group: topology.is_head(position),
            cables: [0, 1, 2, 3].map(|port| topology.has_cable(position, port)),
        }
    }

    /// A cable is attached to this port, or is when the group has joined.
    pub fn has_cable(&self, port: usize) -> bool {
        self.cables.get(port).is_some_and(|has| *has) || self.is_group && port == 0
    }
}
