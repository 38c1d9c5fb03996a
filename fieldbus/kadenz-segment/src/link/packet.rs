// SPDX-License-Identifier: Apache-2.0
//! A raw packet socket on an Ethernet interface: veth, TAP or a real card.
//!
//! The only file with `unsafe`: the standard library has no packet sockets. Each block is one system call on memory
//! that outlives it.
#![allow(unsafe_code)]

use super::claim::Claim;
use super::LinkState;
use crate::error::SegmentError;
use crate::frame::ETHERTYPE;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A socket that receives and sends EtherCAT frames on one interface.
pub struct PacketSocket {
    socket: OwnedFd,
    /// Readable when any interface has changed.
    changes: OwnedFd,
    interface: String,
    index: u32,
    _claim: Claim,
}

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awaited {
    /// A frame waits.
    pub frame: bool,
    /// An interface has changed; [`PacketSocket::state`] says how this one stands.
    pub change: bool,
}

impl PacketSocket {
    /// Opens an interface by name. Needs CAP_NET_RAW.
    pub fn open(interface: &str) -> Result<Self, SegmentError> {
        let fail = |action, remedy| {
            move |source| SegmentError::Interface { action, interface: interface.into(), source, remedy }
        };
        let no_right = "Run as root, or grant CAP_NET_RAW: setcap cap_net_raw+ep kadenz-segment";
        let protocol = ETHERTYPE.to_be();
        // SAFETY: no pointers are passed.
        let raw =
            check(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, i32::from(protocol)) })
                .map_err(fail("open a packet socket on", no_right))?;
        // SAFETY: the descriptor is new and ours.
        let socket = unsafe { OwnedFd::from_raw_fd(raw) };
        let missing = "`ip link` lists the interfaces; `ip link add veth0 type veth peer name veth1` makes a pair";
        let name = CString::new(interface).map_err(|_| fail("find", missing)(io::ErrorKind::InvalidInput.into()))?;
        // SAFETY: the name is a C string that lives through the call.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(fail("find", missing)(io::Error::last_os_error()));
        }
        let taken = "End that process first, or use another pair of interfaces";
        let claim = Claim::new(index).map_err(fail("claim", taken))?;
        let changes = watch_links().map_err(fail("watch", "A Linux kernel with rtnetlink is needed"))?;
        // The interface sees what its own master sends elsewhere on the same machine: only what comes in counts.
        let outgoing = set(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32);
        outgoing.map_err(fail("hide outgoing frames of", "A Linux kernel from 4.20 on is needed"))?;
        let membership = libc::packet_mreq {
            mr_ifindex: index as i32,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
            .map_err(fail("listen on", no_right))?;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol,
            sll_ifindex: index as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let size = std::mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        let no_stamps = "A Linux kernel with time-stamps of received packets is needed";
        set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32).map_err(fail("stamp frames of", no_stamps))?;
        // SAFETY: address and size describe a live sockaddr_ll.
        check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })
            .map_err(fail("bind to", "Bring it up: `ip link set … up`"))?;
        let socket = Self { socket, changes, interface: interface.into(), index, _claim: claim };
        if socket.state() == LinkState::Down {
            let down = "Bring it up: `ip link set … up`, for both ends of a veth pair";
            return Err(fail("serve", down)(io::Error::from_raw_os_error(libc::ENETDOWN)));
        }
        Ok(socket)
    }

    /// The interface's name when it was opened.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// How the interface stands. It is known by its number: a name may change.
    pub fn state(&self) -> LinkState {
        // SAFETY: a request of zeros is a valid one with an empty name.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // SAFETY: the name has room for IFNAMSIZ bytes, as the call asks.
        if unsafe { libc::if_indextoname(self.index, request.ifr_name.as_mut_ptr()) }.is_null() {
            return LinkState::Gone;
        }
        // SAFETY: SIOCGIFFLAGS takes an ifreq with a name, and writes flags into it.
        let asked = check(unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) });
        if asked.is_err() {
            return LinkState::Gone;
        }
        // SAFETY: the call above has written this member of the union.
        let flags = i32::from(unsafe { request.ifr_ifru.ifru_flags });
        match (flags & libc::IFF_UP != 0, flags & libc::IFF_RUNNING != 0) {
            (false, _) => LinkState::Down,
            (true, false) => LinkState::NoCarrier,
            (true, true) => LinkState::Up,
        }
    }

    fn error(&self, action: &'static str, source: io::Error) -> SegmentError {
        SegmentError::Interface {
            action,
            interface: self.interface.clone(),
            source,
            remedy: "Is it up? `ip link set … up`",
        }
    }

    /// Blocks until a frame waits, an interface has changed, or the time is over.
    pub fn wait(&self, timeout: Duration) -> Result<Awaited, SegmentError> {
        let watch = |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut polls = [watch(&self.socket), watch(&self.changes)];
        let timeout =
            libc::timespec { tv_sec: timeout.as_secs() as libc::time_t, tv_nsec: timeout.subsec_nanos().into() };
        // SAFETY: two pollfds and one timespec, all on this stack.
        match check(unsafe { libc::ppoll(polls.as_mut_ptr(), 2, &raw const timeout, std::ptr::null()) }) {
            Ok(_) => {
                let change = polls[1].revents != 0;
                if change {
                    self.forget_changes();
                }
                Ok(Awaited { frame: polls[0].revents != 0, change })
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Awaited { frame: false, change: false }),
            Err(error) => Err(self.error("wait for frames on", error)),
        }
    }

    /// Takes the messages about changes: that there were any is enough.
    fn forget_changes(&self) {
        let mut message = [0_u8; 4096];
        // SAFETY: pointer and length are the buffer's.
        while unsafe {
            libc::recv(self.changes.as_raw_fd(), message.as_mut_ptr().cast(), message.len(), libc::MSG_DONTWAIT)
        } > 0
        {}
    }

    /// Takes a frame that waits: its bytes in `buffer`; `None` if there is none.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<Arrival>, SegmentError> {
        let mut bytes = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = Control([0; CONTROL_BYTES]);
        // SAFETY: a msghdr of zeros is a valid one without anything.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (&raw mut bytes, 1);
        (message.msg_control, message.msg_controllen) = (control.0.as_mut_ptr().cast(), CONTROL_BYTES as _);
        // SAFETY: the message points to the buffer and to the control bytes, which live through the call.
        let count = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        match usize::try_from(count) {
            Ok(length) => Ok(Some(Arrival { length, age: age(&message) })),
            Err(_) => match io::Error::last_os_error() {
                error if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
                // It went down or was removed: that is a change, and reported as one.
                error if error.raw_os_error() == Some(libc::ENETDOWN) => Ok(None),
                error => Err(self.error("receive from", error)),
            },
        }
    }

    /// Sends a frame. True unless the interface is down or has no room: then the frame is lost, as on a cable.
    pub fn send(&self, frame: &[u8]) -> Result<bool, SegmentError> {
        // SAFETY: pointer and length are the frame's.
        let count = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if count >= 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENOBUFS | libc::EAGAIN | libc::ENXIO | libc::ENODEV) => Ok(false),
            _ => Err(self.error("send to", error)),
        }
    }
}

