// SPDX-License-Identifier: Apache-2.0
//! Which port is connected to which, which links stand, and the passages of frames that follow from it.

use crate::passage::{Passage, Way};
use crate::settings::{HotConnect, RingFile};

/// An end of the ring: where frames of the master come in, and where they leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// Port 0 of the first device.
    #[default]
    First,
    /// Port 1 of the last device, for a master with cable redundancy.
    Second,
}

impl End {
    /// By number of the interface.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// Number of its interface.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What a port is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A port of a device.
    Port(usize, usize),
    /// An interface of the master.
    Master(End),
}

/// One device and its cables; bit = port in every mask.
#[derive(Debug, Clone, Default)]
struct Place {
    peers: [Option<Peer>; 4],
    /// Ports whose cable is broken.
    broken: u8,
    /// Ports whose loop the device's controller keeps closed.
    closed: u8,
    /// Ports with a link.
    links: u8,
    /// Of the head of a hot-connect group: where it is plugged in, or was last.
    home: Option<(usize, usize)>,
}

/// The devices and the cables between them.
#[derive(Debug, Clone)]
pub struct Topology {
    places: Vec<Place>,
    hop_ns: u64,
    /// Where the master's interfaces are connected.
    ends: [Option<(usize, usize)>; 2],
    /// Which of these interfaces have a link.
    carriers: [bool; 2],
    /// By the end at which a frame comes in.
    passages: [Passage; 2],
}

impl Topology {
    /// From a ring file: (message, remedy) if it describes no tree in processing order.
    pub fn new(file: &RingFile) -> Result<Self, (String, String)> {
        let mut places = vec![Place::default(); file.device.len()];
        for (at, device) in file.device.iter().enumerate() {
            let parent = match &device.attached_to {
                None => at.checked_sub(1),
                Some(name) => Some(file.position(name).filter(|parent| *parent < at).ok_or_else(|| {
                    let message =
                        format!("device {at} ({}): attached_to = \"{name}\" is not a device before it", device.name);
                    (message, "Name a device listed further up".to_owned())
                })?),
            };
            let Some(parent) = parent else { continue };
            let port = usize::from(device.port.unwrap_or(1));
            places[at].home = device.hot_connect.map(|_| (parent, port));
            if device.hot_connect == Some(HotConnect::Absent) {
                continue;
            }
            if places[parent].peers[port].is_some() {
                let message =
                    format!("device {at} ({}): port {port} of {} is taken", device.name, file.device[parent].name);
                return Err((message, "Choose another port, or attach it to the device there".into()));
            }
            places[parent].peers[port] = Some(Peer::Port(at, 0));
            places[at].peers[0] = Some(Peer::Port(parent, port));
        }
        if let Some(first) = places.first_mut() {
            first.peers[0] = Some(Peer::Master(End::First));
        }
        let mut topology = Self {
            places,
            hop_ns: u64::from(file.ring.hop_ns),
            ends: [Some((0, 0)), None],
            carriers: [true; 2],
            passages: Default::default(),
        };
        topology.refresh(&|_| true);
        let order = topology.passage(End::First).visits.iter().map(|(device, _)| *device);
        if !order.clone().is_sorted() {
            let names: Vec<&str> = order.map(|device| file.device[device].name.as_str()).collect();
            let message = "the devices are not in the order in which a frame passes them (ports 3, 1, 2)".to_owned();
            return Err((message, format!("List them as: {}", names.join(", "))));
        }
        Ok(topology)
    }

    /// Connects the master's second interface to the last device of the line that port 1 continues from the first device.
    pub fn close_ring(&mut self) {
        let mut last = 0;
        while let Some(Some(Peer::Port(next, _))) = self.places.get(last).map(|place| place.peers[1]) {
            last = next;
        }
        if let Some(place) = self.places.get_mut(last) {
            place.peers[1] = Some(Peer::Master(End::Second));
            self.ends[1] = Some((last, 1));
        }
    }

    /// Whether the master has a second interface here.
    pub fn is_ring(&self) -> bool {
        self.ends[1].is_some()
    }

    /// Whether a cable is plugged in at this port.
    pub fn has_cable(&self, device: usize, port: usize) -> bool {
        self.peer(device, port).is_some()
    }

    pub(crate) fn peer(&self, device: usize, port: usize) -> Option<Peer> {
        *self.places.get(device)?.peers.get(port)?
    }

