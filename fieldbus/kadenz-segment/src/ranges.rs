// SPDX-License-Identifier: Apache-2.0
//! Every number a user may write, and its range; they are listed only here. A file is checked against them before its
//! values are used, so that an error names line, key, value and range.

use crate::error::{from_toml, line_of, SegmentError};
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Devices a ring may have. A position has 16 bits, but no real ring has 65,536 devices, and every frame passes all.
pub const MOST_DEVICES: usize = 1024;
/// Wires, or faults, a file may have.
const MOST_ENTRIES: usize = 10_000;
/// The largest whole number of TOML.
const LARGEST: i128 = i64::MAX as i128;

/// Range of a number, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Least and greatest value of a whole number.
    Whole(i128, i128),
    /// Least and greatest value of a number with or without decimals.
    Real(f64, f64),
}

use Range::{Real, Whole};

/// Numbers of a ring file, by key; `[]` stands for every entry of an array.
pub const RING: &[(&str, Range)] = &[
    ("ring.tick_us", Whole(10, 10_000)),
    ("ring.hop_ns", Whole(0, 1_000_000)),
    ("ring.seed", Whole(0, LARGEST)),
    ("ring.clock_step_ns", Whole(1, 1000)),
    ("ring.clock_noise_ns", Real(0.0, 1000.0)),
    ("device[].alias", Whole(0, 0xFFFF)),
    ("device[].serial", Whole(0, 0xFFFF_FFFF)),
    ("device[].esi_product", Whole(0, 0xFFFF_FFFF)),
    ("device[].esi_revision", Whole(0, 0xFFFF_FFFF)),
    ("device[].clock_ppm", Real(-1000.0, 1000.0)),
    ("device[].clock_start_ns", Whole(0, LARGEST)),
    ("device[].port", Whole(1, 3)),
    ("device[].device_id", Whole(0, 0xFFFF)),
    ("device[].channels", Whole(1, 16)),
    ("device[].stamped_channels", Whole(0, 16)),
    ("device[].edge_clock.offset_ppm", Real(-1000.0, 1000.0)),
    ("device[].edge_clock.wander_ppb", Real(0.0, 100_000.0)),
    ("device[].edge_clock.resolution_ns", Whole(1, 1_000_000)),
    ("device[].edge_clock.noise_ns", Real(0.0, 1.0e6)),
    ("device[].edge_clock.start_ns", Whole(0, LARGEST)),
    ("device[].files.password", Whole(0, 0xFFFF_FFFF)),
    ("device[].files.space_bytes", Whole(1, 256 << 20)),
    ("device[].soe.procedure_ms", Whole(0, 60_000)),
    ("device[].voe.id", Whole(0, 0xFFFF_FFFF)),
    ("device[].voe.echo[]", Whole(0, 0xFFFF)),
    ("device[].voe.records[].type", Whole(0, 0xFFFF)),
    ("device[].signal.amplitude", Real(0.0, 32_768.0)),
    ("device[].signal.offset", Real(-32_768.0, 32_767.0)),
    ("device[].signal.hz", Real(0.0, 1.0e6)),
    ("device[].drive.counts_per_revolution", Whole(1, 0x7FFF_FFFF)),
    ("device[].drive.gear_ratio[]", Whole(1, 0xFFFF)),
    ("device[].drive.rated_torque_nm", Real(1.0e-6, 1.0e6)),
    ("device[].drive.max_torque_permille", Whole(1, 0x7FFF)),
    ("device[].drive.max_velocity_rad_s", Real(1.0e-6, 1.0e5)),
    ("device[].drive.limits_rad[]", Real(-1.0e6, 1.0e6)),
    ("device[].drive.switches_rad[]", Real(-1.0e6, 1.0e6)),
    ("device[].drive.following_window_rad", Real(1.0e-9, 1.0e6)),
    ("device[].drive.following_timeout_ms", Whole(0, 0xFFFF)),
    ("device[].drive.quick_stop_rad_s2", Real(1.0e-6, 1.0e6)),
    ("device[].drive.extrapolated_periods", Whole(0, 1_000_000)),
    ("device[].drive.start_rad", Real(-1.0e6, 1.0e6)),
    ("device[].drive.gains.position_per_s", Real(0.0, 1.0e5)),
    ("device[].drive.gains.velocity_nm_s", Real(0.0, 1.0e7)),
    ("device[].drive.gains.integral_per_s", Real(0.0, 1.0e5)),
    ("device[].drive.gains.torque_time_constant_s", Real(0.0, 10.0)),
    ("device[].drive.plant.inertia_kg_m2", Real(1.0e-6, 1.0e6)),
    ("device[].drive.plant.viscous_nm_s", Real(0.0, 1.0e6)),
    ("device[].drive.plant.coulomb_nm", Real(0.0, 1.0e6)),
    ("device[].drive.plant.stops_rad[]", Real(-1.0e9, 1.0e9)),
    ("wire[].delay_ns", Whole(0, 1_000_000_000)),
];

