// SPDX-License-Identifier: Apache-2.0
//! The master's side of Ethernet over EtherCAT (EoE), and a host behind it with a network stack of its own.
#![allow(dead_code)]

use super::master::Master;
use kadenz_segment::description::Purpose;
use kadenz_segment::mailbox;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};
use std::collections::VecDeque;

/// Protocol number of EoE in the mailbox header.
const EOE: u8 = 2;
const UNIT: usize = 32;

/// A mailbox from the device, as far as a master of EoE looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mail {
    /// A message of EoE.
    Ethernet(Vec<u8>),
    /// A mailbox error with this detail.
    Error(u16),
    /// Another protocol's.
    Other(u8),
}

impl Master {
    /// Sends an EoE message; whether the mailbox took it.
    pub fn eoe_post(&mut self, device: usize, body: &[u8]) -> bool {
        self.post_as(device, EOE, body) == 1
    }

    /// What waits in the device's mailbox.
    pub fn eoe_fetch(&mut self, device: usize) -> Option<Mail> {
        let bytes = self.fetch(device)?;
        let parsed = mailbox::parse(&bytes)?;
        Some(match parsed.protocol {
            EOE => Mail::Ethernet(parsed.body.to_vec()),
            0 => Mail::Error(u16::from_le_bytes([parsed.body[2], parsed.body[3]])),
            other => Mail::Other(other),
        })
    }

    /// A message and its answer.
    pub fn eoe(&mut self, device: usize, body: &[u8]) -> Option<Mail> {
        assert!(self.eoe_post(device, body), "the mailbox takes the message");
        self.eoe_fetch(device)
    }

    /// Sends a frame in fragments; `flags` are or-ed to the second byte of each.
    pub fn send_frame(&mut self, device: usize, frame: &[u8], number: u16, flags: u8) {
        let room = (self.mailbox(device, Purpose::MailboxOut).1 - 10) / UNIT * UNIT;
        let parts: Vec<&[u8]> = frame.chunks(room).collect();
        for (fragment, part) in parts.iter().enumerate() {
            let units = if fragment == 0 { frame.len().div_ceil(UNIT) } else { fragment * room / UNIT };
            let second = fragment as u16 | (units as u16) << 6 | number << 12;
            let mut body = vec![0, flags | u8::from(fragment + 1 == parts.len())];
            body.extend(second.to_le_bytes());
            body.extend(*part);
            assert!(self.eoe_post(device, &body), "fragment {fragment} is taken");
        }
    }

    /// Takes the frames that wait, each with its first two header bytes; other mail is dropped.
    pub fn take_frames(&mut self, device: usize) -> Vec<(Vec<u8>, u8)> {
        let (mut frames, mut frame) = (Vec::new(), Vec::new());
        while let Some(mail) = self.eoe_fetch(device) {
            let Mail::Ethernet(body) = mail else { continue };
            if body[0] & 0x0F != 0 {
                continue;
            }
            let place = u16::from_le_bytes([body[2], body[3]]);
            let offset = if place & 0x3F == 0 { 0 } else { usize::from(place >> 6 & 0x3F) * UNIT };
            assert_eq!(offset, frame.len(), "fragments follow each other");
            frame.extend(&body[4..]);
            if body[1] & 1 != 0 {
                frames.push((std::mem::take(&mut frame), body[1]));
            }
        }
        frames
    }
}

#[derive(Default)]
struct Wire {
    to_host: VecDeque<Vec<u8>>,
    from_host: VecDeque<Vec<u8>>,
}

struct Arrival(Vec<u8>);
struct Departure<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::RxToken for Arrival {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, work: F) -> R {
        work(&self.0)
    }
}

impl phy::TxToken for Departure<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, work: F) -> R {
        let mut bytes = vec![0; length];
        let result = work(&mut bytes);
        self.0.push_back(bytes);
        result
    }
}

impl phy::Device for Wire {
    type RxToken<'a> = Arrival;
    type TxToken<'a> = Departure<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrival, Departure<'_>)> {
        Some((Arrival(self.to_host.pop_front()?), Departure(&mut self.from_host)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Departure<'_>> {
        Some(Departure(&mut self.from_host))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities
    }
}

/// Asks a device's web server from 10.0.0.1/24 with real TCP through the mailbox: what came until the device closed.
pub fn http(master: &mut Master, device: usize, to: [u8; 4], request: &str) -> String {
    let mut wire = Wire::default();
    let config = Config::new(EthernetAddress([2, 0, 0, 0, 0, 1]).into());
    let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
    let own = Ipv4Address::new(10, 0, 0, 1);
    interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(own.into(), 24)).unwrap());
    let mut sockets = SocketSet::new(Vec::new());
    let buffer = || SocketBuffer::new(vec![0; 4096]);
    let client = sockets.add(Socket::new(buffer(), buffer()));
    let (mut received, mut is_asked, mut number) = (Vec::new(), false, 0);
    let socket = sockets.get_mut::<Socket<'_>>(client);
    // The device remembers a connection for a while: each has a port of its own.
    let port = 50_000 + (master.link.now_ns() / 1000 % 10_000) as u16;
    socket.connect(interface.context(), (Ipv4Address::from(to), 80), port).unwrap();
    for _ in 0..3000 {
        let now = Instant::from_micros(master.link.now_ns() as i64 / 1000);
        interface.poll(now, &mut wire, &mut sockets);
        let socket = sockets.get_mut::<Socket<'_>>(client);
        if socket.can_send() && !is_asked {
            socket.send_slice(request.as_bytes()).unwrap();
            is_asked = true;
        }
        while socket.can_recv() {
            socket.recv(|data| (data.len(), received.extend(&*data))).unwrap();
        }
        if is_asked && !socket.may_recv() {
            break;
        }
        while let Some(frame) = wire.from_host.pop_front() {
            master.send_frame(device, &frame, number, 0);
            number = (number + 1) % 16;
        }
        wire.to_host.extend(master.take_frames(device).into_iter().map(|(frame, _)| frame));
        master.link.advance_ns(300_000);
    }
    String::from_utf8(received).unwrap()
}