    pub(crate) fn end(&self, end: End) -> Option<(usize, usize)> {
        self.ends[end.index()]
    }

    /// From one device to the next, ns.
    pub(crate) fn hop_ns(&self) -> u64 {
        self.hop_ns
    }

    pub(crate) fn devices(&self) -> usize {
        self.places.len()
    }

    /// Longer than any frame is under way, ns: twice through every device, with a loop.
    pub fn longest_passage_ns(&self) -> u64 {
        4 * self.hop_ns * self.places.len() as u64
    }

    /// Breaks or heals the cable at a port.
    pub fn set_link(&mut self, device: usize, port: usize, stands: bool) {
        let other = self.peer(device, port);
        for (device, port) in [Some((device, port)), port_of(other)].into_iter().flatten() {
            if let Some(place) = self.places.get_mut(device) {
                place.broken = place.broken & !(1 << port) | u8::from(!stands) << port;
            }
        }
    }

    /// It is the head of a hot-connect group.
    pub fn is_head(&self, device: usize) -> bool {
        self.home(device).is_some()
    }

    /// It is the head of a hot-connect group that is plugged in nowhere.
    pub fn is_absent(&self, device: usize) -> bool {
        self.is_head(device) && self.plugged_at(device).is_none()
    }

    /// Where a group is plugged in, or was last: device and port.
    pub(crate) fn home(&self, head: usize) -> Option<(usize, usize)> {
        self.places.get(head)?.home
    }

    /// Where the cable at a device's port 0 leads: device and port.
    pub(crate) fn plugged_at(&self, head: usize) -> Option<(usize, usize)> {
        port_of(self.peer(head, 0))
    }

    /// A device and all behind it.
    pub fn group(&self, head: usize) -> Vec<usize> {
        let mut group = vec![head];
        let mut at = 0;
        while let Some(device) = group.get(at).copied() {
            group.extend((1..4).filter_map(|port| Some(port_of(self.peer(device, port))?.0)));
            at += 1;
        }
        group
    }

    /// Pulls a group out. Gives device and port where it was.
    pub(crate) fn unplug(&mut self, head: usize) -> Option<(usize, usize)> {
        let place = self.plugged_at(head).filter(|_| self.is_head(head))?;
        self.set_peer(head, 0, None);
        self.set_peer(place.0, place.1, None);
        self.places[head].home = Some(place);
        Some(place)
    }

    /// Plugs a group in at a free port, by a cable that stands.
    pub(crate) fn plug(&mut self, head: usize, device: usize, port: usize) {
        self.set_peer(head, 0, Some(Peer::Port(device, port)));
        self.set_peer(device, port, Some(Peer::Port(head, 0)));
    }

    fn set_peer(&mut self, device: usize, port: usize, peer: Option<Peer>) {
        if let Some(place) = self.places.get_mut(device) {
            place.peers[port] = peer;
            place.broken &= !(1 << port);
        }
    }

    /// Takes the link of a master's interface, or gives it back.
    pub fn set_carrier(&mut self, end: End, stands: bool) {
        self.carriers[end.index()] = stands;
    }

    /// Closes the loops of a device's ports, and opens the others.
    pub fn set_closed(&mut self, device: usize, ports: u8) {
        if let Some(place) = self.places.get_mut(device) {
            place.closed = ports;
        }
    }

    /// Works out which ports have a link, and the passages of frames.
    pub fn refresh(&mut self, has_power: &dyn Fn(usize) -> bool) {
        for device in 0..self.places.len() {
            let has_link = |port: &usize| {
                self.places[device].broken & 1 << port == 0
                    && match self.peer(device, *port) {
                        None => false,
                        Some(Peer::Master(end)) => self.carriers[end.index()],
                        Some(Peer::Port(other, _)) => has_power(other),
                    }
            };
            let links = (0..4).filter(|port| has_power(device) && has_link(port));
            self.places[device].links = links.fold(0, |links, port| links | 1 << port);
        }
        self.passages = End::ALL.map(|end| {
            Passage::of(self, end, &|device, port, _| {
                if self.open(device) & 1 << port != 0 {
                    Way::Open
                } else {
                    Way::Closed
                }
            })
        });
    }

