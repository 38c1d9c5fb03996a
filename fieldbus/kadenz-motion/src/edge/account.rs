// SPDX-License-Identifier: Apache-2.0
//! What the acquisition program read, and which pulse each of its stamps belongs to. Pure.

use super::collector::Edge;

/// A new time of a rising edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Edges of both directions that the terminal had counted, since the first poll.
    pub(super) counted: u64,
    /// By the terminal's clock, ns.
    pub(super) time_ns: u64,
}

/// All that was read. The output was low at the first poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) stamps: Vec<Stamp>,
    /// Edges of both directions that the terminal counted.
    pub(super) counted: u64,
    /// Polls with an answer.
    pub(super) polls: u64,
    /// Longest time between two of them, ns.
    pub(super) longest_ns: u64,
    /// Stamps that found no room.
    pub(super) refused: u64,
    /// Times the ring was led back into OP.
    pub(super) led_back: u64,
}

/// A pulse that the master ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pulse {
    /// Its number in the train.
    pub(super) number: u64,
    /// It has an edge if frames without an answer did not reach the output.
    pub(super) if_lost: bool,
    /// It has an edge if they did, and only their answers were lost.
    pub(super) if_applied: bool,
}

/// The edges with their pulses, and what to say of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Paired {
    pub(super) edges: Vec<Edge>,
    /// Times that changed although the terminal had counted no edge.
    pub(super) uncounted: u64,
    pub(super) texts: Vec<String>,
}

/// Pulses that a sentence names.
const NAMED: usize = 8;

/// Number of the last rising edge among this many edges of both directions, from 1.
fn rising(counted: u64) -> u64 {
    counted.div_ceil(2)
}

impl Account {
    /// Rising edges that the terminal counted.
    pub(super) fn rising(&self) -> u64 {
        rising(self.counted)
    }

