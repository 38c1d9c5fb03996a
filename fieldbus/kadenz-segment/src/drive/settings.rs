// SPDX-License-Identifier: Apache-2.0
//! Settings of a drive in the ring file.

use super::loops::Gains;
use crate::plant::Inertia;
use serde::Deserialize;

/// Settings of a drive; all angles and torques at the joint, behind the gear.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DriveSettings {
    /// Encoder counts for one turn of the joint.
    pub counts_per_revolution: u32,
    /// Turns of the motor for turns of the joint; objects 0x608F and 0x6091 say it.
    pub gear_ratio: [u16; 2],
    /// Rated torque, N·m: 1000 ‰ of objects 0x6071 and 0x6077.
    pub rated_torque_nm: f64,
    /// Largest torque, ‰ of the rated.
    pub max_torque_permille: u16,
    /// Largest velocity, rad/s; object 0x607F begins with it.
    pub max_velocity_rad_s: f64,
    /// Software limits, rad; absent: none.
    pub limits_rad: Option<[f64; 2]>,
    /// Limit switches, rad; absent: none.
    pub switches_rad: Option<[f64; 2]>,
    /// Following error that is a fault when it lasts, rad.
    pub following_window_rad: f64,
    /// How long it must last, ms.
    pub following_timeout_ms: u16,
    /// Deceleration of quick stop and fault reaction, rad/s².
    pub quick_stop_rad_s2: f64,
    /// SYNC0 periods without a new position for which the drive continues at the velocity of the last two; then it holds.
    pub extrapolated_periods: u32,
    /// Position at start, rad.
    pub start_rad: f64,
    /// Gains of the cascade.
    pub gains: Gains,
    /// The default plant's axis; another plant ignores it.
    pub plant: PlantSettings,
}

impl Default for DriveSettings {
    fn default() -> Self {
        Self {
            counts_per_revolution: 1 << 20,
            gear_ratio: [1, 1],
            rated_torque_nm: 200.0,
            max_torque_permille: 1000,
            max_velocity_rad_s: 2.618,
            limits_rad: None,
            switches_rad: None,
            following_window_rad: 0.05,
            following_timeout_ms: 10,
            quick_stop_rad_s2: 20.0,
            extrapolated_periods: 0,
            start_rad: 0.0,
            gains: Gains::default(),
            plant: PlantSettings::default(),
        }
    }
}

impl DriveSettings {
    /// Counts for an angle.
    pub fn counts(&self, rad: f64) -> f64 {
        rad * f64::from(self.counts_per_revolution) / std::f64::consts::TAU
    }

    /// The angle of the joint for counts of the encoder, rad.
    pub fn rad(&self, counts: f64) -> f64 {
        counts * std::f64::consts::TAU / f64::from(self.counts_per_revolution)
    }

    /// Velocity that is a fault at once: a fifth above the largest allowed.
    pub fn overspeed_rad_s(&self) -> f64 {
        1.2 * self.max_velocity_rad_s
    }

    /// An impossible combination of numbers that are each in range ([`crate::ranges`]), and a remedy.
    pub fn problem(&self, tick_us: u32) -> Option<(String, &'static str)> {
        let pairs = [
            ("limits_rad", self.limits_rad),
            ("switches_rad", self.switches_rad),
            ("plant.stops_rad", self.plant.stops_rad),
        ];
        if let Some((name, Some([low, high]))) =
            pairs.into_iter().find(|(_, pair)| pair.is_some_and(|[low, high]| low >= high))
        {
            return Some((format!("{name} = [{low}, {high}]"), "Write [low, high] with low below high"));
        }
        if u64::from(self.counts_per_revolution) * u64::from(self.gear_ratio[1]) > u64::from(u32::MAX) {
            let message = format!("gear_ratio = {:?} with this number of counts_per_revolution", self.gear_ratio);
            return Some((message, "Object 0x608F has 32 bits for counts times turns of the joint; reduce one"));
        }
        // Friction that stops the axis within a step throws it back further in the next one.
        let decay = self.plant.viscous_nm_s * f64::from(tick_us) * 1.0e-6 / self.plant.inertia_kg_m2;
        (decay > 1.0).then(|| {
            let message =
                format!("plant.viscous_nm_s = {} stops the axis within {tick_us} us", self.plant.viscous_nm_s);
            (message, "Choose less friction, more inertia or a smaller ring.tick_us")
        })
    }
}

/// Axis of the default plant.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantSettings {
    /// Inertia at the joint, kg·m².
    pub inertia_kg_m2: f64,
    /// Viscous friction, N·m·s/rad.
    pub viscous_nm_s: f64,
    /// Coulomb friction, N·m.
    pub coulomb_nm: f64,
    /// End stops, rad; absent: none.
    pub stops_rad: Option<[f64; 2]>,
}

impl Default for PlantSettings {
    fn default() -> Self {
        let axis = Inertia::default();
        Self {
            inertia_kg_m2: axis.inertia_kg_m2,
            viscous_nm_s: axis.viscous_nm_s,
            coulomb_nm: axis.coulomb_nm,
            stops_rad: None,
        }
    }
}

impl PlantSettings {
    /// As an axis of [`crate::plant::Inertias`].
    pub fn inertia(&self) -> Inertia {
        let [low, high] = self.stops_rad.unwrap_or([-1.0e9, 1.0e9]);
        Inertia {
            inertia_kg_m2: self.inertia_kg_m2,
            viscous_nm_s: self.viscous_nm_s,
            coulomb_nm: self.coulomb_nm,
            stops_rad: (low, high),
        }
    }
}
