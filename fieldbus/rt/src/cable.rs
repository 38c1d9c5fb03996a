// SPDX-License-Identifier: Apache-2.0
//! A cable between two processes of one machine: whole frames over a local socket, no interface, no right needed.
//!
//! Its name is an abstract address (unix(7)), so it ends with its processes and leaves no file.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::sys::socket::{
    accept4, bind, connect, listen, recv, send, socket, AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr,
};

/// Where a cable may be plugged in.
#[derive(Debug)]
pub struct Outlet(OwnedFd);

/// A plugged cable.
#[derive(Debug)]
pub struct Cable(OwnedFd);

fn fresh() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?)
}

impl Outlet {
    /// An outlet called `name`; no other on this machine may have its name.
    pub fn new(name: &str) -> io::Result<Self> {
        let socket = fresh()?;
        bind(socket.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?)?;
        listen(&socket, Backlog::new(1)?)?;
        Ok(Self(socket))
    }

    /// Waits until a cable is plugged in. Readable when one waits.
    pub fn accept(&self) -> io::Result<Cable> {
        let plugged = accept4(self.0.as_raw_fd(), SockFlag::SOCK_CLOEXEC)?;
        // SAFETY: accept4 has just made the descriptor, and nothing else knows of it.
        Ok(Cable(unsafe { OwnedFd::from_raw_fd(plugged) }))
    }
}

impl AsFd for Outlet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Cable {
    /// Plugs a cable into the outlet called `name`.
    pub fn plug(name: &str) -> io::Result<Self> {
        let socket = fresh()?;
        connect(socket.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?)?;
        Ok(Self(socket))
    }

    /// Sends a frame without waiting; a cable without room is an error, and so is one without an other end.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        send(self.0.as_raw_fd(), frame, flags).map(drop).map_err(io::Error::from)
    }

    /// Takes a frame; it is an error of kind `WouldBlock` if none waits, and no bytes if the other end is gone.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT)?)
    }
}

impl AsFd for Cable {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stay_whole_and_an_end_that_is_gone_is_seen() {
        let name = format!("kadenz-rt cable test {}", std::process::id());
        let outlet = Outlet::new(&name).unwrap();
        let master = Cable::plug(&name).unwrap();
        let ring = outlet.accept().unwrap();
        master.send(&[1; 60]).unwrap();
        master.send(&[2; 1500]).unwrap();
        let mut buffer = [0; 1600];
        assert_eq!((ring.receive(&mut buffer).unwrap(), buffer[59]), (60, 1));
        assert_eq!((ring.receive(&mut buffer).unwrap(), buffer[1499]), (1500, 2));
        assert_eq!(ring.receive(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(master);
        assert_eq!(ring.receive(&mut buffer).unwrap(), 0);
        assert!(ring.send(&[0; 60]).is_err());
        assert!(Cable::plug("kadenz-rt cable that nobody offers").is_err());
    }
}
