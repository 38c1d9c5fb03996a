// SPDX-License-Identifier: Apache-2.0
//! The drive's objects and process data, and where each is.

use super::homing::METHODS;
use super::mode;
use super::settings::DriveSettings;
use crate::coe::object::{number_entry, Dictionary, Handle, Shape, RO, RO_TX, RW, RW_RX};
use crate::description::{entry, gap, DataType, Pdo};

/// Quick stop options (0x605A): by the profile deceleration (1) or that of quick stop (2), then without power; 5 and 6 are
/// the same and stay in quick stop.
const QUICK_STOPS: [i64; 4] = [1, 2, 5, 6];

/// From the master, 16 bytes: controlword @0, target position @2, target velocity @6, target torque @10,
/// torque offset @12, mode @14, gap @15.
pub fn rx_pdos() -> Vec<Pdo> {
    let entries = vec![
        entry(0x6040, 0, DataType::U16, "controlword"),
        entry(0x607A, 0, DataType::I32, "target position"),
        entry(0x60FF, 0, DataType::I32, "target velocity"),
        entry(0x6071, 0, DataType::I16, "target torque"),
        entry(0x60B2, 0, DataType::I16, "torque offset"),
        entry(0x6060, 0, DataType::I8, "mode of operation"),
        gap(8),
    ];
    vec![Pdo { index: 0x1600, name: "drive outputs".into(), entries }]
}

/// To the master, 20 bytes: statusword @0, position @2, velocity @6, torque @10, mode @12, gap @13,
/// following error @14, error code @18.
pub fn tx_pdos() -> Vec<Pdo> {
    let entries = vec![
        entry(0x6041, 0, DataType::U16, "statusword"),
        entry(0x6064, 0, DataType::I32, "position actual"),
        entry(0x606C, 0, DataType::I32, "velocity actual"),
        entry(0x6077, 0, DataType::I16, "torque actual"),
        entry(0x6061, 0, DataType::I8, "mode display"),
        gap(8),
        entry(0x60F4, 0, DataType::I32, "following error"),
        entry(0x603F, 0, DataType::U16, "error code"),
    ];
    vec![Pdo { index: 0x1A00, name: "drive inputs".into(), entries }]
}

macro_rules! handles {
    ($($name:ident $index:literal $sub:literal)*) => {
        /// Where the drive's entries are.
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs)]
        pub struct Handles { $(pub $name: Handle),* }

        impl Handles {
            /// Looks all of them up; `None` if one is missing.
            pub fn find(dictionary: &Dictionary) -> Option<Self> {
                Some(Self { $($name: dictionary.handle($index, $sub)?),* })
            }
        }
    };
}

handles! {
    error_register 0x1001 0
    error_code 0x603F 0
    controlword 0x6040 0
    statusword 0x6041 0
    quick_stop_option 0x605A 0
    mode 0x6060 0
    mode_display 0x6061 0
    position 0x6064 0
    following_window 0x6065 0
    following_timeout_ms 0x6066 0
    velocity 0x606C 0
    target_torque 0x6071 0
    max_torque 0x6072 0
    torque 0x6077 0
    target_position 0x607A 0
    home_offset 0x607C 0
    lowest_position 0x607D 1
    highest_position 0x607D 2
    max_velocity 0x607F 0
    profile_deceleration 0x6084 0
    quick_stop_deceleration 0x6085 0
    homing_method 0x6098 0
    homing_fast 0x6099 1
    homing_slow 0x6099 2
    velocity_offset 0x60B1 0
    torque_offset 0x60B2 0
    interpolation 0x60C2 1
    interpolation_exponent 0x60C2 2
    following_error 0x60F4 0
    digital_inputs 0x60FD 0
    target_velocity 0x60FF 0
    overspeed 0x2000 1
}