/// A frame that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its bytes.
    pub length: usize,
    /// How long it had waited, by the kernel's time-stamp.
    pub age: Duration,
}

/// Room for one time-stamp and its header, aligned as a header is.
const CONTROL_BYTES: usize = 64;
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// A frame that seems to be older has met a clock that was set.
const OLDEST: Duration = Duration::from_secs(1);

/// Time since the kernel received the message; none where it gave no stamp or the clock was set meanwhile.
fn age(message: &libc::msghdr) -> Duration {
    // SAFETY: the message was filled by the kernel; its control bytes live in the caller.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the header lies in the control bytes, as CMSG_FIRSTHDR and CMSG_NXTHDR promise.
        let kind = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            // SAFETY: a message of this kind carries one timespec, aligned or not.
            let stamp: libc::timespec = unsafe { std::ptr::read_unaligned(libc::CMSG_DATA(header).cast()) };
            let received = Duration::new(stamp.tv_sec.max(0) as u64, stamp.tv_nsec.clamp(0, 999_999_999) as u32);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            return now.checked_sub(received).filter(|age| *age < OLDEST).unwrap_or_default();
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    Duration::ZERO
}

/// A socket that becomes readable when an interface changes (rtnetlink, RTMGRP_LINK). Needs no privilege.
fn watch_links() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers are passed.
    let raw = check(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: the descriptor is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: an address of zeros is a valid one: the kernel chooses the port.
    let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    address.nl_family = libc::AF_NETLINK as u16;
    address.nl_groups = libc::RTMGRP_LINK as u32;
    let size = std::mem::size_of::<libc::sockaddr_nl>() as libc::socklen_t;
    // SAFETY: address and size describe a live sockaddr_nl.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    Ok(socket)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn set<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<i32> {
    let size = std::mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: value and size describe a live T.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), size) })
}

/// Makes this thread a real-time one and locks memory, so that the segment does not add latency of its own.
pub fn become_real_time(priority: i32) -> Result<(), SegmentError> {
    let fail = |what| move |source| SegmentError::Scheduling { what, source };
    // SAFETY: no pointers are passed.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) }).map_err(fail("memory lock"))?;
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters live through the call.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
        .map_err(fail("SCHED_FIFO priority"))?;
    Ok(())
}

static INTERRUPTED: std::sync::OnceLock<&'static std::sync::atomic::AtomicBool> = std::sync::OnceLock::new();

extern "C" fn interrupted(_: i32) {
    // An atomic store is all that may be done in a signal handler.
    if let Some(stop) = INTERRUPTED.get() {
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Sets `stop` on SIGINT and SIGTERM. The wait for frames is cut short by the signal.
pub fn on_interrupt(stop: &'static std::sync::atomic::AtomicBool) {
    if INTERRUPTED.set(stop).is_err() {
        return;
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(signal, interrupted as *const () as libc::sighandler_t) };
    }
}