/// Numbers of a fault file. 1.0e9 ms are 11.6 days, more than any run.
pub const FAULTS: &[(&str, Range)] = &[
    ("fault[].cycle", Whole(1, LARGEST)),
    ("fault[].frame", Whole(1, LARGEST)),
    ("fault[].request", Whole(1, LARGEST)),
    ("fault[].time_ms", Real(0.0, 1.0e9)),
    ("fault[].datagram", Whole(1, LARGEST)),
    ("fault[].healthy", Whole(1, LARGEST)),
    ("fault[].enters", Whole(1, 8)),
    ("fault[].sdo", Whole(0, 0xFFFF)),
    ("fault[].sub", Whole(0, 0xFF)),
    ("fault[].nth", Whole(1, LARGEST)),
    ("fault[].every", Whole(1, LARGEST)),
    ("fault[].repeat", Whole(1, LARGEST)),
    ("fault[].to", Whole(1, LARGEST)),
    ("fault[].register", Whole(0, 0xFFFF)),
    ("fault[].abort", Whole(0, 0xFFFF_FFFF)),
    ("fault[].count", Whole(1, LARGEST)),
    ("fault[].lasting_ms", Real(1.0e-6, 1.0e9)),
    ("fault[].delay_us", Whole(1, 60_000_000)),
    ("fault[].delta", Whole(-0x8000, 0x7FFF)),
    ("fault[].byte", Whole(0, 1513)),
    ("fault[].code", Whole(0, 0xFFFF)),
    ("fault[].state", Whole(1, 8)),
    ("fault[].packet", Whole(0, 0xFFFF_FFFF)),
    ("fault[].times", Whole(1, 0xFFFF)),
    ("fault[].ppm", Real(-100_000.0, 100_000.0)),
    ("fault[].port", Whole(0, 3)),
    ("fault[].after_ns", Whole(0, 1_000_000_000)),
    ("campaign[].seed", Whole(0, LARGEST)),
    ("campaign[].faults", Whole(1, MOST_ENTRIES as i128)),
    ("campaign[].cycle[]", Whole(1, LARGEST)),
    ("campaign[].frame[]", Whole(1, LARGEST)),
    ("campaign[].time_ms[]", Whole(0, 1_000_000_000)),
];

/// Checks all numbers of a TOML text against `rows`, and the lengths of its lists. Keys without a row are ignored here,
/// including unknown ones, which the parser of the values reports.
pub fn check(path: &Path, text: &str, rows: &[(&str, Range)], remedy: &str) -> Result<(), SegmentError> {
    let table = DeTable::parse(text).map_err(|error| from_toml(path, text, &error, remedy))?;
    let mut key = String::new();
    walk_table(table.get_ref(), &mut key, rows)
        .map_or(Ok(()), |wrong| Err(SegmentError::config(path, wrong.message(text), wrong.remedy)))
}

