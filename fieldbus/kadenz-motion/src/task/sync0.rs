// SPDX-License-Identifier: Apache-2.0
//! Which SYNC0 takes the frame of a cycle. The path is tied to it, not to the cycle: a frame that leaves late carries the
//! setpoint of the SYNC0 it will meet, and one that cannot be told beforehand which it meets waits until it can.

use super::Release;

/// When a frame passed the reference clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    /// Since the last SYNC0, ns.
    pub(super) since_sync0_ns: u64,
    /// By that clock, ns.
    pub(super) system_time_ns: u64,
}

/// Where SYNC0 lies in a cycle, and what the last frame was made for.
#[derive(Debug)]
pub(super) struct Sync0 {
    period_ns: u64,
    /// Where it shall lie behind a frame that leaves in time, ns.
    wanted_ns: u64,
    /// Where it lies behind the moment a cycle is due, less the way of a frame: by the answers, ns.
    behind_due_ns: u64,
    /// SYNC0s that had passed without their frame when the last one left.
    passed: u64,
    /// The ring's time when a frame passed its reference clock, less ours when it left, ns.
    way_ns: Option<i64>,
    /// The last frame passed later than it left for, as far as is known.
    held_up: bool,
}

impl Sync0 {
    /// SYNC0 shall be `wanted_ns` behind the frame.
    pub(super) fn new(period_ns: u64, wanted_ns: u64) -> Self {
        Self { period_ns, wanted_ns, behind_due_ns: wanted_ns, passed: 0, way_ns: None, held_up: false }
    }

    /// Most by which the tasks' time is moved in a cycle, ns.
    fn most_ns(&self) -> i64 {
        (self.period_ns / 200) as i64
    }

    /// So close to SYNC0 a little more on its way decides which one takes a frame, ns.
    fn close_ns(&self) -> u64 {
        self.wanted_ns / 4
    }

    /// When a frame that is ready `now_ns` has to leave: behind SYNC0 where it would pass close to it, else now. Also now
    /// where the last frame was held up: it may lie in the drives with a setpoint of the past, which that SYNC0 would take.
    pub(super) fn leave_ns(&self, now_ns: u64, release: &Release) -> u64 {
        let sync0_ns = release.due_ns + self.behind_due_ns;
        let is_close = now_ns < sync0_ns && sync0_ns - now_ns < self.close_ns();
        if is_close && !self.held_up {
            sync0_ns + self.period_ns / 50
        } else {
            now_ns
        }
    }

    /// Setpoints by which the path goes on with a frame that leaves `now_ns`. The drives go on for as many as `most`
    /// without one; where they have held, the path waits, for a setpoint further ahead would be a jump.
    pub(super) fn steps(&mut self, now_ns: u64, release: &Release, most: u32) -> u64 {
        let late_ns = now_ns.saturating_sub(release.due_ns);
        let passed = match late_ns.checked_sub(self.behind_due_ns) {
            Some(behind_ns) => 1 + behind_ns / self.period_ns,
            None => 0,
        };
        let before = std::mem::replace(&mut self.passed, passed);
        (1 + u64::from(release.skipped) + passed).saturating_sub(before).min(1 + u64::from(most))
    }

    /// Takes what came back of the frame that left `left_ns`: times of its passing since SYNC0 and of the ring's clock,
    /// ns. By how much the tasks' time has to move, ns: a slow integral.
    pub(super) fn follow(&mut self, passing: Option<Passing>, left_ns: u64, release: &Release) -> i64 {
        let Some(passing) = passing else {
            self.held_up = true;
            return 0;
        };
        // A frame that was held up on its way tells a wrong place; clocks do not wander faster than this.
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

    fn release(skipped: u32) -> Release {
        Release { nominal_ns: DUE, due_ns: DUE, start_ns: DUE, skipped }
    }

    fn sync0() -> Sync0 {
        Sync0::new(1_000_000, 500_000)
    }

    #[test]
    fn the_path_goes_on_by_the_sync0s_whatever_frames_meet() {
        // When each frame leaves behind the moment it is due, µs; cycles left out before; SYNC0s since the last frame.
        let cycles = [
            (20, 0, 1),
            (600, 0, 2),
            (20, 0, 0),
            (20, 0, 1),
            (900, 0, 2),
            (700, 0, 1),
            (100, 0, 0),
            (300, 3, 4),
            (1_700, 0, 3),
            (20, 1, 0),
            (20, 0, 1),
        ];
        let mut sync0 = sync0();
        for (late_us, skipped, steps) in cycles {
            assert_eq!(sync0.steps(DUE + late_us * 1000, &release(skipped), 30), steps, "{late_us} µs, {skipped}");
        }
    }

    #[test]
    fn where_drives_hold_the_path_waits() {
        let mut sync0 = sync0();
        assert_eq!(sync0.steps(DUE, &release(5), 0), 1);
        assert_eq!(sync0.steps(DUE + 600_000, &release(0), 0), 1);
        assert_eq!(sync0.steps(DUE, &release(0), 0), 0);
        assert_eq!(sync0.steps(DUE, &release(40), 30), 31);
    }

    #[test]
    fn a_frame_close_to_sync0_waits_for_it_and_no_other_does() {
        let sync0 = sync0();
        for (ready_us, leaves_us) in
            [(0, 0), (375, 375), (376, 520), (499, 520), (500, 500), (700, 700), (1_400, 1_400)]
        {
            assert_eq!(sync0.leave_ns(DUE + ready_us * 1000, &release(0)), DUE + leaves_us * 1000);
        }
    }

    /// SYNC0 comes 450 µs behind the moment a cycle is due; the frame left 30 behind it and was on its way this long, µs.
    fn passes(sync0: &mut Sync0, way_us: u64) -> i64 {
        let (since_sync0_ns, system_time_ns) = ((580 + way_us) * 1000 % 1_000_000, DUE + (30 + way_us) * 1000);
        sync0.follow(Some(Passing { since_sync0_ns, system_time_ns }), DUE + 30_000, &release(0))
    }

    #[test]
    fn a_frame_that_was_held_up_does_not_move_sync0() {
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
    fn behind_a_frame_that_was_held_up_none_waits() {
        let mut sync0 = sync0();
        let mut waits = |way_us: Option<u64>| {
            match way_us {
                Some(way_us) => passes(&mut sync0, way_us),
                None => sync0.follow(None, DUE, &release(0)),
            };
            sync0.leave_ns(DUE + 430_000, &release(0)) > DUE + 430_000
        };
        // Also by whole periods, which the place between two SYNC0s does not tell.
        let ways = [Some(0), Some(100), Some(200), Some(0), Some(2_000), Some(10), None, Some(0)];
        assert_eq!(ways.map(&mut waits), [true, true, false, true, false, true, false, true]);
    }
}
