// SPDX-License-Identifier: Apache-2.0
//! The ring file: what the segment consists of. Typed; an unknown key is an error that names the nearest known one.

use crate::device::analog::Signal;
use crate::device::edge_clock::EdgeClockSettings;
use crate::drive::settings::DriveSettings;
use crate::eoe::settings::EthernetSettings;
use crate::error::{from_toml, read_text, SegmentError};
use crate::foe::files::FileSettings;
use crate::ranges;
use crate::soe::SoeSettings;
use crate::voe::VendorSettings;
use serde::Deserialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A whole ring file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingFile {
    /// Settings for all devices.
    #[serde(default)]
    pub ring: RingSettings,
    /// The devices, in the order in which a frame passes their processing units.
    #[serde(default)]
    pub device: Vec<DeviceSettings>,
    /// Electrical connections between terminals.
    #[serde(default)]
    pub wire: Vec<WireSettings>,
    /// Where the file lies: paths in it are relative to it.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// Settings for all devices.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RingSettings {
    /// Step of loops and plant, µs.
    pub tick_us: u32,
    /// Time from one device to the next, processing and cable, ns.
    pub hop_ns: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Step of the distributed clocks, ns: every value read from one is a multiple of it.
    pub clock_step_ns: u32,
    /// Standard deviation of a frame's time of receipt by a distributed clock, ns.
    pub clock_noise_ns: f64,
}

impl Default for RingSettings {
    fn default() -> Self {
        // 600 ns: a 100BASE-TX device forwards in about half a microsecond; 20 m of cable add 100 ns.
        // Clocks: docs/explanation/segment.md names the data sheets.
        Self { tick_us: 250, hop_ns: 600, seed: 1, clock_step_ns: 10, clock_noise_ns: 11.5 }
    }
}

/// Kinds of devices that a ring file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Kind {
    Coupler,
    Drive,
    DigitalOutput,
    DigitalInput,
    AnalogOutput,
    AnalogInput,
}

/// Whether a hot-connect group is in the segment when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum HotConnect {
    Present,
    Absent,
}

/// One device of the ring file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceSettings {
    /// Name, unique in the ring.
    pub name: String,
    /// What the device is; keys that belong to other kinds are refused.
    pub kind: Kind,
    /// Station alias in the EEPROM.
    #[serde(default)]
    pub alias: u16,
    /// Serial number; absent: the position.
    pub serial: Option<u32>,
    /// ESI file that gives identity and process data instead of the kind's own.
    pub esi: Option<PathBuf>,
    /// Product code to choose from the ESI file; absent: the only device in it.
    pub esi_product: Option<u32>,
    /// Revision to choose; absent: the only one of that product code.
    pub esi_revision: Option<u32>,
    /// Whether it has a distributed clock.
    #[serde(default = "yes")]
    pub distributed_clock: bool,
    /// Error of the clock's oscillator, ppm; absent: within ±20 ppm by the seed.
    pub clock_ppm: Option<f64>,
    /// Time of the clock when the segment starts, ns; absent: within 10 s by the seed.
    pub clock_start_ns: Option<u64>,
    /// Device it is attached to; absent: the one before.
    pub attached_to: Option<String>,
    /// Port of that device: 1, 2 or 3; absent: 1.
    pub port: Option<u8>,
    /// With the devices behind it, it is a hot-connect group, which joins and leaves.
    pub hot_connect: Option<HotConnect>,
    /// Position of the ID switch.
    pub device_id: Option<u16>,
    /// Channels of a terminal.
    pub channels: Option<u8>,
    /// Channels of a digital input that stamp edges, from the first.
    pub stamped_channels: Option<u8>,
    /// Clock of a digital input's stamps.
    pub edge_clock: Option<EdgeClockSettings>,
    /// Signal at an analogue input.
    pub signal: Option<Signal>,
    /// Files that a master reads and writes by FoE; absent: in memory, open to all.
    pub files: Option<FileSettings>,
    /// The network that a master reaches by EoE; absent: none without an ESI file that has EoE.
    pub ethernet: Option<EthernetSettings>,
    /// AoE of a device without an ESI file.
    #[serde(default)]
    pub aoe: bool,
    /// SoE of a drive without an ESI file.
    pub soe: Option<SoeSettings>,
    /// A vendor's messages by VoE.
    pub voe: Option<VendorSettings>,
    /// Settings of a drive.
    pub drive: Option<DriveSettings>,
}

