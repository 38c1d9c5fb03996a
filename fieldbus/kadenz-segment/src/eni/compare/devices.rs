// SPDX-License-Identifier: Apache-2.0
//! Which device of a file is which of the ring: missing, added, exchanged, replaced.

use super::Difference;
use crate::description::Identity;
use crate::eni::{Line, Network};
use crate::ring::Ring;

/// Vendor and product: what decides that a device is the one of the file.
type Kind = (u32, u32);

fn kind(identity: &Identity) -> Kind {
    (identity.vendor, identity.product)
}

/// Pairs of devices of the same kind, (in the file, in the ring). Names those without a partner.
pub(super) fn pairs(network: &Network, ring: &Ring, differences: &mut Vec<Difference>) -> Vec<(usize, usize)> {
    let file: Vec<Kind> = network.slaves.iter().map(|slave| kind(&slave.identity)).collect();
    let ring_kinds: Vec<Kind> = ring.devices.iter().map(|device| kind(&device.description.identity)).collect();
    let exchanged = exchanged(&file, &ring_kinds);
    let in_place = file.iter().zip(&ring_kinds).filter(|(a, b)| a == b).count();
    let longest = longest(&file, &ring_kinds);
    let is_by_place = file.len() == ring_kinds.len() && in_place + 2 * exchanged.len() >= longest.len();
    let mut names = Names { network, ring, differences };
    if is_by_place {
        names.exchange(&exchanged);
        let is_exchanged = |at: usize| exchanged.iter().any(|(a, b)| *a == at || *b == at);
        let wrong = (0..file.len()).filter(|at| file[*at] != ring_kinds[*at] && !is_exchanged(*at));
        wrong.for_each(|at| names.replace(at));
        let partner = |at: usize| {
            let other = exchanged.iter().find_map(|(a, b)| match at {
                _ if at == *a => Some(*b),
                _ if at == *b => Some(*a),
                _ => None,
            });
            other.or((file[at] == ring_kinds[at]).then_some(at)).map(|other| (at, other))
        };
        return (0..file.len()).filter_map(partner).collect();
    }
    let is_in = |at: usize, side: fn(&(usize, usize)) -> usize| longest.iter().any(|pair| side(pair) == at);
    (0..file.len()).filter(|at| !is_in(*at, |pair| pair.0)).for_each(|at| names.lack(at));
    (0..ring_kinds.len()).filter(|at| !is_in(*at, |pair| pair.1)).for_each(|at| names.add(at));
    longest
}

/// Pairs of places whose devices have changed places with each other.
fn exchanged(file: &[Kind], ring: &[Kind]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let wrong: Vec<usize> = (0..file.len().min(ring.len())).filter(|at| file[*at] != ring[*at]).collect();
    for (number, first) in wrong.iter().copied().enumerate() {
        let is_free = |at: usize| !pairs.iter().any(|(a, b)| *a == at || *b == at);
        let second = wrong[number + 1..].iter().copied().find(|second| {
            is_free(first) && is_free(*second) && file[first] == ring[*second] && file[*second] == ring[first]
        });
        pairs.extend(second.map(|second| (first, second)));
    }
    pairs
}

/// The longest common subsequence of the kinds.
fn longest(file: &[Kind], ring: &[Kind]) -> Vec<(usize, usize)> {
    let width = ring.len() + 1;
    let mut lengths = vec![0_u16; (file.len() + 1) * width];
    for a in (0..file.len()).rev() {
        for b in (0..ring.len()).rev() {
            lengths[a * width + b] = if file[a] == ring[b] {
                lengths[(a + 1) * width + b + 1] + 1
            } else {
                lengths[(a + 1) * width + b].max(lengths[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < file.len() && b < ring.len() {
        if file[a] == ring[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[(a + 1) * width + b] >= lengths[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

struct Names<'a> {
    network: &'a Network,
    ring: &'a Ring,
    differences: &'a mut Vec<Difference>,
}

impl Names<'_> {
    fn in_file(&self, at: usize) -> (Line, String) {
        self.network.slaves.get(at).map_or((Line(0), String::new()), |slave| {
            let (vendor, product) = kind(&slave.identity);
            (slave.line, format!("Slave {at} ({}, vendor {vendor:#x}, product {product:#x})", slave.name))
        })
    }

    fn in_ring(&self, at: usize) -> String {
        self.ring.devices.get(at).map_or(String::new(), |device| {
            let (vendor, product) = kind(&device.description.identity);
            format!("device {at} ({}, vendor {vendor:#x}, product {product:#x})", device.name)
        })
    }

    fn exchange(&mut self, pairs: &[(usize, usize)]) {
        for (first, second) in pairs {
            let (line, name) = self.in_file(*first);
            let (Line(other_line), other) = self.in_file(*second);
            let message = format!("{name} and {other} of line {other_line} are exchanged in the ring");
            self.differences.push(Difference::new(line, message));
        }
    }

    fn replace(&mut self, at: usize) {
        let (line, name) = self.in_file(at);
        let message = format!("{name}: the ring has {} there", self.in_ring(at));
        self.differences.push(Difference::new(line, message));
    }

    fn lack(&mut self, at: usize) {
        let (line, name) = self.in_file(at);
        self.differences.push(Difference::new(line, format!("{name} is missing in the ring")));
    }

    fn add(&mut self, at: usize) {
        let message = format!("{} of the ring is missing in the file", self.in_ring(at));
        self.differences.push(Difference::new(Line(0), message));
    }
}