    /// Ports with a link, also those whose loop is closed.
    pub fn links(&self, device: usize) -> u8 {
        self.places.get(device).map_or(0, |place| place.links)
    }

    /// Ports that frames pass.
    pub fn open(&self, device: usize) -> u8 {
        self.places.get(device).map_or(0, |place| place.links & !place.closed)
    }

    /// Ports that the master keeps closed.
    pub(crate) fn closed(&self, device: usize) -> u8 {
        self.places.get(device).map_or(0, |place| place.closed)
    }

    /// The way of a frame that comes in at an end.
    #[inline]
    pub fn passage(&self, end: End) -> &Passage {
        &self.passages[end.index()]
    }

    /// Replaces a passage until the next [`Topology::refresh`], and gives the one before.
    pub(crate) fn replace_passage(&mut self, end: End, passage: Passage) -> Passage {
        std::mem::replace(&mut self.passages[end.index()], passage)
    }
}

/// The port at the other end, if it is a device's.
pub(crate) fn port_of(peer: Option<Peer>) -> Option<(usize, usize)> {
    match peer {
        Some(Peer::Port(device, port)) => Some((device, port)),
        _ => None,
    }
}

/// DL status (0x0110): link, loop and communication of each port. `open`: ports that frames pass (bit = port); `links`:
/// those with a link, of which one that is not open has its loop closed by the master.
pub fn dl_status(open: u8, links: u8) -> u16 {
    // Bits 0 and 1: the application runs, its watchdog is quiet.
    (0..4).fold(0x0003, |status, port| {
        let loop_closed = if open & 1 << port != 0 { 0 } else { 1 << (8 + 2 * port) };
        let link = if links & 1 << port != 0 { 1 << (4 + port) | 1 << (9 + 2 * port) } else { 0 };
        status | loop_closed | link
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn topology(extra: &[&str]) -> Topology {
        let devices: String = extra
            .iter()
            .enumerate()
            .map(|(k, more)| format!("[[device]]\nname=\"d{k}\"\nkind=\"coupler\"\n{more}\n"))
            .collect();
        Topology::new(&RingFile::parse(&format!("[ring]\nhop_ns=100\n{devices}"), Path::new("t")).unwrap()).unwrap()
    }

    /// A line of devices in a ring, with cables broken: k is in front of device k, or behind the last one.
    fn ring(devices: usize, broken: &[usize]) -> Topology {
        let mut ring = topology(&vec![""; devices]);
        ring.close_ring();
        for at in broken {
            let (device, port) = if *at < devices { (*at, 0) } else { (devices - 1, 1) };
            ring.set_link(device, port, false);
        }
        ring.refresh(&|_| true);
        ring
    }

    fn order(topology: &Topology, end: End) -> Vec<usize> {
        topology.passage(end).visits.iter().map(|(device, _)| *device).collect()
    }

    fn status(topology: &Topology, device: usize) -> u16 {
        dl_status(topology.open(device), topology.links(device))
    }

    #[test]
    fn a_line_is_passed_outward_and_back() {
        let line = topology(&["", "", ""]);
        let passage = line.passage(End::First);
        let times: Vec<_> = passage.visits.iter().map(|(_, visit)| (visit.ports_ns[0], visit.ports_ns[1])).collect();
        assert_eq!(times, [(Some(0), Some(400)), (Some(100), Some(300)), (Some(200), None)]);
        assert_eq!((passage.leaves, passage.loops_at), (Some(End::First), None));
    }

    #[test]
    fn dl_status_has_the_values_of_real_lines() {
        assert_eq!(dl_status(0b0011, 0b0011), 0x5A33);
        assert_eq!(dl_status(0b0001, 0b0001), 0x5613);
    }

    #[test]
    fn a_branch_at_port_3_is_passed_first() {
        let fork = topology(&["", "attached_to=\"d0\"\nport=3", "attached_to=\"d0\"\nport=1"]);
        let visits = &fork.passage(End::First).visits;
        assert_eq!(visits[0].1.ports_ns, [Some(0), Some(400), None, Some(200)]);
        assert_eq!(visits[2].1.enters_ns, 300);
    }

    #[test]
    fn a_broken_cable_hides_everything_behind_it() {
        let mut line = topology(&["", "", ""]);
        line.set_link(1, 0, false);
        line.refresh(&|_| true);
        assert_eq!(order(&line, End::First), [0]);
        assert_eq!(status(&line, 0), 0x5613);
    }

    #[test]
    fn a_whole_ring_is_worked_on_in_one_direction_only() {
        let ring = ring(4, &[]);
        assert_eq!(order(&ring, End::First), [0, 1, 2, 3]);
        assert_eq!(ring.passage(End::First).leaves, Some(End::Second));
        assert!(order(&ring, End::Second).is_empty());
        assert_eq!(ring.passage(End::Second).leaves, Some(End::First));
        assert!((0..4).all(|device| status(&ring, device) == 0x5A33), "every device has two links");
        // No frame comes back at port 1.
        assert!(ring.passage(End::First).visits.iter().all(|(_, visit)| visit.ports_ns[1].is_none()));
    }

    #[test]
    fn every_break_parts_the_devices_between_both_ends() {
        for broken in 0..=4 {
            let ring = ring(4, &[broken]);
            let (first, second) = (ring.passage(End::First), ring.passage(End::Second));
            assert_eq!(order(&ring, End::First), (0..broken).collect::<Vec<_>>());
            assert_eq!(order(&ring, End::Second), (broken..4).collect::<Vec<_>>());
            // At the end whose own cable is broken nothing comes back.
            assert_eq!(first.leaves, (broken > 0).then_some(End::First));
            assert_eq!(second.leaves, (broken < 4).then_some(End::Second));
            assert_eq!((first.loops_at, second.loops_at), (None, (broken < 4).then_some(0)));
            for device in 0..4 {
                let expected = match broken {
                    at if at == device => 0x5923,
                    at if at == device + 1 => 0x5613,
                    _ => 0x5A33,
                };
                assert_eq!(status(&ring, device), expected, "device {device}, cable {broken}");
            }
        }
    }

    #[test]
    fn a_second_break_leaves_the_devices_between_them_alone() {
        let ring = ring(5, &[1, 3]);
        assert_eq!((order(&ring, End::First), order(&ring, End::Second)), (vec![0], vec![3, 4]));
        assert_eq!((status(&ring, 1), status(&ring, 2)), (0x5923, 0x5613));
    }

    #[test]
    fn frames_from_the_second_end_work_where_port_0_is_closed() {
        let ring = ring(4, &[2]);
        let visits = &ring.passage(End::Second).visits;
        // Backward through port 1 of 3 and of 2, forward again from there.
        assert_eq!((visits[0].1.enters_ns, visits[1].1.enters_ns), (100, 200));
        assert_eq!(visits[0].1.ports_ns, [None, Some(100), None, None]);
        assert_eq!(visits[1].1.ports_ns, [Some(200), Some(0), None, None]);
    }

    #[test]
    fn a_branch_at_port_2_is_worked_on_by_frames_from_the_second_end() {
        let mut fork = topology(&["", "", "attached_to=\"d0\"\nport=2"]);
        fork.close_ring();
        fork.refresh(&|_| true);
        assert_eq!((order(&fork, End::First), order(&fork, End::Second)), (vec![0, 1], vec![2]));
    }

    #[test]
    fn a_device_without_power_is_a_break_at_both_of_its_sides() {
        let mut ring = ring(5, &[]);
        ring.refresh(&|device| device != 2);
        assert_eq!((order(&ring, End::First), order(&ring, End::Second)), (vec![0, 1], vec![3, 4]));
        assert_eq!((status(&ring, 1), status(&ring, 3)), (0x5613, 0x5923));
    }

    #[test]
    fn a_port_that_the_master_closed_takes_no_frame_from_its_cable() {
        let mut ring = ring(4, &[]);
        ring.set_closed(1, 0b0010);
        ring.refresh(&|_| true);
        assert_eq!((order(&ring, End::First), ring.passage(End::First).leaves), (vec![0, 1], Some(End::First)));
        assert_eq!((order(&ring, End::Second), ring.passage(End::Second).leaves), (vec![], None));
    }

    #[test]
    fn an_interface_without_a_link_is_a_broken_cable() {
        let mut ring = ring(3, &[]);
        ring.set_carrier(End::Second, false);
        ring.refresh(&|_| true);
        assert_eq!((order(&ring, End::First), ring.passage(End::First).leaves), (vec![0, 1, 2], Some(End::First)));
        assert_eq!(status(&ring, 2), 0x5613);
    }
}
