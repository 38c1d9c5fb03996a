// SPDX-License-Identifier: Apache-2.0
//! Events for the master, and the ports' loops: what changes at a controller by itself, and how the master learns of it.

use super::Esc;
use crate::register::at;

/// DL status has changed (0x0210 bit 2); reading it acknowledges.
const DL_STATUS: u16 = 1 << 2;
/// AL status has changed (bit 3); reading it acknowledges.
const AL_STATUS: u16 = 1 << 3;
/// First bit of the sync managers.
const SYNC_MANAGER: usize = 4;

/// Events for the device's application. Flags stay until the application clears them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// The master wrote AL control.
    pub al_control: bool,
    /// A sync manager's last byte was written by the master (bit = sync manager).
    pub written: u8,
    /// A sync manager's last byte was read by the master (bit = sync manager).
    pub read: u8,
    /// The master asked for the last mailbox again (bit 1 of 0x080E toggled).
    pub repeat: bool,
    /// The master wrote the reset sequence to 0x0040.
    pub reset: bool,
    /// The loop of a port opens or closes.
    pub loops: bool,
}

impl Esc {
    /// DL status as the topology gives it.
    pub fn set_dl_status(&mut self, status: u16) {
        if self.get(at::DL_STATUS) != status {
            self.put(at::DL_STATUS, status);
            self.status_events |= DL_STATUS;
        }
    }

    /// AL status and its code as the state machine gives them.
    pub fn set_al_status(&mut self, status: u16, code: u16) {
        if self.get(at::AL_STATUS) != status {
            self.put(at::AL_STATUS, status);
            self.status_events |= AL_STATUS;
        }
        self.put(at::AL_CODE, code);
    }

    /// Events that wait for the master (0x0210): changed status, and sync managers with something to read.
    pub fn event_requests(&self) -> u16 {
        let bits =
            self.managers.iter().enumerate().map(|(at, manager)| u16::from(manager.has_news()) << (SYNC_MANAGER + at));
        bits.fold(self.status_events, |requests, bit| requests | bit)
    }

    /// Events that the master enabled for its frames.
    #[inline]
    pub fn frame_events(&self) -> u16 {
        if self.event_mask == 0 {
            return 0;
        }
        // The sync managers are looked at only where they are asked for.
        let status = self.status_events & self.event_mask;
        if self.event_mask >> SYNC_MANAGER == 0 {
            status
        } else {
            self.event_requests() & self.event_mask
        }
    }

    pub(super) fn acknowledge_status(&mut self, dl_is_read: bool, al_is_read: bool) {
        if dl_is_read {
            self.status_events &= !DL_STATUS;
        }
        if al_is_read {
            self.status_events &= !AL_STATUS;
        }
    }

    /// Ports whose loop the master has closed (bit = port).
    pub fn closed_ports(&self) -> u8 {
        self.closed
    }

    /// Loop control (0x0101): two bits a port, 3 closes. Frames come in by port 0, which stays open.
    pub(super) fn configure_loops(&mut self) {
        let control = self.get(at::DL_CONTROL) >> 8;
        let closed = (1..4).filter(|port| control >> (2 * port) & 3 == 3).fold(0, |closed, port| closed | 1 << port);
        self.events.loops |= closed != self.closed;
        self.closed = closed;
    }
}
