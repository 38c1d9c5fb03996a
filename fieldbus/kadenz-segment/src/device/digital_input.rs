// SPDX-License-Identifier: Apache-2.0
//! Digital input terminal that stamps edges with a clock of its own.

use super::channels::{Channel, Place};
use super::edge_clock::EdgeClock;
use crate::coe::object::{Dictionary, Handle};
use crate::description::{entry, gap, DataType, Pdo, PdoEntry};
use std::collections::VecDeque;

/// Edges on their way to the terminal. More than this between two samples means a source far too fast.
const EDGES: usize = 1024;
/// Channels that may have stamps.
const MOST_STAMPED: u8 = 16;

#[derive(Debug, Clone, Copy)]
struct Stamps {
    count: Option<Handle>,
    rising: Option<Handle>,
    falling: Option<Handle>,
}

/// Inputs of a digital terminal; stamped channels time each edge by the terminal's clock.
pub struct DigitalInput {
    levels: Vec<Channel>,
    stamps: Vec<Stamps>,
    pending: VecDeque<(u64, u8, bool)>,
    clock: EdgeClock,
    /// Edges that found no room.
    pub lost_edges: u64,
}

/// First object of a channel's stamps; each channel takes sixteen indices.
fn stamp_index(channel: u8) -> u16 {
    0x6100 + 0x10 * u16::from(channel - 1)
}

/// Channels from the first that have all objects of a stamp among these entries.
pub fn stamped(entries: &[&PdoEntry]) -> u8 {
    let has = |index, sub| entries.iter().any(|entry| (entry.index, entry.sub) == (index, sub));
    let is_stamped = |channel: &u8| (1..=3).all(|sub| has(stamp_index(*channel), sub));
    (1..=MOST_STAMPED).take_while(is_stamped).count() as u8
}

/// Process data: one bit a channel filled to bytes, then for each stamped channel the number of edges (16 bits), the
/// time of the last rising edge and of the last falling edge (64 bits each, ns of the terminal's own clock).
pub fn pdos(channels: u8, stamped: u8) -> Vec<Pdo> {
    let mut entries: Vec<_> = (1..=channels).map(|k| entry(0x6000, k, DataType::Bool, format!("input {k}"))).collect();
    if stamped > 0 && channels % 8 != 0 {
        entries.push(gap(u16::from(8 - channels % 8)));
    }
    for channel in 1..=stamped {
        let index = stamp_index(channel);
        entries.push(entry(index, 1, DataType::U16, format!("edges {channel}")));
        entries.push(entry(index, 2, DataType::U64, format!("rising {channel}, ns")));
        entries.push(entry(index, 3, DataType::U64, format!("falling {channel}, ns")));
    }
    vec![Pdo { index: 0x1A00, name: "inputs".into(), entries }]
}

impl DigitalInput {
    /// All inputs low, and no edge stamped.
    pub fn new(places: &[Place], stamped: u8, clock: EdgeClock, dictionary: &Dictionary) -> Self {
        let stamps = |channel| {
            let handle = |sub| dictionary.handle(stamp_index(channel), sub);
            Stamps { count: handle(1), rising: handle(2), falling: handle(3) }
        };
        Self {
            levels: Channel::find(places, dictionary),
            stamps: (1..=stamped).map(stamps).collect(),
            pending: VecDeque::with_capacity(EDGES),
            clock,
            lost_edges: 0,
        }
    }

    /// An edge reaches a channel (from 1).
    pub fn edge(&mut self, channel: u8, level: bool, world_ns: u64) {
        if self.pending.len() == EDGES {
            self.lost_edges += 1;
            return;
        }
        // Wires differ in length: keep the queue in order of time.
        let at = self.pending.partition_point(|pending| pending.0 <= world_ns);
        self.pending.insert(at, (world_ns, channel, level));
    }

    /// The next edge has no room before a sample is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() == EDGES
    }

    /// Power off and on: the levels outside keep their values, counts and stamps restart.
    pub(super) fn power_cycle(&mut self, before: &Dictionary, dictionary: &mut Dictionary) {
        for channel in &self.levels {
            channel.set(dictionary, channel.get(before));
        }
    }

    /// Samples the edges up to `now_ns`.
    pub(crate) fn publish(&mut self, dictionary: &mut Dictionary, now_ns: u64) {
        while self.pending.front().is_some_and(|edge| edge.0 <= now_ns) {
            let Some((world_ns, channel, level)) = self.pending.pop_front() else { break };
            let Some(at) = usize::from(channel).checked_sub(1) else { continue };
            if let Some(channel) = self.levels.get(at) {
                channel.set(dictionary, i64::from(level));
            }
            let Some(stamps) = self.stamps.get(at) else { continue };
            if let Some(handle) = stamps.count {
                dictionary.set(handle, dictionary.get(handle).wrapping_add(1));
            }
            if let Some(handle) = if level { stamps.rising } else { stamps.falling } {
                dictionary.set(handle, self.clock.stamp(world_ns) as i64);
            }
        }
    }
}
