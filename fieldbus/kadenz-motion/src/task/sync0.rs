// SPDX-License-Identifier: Apache-2.0
//! Which SYNC0 takes the frame of a cycle. The path is tied to it, not to the cycle: a frame that leaves late carries
//! the setpoint of the SYNC0 it will meet. A frame too close to SYNC0 for a forecast waits until SYNC0 has passed.

use super::Release;

/// When a frame passed the reference clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    /// Since the last SYNC0, ns.
    pub(super) since_sync0_ns: u64,
    /// By that clock, ns.
    pub(super) system_time_ns: u64,
}

/// The place of SYNC0 in a cycle, and the SYNC0 that the last frame was built for.
#[derive(Debug)]
pub(super) struct Sync0 {
    period_ns: u64,
    /// Wanted time from a frame that leaves in time to SYNC0, ns.
    wanted_ns: u64,
    /// Time from the moment a cycle is due to SYNC0, less the way of a frame, as the answers show it, ns.
    behind_due_ns: u64,
    /// Number of the SYNC0 the last setpoint was for: that of its cycle, or a later one.
    target: Option<u64>,
    /// The ring's time when a frame passed its reference clock, less ours when it left, ns.
    way_ns: Option<i64>,
    /// The last frame passed later than it left for, as far as is known.
    held_up: bool,
}

impl Sync0 {
    /// SYNC0 shall be `wanted_ns` after the frame.
    pub(super) fn new(period_ns: u64, wanted_ns: u64) -> Self {
        Self { period_ns, wanted_ns, behind_due_ns: wanted_ns, target: None, way_ns: None, held_up: false }
    }

    /// The most by which the tasks' time is moved in a cycle, ns.
    fn most_ns(&self) -> i64 {
        (self.period_ns / 200) as i64
    }

    /// Within this time of SYNC0, a small delay on the way decides which SYNC0 takes a frame, ns.
    fn close_ns(&self) -> u64 {
        self.wanted_ns / 4
    }

    /// When a frame that is ready at `now_ns` has to leave: after SYNC0 if it would pass close to it, else now. Also
    /// now if the last frame was held up: the drives may hold its past setpoint, which that SYNC0 would take.
    pub(super) fn leave_ns(&self, now_ns: u64, release: &Release) -> u64 {
        let sync0_ns = release.due_ns + self.behind_due_ns;
        let is_close = now_ns < sync0_ns && sync0_ns - now_ns < self.close_ns();
        if is_close && !self.held_up {
            sync0_ns + self.period_ns / 50
        } else {
            now_ns
        }
    }

    /// Number of the SYNC0 that takes a frame which leaves at `now_ns`.
    fn taken_by(&self, now_ns: u64, release: &Release) -> u64 {
        let late_ns = now_ns.saturating_sub(release.due_ns);
        let passed = late_ns.checked_sub(self.behind_due_ns).map_or(0, |behind_ns| 1 + behind_ns / self.period_ns);
        release.nominal_ns / self.period_ns + passed
    }

    /// Setpoints by which the path advances to that of a frame that leaves at `now_ns`. The drives continue for at most
    /// `most` periods without one and then hold. The path waits meanwhile: a setpoint further ahead would be a jump.
    pub(super) fn steps(&mut self, now_ns: u64, release: &Release, most: u32) -> u64 {
        let target = self.taken_by(now_ns, release);
        let before = self.target.replace(target).unwrap_or(target.saturating_sub(1));
        target.saturating_sub(before).min(1 + u64::from(most))
    }

    /// A frame that leaves at `now_ns` is taken by the SYNC0 its setpoint is for. If not, too much time has passed and
    /// another setpoint is due.
    pub(super) fn still_meets(&self, now_ns: u64, release: &Release) -> bool {
        self.target == Some(self.taken_by(now_ns, release)) && self.leave_ns(now_ns, release) == now_ns
    }

