// SPDX-License-Identifier: Apache-2.0
//! The device's network stack (smoltcp): ARP, ping, and TCP at port 80. Its time is the segment's, its random numbers have a
//! seed: the same frames at the same times get the same answers.

use super::http::{self, LONGEST_HEAD};
use super::parameters::Parameters;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Cidr};
use std::collections::VecDeque;

/// Frames that wait in each direction: as much as a small device has memory for.
const MOST_FRAMES: usize = 16;
/// Longest frame of the stack, bytes.
const LONGEST: usize = 1514;
const HTTP: u16 = 80;
/// Connections at a time; a browser opens several.
const CONNECTIONS: usize = 4;
/// A client that says nothing, or takes nothing, for this long is dropped.
const PATIENCE_NS: u64 = 10_000_000_000;

/// Frames between the stack and the mailbox.
#[derive(Debug, Default)]
struct Wire {
    to_stack: VecDeque<Vec<u8>>,
    /// Each with the time at which the stack gave it away.
    from_stack: VecDeque<(Vec<u8>, u32)>,
    stamp: u32,
}

struct Arrival(Vec<u8>);

struct Departure<'a> {
    queue: &'a mut VecDeque<(Vec<u8>, u32)>,
    stamp: u32,
}

impl phy::RxToken for Arrival {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, work: F) -> R {
        work(&self.0)
    }
}

impl phy::TxToken for Departure<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, work: F) -> R {
        let mut bytes = vec![0; length];
        let result = work(&mut bytes);
        self.queue.push_back((bytes, self.stamp));
        result
    }
}

impl phy::Device for Wire {
    type RxToken<'a> = Arrival;
    type TxToken<'a> = Departure<'a>;

    fn receive(&mut self, at: Instant) -> Option<(Arrival, Departure<'_>)> {
        let bytes = self.to_stack.front()?.clone();
        let departure = self.transmit(at).is_some();
        if !departure {
            // An answer would have no place: the frame waits.
            return None;
        }
        self.to_stack.pop_front();
        Some((Arrival(bytes), Departure { queue: &mut self.from_stack, stamp: self.stamp }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Departure<'_>> {
        let has_place = self.from_stack.len() < MOST_FRAMES;
        has_place.then_some(Departure { queue: &mut self.from_stack, stamp: self.stamp })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = LONGEST;
        capabilities
    }
}

/// One client.
struct Connection {
    socket: SocketHandle,
    request: Vec<u8>,
    /// The answer, and how much of it the socket took.
    response: Option<(Vec<u8>, usize)>,
    since_ns: u64,
}

/// The stack of one device.
pub struct Stack {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    connections: Vec<Connection>,
    /// When it next has something to do by itself, ns.
    due_ns: u64,
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stack").field("wire", &self.wire).field("due_ns", &self.due_ns).finish_non_exhaustive()
    }
}

fn instant(now_ns: u64) -> Instant {
    Instant::from_micros((now_ns / 1000) as i64)
}

impl Stack {
    /// A stack after power-on, with the seed of its sequence numbers.
    pub fn new(parameters: &Parameters, seed: u64) -> Self {
        let mut wire = Wire::default();
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(parameters.mac)));
        config.random_seed = seed;
        let interface = Interface::new(config, &mut wire, Instant::ZERO);
        let mut sockets = SocketSet::new(Vec::new());
        let connections = (0..CONNECTIONS)
            .map(|_| {
                let mut socket =
                    Socket::new(SocketBuffer::new(vec![0; LONGEST_HEAD]), SocketBuffer::new(vec![0; 4 * LONGEST_HEAD]));
                socket.set_timeout(Some(Duration::from_micros(PATIENCE_NS / 1000)));
                // An answer goes out at once, in one piece.
                socket.set_ack_delay(None);
                Connection { socket: sockets.add(socket), request: Vec::new(), response: None, since_ns: 0 }
            })
            .collect();
        let mut stack = Self { wire, interface, sockets, connections, due_ns: u64::MAX };
        stack.set(parameters);
        stack
    }

    /// Takes these addresses.
    pub fn set(&mut self, parameters: &Parameters) {
        self.interface.set_hardware_addr(HardwareAddress::Ethernet(EthernetAddress(parameters.mac)));
        let prefix = parameters.prefix().unwrap_or(32);
        self.interface.update_ip_addrs(|addresses| {
            addresses.clear();
            if !parameters.ip.is_unspecified() {
                let _ = addresses.push(IpCidr::Ipv4(Ipv4Cidr::new(parameters.ip, prefix)));
            }
        });
        let routes = self.interface.routes_mut();
        routes.remove_default_ipv4_route();
        if !parameters.gateway.is_unspecified() {
            let _ = routes.add_default_ipv4_route(parameters.gateway);
        }
    }

    /// A frame from the master. False if there is no place for it.
    pub fn receive(&mut self, bytes: Vec<u8>) -> bool {
        let has_place = self.wire.to_stack.len() < MOST_FRAMES;
        if has_place {
            self.wire.to_stack.push_back(bytes);
        }
        has_place
    }

    /// The next frame to the master, and when the stack gave it away.
    pub fn take(&mut self) -> Option<(Vec<u8>, u32)> {
        self.wire.from_stack.pop_front()
    }

    /// Drops the frames that wait: the mailbox is closed.
    pub fn drop_frames(&mut self) {
        self.wire.to_stack.clear();
        self.wire.from_stack.clear();
    }

    /// Whether a frame waits that it has place for the answer to.
    pub fn has_arrivals(&self) -> bool {
        !self.wire.to_stack.is_empty() && self.wire.from_stack.len() < MOST_FRAMES
    }

    /// Whether it has something to do by itself.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns <= now_ns || self.has_arrivals()
    }

    /// Works on everything that came, and on every timer that is due; frames that leave now have this time stamp.
    pub fn work(&mut self, now_ns: u64, stamp: u32, page: &mut dyn FnMut() -> String) {
        self.wire.stamp = stamp;
        let now = instant(now_ns);
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        for connection in &mut self.connections {
            let socket = self.sockets.get_mut::<Socket<'_>>(connection.socket);
            connection.serve(socket, now_ns, page);
        }
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        let next = self.interface.poll_at(now, &self.sockets);
        let waits = self.connections.iter().any(|connection| connection.is_taken(&self.sockets));
        let patience_ns = if waits { now_ns.saturating_add(PATIENCE_NS / 10) } else { u64::MAX };
        let next_ns = next.map_or(u64::MAX, |next| next.total_micros().max(0) as u64 * 1000);
        self.due_ns = next_ns.max(now_ns + 1).min(patience_ns);
    }

    /// Addresses it has, for tests.
    #[cfg(test)]
    fn has(&self, address: smoltcp::wire::IpAddress) -> bool {
        self.interface.has_ip_addr(address)
    }
}