struct Wrong {
    at: std::ops::Range<usize>,
    what: String,
    shows_value: bool,
    remedy: String,
}

impl Wrong {
    fn message(&self, text: &str) -> String {
        let value = text.get(self.at.clone()).filter(|_| self.shows_value).unwrap_or("");
        format!("line {}: {}{value}", line_of(text, self.at.start), self.what)
    }
}

fn walk_table(table: &DeTable<'_>, key: &mut String, rows: &[(&str, Range)]) -> Option<Wrong> {
    // In the order of the file, so that the first mistake is named first.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries.into_iter().find_map(|(name, value)| {
        let length = key.len();
        if length > 0 {
            key.push('.');
        }
        key.push_str(name.get_ref());
        let wrong = walk(value, key, rows);
        key.truncate(length);
        wrong
    })
}

fn walk(value: &Spanned<DeValue<'_>>, key: &mut String, rows: &[(&str, Range)]) -> Option<Wrong> {
    match value.get_ref() {
        DeValue::Table(table) => walk_table(table, key, rows),
        DeValue::Array(list) => {
            let most = if key == "device" { MOST_DEVICES } else { MOST_ENTRIES };
            if list.len() > most {
                let what = format!("{} times [[{key}]]", list.len());
                let remedy = format!("Write at most {most}");
                return Some(Wrong { at: value.span(), what, shows_value: false, remedy });
            }
            key.push_str("[]");
            let wrong = list.iter().find_map(|entry| walk(entry, key, rows));
            key.truncate(key.len() - 2);
            wrong
        }
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(i128::MAX);
            hold(value.span(), key, number as f64, Some(number), rows)
        }
        DeValue::Float(number) => hold(value.span(), key, number.as_str().parse().unwrap_or(f64::NAN), None, rows),
        _ => None,
    }
}

fn hold(
    at: std::ops::Range<usize>,
    key: &str,
    number: f64,
    whole: Option<i128>,
    rows: &[(&str, Range)],
) -> Option<Wrong> {
    let (_, range) = rows.iter().find(|(known, _)| *known == key)?;
    let (fits, remedy) = match *range {
        Whole(least, most) => (
            whole.is_some_and(|whole| (least..=most).contains(&whole)),
            format!("Choose a whole number from {least} to {most}"),
        ),
        // NaN is in no range.
        Real(least, most) => ((least..=most).contains(&number), format!("Choose a number from {least} to {most}")),
    };
    let what = format!("{} = ", key.replace("[]", ""));
    (!fits).then_some(Wrong { at, what, shows_value: true, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        check(Path::new("f"), text, RING, "").map_or_else(|error| error.to_string(), |()| "fits".into())
    }

    #[test]
    fn the_first_number_out_of_its_range_is_named_with_line_key_value_and_range() {
        let text = "[ring]\nseed = 3\n[[device]]\nport = 1\n[[device]]\nclock_ppm = 1e300\nport = 7\n";
        assert_eq!(said(text), "f: line 6: device.clock_ppm = 1e300. Choose a number from -1000 to 1000");
        assert_eq!(
            said("[ring]\ntick_us = 2.5"),
            "f: line 2: ring.tick_us = 2.5. Choose a whole number from 10 to 10000"
        );
        assert!(said("[ring]\nclock_noise_ns = nan").contains("= nan. Choose"));
        assert!(said("[[device]]\ndrive = { limits_rad = [-1, inf] }").contains("device.drive.limits_rad = inf"));
    }

    #[test]
    fn numbers_at_the_ends_of_their_ranges_fit() {
        assert_eq!(
            said("[ring]\ntick_us = 10\nhop_ns = 1_000_000\nseed = 0x7FFFFFFFFFFFFFFF\nclock_noise_ns = 0"),
            "fits"
        );
    }
}