fn yes() -> bool {
    true
}

/// An electrical connection: `from` an output channel `to` an input channel, each `name.channel`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireSettings {
    /// Source, for example `outputs.1`.
    pub from: String,
    /// Destination, for example `inputs.1`.
    pub to: String,
    /// Time an edge takes, ns: driver, cable, input filter.
    #[serde(default)]
    pub delay_ns: u64,
}

impl RingFile {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, SegmentError> {
        let remedy = "Name a ring file; `kadenz-segment describe --format` prints an example";
        let text = read_text(path, "ring file", remedy)?;
        let mut file = Self::parse(&text, path)?;
        file.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(file)
    }

    /// Parses text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SegmentError> {
        let remedy = "`kadenz-segment describe --format` lists the keys";
        ranges::check(path, text, ranges::RING, remedy)?;
        let file: Self = toml::from_str(text).map_err(|error| from_toml(path, text, &error, remedy))?;
        if let Some((message, remedy)) = file.problem() {
            return Err(SegmentError::config(path, message, remedy));
        }
        Ok(file)
    }

    /// An impossible setting: (message, remedy).
    fn problem(&self) -> Option<(String, String)> {
        let problem = |message: String, remedy: &str| Some((message, remedy.to_owned()));
        if self.device.is_empty() {
            return problem("no [[device]]".into(), "Describe at least one device");
        }
        let mut names = HashSet::with_capacity(self.device.len());
        for (at, device) in self.device.iter().enumerate() {
            let place = format!("device {} ({})", at, device.name);
            if device.name.is_empty() || device.name.contains('.') {
                return problem(format!("{place}: bad name"), "Use a name without dots");
            }
            if !names.insert(&device.name) {
                return problem(format!("{place}: name used twice"), "Give each device its own name");
            }
            let foreign = [
                ("drive", device.drive.is_some(), &[Kind::Drive][..]),
                ("edge_clock", device.edge_clock.is_some(), &[Kind::DigitalInput]),
                ("stamped_channels", device.stamped_channels.is_some(), &[Kind::DigitalInput]),
                ("signal", device.signal.is_some(), &[Kind::AnalogInput]),
                (
                    "channels",
                    device.channels.is_some(),
                    &[Kind::DigitalInput, Kind::DigitalOutput, Kind::AnalogInput, Kind::AnalogOutput],
                ),
            ];
            if let Some((key, ..)) = foreign.iter().find(|(_, given, kinds)| *given && !kinds.contains(&device.kind)) {
                return problem(
                    format!("{place}: `{key}` does not belong to a {:?}", device.kind),
                    "Remove the key or change the kind",
                );
            }
            let channels = device.channels.unwrap_or(4);
            if let Some(stamped) = device.stamped_channels.filter(|stamped| *stamped > channels) {
                let message = format!("{place}: stamped_channels = {stamped} of {channels} channels");
                return problem(message, "Do not stamp more channels than there are");
            }
            if let Some((message, remedy)) = device.drive.as_ref().and_then(|drive| drive.problem(self.ring.tick_us)) {
                return problem(format!("{place}: drive.{message}"), remedy);
            }
            if let Some((message, remedy)) = device.ethernet.as_ref().and_then(EthernetSettings::problem) {
                return problem(format!("{place}: {message}"), &remedy);
            }
            if device.attached_to.is_none() && at == 0 && device.port.is_some() {
                return problem(format!("{place}: port"), "The first device is attached to the master; remove the key");
            }
            if at == 0 && device.hot_connect.is_some() {
                return problem(
                    format!("{place}: hot_connect"),
                    "The first device is attached to the master; remove the key",
                );
            }
        }
        None
    }

    /// Position of a device by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.device.iter().position(|device| device.name == name)
    }
}

