// SPDX-License-Identifier: Apache-2.0
//! Raw packet sockets: whole Ethernet frames of one type on one interface.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::socket::{
    bind, recv, recvmsg, send, setsockopt, socket, sockopt, AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags,
    SockFlag, SockType, SockaddrLike,
};
use nix::sys::time::TimeSpec;

mod options {
    use nix::{
        setsockopt_impl,
        sys::socket::sockopt::{SetBool, SetStruct},
    };

    /// Hides frames that this machine sends (Linux 4.20 and newer).
    #[derive(Debug, Clone, Copy)]
    pub struct IgnoreOutgoing;
    setsockopt_impl!(IgnoreOutgoing, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, bool, SetBool);

    /// Joins a group of receivers of an interface.
    #[derive(Debug, Clone, Copy)]
    pub struct AddMembership;
    setsockopt_impl!(
        AddMembership,
        libc::SOL_PACKET,
        libc::PACKET_ADD_MEMBERSHIP,
        libc::packet_mreq,
        SetStruct<libc::packet_mreq>
    );
}

/// A socket that sends and receives frames. It receives nothing until it is bound.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

/// A frame in the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Length of the frame, bytes.
    pub length: usize,
    /// When the kernel received it, since the epoch; only with [`PacketSocket::stamp_arrivals`].
    pub stamp: Option<Duration>,
}

impl PacketSocket {
    /// Opens a socket. Needs CAP_NET_RAW.
    pub fn open() -> io::Result<Self> {
        // No protocol yet: with one it would receive the frames of every interface until it is bound.
        Ok(Self(socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?))
    }

    /// Hides frames that this machine sends: a sender would take them for answers.
    pub fn ignore_outgoing(&self) -> io::Result<()> {
        Ok(setsockopt(&self.0, options::IgnoreOutgoing, &true)?)
    }

    /// Receives frames for every address, as long as the socket lives.
    pub fn receive_for_all(&self, interface: u32) -> io::Result<()> {
        let membership = libc::packet_mreq {
            mr_ifindex: interface as i32,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        Ok(setsockopt(&self.0, options::AddMembership, &membership)?)
    }

    /// The kernel stamps each frame it receives.
    pub fn stamp_arrivals(&self) -> io::Result<()> {
        Ok(setsockopt(&self.0, sockopt::ReceiveTimestampns, &true)?)
    }

    /// Receives frames of this Ethernet type from this interface, and sends to it.
    pub fn bind(&self, interface: u32, ethertype: u16) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: ethertype.to_be(),
            sll_ifindex: interface as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: pointer and size describe a live sockaddr_ll, which is copied; its family says AF_PACKET.
        let address = unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(size)) };
        Ok(bind(self.0.as_raw_fd(), &address.ok_or(Errno::EINVAL)?)?)
    }

    /// Sends a frame, and waits while the socket has no room. False if the frame is lost, as on a cable: the interface is
    /// down, was removed, or has no room.
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        match send(self.0.as_raw_fd(), frame, MsgFlags::empty()) {
            Ok(_) => Ok(true),
            Err(Errno::ENETDOWN | Errno::ENOBUFS | Errno::EAGAIN | Errno::ENXIO | Errno::ENODEV) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a frame without waiting; no room is an error.
    pub fn send_now(&self, frame: &[u8]) -> io::Result<()> {
        let sent = send(self.0.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT)?;
        if sent == frame.len() {
            Ok(())
        } else {
            Err(too_long())
        }
    }

    /// Takes a frame; it is an error of kind `WouldBlock` if none waits.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT)?)
    }

    /// Takes a frame and its stamp; it is an error of kind `WouldBlock` if none waits.
    pub fn receive_stamped(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let mut control = Control([0; CONTROL_BYTES]);
        let mut parts = [IoSliceMut::new(buffer)];
        let message = recvmsg::<()>(self.0.as_raw_fd(), &mut parts, Some(&mut control.0), MsgFlags::MSG_DONTWAIT)?;
        let stamp = message.cmsgs()?.find_map(|part| match part {
            ControlMessageOwned::ScmTimestampns(time) => Some(since_epoch(time)),
            _ => None,
        });
        Ok(Received { length: message.bytes, stamp })
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The error of a frame that is longer than an interface takes.
pub fn too_long() -> io::Error {
    Errno::EMSGSIZE.into()
}

/// Room for one time stamp and its header, aligned like a header.
const CONTROL_BYTES: usize = 64;
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

fn since_epoch(time: TimeSpec) -> Duration {
    Duration::new(time.tv_sec().max(0) as u64, time.tv_nsec().clamp(0, 999_999_999) as u32)
}

/// Blocks until one of the descriptors is readable, a signal arrives or the time is over. Returns which are readable.
pub fn wait_readable<const N: usize>(descriptors: [BorrowedFd<'_>; N], timeout: Duration) -> io::Result<[bool; N]> {
    let mut polls = descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
    match ppoll(&mut polls, Some(TimeSpec::from_duration(timeout)), None) {
        Ok(_) => Ok(polls.map(|poll| poll.any().unwrap_or(true))),
        Err(Errno::EINTR) => Ok([false; N]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn only_descriptors_with_something_to_read_are_readable() {
        let (quiet, _peer) = UnixStream::pair().unwrap();
        let (busy, mut peer) = UnixStream::pair().unwrap();
        peer.write_all(&[1]).unwrap();
        assert_eq!(wait_readable([quiet.as_fd(), busy.as_fd()], Duration::ZERO).unwrap(), [false, true]);
    }
}
