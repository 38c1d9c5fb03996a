// SPDX-License-Identifier: Apache-2.0
//! The path of all axes: legs from pose to pose with a rest after each, run at a rate that a stop slows to standstill.

use super::{Limits, SCurve};

/// Reference of every axis at one moment; rad, rad/s, rad/s².
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Point<const N: usize> {
    /// Angle of each axis, rad.
    pub position: [f64; N],
    /// Velocity of each axis, rad/s.
    pub velocity: [f64; N],
    /// Acceleration of each axis, rad/s².
    pub acceleration: [f64; N],
}

impl<const N: usize> Point<N> {
    /// A state that stands still at `position`.
    pub fn at_rest(position: [f64; N]) -> Self {
        Self { position, velocity: [0.0; N], acceleration: [0.0; N] }
    }

    /// Where it comes to in `time_s` at constant acceleration.
    pub fn go_on(&mut self, time_s: f64) {
        for k in 0..N {
            self.position[k] += (self.velocity[k] + self.acceleration[k] * time_s / 2.0) * time_s;
            self.velocity[k] += self.acceleration[k] * time_s;
        }
    }
}

/// One leg: every axis moves to its end, all starting together, then all rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg<const N: usize> {
    curves: [SCurve; N],
    move_s: f64,
    rest_s: f64,
}

impl<const N: usize> Leg<N> {
    /// From pose to pose (rad) under each axis' limits (rad), then `rest_s` of standing.
    pub fn new(from: [f64; N], to: [f64; N], limits: [Limits; N], rest_s: f64) -> Self {
        let curves: [SCurve; N] = std::array::from_fn(|k| SCurve::new(from[k], to[k], limits[k]));
        let move_s = curves.iter().map(SCurve::duration_s).fold(0.0, f64::max);
        Self { curves, move_s, rest_s }
    }

    /// Moving and resting, s.
    pub fn duration_s(&self) -> f64 {
        self.move_s + self.rest_s
    }

    /// The reference `time_s` after the start of the leg.
    pub fn at(&self, time_s: f64) -> Point<N> {
        let states: [_; N] = std::array::from_fn(|k| self.curves[k].at(time_s));
        Point {
            position: states.map(|s| s.position),
            velocity: states.map(|s| s.velocity),
            acceleration: states.map(|s| s.acceleration),
        }
    }
}

/// Out and back between two poses, again and again, after a first leg that leads from wherever the arm stands to the
/// first pose. Time on the path runs at `rate`, 1 normally; a stop slows it smoothly to 0, so the arm halts on its path.
#[derive(Debug, Clone)]
pub struct Path<const N: usize> {
    approach: Leg<N>,
    out: Leg<N>,
    back: Leg<N>,
    time_s: f64,
    /// Time since the stop was asked for, s.
    stopping_s: Option<f64>,
    stop_s: f64,
}

impl<const N: usize> Path<N> {
    /// Home is `low`. `stop_s`: how long slowing from full rate to standstill takes.
    pub fn new(start: [f64; N], low: [f64; N], high: [f64; N], limits: [Limits; N], rest_s: f64, stop_s: f64) -> Self {
        Self {
            approach: Leg::new(start, low, limits, rest_s),
            out: Leg::new(low, high, limits, rest_s),
            back: Leg::new(high, low, limits, rest_s),
            time_s: 0.0,
            stopping_s: None,
            stop_s,
        }
    }

    /// Begins to slow down; there is no way back.
    pub fn stop(&mut self) {
        self.stopping_s.get_or_insert(0.0);
    }

    /// Slowed to a standstill after a stop.
    pub fn standing(&self) -> bool {
        self.stopping_s.is_some_and(|time| time >= self.stop_s)
    }

    /// Duration of the approach, s.
    pub fn approach_s(&self) -> f64 {
        self.approach.duration_s()
    }

    /// Duration of one way, rest included, s.
    pub fn way_s(&self) -> f64 {
        self.out.duration_s()
    }

    /// Advances by `dt_s` and gives the reference there with the leg it lies on.
    pub fn advance(&mut self, dt_s: f64) -> (Point<N>, Way) {
        // A cubic from 1 to 0 with level ends, so that the acceleration stays continuous.
        let (rate, slope) = self.stopping_s.map_or((1.0, 0.0), |time| {
            let x = (time / self.stop_s).min(1.0);
            (1.0 - x * x * (3.0 - 2.0 * x), -6.0 * x * (1.0 - x) / self.stop_s)
        });
        self.time_s += rate * dt_s;
        let (mut point, way) = self.at_path_time();
        // Chain rule: x(u(t)): velocity x'·rate, acceleration x''·rate² + x'·rate'.
        for k in 0..N {
            let along = point.velocity[k];
            point.velocity[k] = along * rate;
            point.acceleration[k] = point.acceleration[k] * rate * rate + along * slope;
        }
        if let Some(time) = &mut self.stopping_s {
            *time += dt_s;
        }
        (point, way)
    }

    fn at_path_time(&self) -> (Point<N>, Way) {
        let after = self.time_s - self.approach.duration_s();
        if after <= 0.0 {
            return (self.approach.at(self.time_s), Way::Approach);
        }
        let (out_s, back_s) = (self.out.duration_s(), self.back.duration_s());
        let time = after % (out_s + back_s);
        if time < out_s {
            (self.out.at(time), Way::Out)
        } else {
            (self.back.at(time - out_s), Way::Back)
        }
    }
}

/// Which part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Way {
    /// From where the arm stood to the first pose: not measured.
    Approach = 0,
    /// 0 to 90 degrees in the default motion.
    Out = 1,
    /// 90 to 0 degrees in the default motion.
    Back = 2,
}

impl Way {
    /// From its number; anything else is the approach, which is not measured.
    pub fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Out,
            2 => Self::Back,
            _ => Self::Approach,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: [Limits; 2] = [Limits { velocity: 1.0, acceleration: 3.0, jerk: 30.0 }; 2];

    fn path() -> Path<2> {
        Path::new([0.2, -0.1], [0.0; 2], [1.5, 1.0], LIMITS, 0.25, 0.3)
    }

    #[test]
    fn the_reference_is_continuous_over_many_ways() {
        let mut path = path();
        let (mut before, _) = path.advance(0.0);
        let mut turns = 0;
        let mut last = Way::Approach;
        for _ in 0..20_000 {
            let (now, way) = path.advance(0.001);
            for k in 0..2 {
                assert!((now.position[k] - before.position[k]).abs() < 1.1e-3);
                assert!((now.velocity[k] - before.velocity[k]).abs() < 3.1e-3);
                assert!((now.acceleration[k] - before.acceleration[k]).abs() < 31e-3);
            }
            turns += u32::from(way != last);
            (before, last) = (now, way);
        }
        assert!(turns > 8, "{turns}");
    }

    #[test]
    fn a_stop_halts_on_the_path_within_its_time_and_stays() {
        let mut path = path();
        let mut point = path.advance(0.001).0;
        while point.velocity[0] < 0.9 {
            point = path.advance(0.001).0;
        }
        let from = point;
        path.stop();
        for _ in 0..302 {
            point = path.advance(0.001).0;
        }
        assert!(path.standing());
        assert_eq!((point.velocity, path.advance(0.001).0.position), ([0.0; 2], point.position));
        // Slowing from 1 rad/s to 0 in 0.3 s covers half of what 1 rad/s would: 0.15 rad.
        assert!((point.position[0] - from.position[0] - 0.15).abs() < 0.02);
    }
}
