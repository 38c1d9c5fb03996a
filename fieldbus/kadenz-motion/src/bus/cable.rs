// SPDX-License-Identifier: Apache-2.0
//! A cable inside this machine as a wire: the simulated second ring is at its other end.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use kadenz_rt::cable::Cable;
use kadenz_rt::now_ns;
use kadenz_rt::packet::wait_readable;

use super::Wire;

impl Wire for Cable {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        Self::send(self, frame)
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        loop {
            match Self::receive(self, buffer) {
                Ok(0) => return Err(io::ErrorKind::BrokenPipe.into()),
                Ok(length) => return Ok(length),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
            let left_ns = deadline_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return Ok(0);
            }
            wait_readable([self.as_fd()], Duration::from_nanos(left_ns))?;
        }
    }
}
