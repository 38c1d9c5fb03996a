// SPDX-License-Identifier: Apache-2.0
//! The clock of a terminal that stamps edges: free-running, with an offset in rate, a slow wander, a resolution, noise.

use crate::random::Random;
use serde::Deserialize;

/// How a free-running clock errs.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeClockSettings {
    /// Error of the rate, parts per million.
    pub offset_ppm: f64,
    /// Random walk of the rate, parts per billion in the square root of a second.
    pub wander_ppb: f64,
    /// Step of the counter, ns; stamps are rounded down to it.
    pub resolution_ns: u64,
    /// Standard deviation of a stamp before rounding, ns.
    pub noise_ns: f64,
    /// Its time at power-on, ns.
    pub start_ns: u64,
}

impl Default for EdgeClockSettings {
    fn default() -> Self {
        Self { offset_ppm: 0.0, wander_ppb: 0.0, resolution_ns: 10, noise_ns: 0.0, start_ns: 0 }
    }
}

/// A free-running clock that stamps edges.
#[derive(Debug, Clone)]
pub struct EdgeClock {
    settings: EdgeClockSettings,
    random: Random,
    last_world_ns: u64,
    wander_rate: f64,
    error_ns: f64,
}

impl EdgeClock {
    /// A clock with these errors; the seed makes wander and noise repeatable.
    pub fn new(settings: EdgeClockSettings, seed: u64) -> Self {
        Self { settings, random: Random::new(seed), last_world_ns: 0, wander_rate: 0.0, error_ns: 0.0 }
    }

    /// Stamp of an edge at `world_ns`. Edges come in order of time.
    pub fn stamp(&mut self, world_ns: u64) -> u64 {
        let elapsed_ns = world_ns.saturating_sub(self.last_world_ns) as f64;
        self.last_world_ns = self.last_world_ns.max(world_ns);
        if self.settings.wander_ppb > 0.0 {
            let step = self.settings.wander_ppb * 1.0e-9 * (elapsed_ns * 1.0e-9).sqrt();
            self.wander_rate += step * self.random.normal();
        }
        self.error_ns += elapsed_ns * (self.settings.offset_ppm * 1.0e-6 + self.wander_rate);
        let noise = if self.settings.noise_ns > 0.0 { self.settings.noise_ns * self.random.normal() } else { 0.0 };
        let error = (self.error_ns + noise).floor() as i64;
        let time = world_ns.saturating_add(self.settings.start_ns).saturating_add_signed(error);
        let resolution = self.settings.resolution_ns.max(1);
        time / resolution * resolution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_error_of_37_ppm_is_37_us_in_a_second() {
        let settings = EdgeClockSettings { offset_ppm: 37.0, resolution_ns: 1, ..Default::default() };
        let mut clock = EdgeClock::new(settings, 1);
        let stamps: Vec<_> = (0..=10).map(|k| clock.stamp(k * 100_000_000)).collect();
        assert!((stamps[10] - stamps[0]).abs_diff(1_000_037_000) <= 1);
    }

    #[test]
    fn noise_has_the_given_standard_deviation() {
        let settings = EdgeClockSettings { noise_ns: 50.0, resolution_ns: 1, ..Default::default() };
        let mut clock = EdgeClock::new(settings, 7);
        let errors: Vec<f64> = (1..=20_000).map(|k| clock.stamp(k * 1_000_000) as f64 - k as f64 * 1.0e6).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let sd = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
        // Standard error of the deviation: 50/√40000 = 0.25 ns; four of them.
        assert!((sd - 50.0).abs() < 1.0, "{sd}");
    }

    #[test]
    fn stamps_are_multiples_of_the_resolution() {
        let settings = EdgeClockSettings { noise_ns: 20.0, resolution_ns: 25, ..Default::default() };
        let mut clock = EdgeClock::new(settings, 3);
        assert!((1..1000).all(|k| clock.stamp(k * 777_777) % 25 == 0));
    }
}
