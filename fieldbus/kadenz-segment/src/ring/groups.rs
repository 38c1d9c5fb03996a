// SPDX-License-Identifier: Apache-2.0
//! Hot-connect groups: a device and those behind it, which join the segment and leave it while it works.

use super::Ring;
use crate::device::{Device, AWAY};

impl Ring {
    /// Pulls a group out; it has no power from then on. Gives device and port where it was, `None` if it was nowhere.
    pub fn leave(&mut self, head: usize) -> Option<(usize, usize)> {
        let place = self.topology.unplug(head)?;
        self.set_away(head, true);
        self.refresh_topology();
        Some(place)
    }

    /// Plugs a group in at a port of a device, wherever it was; absent: where it was last. It starts anew. Gives device and
    /// port, or why it cannot join there.
    pub fn join(&mut self, head: usize, place: Option<(usize, usize)>) -> Result<(usize, usize), String> {
        let name = |device: usize| self.devices.get(device).map_or("", |device| device.name.as_str());
        let place = place.or(self.topology.home(head));
        let Some((device, port)) = place else { return Err(format!("{} is no group", name(head))) };
        if self.topology.plugged_at(head) == place {
            return Err(format!("it is at port {port} of {} already", name(device)));
        }
        if self.topology.has_cable(device, port) {
            return Err(format!("port {port} of {} is taken", name(device)));
        }
        if self.topology.group(head).contains(&device) {
            return Err(format!("{} belongs to it", name(device)));
        }
        self.topology.unplug(head);
        self.topology.plug(head, device, port);
        // What it is plugged into may be without power itself.
        let is_away = self.devices.get(device).is_some_and(Device::is_away);
        self.set_away(head, is_away);
        self.refresh_topology();
        Ok((device, port))
    }

    /// Devices of a group, its head among them.
    pub fn group(&self, head: usize) -> Vec<usize> {
        self.topology.group(head)
    }

    fn set_away(&mut self, head: usize, is_away: bool) {
        for at in self.topology.group(head) {
            if let Some(device) = self.devices.get_mut(at) {
                device.set_outage(AWAY, is_away);
            }
        }
    }

    /// Groups that the ring file leaves out have no power when the segment starts.
    pub(super) fn take_away_absent(&mut self) {
        for head in (0..self.devices.len()).filter(|at| self.topology.is_absent(*at)).collect::<Vec<_>>() {
            self.set_away(head, true);
        }
    }
}
