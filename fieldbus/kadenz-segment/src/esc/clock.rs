// SPDX-License-Identifier: Apache-2.0
//! The distributed clock of one device: oscillator, offset, the loop that follows the reference, SYNC pulses.
//!
//! World time is the segment's own; a local clock runs away from it by its oscillator's error. As in the hardware, the
//! loop steers the local clock itself, by at most a tenth of the elapsed time. A master sees the clock in steps, and the
//! time at which a frame was received with noise.

use crate::random::Random;

/// Shortest SYNC0 period taken, ns. Hardware takes less; nothing real uses it, and it would let a stray write stall us.
pub const SHORTEST_CYCLE_NS: u32 = 10_000;
/// A backlog of more periods than this is skipped, not replayed: the master rewrote the offset.
const LONGEST_BACKLOG: u64 = 64;
/// Largest steering of the rate: oscillators are within 100 ppm, drift faults within some more.
const LARGEST_STEERING: f64 = 1.0e-3;

/// Shortest time from one reference to the next that the rate is taken from: frames back to back would tell it less than
/// their own noise.
const SHORTEST_SPAN_NS: f64 = 100_000.0;
/// Standard deviation of the sum of four uniform numbers of 16 bits.
const SPREAD_OF_FOUR: f64 = 37_837.2;

/// Proportional gain of a filter depth: 4 / 2^depth, a half at most. A power of two is its exponent.
#[inline]
fn gain(depth: u8) -> f64 {
    f64::from_bits(u64::from(1023 + 2 - u16::from(depth.clamp(3, 15))) << 52)
}

/// The local clock of a device, with its drift and its loop.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Error of the oscillator, parts per million.
    ppm: f64,
    power_on_ns: u64,
    steering: f64,
    base_world_ns: u64,
    base_local_ns: u64,
    /// Correction to add to it: a fraction, and the loop's last correction.
    base_extra_ns: f64,
    offset_ns: u64,
    delay_ns: u32,
    last_follow_ns: Option<u64>,
    mean_difference_ns: f64,
    sync: Sync,
    stamps: Stamps,
}

/// How a clock is seen: in steps, and frames with noise.
#[derive(Debug, Clone)]
struct Stamps {
    step_ns: u32,
    /// Noise of one in the sum of four uniform numbers, ns.
    scale: f64,
    random: Random,
}

impl Stamps {
    /// The last step of a time. Taken from 32 bits, as a division of 64 takes longer: once in 4.3 s a step is a shorter one.
    #[inline]
    fn step(&self, local_ns: u64) -> u64 {
        local_ns.wrapping_sub(u64::from(local_ns as u32 % self.step_ns))
    }

    /// By how much a frame seems to come late: close to normal (Irwin-Hall of four), never beyond 3.5 deviations.
    #[inline]
    fn noise_ns(&mut self) -> i64 {
        if self.scale == 0.0 {
            return 0;
        }
        let bits = self.random.bits();
        let sum = (0..4).fold(-2 * 0xFFFF, |sum, part| sum + (bits >> (16 * part) & 0xFFFF) as i32);
        (f64::from(sum) * self.scale) as i64
    }
}

#[derive(Debug, Clone, Default)]
struct Sync {
    activation: u8,
    sync0_ns: u32,
    sync1_ns: u32,
    next0: Option<u64>,
    next1: Option<u64>,
    pulses: u64,
    start_was_past: bool,
}

/// The largest whole number that is not above `value`, of 2^51 ns (26 days) at most. `f64::floor` is a call of a function
/// where the processor is not known to have an instruction for it, and `as` looks at every special case; every clock
/// needs it several times a frame. A double of 1.5 * 2^52 has a last bit of one: added, it rounds to the nearest.
#[inline]
fn floor(value: f64) -> i64 {
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let rounded = value + ROUNDER;
    let nearest = (rounded.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64);
    nearest - i64::from(rounded - ROUNDER > value)
}

