// SPDX-License-Identifier: Apache-2.0
//! Which pulse an edge belongs to. Pure.

/// A rising edge, as the input terminal stamped it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    /// By the terminal's clock, from the first, ns.
    pub(super) time_ns: f64,
    /// Which pulse of the train it is, from 0. Pulses that were missed leave holes.
    pub(super) number: f64,
}

/// Gives each new stamp of the terminal the number of its pulse.
#[derive(Debug)]
pub(super) struct Collector {
    wanted: u64,
    last: Option<(u16, u64)>,
    /// Time and pulse of the first edge.
    first: Option<(u64, u64)>,
    /// Pulses since the first, itself included.
    pub(super) seen: u64,
    /// Times that changed although the terminal had counted no edge.
    pub(super) uncounted: u64,
}

impl Collector {
    pub(super) fn new(wanted: u64) -> Self {
        Self { wanted, last: None, first: None, seen: 0, uncounted: 0 }
    }

    /// Takes the terminal's answer in a cycle: its counter of edges of both directions, and the time of the
    /// last rising one. `pulse` is the last one made before that cycle: the answer cannot show the cycle's own yet.
    pub(super) fn see(&mut self, count: u16, rising_ns: u64, pulse: u64) -> Option<Edge> {
        let (last_count, last_rising) = self.last.replace((count, rising_ns))?;
        if rising_ns == last_rising || self.done() {
            return None;
        }
        let (first_ns, first_pulse) = *self.first.get_or_insert((rising_ns, pulse));
        self.uncounted += u64::from(count == last_count);
        self.seen = pulse - first_pulse + 1;
        let edge = Edge { time_ns: (rising_ns - first_ns) as f64, number: (self.seen - 1) as f64 };
        (self.seen <= self.wanted).then_some(edge)
    }

    pub(super) fn done(&self) -> bool {
        self.seen >= self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges that were taken, as the terminal reported them: its count, the time, the last pulse before it.
    fn taken(collector: &mut Collector, said: &[(u16, u64, u64)]) -> Vec<(f64, f64)> {
        let edges = said.iter().filter_map(|(count, rising, pulse)| collector.see(*count, *rising, *pulse));
        edges.map(|edge| (edge.time_ns, edge.number)).collect()
    }

    #[test]
    fn every_rising_edge_is_taken_once() {
        let mut collector = Collector::new(3);
        // Known one cycle after its pulse, and still in the one after that.
        let said = [(7, 0, 4), (8, 1000, 5), (9, 1000, 5), (10, 2010, 6), (11, 2010, 6), (12, 2995, 7), (13, 2995, 7)];
        assert_eq!(taken(&mut collector, &said), [(0.0, 0.0), (1010.0, 1.0), (1995.0, 2.0)]);
        assert!(collector.done() && collector.uncounted == 0);
    }

    #[test]
    fn an_answer_that_was_lost_does_not_change_the_number_of_an_edge() {
        // The second edge is known in the cycle of the third pulse, which is not made before its frame has left.
        let said = [(7, 0, 4), (8, 1000, 5), (11, 2010, 6), (12, 3001, 7)];
        assert_eq!(taken(&mut Collector::new(10), &said), [(0.0, 0.0), (1010.0, 1.0), (2001.0, 2.0)]);
    }

    #[test]
    fn a_pause_after_a_pulse_keeps_its_number_and_leaves_holes() {
        let mut collector = Collector::new(10);
        // The machine pauses after pulse 6: its edge is known late, the next pulse is 9. The counter wraps.
        let said = [(65_533, 0, 4), (65_534, 1000, 5), (65_535, 2000, 6), (0, 2000, 6), (1, 5003, 9)];
        assert_eq!(taken(&mut collector, &said), [(0.0, 0.0), (1000.0, 1.0), (4003.0, 4.0)]);
        assert_eq!(collector.seen, 5);
    }

    #[test]
    fn a_time_without_an_edge_fails_the_proof() {
        let mut collector = Collector::new(10);
        taken(&mut collector, &[(7, 0, 4), (7, 1000, 5)]);
        assert_eq!(collector.uncounted, 1);
    }
}