    /// Takes the answer to the frame that left at `left_ns`: when it passed, since SYNC0 and by the ring's clock, ns.
    /// Returns by how much the tasks' time has to move, ns: a slow integral.
    pub(super) fn follow(&mut self, passing: Option<Passing>, left_ns: u64, release: &Release) -> i64 {
        let Some(passing) = passing else {
            self.held_up = true;
            return 0;
        };
        // A frame that was held up on its way shows a wrong place; clocks do not wander faster than this.
        let most = 2 * self.most_ns();
        let way = passing.system_time_ns.wrapping_sub(left_ns) as i64;
        let longer = way - self.way_ns.unwrap_or(way);
        self.way_ns = Some(way - longer + longer.clamp(-most, most));
        self.held_up = longer > self.close_ns() as i64;
        let period = self.period_ns as i64;
        let nearest = |span: i64| (span + period / 2).rem_euclid(period) - period / 2;
        let behind = self.behind_due_ns as i64;
        let seen = left_ns.saturating_sub(release.due_ns) as i64 - passing.since_sync0_ns as i64;
        self.behind_due_ns = (behind + nearest(seen - behind).clamp(-most, most)).rem_euclid(period) as u64;
        let late = nearest(passing.since_sync0_ns as i64 - (period - self.wanted_ns as i64));
        -(late / 8).clamp(-self.most_ns(), self.most_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: u64 = 1_000_000_000;

    fn sync0() -> Sync0 {
        Sync0::new(1_000_000, 500_000)
    }

    /// The cycle `number` periods after the first.
    fn cycle(number: u64) -> Release {
        let due_ns = DUE + number * 1_000_000;
        Release { nominal_ns: due_ns, due_ns, start_ns: due_ns, skipped: 0 }
    }

    #[test]
    fn the_path_follows_sync0_whichever_one_takes_a_frame() {
        // Number of each cycle; when its frame leaves after the moment it is due, µs; SYNC0s since the last frame's.
        let cycles = [
            (0, 20, 1),
            (1, 600, 2),
            (2, 20, 0),
            (3, 20, 1),
            (4, 900, 2),
            (5, 700, 1),
            (6, 100, 0),
            (10, 300, 4),
            (11, 1_700, 3),
            (13, 20, 0),
            (14, 20, 1),
        ];
        let mut sync0 = sync0();
        for (number, late_us, steps) in cycles {
            let release = cycle(number);
            let leaves_ns = release.due_ns + late_us * 1000;
            assert_eq!(sync0.steps(leaves_ns, &release, 30), steps, "cycle {number}");
            assert!(sync0.still_meets(leaves_ns, &release));
            assert_eq!(sync0.steps(leaves_ns, &release, 30), 0, "once a cycle");
        }
    }

    #[test]
    fn an_outdated_setpoint_is_followed_by_the_one_that_is_due() {
        let mut sync0 = sync0();
        assert_eq!(sync0.steps(DUE, &cycle(0), 30), 1);
        let meets = [0, 370, 400, 510, 1_000].map(|us| sync0.still_meets(DUE + us * 1000, &cycle(0)));
        assert_eq!(meets, [true, true, false, false, false]);
        assert_eq!(sync0.steps(DUE + 2_600_000, &cycle(0), 30), 3);
        assert!(sync0.still_meets(DUE + 2_600_000, &cycle(0)));
    }

    #[test]
    fn where_drives_hold_the_path_waits() {
        let mut sync0 = sync0();
        let mut steps = |number, late_us: u64, most| {
            let release = cycle(number);
            sync0.steps(release.due_ns + late_us * 1000, &release, most)
        };
        assert_eq!([steps(0, 0, 0), steps(6, 0, 0), steps(7, 600, 0), steps(8, 0, 0), steps(9, 0, 0)], [1, 1, 1, 0, 1]);
        assert_eq!(steps(50, 0, 30), 31);
    }

    #[test]
    fn a_frame_close_to_sync0_waits_for_it_and_no_other_does() {
        let sync0 = sync0();
        for (ready_us, leaves_us) in
            [(0, 0), (375, 375), (376, 520), (499, 520), (500, 500), (700, 700), (1_400, 1_400)]
        {
            assert_eq!(sync0.leave_ns(DUE + ready_us * 1000, &cycle(0)), DUE + leaves_us * 1000);
        }
    }

    /// SYNC0 comes 450 µs after the moment a cycle is due; the frame left 30 µs after it and took this long, µs.
    fn passes(sync0: &mut Sync0, way_us: u64) -> i64 {
        let (since_sync0_ns, system_time_ns) = ((580 + way_us) * 1000 % 1_000_000, DUE + (30 + way_us) * 1000);
        sync0.follow(Some(Passing { since_sync0_ns, system_time_ns }), DUE + 30_000, &cycle(0))
    }

    #[test]
    fn a_delayed_frame_does_not_move_sync0() {
        let mut sync0 = sync0();
        for _ in 0..100 {
            passes(&mut sync0, 0);
        }
        assert_eq!(sync0.behind_due_ns, 450_000);
        assert_eq!(passes(&mut sync0, 400), -5_000);
        assert_eq!(sync0.behind_due_ns, 440_000);
        passes(&mut sync0, 0);
        assert_eq!(sync0.behind_due_ns, 450_000);
    }

    #[test]
    fn no_frame_waits_after_a_delayed_one() {
        let mut sync0 = sync0();
        let mut waits = |way_us: Option<u64>| {
            match way_us {
                Some(way_us) => passes(&mut sync0, way_us),
                None => sync0.follow(None, DUE, &cycle(0)),
            };
            sync0.leave_ns(DUE + 430_000, &cycle(0)) > DUE + 430_000
        };
        // Also by whole periods, which the place between two SYNC0s does not show.
        let ways = [Some(0), Some(100), Some(200), Some(0), Some(2_000), Some(10), None, Some(0)];
        assert_eq!(ways.map(&mut waits), [true, true, false, true, false, true, false, true]);
    }
}