impl Clock {
    /// A clock whose oscillator is `ppm` off and which showed `power_on_ns` at world time 0.
    pub fn new(ppm: f64, power_on_ns: u64) -> Self {
        Self {
            ppm,
            power_on_ns,
            steering: 0.0,
            base_world_ns: 0,
            base_local_ns: power_on_ns,
            base_extra_ns: 0.0,
            offset_ns: 0,
            delay_ns: 0,
            last_follow_ns: None,
            mean_difference_ns: 0.0,
            sync: Sync::default(),
            stamps: Stamps { step_ns: 1, scale: 0.0, random: Random::new(0) },
        }
    }

    /// The same clock seen in steps, and frames received with noise of this standard deviation; the seed makes it
    /// repeatable.
    #[must_use]
    pub fn stamped(mut self, step_ns: u32, noise_ns: f64, seed: u64) -> Self {
        self.stamps = Stamps { step_ns: step_ns.max(1), scale: noise_ns / SPREAD_OF_FOUR, random: Random::new(seed) };
        self
    }

    pub(super) fn power_on(&mut self) {
        let (world, local, stamps) = (self.base_world_ns, self.base_local_ns, self.stamps.clone());
        *self = Self { base_world_ns: world, base_local_ns: local, stamps, ..Self::new(self.ppm, self.power_on_ns) };
    }

    /// By how much it is too fast, as a part of one.
    fn skew(&self) -> f64 {
        self.ppm * 1.0e-6 + self.steering
    }

    fn local(&self, world_ns: u64) -> (u64, f64) {
        let elapsed = world_ns.wrapping_sub(self.base_world_ns) as i64;
        // The whole part in integers: a double holds nanoseconds since a boot, but not since the year 2000.
        let extra = elapsed as f64 * self.skew() + self.base_extra_ns;
        let whole = floor(extra);
        (self.base_local_ns.wrapping_add_signed(elapsed).wrapping_add_signed(whole), extra - whole as f64)
    }

    /// The local time at a moment of the world, ns.
    pub fn local_ns(&self, world_ns: u64) -> u64 {
        self.local(world_ns).0
    }

    /// System time: local time and offset, ns.
    pub fn system_ns(&self, world_ns: u64) -> u64 {
        self.local_ns(world_ns).wrapping_add(self.offset_ns)
    }

    /// System time as the master reads it, ns.
    #[inline]
    pub(super) fn read_ns(&self, world_ns: u64) -> u64 {
        self.stamps.step(self.local_ns(world_ns)).wrapping_add(self.offset_ns)
    }

    /// Local time at which a frame seems to be received, ns.
    pub(super) fn receive_ns(&mut self, world_ns: u64) -> u64 {
        let noise_ns = self.stamps.noise_ns();
        self.stamps.step(self.local_ns(world_ns).wrapping_add_signed(noise_ns))
    }

    fn rebase(&mut self, world_ns: u64) {
        (self.base_local_ns, self.base_extra_ns) = self.local(world_ns);
        self.base_world_ns = world_ns;
    }

    /// Changes the oscillator's error from now on: a drift fault.
    pub fn set_ppm(&mut self, ppm: f64, world_ns: u64) {
        self.rebase(world_ns);
        self.ppm = ppm;
    }

    /// Error of the oscillator, parts per million.
    pub fn ppm(&self) -> f64 {
        self.ppm
    }

    pub(super) fn set_offset(&mut self, offset_ns: u64, delay_ns: u32) {
        (self.offset_ns, self.delay_ns) = (offset_ns, delay_ns);
    }

    /// Writing 0x0930 restarts the filter: masters do so after writing the offset.
    pub(super) fn restart_filter(&mut self) {
        self.mean_difference_ns = 0.0;
        self.last_follow_ns = None;
    }

