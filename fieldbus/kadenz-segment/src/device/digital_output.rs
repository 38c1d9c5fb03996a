// SPDX-License-Identifier: Apache-2.0
//! Digital output terminal: levels, and the time of each edge.

use super::channels::{Channel, Place};
use crate::coe::object::Dictionary;
use crate::description::{entry, gap, DataType, Pdo};

/// An edge at an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Channel, from 1.
    pub channel: u8,
    /// Level of the output after the edge.
    pub level: bool,
    /// When the edge happened, world time, ns.
    pub world_ns: u64,
}

/// Edges kept until a reader fetches them after each step; more in one step are lost and counted.
const EDGES: usize = 256;

/// Outputs of a digital terminal; each change of level is kept as an [`Edge`].
pub struct DigitalOutput {
    channels: Vec<Channel>,
    levels: Vec<bool>,
    edges: Vec<Edge>,
    /// Edges that nobody fetched in time.
    pub lost_edges: u64,
    /// Edges since power-on.
    pub edge_count: u64,
}

/// Process data: one bit a channel, filled to a byte only from eight channels on, so that small terminals are mapped
/// bit by bit.
pub fn pdos(channels: u8) -> Vec<Pdo> {
    let mut entries: Vec<_> = (1..=channels).map(|k| entry(0x7000, k, DataType::Bool, format!("output {k}"))).collect();
    if channels > 8 && channels % 8 != 0 {
        entries.push(gap(u16::from(8 - channels % 8)));
    }
    vec![Pdo { index: 0x1600, name: "outputs".into(), entries }]
}

impl DigitalOutput {
    /// All outputs off, and no edge.
    pub fn new(places: &[Place], dictionary: &Dictionary) -> Self {
        Self {
            channels: Channel::find(places, dictionary),
            levels: vec![false; places.len()],
            edges: Vec::with_capacity(EDGES),
            lost_edges: 0,
            edge_count: 0,
        }
    }

    /// Level of a channel, from 1.
    pub fn level(&self, channel: u8) -> bool {
        usize::from(channel).checked_sub(1).and_then(|at| self.levels.get(at)).copied().unwrap_or(false)
    }

    pub(super) fn update(&mut self, dictionary: &Dictionary, world_ns: u64) {
        for channel in 0..self.levels.len() {
            let wanted = self.channels.get(channel).is_some_and(|channel| channel.get(dictionary) != 0);
            self.drive(channel, wanted, world_ns);
        }
    }

    pub(super) fn switch_off(&mut self, world_ns: u64) {
        for channel in 0..self.levels.len() {
            self.drive(channel, false, world_ns);
        }
    }

    fn drive(&mut self, channel: usize, wanted: bool, world_ns: u64) {
        let Some(level) = self.levels.get_mut(channel).filter(|level| **level != wanted) else { return };
        *level = wanted;
        self.edge_count += 1;
        if self.edges.len() < EDGES {
            self.edges.push(Edge { channel: channel as u8 + 1, level: wanted, world_ns });
        } else {
            self.lost_edges += 1;
        }
    }

    /// Edges since the ring last carried them to the inputs that are wired to this terminal.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(crate) fn forget_edges(&mut self) {
        self.edges.clear();
    }
}
