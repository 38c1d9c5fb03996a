// SPDX-License-Identifier: Apache-2.0
//! A network interface as a wire: a packet socket that sees EtherCAT frames only.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{BusError, Wire};
use crate::rt::now_ns;

const ETHERCAT: u16 = 0x88A4;

/// An open interface.
#[derive(Debug)]
pub struct Socket {
    descriptor: OwnedFd,
}

impl Socket {
    /// Opens the interface called `name`. Needs CAP_NET_RAW.
    pub fn open(name: &str) -> Result<Self, BusError> {
        Self::try_open(name).map_err(|source| BusError::Interface { name: name.to_owned(), source })
    }

    fn try_open(name: &str) -> io::Result<Self> {
        let c_name = std::ffi::CString::new(name)?;
        // SAFETY: the name is valid.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: takes no pointers.
        let number = unsafe { libc::socket(libc::AF_PACKET, kind, i32::from(ETHERCAT.to_be())) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and is owned by nobody else.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        // What one sends comes back as an outgoing packet too; the master would take it for an answer.
        let one: libc::c_int = 1;
        // SAFETY: the option's value is valid and of the length given.
        let ignored = unsafe {
            libc::setsockopt(
                number,
                libc::SOL_PACKET,
                libc::PACKET_IGNORE_OUTGOING,
                (&one as *const libc::c_int).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if ignored != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ETHERCAT.to_be();
        address.sll_ifindex = index as i32;
        // SAFETY: the address is valid and of the length given.
        let bound = unsafe {
            libc::bind(
                number,
                (&address as *const libc::sockaddr_ll).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if bound != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { descriptor })
    }
}

impl Wire for Socket {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe { libc::send(self.descriptor.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent == frame.len() as isize {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        loop {
            // SAFETY: the buffer is valid for its length.
            let got = unsafe { libc::recv(self.descriptor.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            if got > 0 {
                return Ok(got as usize);
            }
            let error = io::Error::last_os_error();
            if got < 0 && !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                return Err(error);
            }
            let left = deadline_ns.saturating_sub(now_ns());
            if left == 0 {
                return Ok(0);
            }
            let timeout = libc::timespec {
                tv_sec: (left / 1_000_000_000) as libc::time_t,
                tv_nsec: (left % 1_000_000_000) as libc::c_long,
            };
            let mut poll = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid pollfd and a valid timespec; the signal mask is left alone.
            unsafe { libc::ppoll(&mut poll, 1, &timeout, std::ptr::null()) };
        }
    }
}