    /// Lines for [`Account::read`].
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let stamps = self.stamps.iter().map(|stamp| format!("stamp {} {}", stamp.counted, stamp.time_ns));
        let Self { counted, polls, longest_ns, refused, led_back, .. } = self;
        stamps.chain([format!("end {counted} {polls} {longest_ns} {refused} {led_back}")])
    }

    /// Reads the lines; `None` if they break off.
    pub(super) fn read(lines: impl Iterator<Item = String>) -> Option<Self> {
        let mut account = Self::default();
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            let numbers: Vec<u64> = rest.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
            match (kind, numbers.as_slice()) {
                ("stamp", &[counted, time_ns]) => account.stamps.push(Stamp { counted, time_ns }),
                ("end", &[counted, polls, longest_ns, refused, led_back]) => {
                    return Some(Self { counted, polls, longest_ns, refused, led_back, ..account });
                }
                _ => return None,
            }
        }
        None
    }

    /// Gives each stamp its pulse. The edges of an output come in the order of its pulses, and a terminal that counted
    /// as many as were ordered has counted these. The error is why their pulses are unknown.
    pub(super) fn pair(&self, pulses: &[Pulse]) -> Result<Paired, String> {
        let numbers = |has_edge: fn(&Pulse) -> bool| -> Vec<u64> {
            pulses.iter().filter(|pulse| has_edge(pulse)).map(|pulse| pulse.number).collect()
        };
        let (lost, applied) = (numbers(|pulse| pulse.if_lost), numbers(|pulse| pulse.if_applied));
        let counted = self.rising();
        let Some(numbers) = [&lost, &applied].into_iter().find(|numbers| numbers.len() as u64 == counted) else {
            return Err(if counted == 0 {
                "the terminal of the second ring counted no edge: is the output wired to it?".into()
            } else {
                let (lost, applied) = (lost.len(), applied.len());
                format!(
                    "the terminal counted {counted} edges, the output made {lost} or {applied} by its master's answers"
                )
            });
        };
        let mut paired = Paired::default();
        let (mut last, mut missed) = (0, Vec::new());
        let name = |edge: u64| usize::try_from(edge - 1).ok().and_then(|at| numbers.get(at)).copied();
        for stamp in &self.stamps {
            let edge = rising(stamp.counted);
            if edge == last {
                paired.uncounted += 1;
                continue;
            }
            missed.extend((last + 1..edge).filter_map(name));
            last = edge;
            let Some(number) = name(edge) else { continue };
            let (first_ns, first) = (self.stamps[0].time_ns, name(rising(self.stamps[0].counted)).unwrap_or(number));
            let time_ns = stamp.time_ns.wrapping_sub(first_ns) as i64 as f64;
            paired.edges.push(Edge { time_ns, number: (number - first) as f64 });
        }
        missed.extend((last + 1..=counted).filter_map(name));
        paired.texts = self.texts(&missed, numbers.first().copied().unwrap_or(0));
        Ok(paired)
    }

    fn texts(&self, missed: &[u64], first: u64) -> Vec<String> {
        let mut texts = Vec::new();
        if !missed.is_empty() {
            let names: Vec<_> = missed.iter().take(NAMED).map(|number| (number - first).to_string()).collect();
            let more = if missed.len() > NAMED { " …" } else { "" };
            let (counted, longest_us) = (self.rising(), self.longest_ns as f64 / 1000.0);
            texts.push(format!(
                "second ring: {} of {counted} edges were over before the next poll and have no stamp: pulses {}{more}; polls \
                 were at most {longest_us:.0} µs apart",
                missed.len(),
                names.join(", ")
            ));
        }
        if self.refused > 0 {
            texts.push(format!("second ring: {} stamps found no room and are missed", self.refused));
        }
        if self.led_back > 0 {
            texts.push(format!("second ring: led back into OP {} times", self.led_back));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulses(numbers: &[(u64, bool)]) -> Vec<Pulse> {
        let pulse = |(number, if_lost): &(u64, bool)| Pulse { number: *number, if_lost: *if_lost, if_applied: true };
        numbers.iter().map(pulse).collect()
    }

    fn account(stamps: &[(u64, u64)], counted: u64) -> Account {
        let stamps = stamps.iter().map(|(counted, time_ns)| Stamp { counted: *counted, time_ns: *time_ns }).collect();
        Account { stamps, counted, polls: 9, longest_ns: 333_400, ..Account::default() }
    }

    fn numbers(paired: &Paired) -> Vec<(f64, f64)> {
        paired.edges.iter().map(|edge| (edge.time_ns, edge.number)).collect()
    }

    #[test]
    fn a_stamp_has_the_number_of_its_pulse_read_before_or_after_the_falling_edge() {
        let ordered = pulses(&[(7, true), (8, true), (9, true)]);
        let paired = account(&[(1, 50), (4, 1050), (5, 2051)], 6).pair(&ordered).unwrap();
        assert_eq!(numbers(&paired), [(0.0, 0.0), (1000.0, 1.0), (2001.0, 2.0)]);
        assert_eq!((paired.uncounted, paired.texts.len()), (0, 0));
    }

    #[test]
    fn an_edge_that_was_over_before_the_next_poll_is_named_and_never_invented() {
        let ordered = pulses(&[(7, true), (8, true), (9, true), (10, true)]);
        let paired = account(&[(2, 50), (6, 2050)], 8).pair(&ordered).unwrap();
        assert_eq!(numbers(&paired), [(0.0, 0.0), (2000.0, 2.0)]);
        let said =
            "second ring: 2 of 4 edges were over before the next poll and have no stamp: pulses 1, 3; polls were at \
                    most 333 µs apart";
        assert_eq!(paired.texts, [said]);
    }

    #[test]
    fn pulses_that_were_never_ordered_leave_holes() {
        let paired = account(&[(2, 0), (4, 201_000)], 4).pair(&pulses(&[(7, true), (208, true)])).unwrap();
        assert_eq!(numbers(&paired), [(0.0, 0.0), (201_000.0, 201.0)]);
    }

    #[test]
    fn frames_that_were_lost_made_no_edge_and_answers_that_were_lost_did() {
        let ordered = pulses(&[(7, true), (8, false), (9, true)]);
        let before = account(&[(2, 0), (4, 2000)], 4).pair(&ordered).unwrap();
        assert_eq!(numbers(&before), [(0.0, 0.0), (2000.0, 2.0)]);
        let after = account(&[(2, 0), (4, 1000), (6, 2000)], 6).pair(&ordered).unwrap();
        assert_eq!(numbers(&after), [(0.0, 0.0), (1000.0, 1.0), (2000.0, 2.0)]);
    }

    #[test]
    fn edges_that_are_not_those_of_the_output_are_refused() {
        let ordered = pulses(&[(7, true), (8, true)]);
        let said = account(&[(2, 0), (4, 1000), (6, 2000)], 6).pair(&ordered).unwrap_err();
        assert_eq!(said, "the terminal counted 3 edges, the output made 2 or 2 by its master's answers");
        assert!(account(&[], 0).pair(&ordered).unwrap_err().contains("is the output wired to it?"));
    }

    #[test]
    fn a_time_without_an_edge_fails_the_proof() {
        let paired = account(&[(2, 0), (2, 700), (4, 1000)], 4).pair(&pulses(&[(7, true), (8, true)])).unwrap();
        assert_eq!((paired.uncounted, paired.edges.len()), (1, 2));
    }

    #[test]
    fn an_account_travels_as_text_and_one_that_breaks_off_is_none() {
        let account = Account { refused: 3, led_back: 1, ..account(&[(1, 5), (3, 1005)], 4) };
        let lines: Vec<_> = account.lines().collect();
        assert_eq!(Account::read(lines.clone().into_iter()), Some(account));
        assert_eq!(Account::read(lines[..2].iter().cloned()), None);
        assert_eq!(Account::read(["nonsense".to_owned()].into_iter()), None);
    }
}