    /// Takes the reference's time. `depth` is the filter depth of 0x0934: gains fall by half a step.
    pub(super) fn follow(&mut self, reference: u32, world_ns: u64, depth: u8) {
        let (local_ns, fraction) = self.local(world_ns);
        let noise_ns = self.stamps.noise_ns();
        let seen_ns = self.stamps.step(local_ns.wrapping_add_signed(noise_ns));
        let here = seen_ns.wrapping_add(self.offset_ns).wrapping_sub(u64::from(self.delay_ns)) as u32;
        let difference = f64::from(here.wrapping_sub(reference) as i32);
        self.mean_difference_ns += (difference - self.mean_difference_ns) / 4.0;
        let Some(last) = self.last_follow_ns.replace(world_ns) else { return };
        let elapsed = world_ns.wrapping_sub(last) as i64;
        if elapsed < 1 {
            return;
        }
        let elapsed = elapsed as f64;
        // Proportional and integral; 0.8·kp² damps the pair of poles well inside the unit circle for all depths.
        let kp = gain(depth);
        let limit = 0.1 * elapsed;
        if difference.abs() < limit {
            let steered = self.steering - 0.8 * kp * kp * difference / elapsed.max(SHORTEST_SPAN_NS);
            self.steering = steered.clamp(-LARGEST_STEERING, LARGEST_STEERING);
        }
        (self.base_world_ns, self.base_local_ns) = (world_ns, local_ns);
        self.base_extra_ns = fraction - (kp * difference).min(limit).max(-limit);
    }

    /// Register 0x092C: magnitude, and bit 31 when this clock is behind the reference.
    pub(super) fn difference(&self) -> u32 {
        let magnitude = self.mean_difference_ns.abs().min(f64::from(i32::MAX)) as u32;
        if self.mean_difference_ns < 0.0 {
            magnitude | 1 << 31
        } else {
            magnitude
        }
    }

    /// Register 0x0932: the steering, in parts per million.
    pub(super) fn rate_register(&self) -> i16 {
        (self.steering * 1.0e6) as i16
    }

    /// Takes a write to 0x0980/0x0981.
    pub(super) fn activate(&mut self, activation: u8, start: u64, sync0_ns: u32, sync1_ns: u32, world_ns: u64) {
        let wanted = activation & 0x03 == 0x03 && (sync0_ns == 0 || sync0_ns >= SHORTEST_CYCLE_NS);
        if wanted && self.sync.next0.is_some() && activation == self.sync.activation {
            return;
        }
        self.sync = Sync { activation, sync0_ns, sync1_ns, ..Sync::default() };
        if wanted {
            // A start that has passed never comes again: the unit waits for the counter to go round.
            // Times go round: ahead is less than half a turn.
            self.sync.start_was_past = start.wrapping_sub(self.system_ns(world_ns)) as i64 <= 0;
            self.sync.next0 = (!self.sync.start_was_past).then_some(start);
        }
    }

    /// Register 0x0984: bit 0 SYNC0 pending, bit 1 SYNC1 pending, bit 2 start time not in the future.
    pub(super) fn activation_status(&self) -> u8 {
        let sync = &self.sync;
        u8::from(sync.next0.is_some())
            | u8::from(sync.next0.is_some() && sync.activation & 4 != 0) << 1
            | u8::from(sync.start_was_past) << 2
    }

    /// SYNC0 was activated by the master, whether or not it can run.
    pub fn wants_sync0(&self) -> bool {
        self.sync.activation & 0x03 == 0x03
    }

    /// Whether SYNC0 is generated.
    pub fn runs_sync0(&self) -> bool {
        self.sync.next0.is_some()
    }

    /// Period of SYNC0, ns.
    pub fn sync0_ns(&self) -> u32 {
        self.sync.sync0_ns
    }

    /// SYNC0 pulses since activation.
    pub fn pulses(&self) -> u64 {
        self.sync.pulses
    }

    pub(super) fn next_sync0(&self) -> u64 {
        self.sync.next0.unwrap_or(0)
    }

    pub(super) fn next_sync1(&self) -> u64 {
        self.sync.next1.unwrap_or(0)
    }

    /// World time at which the system time will be `system_ns`; never before the last steering.
    fn world_of(&self, system_ns: u64) -> u64 {
        let ahead = system_ns.wrapping_sub(self.offset_ns).wrapping_sub(self.base_local_ns) as i64;
        let world = (ahead as f64 - self.base_extra_ns) / (1.0 + self.skew());
        // Integers carry the bulk, the quotient only the small difference.
        let extra = (world - ahead as f64).ceil() as i64;
        self.base_world_ns.saturating_add_signed(ahead).saturating_add_signed(extra)
    }

