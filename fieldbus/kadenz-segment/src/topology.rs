// SPDX-License-Identifier: Apache-2.0
//! Who is attached to whom, which links stand, and when a frame passes each port.

use crate::settings::RingFile;

/// Order in which a device sends a frame on to its ports.
const PORT_ORDER: [usize; 3] = [3, 1, 2];

/// One device in the tree; `children` has an element a port.
#[derive(Debug, Clone, Default)]
struct Place {
    parent: Option<usize>,
    children: [Option<usize>; 4],
    /// The link to the parent stands.
    linked: bool,
    /// Ports whose loop the device's controller keeps closed (bit = port).
    closed: u8,
}

/// When a frame meets a reachable device, ns after it entered the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// At its processing unit.
    pub enters_ns: u64,
    /// At each port; `None` where no link stands.
    pub ports_ns: [Option<u64>; 4],
    /// Ports with a link (bit = port), also those whose loop is closed.
    pub links: u8,
}

/// The tree of devices.
#[derive(Debug, Clone)]
pub struct Topology {
    places: Vec<Place>,
    hop_ns: u64,
    /// By device; a frame passes the devices in this order.
    visits: Vec<Option<Visit>>,
}

impl Topology {
    /// From a ring file: (message, remedy) if it describes no tree in processing order.
    pub fn new(file: &RingFile) -> Result<Self, (String, String)> {
        let mut places = vec![Place::default(); file.device.len()];
        for (at, device) in file.device.iter().enumerate() {
            places[at].linked = true;
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
            if places[parent].children[port].is_some() {
                let message =
                    format!("device {at} ({}): port {port} of {} is taken", device.name, file.device[parent].name);
                return Err((message, "Choose another port, or attach it to the device there".into()));
            }
            places[parent].children[port] = Some(at);
            places[at].parent = Some(parent);
        }
        let mut topology = Self { places, hop_ns: u64::from(file.ring.hop_ns), visits: Vec::new() };
        let order = topology.refresh(&|_| true);
        if order.iter().enumerate().any(|(at, device)| at != *device) {
            let names: Vec<&str> = order.iter().map(|device| file.device[*device].name.as_str()).collect();
            let message = "the devices are not in the order in which a frame passes them (ports 3, 1, 2)".to_owned();
            return Err((message, format!("List them as: {}", names.join(", "))));
        }
        Ok(topology)
    }

    /// Breaks or heals the cable in front of a device.
    pub fn set_link(&mut self, device: usize, stands: bool) {
        if let Some(place) = self.places.get_mut(device) {
            place.linked = stands;
        }
    }

    /// Closes the loops of a device's ports, and opens the others.
    pub fn set_closed(&mut self, device: usize, ports: u8) {
        if let Some(place) = self.places.get_mut(device) {
            place.closed = ports;
        }
    }

    /// Recomputes which devices a frame reaches, and when. Gives the devices in the order in which a frame passes them.
    pub fn refresh(&mut self, has_power: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut passed = Vec::with_capacity(self.places.len());
        if self.is_up(0, has_power) {
            self.walk(0, 0, has_power, &mut passed);
        }
        self.visits = vec![None; self.places.len()];
        for (device, visit) in &passed {
            self.visits[*device] = Some(*visit);
        }
        passed.into_iter().map(|(device, _)| device).collect()
    }

    fn is_up(&self, device: usize, has_power: &dyn Fn(usize) -> bool) -> bool {
        self.places.get(device).is_some_and(|place| place.linked) && has_power(device)
    }

    fn walk(
        &self,
        device: usize,
        enters_ns: u64,
        has_power: &dyn Fn(usize) -> bool,
        passed: &mut Vec<(usize, Visit)>,
    ) -> u64 {
        let at = passed.len();
        passed.push((device, Visit { enters_ns, ports_ns: [Some(enters_ns), None, None, None], links: 1 }));
        let mut now_ns = enters_ns;
        for port in PORT_ORDER {
            let Some(child) = self.places[device].children[port].filter(|child| self.is_up(*child, has_power)) else {
                continue;
            };
            passed[at].1.links |= 1 << port;
            if self.places[device].closed & 1 << port != 0 {
                continue;
            }
            now_ns = self.walk(child, now_ns + self.hop_ns, has_power, passed) + self.hop_ns;
            passed[at].1.ports_ns[port] = Some(now_ns);
        }
        now_ns
    }

    /// By device, which is the order of passing: when a frame meets it; `None` where no frame comes.
    #[inline]
    pub fn visits(&self) -> &[Option<Visit>] {
        &self.visits
    }

    /// The devices attached to a device.
    pub fn children(&self, device: usize) -> impl Iterator<Item = usize> + '_ {
        self.places.get(device).into_iter().flat_map(|place| place.children.iter().flatten().copied())
    }

    /// The device a device is attached to, and the port.
    pub fn parent(&self, device: usize) -> Option<(usize, usize)> {
        let parent = self.places.get(device)?.parent?;
        let port = self.places.get(parent)?.children.iter().position(|child| *child == Some(device))?;
        Some((parent, port))
    }
}

/// DL status (0x0110): link, loop and communication of each port. `links`: those with a link (bit = port), of which one
/// without a time has its loop closed by the master.
pub fn dl_status(ports_ns: &[Option<u64>; 4], links: u8) -> u16 {
    // Bits 0 and 1: the application runs, its watchdog is quiet.
    ports_ns.iter().enumerate().fold(0x0003, |status, (port, time)| {
        let loop_closed = if time.is_some() { 0 } else { 1 << (8 + 2 * port) };
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

    fn reached(topology: &Topology) -> Vec<Visit> {
        topology.visits().iter().flatten().copied().collect()
    }

    #[test]
    fn a_line_is_passed_outward_and_back() {
        let line = topology(&["", "", ""]);
        let times: Vec<_> = reached(&line).iter().map(|visit| (visit.ports_ns[0], visit.ports_ns[1])).collect();
        assert_eq!(times, [(Some(0), Some(400)), (Some(100), Some(300)), (Some(200), None)]);
    }

    #[test]
    fn dl_status_has_the_values_of_real_lines() {
        assert_eq!(dl_status(&[Some(0), Some(1), None, None], 0b0011), 0x5A33);
        assert_eq!(dl_status(&[Some(0), None, None, None], 0b0001), 0x5613);
    }

    #[test]
    fn a_branch_at_port_3_is_passed_first() {
        let fork = topology(&["", "attached_to=\"d0\"\nport=3", "attached_to=\"d0\"\nport=1"]);
        assert_eq!(reached(&fork)[0].ports_ns, [Some(0), Some(400), None, Some(200)]);
        assert_eq!(reached(&fork)[2].enters_ns, 300);
    }

    #[test]
    fn a_broken_cable_hides_everything_behind_it() {
        let mut line = topology(&["", "", ""]);
        line.set_link(1, false);
        line.refresh(&|_| true);
        assert_eq!(reached(&line).len(), 1);
        assert_eq!(dl_status(&reached(&line)[0].ports_ns, reached(&line)[0].links), 0x5613);
    }
}
