// SPDX-License-Identifier: Apache-2.0
//! Network interfaces: their number, their state, and a socket that reports changes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::{if_indextoname, if_nametoindex, InterfaceFlags};
use nix::sys::socket::{bind, recv, socket, AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};

/// The number of the interface called `name`. A name may change later, a number does not.
pub fn index(name: &str) -> io::Result<u32> {
    Ok(if_nametoindex(name)?)
}

/// State of an interface, from Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Whether the interface is switched on.
    pub is_up: bool,
    /// Whether the interface has a link.
    pub is_running: bool,
}

/// The state of an interface, or `None` if it does not exist any more.
pub fn state(index: u32) -> Option<State> {
    let name = if_indextoname(index).ok()?;
    let mut interfaces = getifaddrs().ok()?;
    let flags = interfaces.find(|interface| interface.interface_name.as_bytes() == name.as_bytes())?.flags;
    Some(State {
        is_up: flags.contains(InterfaceFlags::IFF_UP),
        is_running: flags.contains(InterfaceFlags::IFF_RUNNING),
    })
}

/// A socket that becomes readable when any interface changes (rtnetlink, RTMGRP_LINK). Needs no privilege.
#[derive(Debug)]
pub struct Changes(OwnedFd);

impl Changes {
    /// Watches from now on.
    pub fn watch() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        // Port 0: the kernel chooses one.
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, libc::RTMGRP_LINK as u32))?;
        Ok(Self(socket))
    }

    /// Discards the messages about changes; it is enough to know that there were some.
    pub fn discard(&self) {
        let mut message = [0_u8; 4096];
        while recv(self.0.as_raw_fd(), &mut message, MsgFlags::MSG_DONTWAIT).is_ok_and(|length| length > 0) {}
    }
}

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_a_state_and_an_unknown_one_has_none() {
        // A fresh network namespace has `lo`, but it may be down.
        assert!(state(index("lo").unwrap()).is_some());
        assert!(index("nowhere0").is_err());
        assert_eq!(state(0xFFFF_FFF0), None);
    }
}