    /// World time of the next pulse.
    pub fn next_pulse_world_ns(&self) -> Option<u64> {
        let next = match (self.sync.next0, self.sync.next1) {
            (Some(a), Some(b)) => {
                if (a.wrapping_sub(b) as i64) < 0 {
                    a
                } else {
                    b
                }
            }
            (a, b) => a.or(b)?,
        };
        Some(self.world_of(next))
    }

    /// The earliest pulse that is due: (world time, 0 or 1).
    pub(super) fn take_pulse(&mut self, now_ns: u64) -> Option<(u64, u8)> {
        let world = self.next_pulse_world_ns()?;
        if world > now_ns {
            return None;
        }
        let (next0, next1) = (self.sync.next0, self.sync.next1);
        if let Some(time) = next1.filter(|time| next0.is_none_or(|next| (time.wrapping_sub(next) as i64) < 0)) {
            self.sync.next1 = None;
            return Some((self.world_of(time), 1));
        }
        let time = next0?;
        self.sync.pulses += 1;
        let cycle = u64::from(self.sync.sync0_ns);
        if self.sync.activation & 0x04 != 0 && cycle > 0 {
            let sync1 = u64::from(self.sync.sync1_ns);
            if self.sync.pulses % (sync1 / cycle + 1) == 0 || sync1 < cycle {
                self.sync.next1 = Some(time.wrapping_add(sync1 % cycle));
            }
        }
        self.sync.next0 = (cycle > 0).then(|| {
            let behind = (self.system_ns(now_ns).wrapping_sub(time) as i64).max(0) as u64;
            let periods = if behind / cycle > LONGEST_BACKLOG { behind / cycle } else { 1 };
            time.wrapping_add(periods.wrapping_mul(cycle))
        });
        Some((world, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow_for(clock: &mut Clock, reference: &Clock, cycles: u64, cycle_ns: u64, from_ns: u64) -> u64 {
        let mut world = from_ns;
        for _ in 0..cycles {
            world += cycle_ns;
            clock.follow(reference.system_ns(world) as u32, world, 4);
        }
        world
    }

    #[test]
    fn a_clock_100_ppm_off_locks_to_its_reference_within_nanoseconds() {
        let reference = Clock::new(-20.0, 5_000);
        let mut clock = Clock::new(100.0, 40_000);
        clock.set_offset(0_u64.wrapping_sub(35_000), 0);
        let world = follow_for(&mut clock, &reference, 2000, 1_000_000, 0);
        let apart = clock.system_ns(world) as i64 - reference.system_ns(world) as i64;
        assert!(apart.abs() <= 2, "{apart} ns apart");
        // Between two updates it runs on at the learned rate.
        let apart = clock.system_ns(world + 1_000_000) as i64 - reference.system_ns(world + 1_000_000) as i64;
        assert!(apart.abs() <= 3, "{apart} ns apart after a free cycle");
    }

    #[test]
    fn a_clock_seen_in_steps_with_noise_settles_at_the_noise_and_is_repeatable() {
        let run = |seed: u64| {
            let reference = Clock::new(-20.0, 5_000).stamped(10, 11.5, seed);
            let mut clock = Clock::new(500.0, 40_000).stamped(10, 11.5, seed + 1);
            clock.set_offset(0_u64.wrapping_sub(35_000), 0);
            let mut world = 0;
            let mut seen = Vec::new();
            for cycle in 0..12_000 {
                world += 1_000_000;
                clock.follow(reference.read_ns(world) as u32, world, 4);
                if cycle >= 2000 {
                    seen.push(clock.difference());
                    let apart = clock.system_ns(world) as i64 - reference.system_ns(world) as i64;
                    assert!(apart.abs() < 60, "{apart} ns apart");
                }
            }
            seen
        };
        let seen = run(1);
        let values: Vec<f64> =
            seen.iter().map(|raw| f64::from(raw & 0x7FFF_FFFF) * if raw >> 31 == 1 { -1.0 } else { 1.0 }).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        assert!(mean.abs() < 1.0 && (2.0..12.0).contains(&sd), "{mean} ± {sd} ns");
        assert!(values.iter().all(|value| value.abs() < 100.0));
        assert_eq!(seen, run(1));
        assert_ne!(seen, run(2));
    }

    #[test]
    fn a_frame_is_received_in_steps_with_the_given_deviation() {
        let mut clock = Clock::new(0.0, 0).stamped(10, 20.0, 3);
        let errors: Vec<f64> = (1..=20_000_u64)
            .map(|k| {
                let stamp = clock.receive_ns(k * 1_000_003);
                assert_eq!(stamp as u32 % 10, 0);
                stamp as f64 - (k * 1_000_003) as f64
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let sd = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
        // Noise and a step: √(20² + 10²/12) = 20.2 ns; half a step early, and whole numbers towards 0. Four standard errors.
        assert!((sd - 20.2).abs() < 0.5 && (mean + 4.5).abs() < 0.8, "{mean} ± {sd}");
        assert_eq!(clock.read_ns(1_234_567), 1_234_560);
    }

    #[test]
    fn the_gain_halves_with_the_depth() {
        for depth in 0..=15_u8 {
            assert_eq!(gain(depth), (4.0 / f64::from(1_u32 << depth)).min(0.5), "{depth}");
        }
    }

    #[test]
    fn the_whole_part_is_that_of_the_library() {
        for value in [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.999_999, -2.999_999, 1e15 + 0.5, -1e15 - 0.5] {
            assert_eq!(floor(value), f64::floor(value) as i64, "{value}");
        }
    }

    #[test]
    fn the_difference_register_shows_which_clock_is_behind() {
        let mut clock = Clock::new(0.0, 0);
        clock.follow(1000, 0, 4);
        assert_eq!(clock.difference(), 1 << 31 | 250);
    }

    #[test]
    fn pulses_come_every_cycle_of_system_time() {
        let mut clock = Clock::new(50.0, 0);
        clock.activate(3, 1_000_000, 250_000, 0, 0);
        let mut times = Vec::new();
        while let Some((world, 0)) = clock.take_pulse(3_000_000) {
            times.push(clock.system_ns(world));
        }
        assert_eq!(times, (4..=12).map(|k| k * 250_000).collect::<Vec<_>>());
    }

    #[test]
    fn sync1_follows_sync0_by_its_shift() {
        let mut clock = Clock::new(0.0, 0);
        clock.activate(7, 1_000_000, 1_000_000, 300_000, 0);
        let pulses: Vec<_> = std::iter::from_fn(|| clock.take_pulse(2_500_000)).collect();
        assert_eq!(pulses, [(1_000_000, 0), (1_300_000, 1), (2_000_000, 0), (2_300_000, 1)]);
    }

    #[test]
    fn a_start_time_in_the_past_never_fires_and_is_reported() {
        let mut clock = Clock::new(0.0, 0);
        clock.activate(3, 10, 1_000_000, 0, 1_000);
        assert_eq!(clock.take_pulse(u64::MAX / 4), None);
        assert_eq!(clock.activation_status(), 4);
    }

    #[test]
    fn a_start_half_a_turn_ahead_is_past_and_pulses_behind_a_jump_end() {
        // Found by the fuzzer: both made the pulse unit fire without end.
        let mut clock = Clock::new(0.0, 0);
        clock.activate(3, u64::MAX - 5, 1_000_000, 0, 1_000);
        assert_eq!(clock.take_pulse(1_000_000), None);
        let mut clock = Clock::new(0.0, 0);
        clock.activate(3, 1_000_000, 10_000, 0, 0);
        clock.set_offset(1 << 62, 0);
        let mut pulses = 0;
        while clock.take_pulse(2_000_000).is_some() {
            pulses += 1;
            assert!(pulses < 1000);
        }
    }

    #[test]
    fn a_jump_of_the_clock_does_not_replay_hours_of_pulses() {
        let mut clock = Clock::new(0.0, 0);
        clock.activate(3, 1_000_000, 1_000_000, 0, 0);
        let mut pulses = 0;
        while clock.take_pulse(36_000_000_000_000).is_some() {
            pulses += 1;
        }
        assert!(pulses < 10, "{pulses}");
    }
}