/// The format by example, for `describe --format`; a test parses it.
pub const EXAMPLE: &str = r#"# A ring file: the devices in the order in which a frame passes them.
[ring]
tick_us = 250              # step of the drives' loops and of the plant
hop_ns = 600               # from one device to the next
seed = 1                   # of oscillators, wander and noise
clock_step_ns = 10         # step of the distributed clocks
clock_noise_ns = 11.5      # standard deviation of a frame's time of receipt

[[device]]
name = "coupler"
kind = "coupler"           # coupler, drive, digital-output, digital-input, analog-output, analog-input

[[device]]
name = "joint-1"
kind = "drive"
# alias = 101              # station alias
# serial = 7
# esi = "drive.xml"        # identity and process data from an ESI file, and which of its devices
# esi_product = 0x00020001
# esi_revision = 0x00010000
# distributed_clock = true
# clock_ppm = 12.5         # oscillator; absent: within 20 ppm by the seed
# clock_start_ns = 0
# attached_to = "coupler"  # absent: the device before
# port = 1                 # of that device: 1, 2 or 3
# hot_connect = "present"  # this device and those behind it join and leave; absent: not there at the start
# device_id = 5            # position of the ID switch
# files = { folder = "images", password = 0x1234, space_bytes = 16777216, states = "any", writable = true, overwrite = true }
#                          # of FoE; no folder: in memory. states: any, bootstrap, not-bootstrap
# ethernet = { address = "192.168.0.2/24", gateway = "192.168.0.1", mac = "02:00:00:00:00:01", time_stamps = false }
#                          # of EoE: the device has a web page
# aoe = true               # objects by ADS
# soe = { procedure_ms = 10 }    # the drive by IDN
# voe = { id = 0x0BAD, echo = [1], records = [{ type = 2, request = "01", answer = "0A FF" }] }
#                          # messages of a vendor
[device.drive]
counts_per_revolution = 1048576
gear_ratio = [1, 1]        # turns of the motor, turns of the joint; read by 0x608F and 0x6091
rated_torque_nm = 200.0
max_torque_permille = 1000
max_velocity_rad_s = 2.618
limits_rad = [-3.05, 3.05]
switches_rad = [-3.1, 3.1]
following_window_rad = 0.05
following_timeout_ms = 10
quick_stop_rad_s2 = 20.0   # quick stop and fault reaction; the profile deceleration 0x6084 is half of it
extrapolated_periods = 0   # SYNC0 periods without a new position in which the drive continues along its line
start_rad = 0.0
gains = { position_per_s = 50.0, velocity_nm_s = 250.0, integral_per_s = 60.0, torque_time_constant_s = 0.0003 }
plant = { inertia_kg_m2 = 1.0, viscous_nm_s = 1.0, coulomb_nm = 0.5, stops_rad = [-3.2, 3.2] }

[[device]]
name = "outputs"
kind = "digital-output"
channels = 4

[[device]]
name = "inputs"
kind = "digital-input"
channels = 4
stamped_channels = 2
edge_clock = { offset_ppm = 37.0, wander_ppb = 5.0, resolution_ns = 10, noise_ns = 12.0, start_ns = 0 }

[[device]]
name = "volts-out"
kind = "analog-output"
channels = 2

[[device]]
name = "volts-in"
kind = "analog-input"
channels = 2
signal = { amplitude = 16000.0, offset = 0.0, hz = 1.0 }

[[wire]]
from = "outputs.1"
to = "inputs.1"
delay_ns = 150

[[wire]]
from = "volts-out.1"
to = "volts-in.1"
"#;
