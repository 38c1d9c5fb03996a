// SPDX-License-Identifier: Apache-2.0
//! Emergencies in operation. One short frame in 16 cycles asks all mailboxes at once; while one is full, a frame in
//! each cycle looks for it and reads it.

use ethercrab::SubDevice;
use ethercrab::{error::Error, SubDeviceRef};

/// Registers of sync manager 1, the mailbox to the master, and its status byte (ETG.1000.4, table 58).
pub(super) const SYNC_MANAGER_1: u16 = 0x0808;
pub(super) const MAILBOX_STATUS: u16 = 0x080D;
/// Of the status byte.
const FULL: u8 = 0x08;
/// Mailbox header, CoE header, emergency (ETG.1000.6, 5.6.4).
const EMERGENCY_BYTES: usize = 6 + 2 + 8;
const COE: u8 = 3;
const SERVICE_EMERGENCY: u8 = 1;

/// An emergency of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emergency {
    /// Position in the ring.
    pub device: u16,
    /// Error code, error register, five bytes of the maker's (CiA 301, 7.2.7).
    pub bytes: [u8; 8],
}

/// A device's mailbox to the master.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mailbox {
    pub device: u16,
    pub address: u16,
    pub start: u16,
    pub length: u16,
}

/// The frame that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// At all mailboxes at once.
    All,
    /// Whether this one is full.
    At(usize),
    /// The content of this one.
    Into(usize),
}

/// Asks the mailboxes of the drives for emergencies, in operation.
#[derive(Debug)]
pub(super) struct Mail {
    pub boxes: Vec<Mailbox>,
    pub look: Look,
}

impl Mail {
    pub fn new(boxes: Vec<Mailbox>) -> Self {
        Self { boxes, look: Look::All }
    }

    /// Something was full when last looked at.
    pub fn is_busy(&self) -> bool {
        self.look != Look::All
    }

    /// Chooses the next frame after one that returned this status byte; `None`: no answer came.
    pub fn saw_status(&mut self, status: Option<u8>) {
        let full = status.is_some_and(|status| status & FULL != 0);
        self.look = match self.look {
            Look::All if full && !self.boxes.is_empty() => Look::At(0),
            Look::At(k) if full => Look::Into(k),
            Look::At(k) | Look::Into(k) if k + 1 < self.boxes.len() => Look::At(k + 1),
            _ => Look::All,
        };
    }
}

/// The mailbox to the master, where a device has one: sync manager 1 is enabled, a mailbox, and read by the master.
pub(super) async fn find(device: &SubDeviceRef<'_, &SubDevice>, position: usize) -> Result<Option<Mailbox>, Error> {
    let [start_low, start_high, length_low, length_high, control, _, activate, _] =
        device.register_read::<[u8; 8]>(SYNC_MANAGER_1).await?;
    let (mailbox, read, enabled) = (control & 0x03 == 0x02, control & 0x0C == 0, activate & 0x01 != 0);
    Ok((mailbox && read && enabled).then(|| Mailbox {
        device: position as u16,
        address: device.configured_address(),
        start: u16::from_le_bytes([start_low, start_high]),
        length: u16::from_le_bytes([length_low, length_high]),
    }))
}

/// The emergency in a mailbox, if it holds one. Others are dropped: this program sends no requests in operation.
pub(super) fn emergency(mailbox: &[u8]) -> Option<[u8; 8]> {
    let mail = mailbox.get(..EMERGENCY_BYTES)?;
    let is_emergency = mail[5] & 0x0F == COE && mail[7] >> 4 == SERVICE_EMERGENCY;
    mail[8..].try_into().ok().filter(|_| is_emergency)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(count: u16) -> Mail {
        let one = |device| Mailbox { device, address: 0x1000 + device, start: 0x1080, length: 128 };
        Mail::new((0..count).map(one).collect())
    }

    #[test]
    fn a_full_mailbox_is_looked_for_and_the_others_get_their_turn() {
        let mut mail = boxes(3);
        mail.saw_status(Some(0));
        assert!(!mail.is_busy());
        let looks = [Some(FULL), Some(0), Some(FULL), None, Some(0)].map(|status| {
            mail.saw_status(status);
            mail.look
        });
        assert_eq!(looks, [Look::At(0), Look::At(1), Look::Into(1), Look::At(2), Look::All]);
        let mut none = boxes(0);
        none.saw_status(Some(FULL));
        assert!(!none.is_busy());
    }

    #[test]
    fn only_an_emergency_is_taken_for_one() {
        let mut mailbox = [0; 128];
        mailbox[..2].copy_from_slice(&10_u16.to_le_bytes());
        (mailbox[5], mailbox[7]) = (0x13, 0x10);
        mailbox[8..16].copy_from_slice(&[0x11, 0x86, 0x81, 1, 2, 3, 4, 5]);
        assert_eq!(emergency(&mailbox), Some([0x11, 0x86, 0x81, 1, 2, 3, 4, 5]));
        mailbox[7] = 0x30;
        assert_eq!(emergency(&mailbox), None, "a reply to a request");
        assert_eq!(emergency(&[0; 6]), None);
    }
}