impl Connection {
    fn is_taken(&self, sockets: &SocketSet<'_>) -> bool {
        sockets.get::<Socket<'_>>(self.socket).is_active()
    }

    fn serve(&mut self, socket: &mut Socket<'_>, now_ns: u64, page: &mut dyn FnMut() -> String) {
        if !socket.is_open() {
            self.request.clear();
            self.response = None;
            let _ = socket.listen(HTTP);
        }
        if !socket.is_active() {
            self.since_ns = now_ns;
            return;
        }
        if now_ns.saturating_sub(self.since_ns) > PATIENCE_NS {
            socket.abort();
            return;
        }
        while socket.can_recv() {
            let room = LONGEST_HEAD.saturating_sub(self.request.len());
            let took = socket.recv(|data| {
                self.request.extend(data.iter().take(room));
                (data.len(), data.len())
            });
            if took.unwrap_or(0) == 0 {
                break;
            }
        }
        if self.response.is_none() {
            self.response = http::answer(&self.request, page).map(|bytes| (bytes, 0));
        }
        match &mut self.response {
            Some((bytes, sent)) if *sent < bytes.len() => {
                *sent += socket.send_slice(bytes.get(*sent..).unwrap_or_default()).unwrap_or(bytes.len() - *sent);
                if *sent == bytes.len() {
                    socket.close();
                }
            }
            // The client has closed before it asked.
            None if socket.state() == State::CloseWait => socket.close(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Address, EthernetSettings};
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_stack_has_the_addresses_that_were_set_last_and_keeps_no_more_frames_than_it_has_place_for() {
        let ip = Ipv4Addr::new(10, 0, 0, 2);
        let settings = EthernetSettings { address: Some(Address { ip, prefix: 24 }), ..EthernetSettings::default() };
        let mut parameters = settings.parameters(0);
        let mut stack = Stack::new(&parameters, 1);
        assert!(stack.has(ip.into()));
        parameters.ip = Ipv4Addr::new(10, 0, 0, 3);
        stack.set(&parameters);
        assert!(!stack.has(ip.into()) && stack.has(parameters.ip.into()));
        parameters.ip = Ipv4Addr::UNSPECIFIED;
        stack.set(&parameters);
        assert!(!stack.has(Ipv4Addr::UNSPECIFIED.into()));
        let taken = (0..100).filter(|_| stack.receive(vec![0xFF; 60])).count();
        assert_eq!(taken, MOST_FRAMES);
    }
}
