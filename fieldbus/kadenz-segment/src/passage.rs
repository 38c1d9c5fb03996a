// SPDX-License-Identifier: Apache-2.0
//! The way of a frame through the ports: which devices work on it, when, and at which end it leaves.
//!
//! A device works on a frame behind port 0 and sends it on through ports 3, 1, 2 and 0. A port whose loop is closed hands it
//! to the next one. So a frame that comes in at another port than 0 is passed on without work, unless it meets a closed
//! port 0, which sends it back through the processing unit (data sheet of the ET1100, section I, port order and loops).

use crate::topology::{port_of, End, Peer, Topology};

/// The port behind each port.
const NEXT: [usize; 4] = [3, 2, 0, 1];
/// A port notices this long after its cable broke that the link is lost, and closes its loop, ns. Until then frames go into
/// the broken cable. The data sheet of the ET1100 asks for less than 15 µs of a PHY that is used with redundancy.
pub const LINK_LOSS_NS: u64 = 15_000;

/// When a frame meets a device, ns after it entered the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// At its processing unit.
    pub enters_ns: u64,
    /// At each port; `None` where it does not come in.
    pub ports_ns: [Option<u64>; 4],
}

/// What a frame meets at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The frame goes out, or comes in.
    Open,
    /// The loop is closed.
    Closed,
    /// The cable is broken, and the port has not noticed: the frame is lost.
    Cut,
}

/// What happens to a frame on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It comes in at a port of a device.
    ComesIn(usize, usize),
    /// A device works on it; true where a closed port 0 sends it there.
    Works(usize, bool),
}

/// Follows a frame that comes in at an end, from step to step. Gives the end at which it leaves, if it does.
pub fn walk(
    topology: &Topology,
    end: End,
    way: &dyn Fn(usize, usize, u64) -> Way,
    see: &mut dyn FnMut(Step, u64),
) -> Option<End> {
    let (mut device, mut port) = topology.end(end)?;
    let (mut now_ns, mut comes_in, mut has_looped) = (0, true, false);
    // A frame passes each port at most twice: then it has met a closed port 0 again.
    for _ in 0..8 * (topology.devices() + 1) {
        if std::mem::take(&mut comes_in) {
            if way(device, port, now_ns) != Way::Open {
                break;
            }
            see(Step::ComesIn(device, port), now_ns);
            if port == 0 {
                see(Step::Works(device, false), now_ns);
            }
        }
        port = NEXT[port];
        match (way(device, port, now_ns), topology.peer(device, port)) {
            (Way::Cut, _) => break,
            (Way::Open, Some(Peer::Port(next, its_port))) => {
                (device, port) = (next, its_port);
                now_ns += topology.hop_ns();
                comes_in = true;
            }
            (Way::Open, Some(Peer::Master(end))) => return Some(end),
            _ if port != 0 => {}
            // The second closed port 0 destroys it.
            _ if has_looped => break,
            _ => {
                has_looped = true;
                see(Step::Works(device, true), now_ns);
            }
        }
    }
    None
}

/// The way of a frame through the segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passage {
    /// Devices that work on it, in this order.
    pub visits: Vec<(usize, Visit)>,
    /// Where it leaves; `None` if it does not.
    pub leaves: Option<End>,
    /// Number of the visits before it passes a closed port 0, where it is marked as circulating.
    pub loops_at: Option<usize>,
}

impl Passage {
    /// The way of a frame that comes in at an end. `way` says what it meets at a port, some ns after it entered.
    pub fn of(topology: &Topology, end: End, way: &dyn Fn(usize, usize, u64) -> Way) -> Self {
        let mut passage = Self::default();
        let mut ports = vec![[None; 4]; topology.devices()];
        let leaves = walk(topology, end, way, &mut |step, now_ns| match step {
            Step::ComesIn(device, port) => ports[device][port] = Some(now_ns),
            Step::Works(device, is_looped) => {
                passage.loops_at = passage.loops_at.or(is_looped.then_some(passage.visits.len()));
                passage.visit(device, now_ns);
            }
        });
        passage.leaves = leaves;
        passage.visits.iter_mut().for_each(|(device, visit)| visit.ports_ns = ports[*device]);
        passage
    }

    fn visit(&mut self, device: usize, enters_ns: u64) {
        self.visits.push((device, Visit { enters_ns, ports_ns: [None; 4] }));
    }

    /// Of a frame that comes with the mark of a circulating one: the first closed port 0 destroys it.
    #[must_use]
    pub fn of_marked(mut self) -> Self {
        if let Some(at) = self.loops_at {
            self.visits.truncate(at);
            (self.leaves, self.loops_at) = (None, None);
        }
        self
    }
}

/// A cable that breaks or heals at a moment of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CableChange {
    /// Device at one end of it.
    pub device: usize,
    /// Port there.
    pub port: usize,
    /// World time, ns.
    pub at_ns: u64,
    /// When the ports notice: a loop opens as soon as the link is back, and closes late.
    pub noticed_ns: u64,
    /// Whether it stands from then on.
    pub stands: bool,
}

impl CableChange {
    /// At a moment of its own.
    pub fn at(device: usize, port: usize, at_ns: u64, stands: bool) -> Self {
        let noticed_ns = at_ns.saturating_add(if stands { 0 } else { LINK_LOSS_NS });
        Self { device, port, at_ns, noticed_ns, stands }
    }

    /// Long enough before a frame comes that the ports have noticed.
    pub fn before(device: usize, port: usize, frame_ns: u64, stands: bool) -> Self {
        Self { device, port, at_ns: frame_ns, noticed_ns: frame_ns, stands }
    }

