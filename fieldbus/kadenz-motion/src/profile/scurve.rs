// SPDX-License-Identifier: Apache-2.0
//! The seven-phase jerk-limited move from rest to rest.
//!
//! Phases: jerk up, constant acceleration, jerk down, cruise, and the same mirrored. Durations as in L. Biagiotti,
//! C. Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), section 3.4 (zero end velocities).

/// Limits of a move. All positive; any unit of angle, the same in all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest velocity, units of angle per second.
    pub velocity: f64,
    /// Largest acceleration, units of angle per second squared.
    pub acceleration: f64,
    /// Largest jerk, units of angle per second cubed.
    pub jerk: f64,
}

/// A moment of a move.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct State {
    /// In the unit of angle of the [`Limits`].
    pub position: f64,
    /// In units of angle per second, positive towards a higher position.
    pub velocity: f64,
    /// In units of angle per second squared, positive towards a higher position.
    pub acceleration: f64,
}

/// A move from rest to rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SCurve {
    from: f64,
    to: f64,
    /// Duration of one jerk phase, s.
    jerk_s: f64,
    /// From the start until the acceleration is zero again, s.
    accelerate_s: f64,
    /// At constant velocity, s.
    cruise_s: f64,
    /// Signed values that are really reached.
    jerk: f64,
}

impl SCurve {
    /// The fastest such move from `from` to `to` under `limits`.
    pub fn new(from: f64, to: f64, limits: Limits) -> Self {
        let Limits { velocity, acceleration, jerk } = limits;
        let length = (to - from).abs();
        // Is the highest acceleration reached on the way to the highest velocity?
        let (mut jerk_s, mut accelerate_s) = if velocity * jerk >= acceleration * acceleration {
            (acceleration / jerk, acceleration / jerk + velocity / acceleration)
        } else {
            let jerk_s = (velocity / jerk).sqrt();
            (jerk_s, 2.0 * jerk_s)
        };
        let mut cruise_s = length / velocity - accelerate_s;
        if cruise_s < 0.0 {
            // Too short to cruise: the peak velocity follows from the length.
            cruise_s = 0.0;
            if length >= 2.0 * acceleration.powi(3) / (jerk * jerk) {
                jerk_s = acceleration / jerk;
                accelerate_s = jerk_s / 2.0 + (jerk_s * jerk_s / 4.0 + length / acceleration).sqrt();
            } else {
                jerk_s = (length / (2.0 * jerk)).cbrt();
                accelerate_s = 2.0 * jerk_s;
            }
        }
        // From the durations, so that the move ends where it should to the last bit the arithmetic has.
        let covered = jerk_s * (accelerate_s - jerk_s) * (accelerate_s + cruise_s);
        let scale = if covered > 0.0 { (to - from) / covered } else { 0.0 };
        Self { from, to, jerk_s, accelerate_s, cruise_s, jerk: scale }
    }

    /// How long it takes, s.
    pub fn duration_s(&self) -> f64 {
        2.0 * self.accelerate_s + self.cruise_s
    }

    /// Where it is `time_s` after its start; before it, at the start, and after it, at the end, both at rest.
    pub fn at(&self, time_s: f64) -> State {
        let total = self.duration_s();
        if time_s <= 0.0 {
            return State { position: self.from, ..State::default() };
        }
        if time_s >= total {
            return State { position: self.to, ..State::default() };
        }
        if time_s > total / 2.0 {
            // The second half is the first one seen from the end.
            let mirror = self.rise(total - time_s);
            return State {
                position: self.to - mirror.position,
                velocity: mirror.velocity,
                acceleration: -mirror.acceleration,
            };
        }
        let rise = self.rise(time_s);
        State { position: self.from + rise.position, ..rise }
    }

    /// The first half, from 0.
    fn rise(&self, t: f64) -> State {
        let (j, tj, ta) = (self.jerk, self.jerk_s, self.accelerate_s);
        let a = j * tj;
        if t < tj {
            State { position: j * t * t * t / 6.0, velocity: j * t * t / 2.0, acceleration: j * t }
        } else if t < ta - tj {
            State {
                position: a * (3.0 * t * t - 3.0 * tj * t + tj * tj) / 6.0,
                velocity: a * (t - tj / 2.0),
                acceleration: a,
            }
        } else if t < ta {
            let v = a * (ta - tj);
            let left = ta - t;
            State {
                position: v * ta / 2.0 - v * left + j * left * left * left / 6.0,
                velocity: v - j * left * left / 2.0,
                acceleration: j * left,
            }
        } else {
            let v = a * (ta - tj);
            State { position: v * ta / 2.0 + v * (t - ta), velocity: v, acceleration: 0.0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { velocity: 60.0, acceleration: 150.0, jerk: 1500.0 };

    fn check(from: f64, to: f64, limits: Limits) {
        let curve = SCurve::new(from, to, limits);
        let total = curve.duration_s();
        let steps = 4000;
        let dt = total / f64::from(steps);
        let mut before = curve.at(0.0);
        let room = 1.0 + 1e-9;
        for step in 1..=steps {
            let now = curve.at(f64::from(step) * dt);
            assert!(now.velocity.abs() <= limits.velocity * room, "{curve:?} {now:?}");
            assert!(now.acceleration.abs() <= limits.acceleration * room, "{curve:?} {now:?}");
            let jerk = (now.acceleration - before.acceleration) / dt;
            assert!(jerk.abs() <= limits.jerk * (1.0 + 1e-6), "{curve:?}: jerk {jerk}");
            // Position is the integral of velocity (trapezoid; error of order jerk dt^3).
            let moved = (now.velocity + before.velocity) / 2.0 * dt;
            assert!((now.position - before.position - moved).abs() <= limits.jerk * dt.powi(3) + 1e-9);
            assert!(now.velocity * (to - from) >= -1e-9, "never backwards");
            before = now;
        }
        assert_eq!(curve.at(total), State { position: to, velocity: 0.0, acceleration: 0.0 });
    }

    #[test]
    fn a_quarter_turn_reaches_every_limit() {
        check(0.0, 90.0, LIMITS);
        let curve = SCurve::new(0.0, 90.0, LIMITS);
        // 0.1 s of jerk, 0.5 s until cruise, 90/60 - 0.5 = 1 s of cruise.
        assert!((curve.duration_s() - 2.0).abs() < 1e-12);
        assert!((curve.at(1.0).velocity - 60.0).abs() < 1e-9);
        assert!((curve.at(0.25).acceleration - 150.0).abs() < 1e-9);
    }

    #[test]
    fn a_move_of_no_distance_takes_no_time() {
        let curve = SCurve::new(12.0, 12.0, LIMITS);
        assert_eq!((curve.duration_s(), curve.at(1.0)), (0.0, State { position: 12.0, ..State::default() }));
    }

    proptest! {
        #[test]
        fn every_move_keeps_its_limits_and_ends_at_rest_at_its_target(
            from in -200.0..200.0f64, way in -400.0..400.0f64,
            velocity in 0.1..200.0f64, acceleration in 0.1..1000.0f64, jerk in 1.0..20_000.0f64,
        ) {
            prop_assume!(way.abs() > 1e-3);
            check(from, from + way, Limits { velocity, acceleration, jerk });
        }
    }
}
