// SPDX-License-Identifier: Apache-2.0
//! What went through the mailboxes of a device, counted by protocol and service.

use crate::coe::Service;
use crate::mailbox::{self, Message};

/// Protocol numbers of mailbox headers (ETG.1000.6).
pub mod protocol {
    /// A mailbox error.
    pub const ERROR: u8 = 0;
    /// ADS over EtherCAT.
    pub const AOE: u8 = 1;
    /// Ethernet over EtherCAT.
    pub const EOE: u8 = 2;
    /// CANopen over EtherCAT.
    pub const COE: u8 = 3;
    /// File access.
    pub const FOE: u8 = 4;
    /// Servo drive profile.
    pub const SOE: u8 = 5;
    /// A vendor's.
    pub const VOE: u8 = 15;
}

const SDO_COMPLETE: u8 = 0x10;
const SDO_EXPEDITED: u8 = 0x02;
/// FoE operation codes of a read request, a write request, an acknowledgement.
const FOE_READ: u8 = 1;
const FOE_WRITE: u8 = 2;

/// Counts of mailbox traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mail {
    /// Requests of the master by protocol, repetitions among them.
    pub sent: [u64; 16],
    /// Mailboxes that reached the master, by protocol.
    pub received: [u64; 16],
    /// SDO uploads and downloads that the master began.
    pub uploads: u64,
    /// SDO downloads that it began.
    pub downloads: u64,
    /// Of both: expedited downloads and uploads answered so.
    pub expedited: u64,
    /// Segments of SDO transfers that the master asked for or sent.
    pub segments: u64,
    /// SDO requests with complete access.
    pub complete: u64,
    /// SDO information requests, and answers to them.
    pub information: (u64, u64),
    /// Emergencies that reached the master.
    pub emergencies: u64,
    /// Aborts by the device, and by the master.
    pub aborts: (u64, u64),
    /// Files that the master began to read and to write.
    pub files: (u64, u64),
    /// Requests with the counter and the bytes of the one before.
    pub resent: u64,
    last: Vec<u8>,
}

impl Mail {
    /// The master has written a mailbox.
    pub fn send(&mut self, bytes: &[u8]) {
        let Some(message) = mailbox::parse(bytes) else { return };
        self.count_sent(message.protocol);
        let used = bytes.get(..6 + message.body.len()).unwrap_or(bytes);
        self.resent += u64::from(message.counter != 0 && used == self.last);
        self.last = used.to_vec();
        match message.protocol {
            protocol::COE => self.send_coe(&message),
            protocol::FOE => match message.body.first() {
                Some(&FOE_READ) => self.files.0 += 1,
                Some(&FOE_WRITE) => self.files.1 += 1,
                _ => {}
            },
            _ => {}
        }
    }

    fn count_sent(&mut self, protocol: u8) {
        if let Some(count) = self.sent.get_mut(usize::from(protocol)) {
            *count += 1;
        }
    }

    fn send_coe(&mut self, message: &Message<'_>) {
        let service = message.body.get(1).map(|byte| u16::from(byte >> 4));
        if service == Some(Service::SdoInformation as u16) {
            self.information.0 += 1;
        }
        let Some(command) = message.body.get(2).filter(|_| service == Some(Service::SdoRequest as u16)) else { return };
        match command >> 5 {
            1 => {
                self.downloads += 1;
                self.complete += u64::from(command & SDO_COMPLETE != 0);
                self.expedited += u64::from(command & SDO_EXPEDITED != 0);
            }
            2 => {
                self.uploads += 1;
                self.complete += u64::from(command & SDO_COMPLETE != 0);
            }
            0 | 3 => self.segments += 1,
            4 => self.aborts.1 += 1,
            _ => {}
        }
    }

    /// A mailbox has reached the master.
    pub fn receive(&mut self, bytes: &[u8]) {
        let Some(message) = mailbox::parse(bytes) else { return };
        if let Some(count) = self.received.get_mut(usize::from(message.protocol)) {
            *count += 1;
        }
        if message.protocol != protocol::COE {
            return;
        }
        let service = message.body.get(1).map(|byte| u16::from(byte >> 4));
        if service == Some(Service::Emergency as u16) {
            self.emergencies += 1;
        } else if service == Some(Service::SdoInformation as u16) {
            self.information.1 += 1;
        } else if let Some(command) = message.body.get(2) {
            match command >> 5 {
                2 => self.expedited += u64::from(command & SDO_EXPEDITED != 0),
                4 => self.aborts.0 += 1,
                _ => {}
            }
        }
    }

    /// Adds the counts of another device.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.sent.iter_mut().zip(other.sent) {
            *sum += count;
        }
        for (sum, count) in self.received.iter_mut().zip(other.received) {
            *sum += count;
        }
        for (sum, count) in [
            (&mut self.uploads, other.uploads),
            (&mut self.downloads, other.downloads),
            (&mut self.expedited, other.expedited),
            (&mut self.segments, other.segments),
            (&mut self.complete, other.complete),
            (&mut self.information.0, other.information.0),
            (&mut self.information.1, other.information.1),
            (&mut self.emergencies, other.emergencies),
            (&mut self.aborts.0, other.aborts.0),
            (&mut self.aborts.1, other.aborts.1),
            (&mut self.files.0, other.files.0),
            (&mut self.files.1, other.files.1),
            (&mut self.resent, other.resent),
        ] {
            *sum += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::assemble;

    #[test]
    fn a_request_sent_twice_is_counted_as_resent_and_an_answer_by_its_kind() {
        let mut mail = Mail::default();
        let request = assemble(protocol::COE, 3, &[0, 0x20, 0x50, 0x12, 0x1C, 0, 0, 0, 0, 0]);
        mail.send(&request);
        mail.send(&request);
        assert_eq!((mail.uploads, mail.complete, mail.resent), (2, 2, 1));
        mail.receive(&assemble(protocol::COE, 1, &[0, 0x30, 0x43, 0x12, 0x1C, 0, 1, 0, 0, 0]));
        mail.receive(&assemble(protocol::COE, 2, &[0, 0x30, 0x80, 0x12, 0x1C, 0, 0, 0, 2, 6]));
        mail.receive(&assemble(protocol::COE, 3, &[0, 0x10, 0, 0x81, 0, 0, 0, 0, 0, 0]));
        assert_eq!((mail.expedited, mail.aborts, mail.emergencies, mail.received[3]), (1, (1, 0), 1, 3));
        mail.receive(&[0xFF; 3]);
        assert_eq!(mail.received[3], 3);
    }
}