    fn is_at(&self, topology: &Topology, device: usize, port: usize) -> bool {
        (self.device, self.port) == (device, port)
            || port_of(topology.peer(device, port)) == Some((self.device, self.port))
    }
}

/// The way of a frame that enters at `now_ns`, while cables break and heal. `changes` in order of time.
pub fn in_flight(topology: &Topology, end: End, now_ns: u64, changes: &[CableChange]) -> Passage {
    Passage::of(topology, end, &ways(topology, now_ns, changes))
}

/// What a frame that enters at `now_ns` meets at a port, some ns later, while cables break and heal.
pub fn ways<'a>(
    topology: &'a Topology,
    now_ns: u64,
    changes: &'a [CableChange],
) -> impl Fn(usize, usize, u64) -> Way + 'a {
    move |device, port, after_ns| {
        let is_open = topology.open(device) & 1 << port != 0;
        let mut way = if is_open { Way::Open } else { Way::Closed };
        let world_ns = now_ns.saturating_add(after_ns);
        let is_closed = topology.closed(device) & 1 << port != 0;
        for change in changes.iter().filter(|change| change.at_ns <= world_ns && change.is_at(topology, device, port)) {
            way = match change.stands {
                true if is_closed => Way::Closed,
                true => Way::Open,
                false if change.noticed_ns <= world_ns || way == Way::Closed => Way::Closed,
                false => Way::Cut,
            };
        }
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RingFile;
    use std::path::Path;

    /// Five devices, 100 ns each, in a ring or in a line.
    fn topology(is_ring: bool) -> Topology {
        let devices: String = (0..5).map(|k| format!("[[device]]\nname=\"d{k}\"\nkind=\"coupler\"\n")).collect();
        let file = RingFile::parse(&format!("[ring]\nhop_ns=100\n{devices}"), Path::new("t")).unwrap();
        let mut topology = Topology::new(&file).unwrap();
        if is_ring {
            topology.close_ring();
        }
        topology.refresh(&|_| true);
        topology
    }

    fn visited(passage: &Passage) -> Vec<usize> {
        passage.visits.iter().map(|(device, _)| *device).collect()
    }

    fn change(device: usize, at_ns: u64, stands: bool) -> CableChange {
        CableChange::at(device, 0, at_ns, stands)
    }

    #[test]
    fn a_frame_is_lost_in_a_cable_that_breaks_before_it_comes() {
        let ring = topology(true);
        // At the cable in front of device 3 after 200 ns, behind it after 300 ns.
        for (at_ns, expected, leaves) in [(0, 3, None), (200, 3, None), (300, 3, None), (301, 5, Some(End::Second))] {
            let passage = in_flight(&ring, End::First, 1000, &[change(3, 1000 + at_ns, false)]);
            assert_eq!((visited(&passage).len(), passage.leaves), (expected, leaves), "{at_ns} ns");
        }
    }

    #[test]
    fn a_frame_is_lost_on_its_way_back_too_and_has_been_worked_on() {
        let line = topology(false);
        let passage = in_flight(&line, End::First, 0, &[change(3, 400, false)]);
        assert_eq!((visited(&passage), passage.leaves), (vec![0, 1, 2, 3, 4], None));
    }

    #[test]
    fn the_loop_closes_when_the_port_has_noticed() {
        let ring = topology(true);
        let broken = change(3, 0, false);
        let at = |now_ns| in_flight(&ring, End::First, now_ns, &[broken]).leaves;
        assert_eq!(at(LINK_LOSS_NS - 201), None);
        assert_eq!(at(LINK_LOSS_NS - 200), Some(End::First));
    }

    #[test]
    fn a_frame_between_two_closed_loops_is_worked_on_twice_and_destroyed() {
        // Behind the cable when it breaks, and back there only when the loop is closed: 40 devices and more in reality.
        let line = topology(false);
        let broken = change(1, 0, false);
        let entered_ns = 0;
        let passage = Passage::of(&line, End::First, &|device, port, after_ns| {
            let way = if line.open(device) & 1 << port != 0 { Way::Open } else { Way::Closed };
            if broken.is_at(&line, device, port) && after_ns > entered_ns + 200 {
                Way::Closed
            } else {
                way
            }
        });
        assert_eq!(visited(&passage), [0, 1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!((passage.leaves, passage.loops_at), (None, Some(5)));
    }

    #[test]
    fn a_cable_that_heals_lets_a_frame_through_from_then_on() {
        let mut ring = topology(true);
        ring.set_link(3, 0, false);
        ring.refresh(&|_| true);
        let heals = |at_ns| in_flight(&ring, End::First, 0, &[change(3, at_ns, true)]);
        assert_eq!((visited(&heals(201)).len(), heals(201).leaves), (3, Some(End::First)));
        assert_eq!((visited(&heals(200)).len(), heals(200).leaves), (5, Some(End::Second)));
        // From the other end it has been sent back by device 3, and leaves where it came in; or it passes on to the first.
        let back = |at_ns| in_flight(&ring, End::Second, 0, &[change(3, at_ns, true)]);
        assert_eq!((visited(&back(201)), back(201).leaves), (vec![3, 4], Some(End::Second)));
        assert_eq!((visited(&back(100)), back(100).leaves), (vec![], Some(End::First)));
    }

    #[test]
    fn a_marked_frame_ends_at_the_first_closed_port_0() {
        let mut ring = topology(true);
        ring.set_link(3, 0, false);
        ring.refresh(&|_| true);
        let passage = ring.passage(End::Second).clone();
        assert_eq!((passage.loops_at, visited(&passage)), (Some(0), vec![3, 4]));
        assert_eq!(passage.of_marked(), Passage::default());
        let first = ring.passage(End::First).clone();
        assert_eq!(first.clone().of_marked(), first, "it meets none");
    }
}
