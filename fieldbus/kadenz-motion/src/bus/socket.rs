// SPDX-License-Identifier: Apache-2.0
//! A network interface as a wire: a packet socket that sees EtherCAT frames only.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use kadenz_rt::packet::{wait_readable, PacketSocket};
use kadenz_rt::{interface, now_ns};

use super::{BusError, Wire};

const ETHERCAT: u16 = 0x88A4;

/// A packet socket that is bound to one interface.
#[derive(Debug)]
pub struct Socket {
    packets: PacketSocket,
}

impl Socket {
    /// Opens the interface called `name`. Needs CAP_NET_RAW.
    pub fn open(name: &str) -> Result<Self, BusError> {
        Self::try_open(name).map_err(|source| BusError::Interface { name: name.to_owned(), source })
    }

    fn try_open(name: &str) -> io::Result<Self> {
        let index = interface::index(name)?;
        let packets = PacketSocket::open()?;
        // What one sends comes back as an outgoing packet too; the master would take it for an answer.
        packets.ignore_outgoing()?;
        packets.bind(index, ETHERCAT)?;
        Ok(Self { packets })
    }
}

impl Wire for Socket {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.packets.send_now(frame).map(|_| ())
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        loop {
            match self.packets.receive(buffer) {
                Ok(0) => {}
                Ok(length) => return Ok(length),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
            let left_ns = deadline_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return Ok(0);
            }
            wait_readable([self.packets.as_fd()], Duration::from_nanos(left_ns))?;
        }
    }
}
