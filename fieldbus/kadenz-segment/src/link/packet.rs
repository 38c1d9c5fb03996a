// SPDX-License-Identifier: Apache-2.0
//! A raw packet socket on an Ethernet interface: veth, TAP or a real card.
//!
//! The only file with `unsafe`: the standard library has no packet sockets. Each block is one system call on memory
//! that outlives it.
#![allow(unsafe_code)]

use crate::error::SegmentError;
use crate::frame::ETHERTYPE;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A socket that receives and sends EtherCAT frames on one interface.
pub struct PacketSocket {
    socket: OwnedFd,
    interface: String,
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
        Ok(Self { socket, interface: interface.into() })
    }

    fn error(&self, action: &'static str, source: io::Error) -> SegmentError {
        SegmentError::Interface {
            action,
            interface: self.interface.clone(),
            source,
            remedy: "Is it up? `ip link set … up`",
        }
    }

    /// Blocks until a frame waits or the time is over. True if one waits.
    pub fn wait(&self, timeout: Duration) -> Result<bool, SegmentError> {
        let mut poll = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let timeout =
            libc::timespec { tv_sec: timeout.as_secs() as libc::time_t, tv_nsec: timeout.subsec_nanos().into() };
        // SAFETY: one pollfd and one timespec, both on this stack.
        match check(unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, std::ptr::null()) }) {
            Ok(count) => Ok(count > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(self.error("wait for frames on", error)),
        }
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
                // The other end of a veth pair has gone down; it may come back.
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
            Some(libc::ENETDOWN | libc::ENOBUFS | libc::EAGAIN) => Ok(false),
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
