// SPDX-License-Identifier: Apache-2.0
//! The master's side of bootstrap and of file access (FoE).
#![allow(dead_code)]

use super::master::Master;
use kadenz_segment::description::Purpose;
use kadenz_segment::foe::{message, Operation, HEADER};
use kadenz_segment::mailbox;
use kadenz_segment::register::at;

/// Protocol number of FoE in the mailbox header.
const FOE: u8 = 4;

/// An answer: operation, number, and the bytes behind them.
pub type Answer = (u8, u32, Vec<u8>);

impl Master {
    /// Sets the mailboxes up as the EEPROM wants them for bootstrap; the device is in INIT.
    pub fn configure_bootstrap(&mut self, device: usize) {
        for (number, word, control) in [(0, 0x14, 0x26), (1, 0x16, 0x22)] {
            let sii = &self.link.segment().ring().devices[device].esc.sii;
            let ([s0, s1], [l0, l1]) = (sii.word(word).to_le_bytes(), sii.word(word + 1).to_le_bytes());
            self.write(device, at::SYNC_MANAGER.element(number), &[s0, s1, l0, l1, control, 0, 1, 0]);
        }
    }

    /// From any state to INIT and to bootstrap; AL status and code.
    pub fn boot(&mut self, device: usize) -> (u16, u16) {
        self.request(device, 0x11);
        self.configure_bootstrap(device);
        self.request(device, 3)
    }

    /// Sends one FoE message.
    pub fn foe_post(&mut self, device: usize, operation: Operation, number: u32, rest: &[u8]) -> u16 {
        self.post_as(device, FOE, &message(operation, number, rest))
    }

    /// Sends the last FoE message once more, with its counter.
    pub fn foe_post_again(&mut self, device: usize, operation: Operation, number: u32, rest: &[u8]) -> u16 {
        self.post_as_again(device, FOE, &message(operation, number, rest))
    }

    /// Fetches an FoE message; `None` if nothing waits, or another protocol's.
    pub fn foe_fetch(&mut self, device: usize) -> Option<Answer> {
        let bytes = self.fetch(device)?;
        let parsed = mailbox::parse(&bytes)?;
        let ([operation, _, number @ ..], rest) = parsed.body.split_first_chunk::<HEADER>()?;
        (parsed.protocol == FOE).then(|| (*operation, u32::from_le_bytes(*number), rest.to_vec()))
    }

    /// One FoE message and its answer.
    pub fn foe(&mut self, device: usize, operation: Operation, number: u32, rest: &[u8]) -> Option<Answer> {
        assert_eq!(self.foe_post(device, operation, number, rest), 1, "the mailbox takes the message");
        self.foe_fetch(device)
    }

    /// Writes a file; a busy device gets the message again. The error message's code otherwise.
    pub fn foe_write(&mut self, device: usize, name: &str, password: u32, data: &[u8]) -> Result<(), u32> {
        let full = self.mailbox(device, Purpose::MailboxOut).1 - 6 - HEADER;
        self.foe_until_ready(device, Operation::Write, password, name.as_bytes())?;
        for packet in 0..=data.len() / full {
            let part = &data[full * packet..data.len().min(full * (packet + 1))];
            let number = packet as u32 + 1;
            let answer = self.foe_until_ready(device, Operation::Data, number, part)?;
            assert_eq!(answer, Some((Operation::Acknowledge as u8, number, vec![])));
        }
        Ok(())
    }

    /// Reads a file. The error message's code otherwise.
    pub fn foe_read(&mut self, device: usize, name: &str, password: u32) -> Result<Vec<u8>, u32> {
        let full = self.mailbox(device, Purpose::MailboxIn).1 - 6 - HEADER;
        let (mut data, mut number) = (Vec::new(), 1);
        let mut next = self.foe_until_ready(device, Operation::Read, password, name.as_bytes())?;
        while let Some((operation, packet, part)) = next {
            assert_eq!((operation, packet), (Operation::Data as u8, number));
            data.extend(&part);
            next = self.foe_until_ready(device, Operation::Acknowledge, number, &[])?;
            assert_eq!(next.is_some(), part.len() == full, "a short packet is the last");
            number += 1;
        }
        Ok(data)
    }

    fn foe_until_ready(
        &mut self,
        device: usize,
        operation: Operation,
        number: u32,
        rest: &[u8],
    ) -> Result<Option<Answer>, u32> {
        loop {
            match self.foe(device, operation, number, rest) {
                Some((busy, ..)) if busy == Operation::Busy as u8 => {}
                Some((error, code, _)) if error == Operation::Error as u8 => return Err(code),
                other => return Ok(other),
            }
        }
    }
}