/// Adds the drive's objects; units are counts at the joint, counts/s, and per mille of the rated torque.
pub fn add(dictionary: &mut Dictionary, settings: &DriveSettings) {
    let counts = |rad: f64| settings.counts(rad).clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i64;
    let d = dictionary;
    use DataType::*;
    d.variable(0x603F, "error code", U16, RO_TX, 0);
    d.variable(0x6040, "controlword", U16, RW_RX, 0);
    d.variable(0x6041, "statusword", U16, RO_TX, 0);
    d.variable(0x605A, "quick stop option", I16, RW, 2);
    d.allow(0x605A, 0, &QUICK_STOPS);
    d.variable(0x6060, "mode of operation", I8, RW_RX, 0);
    d.allow(0x6060, 0, &mode::ALL);
    d.variable(0x6061, "mode display", I8, RO_TX, 0);
    d.variable(0x6064, "position actual", I32, RO_TX, 0);
    d.variable(0x6065, "following error window", U32, RW, counts(settings.following_window_rad));
    d.variable(0x6066, "following error time-out, ms", U16, RW, i64::from(settings.following_timeout_ms));
    d.variable(0x606C, "velocity actual", I32, RO_TX, 0);
    d.variable(0x6071, "target torque", I16, RW_RX, 0);
    d.variable(0x6072, "max torque", U16, RW_RX, i64::from(settings.max_torque_permille));
    d.variable(0x6076, "rated torque, mN·m", U32, RO, (settings.rated_torque_nm * 1000.0) as i64);
    d.variable(0x6077, "torque actual", I16, RO_TX, 0);
    d.variable(0x607A, "target position", I32, RW_RX, 0);
    d.variable(0x607C, "home offset", I32, RW, 0);
    let (low, high) = settings
        .limits_rad
        .map_or((i64::from(i32::MIN), i64::from(i32::MAX)), |limits| (counts(limits[0]), counts(limits[1])));
    let limits = vec![number_entry(1, "lowest", I32, RW, low), number_entry(2, "highest", I32, RW, high)];
    d.list(0x607D, "software position limits", Shape::Array, RO, limits);
    d.variable(0x607F, "max velocity", U32, RW, counts(settings.max_velocity_rad_s));
    d.variable(0x607E, "polarity", U8, RO, 0);
    d.variable(0x6084, "profile deceleration", U32, RW, counts(settings.quick_stop_rad_s2 / 2.0));
    d.variable(0x6085, "quick stop deceleration", U32, RW, counts(settings.quick_stop_rad_s2));
    d.variable(0x6098, "homing method", I8, RW, 37);
    d.allow(0x6098, 0, &METHODS);
    scale(d, settings);
    let speeds = vec![
        number_entry(1, "to the switch", U32, RW, counts(settings.max_velocity_rad_s / 10.0)),
        number_entry(2, "to the zero", U32, RW, counts(settings.max_velocity_rad_s / 50.0)),
    ];
    d.list(0x6099, "homing speeds", Shape::Array, RO, speeds);
    d.variable(0x60B1, "velocity offset", I32, RW_RX, 0);
    d.variable(0x60B2, "torque offset", I16, RW_RX, 0);
    let period = vec![number_entry(1, "value", U8, RW, 1), number_entry(2, "exponent of ten, s", I8, RW, -3)];
    d.list(0x60C2, "interpolation period", Shape::Record, RO, period);
    d.variable(0x60F4, "following error", I32, RO_TX, 0);
    d.variable(0x60FD, "digital inputs", U32, RO_TX, 0);
    d.variable(0x60FF, "target velocity", I32, RW_RX, 0);
    // Homing, cyclic synchronous position, velocity, torque: bits 5, 7, 8, 9.
    d.variable(0x6502, "supported modes", U32, RO, 0x03A0);
    let own = vec![number_entry(1, "over-speed", U32, RW, counts(settings.overspeed_rad_s()))];
    d.list(0x2000, "supervision", Shape::Record, RO, own);
}

/// What a count is (CiA 402-2, factor group): position actual = feed constant × encoder position / (encoder resolution ×
/// gear ratio). A turn of the joint is `counts_per_revolution` increments of an encoder at a motor behind the gear, which
/// is 1 to 1 unless the ring file says otherwise.
fn scale(d: &mut Dictionary, settings: &DriveSettings) {
    let counts = i64::from(settings.counts_per_revolution);
    let [motor, shaft] = settings.gear_ratio.map(i64::from);
    let mut ratio = |index, name, above: (&str, i64), below: (&str, i64)| {
        let entries = vec![number_entry(1, above.0, U32, RO, above.1), number_entry(2, below.0, U32, RO, below.1)];
        d.list(index, name, Shape::Array, RO, entries);
    };
    use DataType::U32;
    let encoder = ("encoder increments", counts * shaft);
    ratio(0x608F, "position encoder resolution", encoder, ("motor revolutions", motor));
    ratio(0x6091, "gear ratio", ("motor revolutions", motor), ("shaft revolutions", shaft));
    ratio(0x6092, "feed constant", ("feed", counts), ("shaft revolutions", 1));
}

/// Is this a homing method the drive has?
pub fn knows_homing(method: i64) -> bool {
    METHODS.contains(&method)
}
