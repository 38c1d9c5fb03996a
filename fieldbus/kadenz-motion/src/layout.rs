// SPDX-License-Identifier: Apache-2.0
//! The layout file: which device is which axis, how it moves, how it is watched.

mod check;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::profile::Limits;
use crate::robot::DriveTrain;
use crate::supervise::SupervisionLimits;
use crate::AXES;

/// Why a layout cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The file cannot be read.
    #[error("cannot read layout {path}: {source}. Give a file as --layout; layouts/indy7.toml is an example")]
    Read {
        /// Path as the caller gave it.
        path: PathBuf,
        /// What Linux refused, or that the file is not text or longer than 1 MiB.
        source: std::io::Error,
    },
    /// The file is no layout.
    #[error(
        "layout {path}: {}. The keys are in docs/how-to/run-the-motion.md; layouts/indy7.toml is an example",
        source.to_string().trim_end()
    )]
    Parse {
        /// Path as the caller gave it.
        path: PathBuf,
        /// With line and column.
        source: Box<toml::de::Error>,
    },
    /// A value makes no sense.
    #[error("layout {path}: {problem}. {remedy}")]
    Value {
        /// Path as the caller gave it.
        path: PathBuf,
        /// The key, its value, and what is wrong with it.
        problem: String,
        /// What to write instead.
        remedy: String,
    },
}

/// The layout file: cycle, axes, movement, limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Length of a cycle, and the clocks that pace it.
    pub cycle: Cycle,
    /// The movement of all axes.
    #[serde(default)]
    pub motion: Motion,
    /// Limits beyond which the supervision reacts.
    #[serde(default)]
    pub supervision: SupervisionLimits,
    /// One entry a joint, base outwards; none where only edges are measured.
    #[serde(default)]
    pub axis: Vec<AxisLayout>,
    /// Terminals of the edge workload.
    #[serde(default)]
    pub edge: Option<EdgeLayout>,
    /// The input terminal of the edge workload on a ring of its own.
    #[serde(default)]
    pub acquisition: Option<AcquisitionLayout>,
}

/// Cycle and distributed clocks.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// Period of the main task and of SYNC0, µs.
    pub period_us: u32,
    /// SYNC0 after the frame has passed, µs.
    pub sync0_after_us: u32,
    /// Cycles for which the drives go on by themselves when no setpoint comes. After a pause the path passes over as
    /// many setpoints, and waits for the rest of it; 0: the drives hold at once.
    #[serde(default)]
    pub drives_go_on_cycles: u32,
}

/// The movement where the plan names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Home pose, every joint, degrees.
    pub low_deg: f64,
    /// Other end, every joint, degrees.
    pub high_deg: f64,
    /// Standing at each end, s.
    pub rest_s: f64,
    /// Slowing to a halt on the path (stop category 2), s.
    pub stop_s: f64,
}

/// A start-up command by SDO, sent in PRE-OP in the order of the file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Startup {
    /// Index of the object, 0x0000 to 0xFFFF.
    pub index: u16,
    /// Sub-index of the object.
    pub sub: u8,
    /// Width, bits: 8, 16 or 32.
    pub bits: u8,
    /// Value; negative ones as two's complement.
    pub value: i64,
}

/// One axis: its device, scales and limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisLayout {
    /// The name of the axis in messages.
    pub name: String,
    /// Position of its drive in the ring, from 0.
    pub device: usize,
    /// Encoder counts of one turn of the joint, gear included; negative where the drive turns the other way.
    pub counts_per_turn: f64,
    /// Turns of the shaft the drive knows of (behind its own gear ratio, object 0x6091) for one turn of the joint.
    #[serde(default = "one")]
    pub shaft_turns: f64,
    /// Largest velocity, degrees/s; at most that of the joint in the model of the arm.
    pub velocity_deg_s: f64,
    /// Largest acceleration, degrees/s².
    pub acceleration_deg_s2: f64,
    /// Largest jerk, degrees/s³.
    pub jerk_deg_s3: f64,
    /// Torque feed-forward; without it the drive gets none.
    #[serde(default)]
    pub feed_forward: Option<FeedForward>,
    /// Whether the cycle is written to the drive (object 0x60C2) at the start; left out: where the drive has the object.
    #[serde(default)]
    pub interpolation_period: Option<bool>,
    /// Sent before the drive's mapping is read.
    #[serde(default)]
    pub startup: Vec<Startup>,
}

fn one() -> f64 {
    1.0
}

