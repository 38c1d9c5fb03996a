// SPDX-License-Identifier: Apache-2.0
//! Repetition: which of the things that are counted a fault concerns.

/// Begins at `from`; holds for `count`; again every `every`, `repeat` times; never behind `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The first that it concerns, counted from 1.
    pub from: u64,
    /// How many in a row; absent: all that follow.
    pub count: Option<u64>,
    /// It begins again after as many; absent: it begins once.
    pub every: Option<u64>,
    /// How often it begins; absent: without end where `every` is given, else once.
    pub repeat: Option<u64>,
    /// The last that it may concern.
    pub to: Option<u64>,
}

impl Schedule {
    /// Which beginning `unit` belongs to, and how far it is behind that; both from 0.
    pub fn place(&self, unit: u64) -> Option<(u64, u64)> {
        let passed = unit.checked_sub(self.from)?;
        let (beginning, passed) = match self.every {
            Some(every) => (passed / every.max(1), passed % every.max(1)),
            None => (0, passed),
        };
        let is_in = self.to.is_none_or(|to| unit <= to) && self.repeat.is_none_or(|repeat| beginning < repeat);
        is_in.then_some((beginning, passed))
    }

    /// Whether the fault concerns `unit`.
    pub fn holds(&self, unit: u64) -> bool {
        self.place(unit).is_some_and(|(_, passed)| self.count.is_none_or(|count| passed < count))
    }

    /// Whether it concerns nothing behind `unit`.
    pub fn is_past(&self, unit: u64) -> bool {
        let ends = match (self.every, self.repeat) {
            (None, _) => self.count.map(|count| self.from.saturating_add(count)),
            (Some(every), Some(repeat)) => Some(
                self.from
                    .saturating_add(every.saturating_mul(repeat.saturating_sub(1)))
                    .saturating_add(self.count.unwrap_or(every)),
            ),
            (Some(_), None) => None,
        };
        let next = unit.saturating_add(1);
        ends.is_some_and(|end| next >= end) || self.to.is_some_and(|to| next > to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(schedule: Schedule) -> Vec<u64> {
        (1..=30).filter(|unit| schedule.holds(*unit)).collect()
    }

    #[test]
    fn a_schedule_holds_once_several_times_every_few_and_from_to() {
        let once = Schedule { from: 5, count: Some(2), every: None, repeat: None, to: None };
        assert_eq!(held(once), [5, 6]);
        assert_eq!(held(Schedule { every: Some(10), ..once }), [5, 6, 15, 16, 25, 26]);
        assert_eq!(held(Schedule { every: Some(10), repeat: Some(2), ..once }), [5, 6, 15, 16]);
        assert_eq!(held(Schedule { every: Some(10), to: Some(15), ..once }), [5, 6, 15]);
        assert_eq!(held(Schedule { count: None, to: Some(8), ..once }), [5, 6, 7, 8]);
    }

    #[test]
    fn a_schedule_is_past_when_it_holds_nothing_more() {
        let base = Schedule { from: 3, count: Some(2), every: None, repeat: None, to: None };
        for schedule in [
            base,
            Schedule { every: Some(4), repeat: Some(3), ..base },
            Schedule { every: Some(4), to: Some(12), ..base },
            Schedule { count: None, to: Some(9), ..base },
        ] {
            let last = held(schedule).pop().unwrap();
            assert!((1..last).all(|unit| !schedule.is_past(unit)), "{schedule:?}");
            assert!((last + 4..30).all(|unit| schedule.is_past(unit)), "{schedule:?}");
        }
    }
}
