// SPDX-License-Identifier: Apache-2.0
//! An Ethernet interface as a link: veth, TAP or a real card.

use super::claim::Claim;
use super::LinkState;
use crate::error::SegmentError;
use crate::frame::ETHERTYPE;
use kadenz_rt::interface::{self, Changes, State};
use kadenz_rt::packet::{self, wait_readable, Received};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A socket that receives and sends EtherCAT frames on one interface.
pub struct PacketSocket {
    socket: packet::PacketSocket,
    changes: Changes,
    interface: String,
    index: u32,
    _claim: Claim,
}

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awaited {
    /// Whether a frame waits.
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
        let socket = packet::PacketSocket::open().map_err(fail("open a packet socket on", no_right))?;
        let missing = "`ip link` lists the interfaces; `ip link add veth0 type veth peer name veth1` makes a pair";
        let index = interface::index(interface).map_err(fail("find", missing))?;
        let taken = "End that process first, or use another pair of interfaces";
        let claim = Claim::new(index).map_err(fail("claim", taken))?;
        let changes = Changes::watch().map_err(fail("watch", "A Linux kernel with rtnetlink is needed"))?;
        // The interface also sees frames that its own master sends on the same machine: only received frames count.
        let outgoing = fail("hide outgoing frames of", "A Linux kernel from 4.20 on is needed");
        socket.ignore_outgoing().map_err(outgoing)?;
        socket.receive_for_all(index).map_err(fail("listen on", no_right))?;
        let no_stamps = "A Linux kernel with time-stamps of received packets is needed";
        socket.stamp_arrivals().map_err(fail("stamp frames of", no_stamps))?;
        socket.bind(index, ETHERTYPE).map_err(fail("bind to", "Bring it up: `ip link set … up`"))?;
        let socket = Self { socket, changes, interface: interface.into(), index, _claim: claim };
        if socket.state() == LinkState::Down {
            let down = "Bring it up: `ip link set … up`, for both ends of a veth pair";
            return Err(fail("serve", down)(io::ErrorKind::NetworkDown.into()));
        }
        Ok(socket)
    }

    /// The interface's name when it was opened.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// The state of the interface.
    pub fn state(&self) -> LinkState {
        match interface::state(self.index) {
            None => LinkState::Gone,
            Some(State { is_up: false, .. }) => LinkState::Down,
            Some(State { is_running: false, .. }) => LinkState::NoCarrier,
            Some(_) => LinkState::Up,
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

    /// Blocks until a frame waits, an interface has changed, a signal arrives or the time is over.
    pub fn wait(&self, timeout: Duration) -> Result<Awaited, SegmentError> {
        let readable = wait_readable([self.socket.as_fd(), self.changes.as_fd()], timeout);
        let [frame, change] = readable.map_err(|error| self.error("wait for frames on", error))?;
        if change {
            self.changes.discard();
        }
        Ok(Awaited { frame, change })
    }

    /// As [`PacketSocket::wait`], at one or two interfaces. Whether an interface has changed.
    pub fn wait_any(sockets: &[Self], timeout: Duration) -> Result<bool, SegmentError> {
        let [one, two] = sockets else { return sockets.first().map_or(Ok(false), |one| Ok(one.wait(timeout)?.change)) };
        let descriptors = [one.socket.as_fd(), two.socket.as_fd(), one.changes.as_fd(), two.changes.as_fd()];
        let readable = wait_readable(descriptors, timeout);
        let [.., first, second] = readable.map_err(|error| one.error("wait for frames on", error))?;
        for (socket, change) in [(one, first), (two, second)] {
            if change {
                socket.changes.discard();
            }
        }
        Ok(first || second)
    }

    /// Takes a frame that waits: its bytes in `buffer`; `None` if there is none.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<Arrival>, SegmentError> {
        match self.socket.receive_stamped(buffer) {
            Ok(Received { length, stamp }) => Ok(Some(Arrival { length, age: stamp.map_or(Duration::ZERO, age) })),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                // The interface went down or was removed: that is a change, and reported as one.
                io::ErrorKind::NetworkDown => Ok(None),
                _ => Err(self.error("receive from", error)),
            },
        }
    }

    /// Sends a frame. True unless the interface is down or has no room: then the frame is lost, as on a cable.
    pub fn send(&self, frame: &[u8]) -> Result<bool, SegmentError> {
        self.socket.send(frame).map_err(|error| self.error("send to", error))
    }
}

/// A frame that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Length of the frame, bytes.
    pub length: usize,
    /// How long it had waited, by the kernel's time stamp.
    pub age: Duration,
}

/// A frame that seems to be older has met a clock that was set.
const OLDEST: Duration = Duration::from_secs(1);

/// Time since the kernel received the frame; zero if the clock was set since.
fn age(received: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.checked_sub(received).filter(|age| *age < OLDEST).unwrap_or_default()
}

/// Makes this thread a real-time one and locks memory, so that the segment adds no latency of its own.
pub fn become_real_time(priority: i32) -> Result<(), SegmentError> {
    let fail = |what| move |source| SegmentError::Scheduling { what, source };
    kadenz_rt::lock_memory().map_err(fail("memory lock"))?;
    kadenz_rt::become_realtime(priority).map_err(fail("SCHED_FIFO priority"))
}