/// The conversion of the model's torques, N·m at the joint, to the drive's, and properties of the joint outside the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedForward {
    /// Motor turns for one turn of the joint.
    pub gear: f64,
    /// Where the rated torque the drive tells (object 0x6076) is meant.
    #[serde(default)]
    pub rated_torque_at: RatedTorqueAt,
    /// Inertia of the rotor about its own axis, kg·m².
    #[serde(default)]
    pub rotor_kg_m2: f64,
    /// Viscous friction at the joint, N·m·s/rad.
    #[serde(default)]
    pub viscous_nm_s: f64,
    /// Coulomb friction at the joint, N·m.
    #[serde(default)]
    pub coulomb_nm: f64,
    /// Only for drives of this vendor (object 0x1018:1): one of another gets no feed-forward.
    #[serde(default)]
    pub vendor: Option<u32>,
}

/// Where a drive's rated torque is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatedTorqueAt {
    /// At the shaft of the motor, before the gear, as CiA 402 has it.
    #[default]
    Motor,
    /// Behind the gear: integrated joints, and the simulated drives.
    Joint,
}

impl FeedForward {
    /// Rotor and friction as the dynamic task wants them.
    pub fn drive_train(&self) -> DriveTrain {
        DriveTrain {
            gear: self.gear,
            rotor_kg_m2: self.rotor_kg_m2,
            viscous_nm_s: self.viscous_nm_s,
            coulomb_nm: self.coulomb_nm,
        }
    }
}

impl AxisLayout {
    /// Limits of its moves in rad.
    pub fn limits(&self) -> Limits {
        Limits {
            velocity: self.velocity_deg_s.to_radians(),
            acceleration: self.acceleration_deg_s2.to_radians(),
            jerk: self.jerk_deg_s3.to_radians(),
        }
    }
}

/// The two terminals of the edge workload.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeLayout {
    /// Digital output terminal, position in the ring; its first bit is used.
    pub output_device: usize,
    /// Input terminal with time stamps, position in the ring.
    pub input_device: usize,
    /// Byte of the 16-bit edge counter in its inputs.
    pub count_byte: usize,
    /// Byte of the 64-bit time of the last rising edge, ns.
    pub rising_byte: usize,
}

/// The input terminal that another program reads, on a second ring.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcquisitionLayout {
    /// Input terminal with time stamps, position in the second ring.
    pub input_device: usize,
    /// Byte of the 16-bit edge counter in its inputs.
    pub count_byte: usize,
    /// Byte of the 64-bit time of the last rising edge, ns.
    pub rising_byte: usize,
}

/// Longest layout file, bytes.
const LONGEST: u64 = 1 << 20;

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let length = std::fs::File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LONGEST {
        return Err(std::io::Error::other(format!("longer than {} MiB", LONGEST >> 20)));
    }
    Ok(text)
}

impl Layout {
    /// Reads and checks a file of at most 1 MiB.
    pub fn load(path: &Path) -> Result<Self, LayoutError> {
        let text = read(path).map_err(|source| LayoutError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// From text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LayoutError> {
        let layout: Self = toml::from_str(text)
            .map_err(|source| LayoutError::Parse { path: path.to_owned(), source: Box::new(source) })?;
        match check::check(&layout) {
            Ok(()) => Ok(layout),
            Err(check::Problem { what, remedy }) => {
                Err(LayoutError::Value { path: path.to_owned(), problem: what, remedy })
            }
        }
    }

    /// Whether there is an arm to move: a layout has all of its axes or none.
    pub fn has_axes(&self) -> bool {
        !self.axis.is_empty()
    }

    /// Rotor and friction behind each joint; nothing without configured feed-forward.
    pub fn drive_trains(&self) -> [DriveTrain; AXES] {
        let of = |axis: &AxisLayout| axis.feed_forward.map(|forward| forward.drive_train()).unwrap_or_default();
        std::array::from_fn(|k| self.axis.get(k).map(of).unwrap_or_default())
    }

    /// Length of a cycle, ns.
    pub fn period_ns(&self) -> u64 {
        u64::from(self.cycle.period_us) * 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::BuiltIn;

    #[test]
    fn a_wrong_value_and_an_unknown_key_are_named() {
        let wrong = BuiltIn::Indy7.layout_text().replacen("velocity_deg_s = 60.0", "velocity_deg_s = -1.0", 1);
        let error = Layout::parse(&wrong, Path::new("mine.toml")).unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("velocity_deg_s"), "{error}");
        let unknown = BuiltIn::Indy7.layout_text().replacen("rest_s", "pause_s", 1);
        let error = Layout::parse(&unknown, Path::new("mine.toml")).unwrap_err().to_string();
        assert!(error.contains("pause_s"), "{error}");
    }

    #[test]
    fn a_missing_file_says_where_an_example_is() {
        let error = Layout::load(Path::new("/nowhere.toml")).unwrap_err().to_string();
        assert!(error.contains("/nowhere.toml") && error.contains("indy7.toml"), "{error}");
    }

    #[test]
    fn a_file_without_an_end_is_named() {
        let error = Layout::load(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero: longer than 1 MiB"), "{error}");
    }
}
