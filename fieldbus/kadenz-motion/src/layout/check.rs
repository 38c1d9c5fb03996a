// SPDX-License-Identifier: Apache-2.0
//! Checks of a layout before anything moves: the arm must be able to do it, and the supervision to watch it.

use kadenz_dynamics::indy7;

use super::{AxisLayout, EdgeLayout, Layout, Motion, Startup};
use crate::profile::Path;
use crate::AXES;

/// A value that cannot be used, and what to do about it.
#[derive(Debug)]
pub(super) struct Problem {
    pub what: String,
    pub remedy: String,
}

fn refuse(what: impl Into<String>, remedy: impl Into<String>) -> Result<(), Problem> {
    Err(Problem { what: what.into(), remedy: remedy.into() })
}

/// The longest way out, s: a longer one is a typing error, and counts of cycles stay far from their limits.
const LONGEST_WAY_S: f64 = 3600.0;
/// Where the tables of a layout are explained.
const EXPLAINED: &str = "docs/how-to/run-the-motion.md";
/// Most bytes of process data of a ring: one frame.
const IMAGE_MAX_BYTES: usize = crate::bus::IMAGE_MAX_BYTES;

pub(super) fn check(layout: &Layout) -> Result<(), Problem> {
    cycle(layout)?;
    supervision(layout)?;
    match (layout.axis.len(), &layout.edge) {
        (AXES, _) => arm(layout)?,
        (0, Some(_)) => {}
        (0, None) => {
            let what = "no [[axis]] entry and no [edge] table: nothing moves and nothing is stamped";
            return refuse(what, format!("Give {AXES} [[axis]] entries, or the two terminals as [edge]: {EXPLAINED}"));
        }
        (axes, _) => {
            let what = format!("{axes} [[axis]] entries, the arm has {AXES} joints");
            return refuse(what, "Give one entry a joint, base outwards, or none to measure edges alone");
        }
    }
    layout.edge.as_ref().map_or(Ok(()), |terminals| edge(layout, terminals))?;
    let acquisition = layout.acquisition.as_ref();
    acquisition.map_or(Ok(()), |terminal| stamps("acquisition", terminal.count_byte, terminal.rising_byte))
}

/// The axes and what they are to do.
fn arm(layout: &Layout) -> Result<(), Problem> {
    if layout.motion == Motion::default() {
        return refuse("[[axis]] entries, but no [motion] table", format!("Give the poses as [motion]: {EXPLAINED}"));
    }
    for (joint, axis) in layout.axis.iter().enumerate() {
        self::axis(joint, axis)?;
        axis.startup.iter().try_for_each(|entry| startup(axis, entry))?;
    }
    motion(layout)?;
    for (k, axis) in layout.axis.iter().enumerate() {
        if let Some(other) = layout.axis[..k].iter().find(|other| other.device == axis.device) {
            let what = format!("axes `{}` and `{}` both name device {}", other.name, axis.name, axis.device);
            return refuse(what, "Give each axis the position of its own drive in the ring, from 0");
        }
    }
    Ok(())
}

fn cycle(layout: &Layout) -> Result<(), Problem> {
    let cycle = &layout.cycle;
    if cycle.period_us != 1000 {
        let what = format!("cycle.period_us is {}, but the tasks of the study run at 1 ms", cycle.period_us);
        return refuse(what, "Use 1000 (the edge workload has a cycle of its own)");
    }
    if cycle.sync0_after_us >= cycle.period_us {
        let what = format!("cycle.sync0_after_us is {} and so beyond the period", cycle.sync0_after_us);
        return refuse(what, format!("Choose less than {}; half the period is a good place", cycle.period_us));
    }
    Ok(())
}

/// A limit of 0 would stop every run, and NaN would stop none.
fn supervision(layout: &Layout) -> Result<(), Problem> {
    let limits = &layout.supervision;
    positive("supervision.following_error_deg", limits.following_error_deg)?;
    let counts = [
        ("lost_frames", u64::from(limits.lost_frames)),
        ("wrong_counters", limits.wrong_counters.into()),
        ("late_cycles", limits.late_cycles.into()),
        ("late_ns", limits.late_ns),
        ("skipped_cycles", limits.skipped_cycles.into()),
        ("clock_difference_ns", limits.clock_difference_ns.into()),
        ("clock_readings", limits.clock_readings.into()),
        ("status_cycles", limits.status_cycles.into()),
        ("setpoint_cycles", limits.setpoint_cycles.into()),
        ("stop_cycles", limits.stop_cycles.into()),
    ];
    match counts.into_iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => refuse(
            format!("supervision.{name} is 0"),
            "Give at least 1, or leave the key out for its default (docs/reference/motion.md, \"Supervision\")",
        ),
        None => Ok(()),
    }
}

fn positive(name: &str, value: f64) -> Result<(), Problem> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    refuse(format!("{name} is {value}"), "It must be a number greater than 0")
}

fn axis(joint: usize, axis: &AxisLayout) -> Result<(), Problem> {
    let link = &indy7::links()[joint];
    let key = |key: &str| format!("{key} of axis `{}`", axis.name);
    positive(&format!("{}, without its sign,", key("counts_per_turn")), axis.counts_per_turn.abs())?;
    positive(&key("shaft_turns"), axis.shaft_turns)?;
    positive(&key("velocity_deg_s"), axis.velocity_deg_s)?;
    positive(&key("acceleration_deg_s2"), axis.acceleration_deg_s2)?;
    positive(&key("jerk_deg_s3"), axis.jerk_deg_s3)?;
    // A margin for rounding: the limit itself is allowed.
    let fastest = link.velocity_rad_s.to_degrees() + 1e-9;
    if axis.velocity_deg_s > fastest {
        let what = format!("{} is {}, joint {joint} turns at most", key("velocity_deg_s"), axis.velocity_deg_s);
        return refuse(format!("{what} {fastest:.0} degrees/s"), "Choose a velocity the joint is made for");
    }
    let counts = axis.counts_per_turn.abs() * link.limit_rad.max(link.velocity_rad_s) / std::f64::consts::TAU;
    if counts > f64::from(i32::MAX) {
        let (name, value) = (key("counts_per_turn"), axis.counts_per_turn);
        let what = format!("{name} is {value}: positions of joint {joint} do not fit 32 bits");
        return refuse(what, "Give the encoder counts of one turn of the joint, or set the drive to a coarser unit");
    }
    let Some(forward) = &axis.feed_forward else { return Ok(()) };
    positive(&key("feed_forward.gear"), forward.gear)?;
    let rest = [
        ("rotor_kg_m2", forward.rotor_kg_m2),
        ("viscous_nm_s", forward.viscous_nm_s),
        ("coulomb_nm", forward.coulomb_nm),
    ];
    match rest.into_iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
        Some((name, value)) => refuse(
            format!("{} is {value}", key(&format!("feed_forward.{name}"))),
            "Measure it, or leave the key out for 0: drives correct too little feed-forward, too much pushes the arm",
        ),
        None => Ok(()),
    }
}

fn startup(axis: &AxisLayout, entry: &Startup) -> Result<(), Problem> {
    let name = format!("startup of {:#06x}:{} of axis `{}`", entry.index, entry.sub, axis.name);
    let (lowest, highest) = match entry.bits {
        8 => (i64::from(i8::MIN), i64::from(u8::MAX)),
        16 => (i64::from(i16::MIN), i64::from(u16::MAX)),
        32 => (i64::from(i32::MIN), i64::from(u32::MAX)),
        bits => return refuse(format!("{name} has {bits} bits"), "8, 16 or 32 are possible"),
    };
    if (lowest..=highest).contains(&entry.value) {
        return Ok(());
    }
    let what = format!("{name}: {} does not fit {} bits", entry.value, entry.bits);
    refuse(what, format!("Give {lowest} to {highest}, or the object's true width as `bits`"))
}

/// Every joint goes from one end to the other.
fn motion(layout: &Layout) -> Result<(), Problem> {
    let motion = &layout.motion;
    positive("motion.rest_s", motion.rest_s)?;
    positive("motion.stop_s", motion.stop_s)?;
    for (name, end_deg) in [("low_deg", motion.low_deg), ("high_deg", motion.high_deg)] {
        for (joint, link) in indy7::links().iter().enumerate() {
            let limit_deg = link.limit_rad.to_degrees();
            // Not a number fails too.
            if !(-limit_deg - 1e-9..=limit_deg + 1e-9).contains(&end_deg) {
                let what = format!("motion.{name} is {end_deg}, joint {joint} turns between ±{limit_deg:.0} degrees");
                return refuse(what, "Choose ends that every joint can reach, with room to its stop");
            }
        }
    }
    positive("motion: high_deg less low_deg", motion.high_deg - motion.low_deg)?;
    let ends = [motion.low_deg, motion.high_deg].map(|end_deg| [end_deg.to_radians(); AXES]);
    let limits = std::array::from_fn(|k| layout.axis[k].limits());
    let way_s = Path::new(ends[0], ends[0], ends[1], limits, motion.rest_s, motion.stop_s).way_s();
    if !(way_s > 0.0 && way_s <= LONGEST_WAY_S) {
        let what = format!("one way would take {way_s:.0} s");
        return refuse(what, "Raise velocity, acceleration or jerk, or shorten motion.rest_s: an hour is the most");
    }
    Ok(())
}

fn edge(layout: &Layout, terminals: &EdgeLayout) -> Result<(), Problem> {
    let devices = [("output_device", terminals.output_device), ("input_device", terminals.input_device)];
    for (key, device) in devices {
        // The pulse train would write into a drive's controlword.
        if let Some(axis) = layout.axis.iter().find(|axis| axis.device == device) {
            let what = format!("edge.{key} is {device}, the drive of axis `{}`", axis.name);
            return refuse(what, "Name the terminal by its position in the ring, from 0");
        }
    }
    stamps("edge", terminals.count_byte, terminals.rising_byte)
}

/// Where a table says that a terminal's counter and time are.
fn stamps(table: &str, count: usize, rising: usize) -> Result<(), Problem> {
    for (key, from, bytes) in [("count_byte", count, 2), ("rising_byte", rising, 8)] {
        if from > IMAGE_MAX_BYTES - bytes {
            let what = format!("{table}.{key} is {from}, beyond the process data of any device");
            return refuse(what, "Count bytes from the first input of the terminal, from 0");
        }
    }
    if count < rising + 8 && rising < count + 2 {
        let what = format!("{table}.count_byte ({count}, 2 bytes) and {table}.rising_byte ({rising}, 8 bytes) overlap");
        return refuse(what, "Take both from the terminal's mapping (its 0x1C13)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path as FilePath;

    use super::super::Layout;
    use crate::built_in::BuiltIn;

    /// The error for the built-in layout with one change.
    fn refused(from: &str, to: &str) -> String {
        reason(&changed(BuiltIn::Indy7, from, to))
    }

    fn changed(built_in: BuiltIn, from: &str, to: &str) -> String {
        let text = built_in.layout_text().replacen(from, to, 1);
        assert_ne!(text, built_in.layout_text(), "`{from}` is not in the layout");
        text
    }

    fn reason(text: &str) -> String {
        let said = Layout::parse(text, FilePath::new("mine.toml")).unwrap_err().to_string();
        assert!(said.starts_with("layout mine.toml: ") && said.contains(". "), "no place or no remedy: {said}");
        said
    }

    fn accepted(from: &str, to: &str) {
        Layout::parse(&changed(BuiltIn::Indy7, from, to), FilePath::new("mine.toml")).unwrap();
    }

    #[test]
    fn a_pose_beyond_a_joint_is_refused() {
        for (key, value) in [("high_deg = 90.0", "175.1"), ("high_deg = 90.0", "nan"), ("low_deg = 0.0", "-inf")] {
            let name = key.split(' ').next().unwrap();
            let said = refused(key, &format!("{name} = {value}"));
            assert!(said.contains(name) && said.contains("joint 0") && said.contains("±175"), "{said}");
        }
        accepted("high_deg = 90.0", "high_deg = 175.0");
        assert!(refused("high_deg = 90.0", "high_deg = -10.0").contains("high_deg less low_deg"));
    }

    #[test]
    fn a_velocity_beyond_the_joint_is_refused() {
        let said = refused("velocity_deg_s = 60.0", "velocity_deg_s = 150.5");
        assert!(
            said.contains("velocity_deg_s") && said.contains("joint 0") && said.contains("150 degrees/s"),
            "{said}"
        );
        accepted("velocity_deg_s = 60.0", "velocity_deg_s = 150.0");
    }

    #[test]
    fn a_way_that_never_ends_is_refused() {
        for (from, to) in [
            ("velocity_deg_s = 60.0", "velocity_deg_s = 1e-9"),
            ("jerk_deg_s3 = 1500.0", "jerk_deg_s3 = 1e-300"),
            ("rest_s = 0.5", "rest_s = 1e18"),
        ] {
            assert!(refused(from, to).contains("one way would take"));
        }
    }

    #[test]
    fn a_supervision_that_would_watch_nothing_is_refused() {
        for value in ["nan", "inf", "0.0", "-5.0"] {
            let said = refused("following_error_deg = 5.0", &format!("following_error_deg = {value}"));
            assert!(said.contains("supervision.following_error_deg"), "{said}");
        }
        for key in
            ["wrong_counters", "late_ns", "clock_difference_ns", "clock_readings", "setpoint_cycles", "stop_cycles"]
        {
            let said = refused("[supervision]", &format!("[supervision]\n{key} = 0"));
            assert!(said.contains(&format!("supervision.{key} is 0")) && said.contains("default"), "{said}");
        }
        assert!(refused("status_cycles = 50", "status_cycles = 0").contains("status_cycles"));
        assert!(refused("lost_frames = 30", "lost_frames = 0").contains("lost_frames"));
        assert!(refused("late_cycles = 80", "late_cycles = 0").contains("late_cycles"));
        assert!(refused("skipped_cycles = 80", "skipped_cycles = 0").contains("skipped_cycles"));
        assert!(refused("skipped_cycles = 80", "skipped_cycles = -1").contains("skipped_cycles"));
    }

    #[test]
    fn a_startup_value_that_does_not_fit_is_refused_and_not_cut() {
        let with = |bits: u8, value: i64| {
            let entry =
                format!("startup = [{{ index = 0x1C12, sub = 0, bits = {bits}, value = {value} }}]\njerk_deg_s3");
            (entry, bits, value)
        };
        for (bits, value) in [(8, 256), (8, -129), (16, 65_536), (16, -32_769), (32, 1 << 32), (32, i64::MIN)] {
            let said = refused("jerk_deg_s3", &with(bits, value).0);
            assert!(said.contains("0x1c12:0") && said.contains(&format!("{value} does not fit {bits} bits")), "{said}");
        }
        for (bits, value) in [(8, 255), (8, -128), (16, 65_535), (16, -32_768), (32, 0xFFFF_FFFF), (32, -1)] {
            accepted("jerk_deg_s3", &with(bits, value).0);
        }
        assert!(refused("jerk_deg_s3", &with(24, 0).0).contains("8, 16 or 32"));
    }

    #[test]
    fn a_feed_forward_that_makes_no_sense_is_refused() {
        assert!(refused("gear = 121.0", "gear = 0.0").contains("feed_forward.gear of axis `joint 0`"));
        assert!(refused("gear = 121.0", "gear = -121.0").contains("feed_forward.gear"));
        assert!(refused("gear = 121.0, ", "").contains("gear"));
        assert!(refused("viscous_nm_s = 12.0", "viscous_nm_s = nan").contains("feed_forward.viscous_nm_s"));
        assert!(refused("coulomb_nm = 6.0", "coulomb_nm = -1.0").contains("feed_forward.coulomb_nm"));
        assert!(refused("rated_torque_at = \"joint\"", "rated_torque_at = \"tool\"").contains("rated_torque_at"));
    }

    #[test]
    fn counts_that_do_not_fit_the_process_data_are_refused() {
        assert!(refused("counts_per_turn = 1048576.0", "counts_per_turn = 1e10").contains("do not fit 32 bits"));
        assert!(refused("counts_per_turn = 1048576.0", "counts_per_turn = nan").contains("counts_per_turn"));
        accepted("counts_per_turn = 1048576.0", "counts_per_turn = -1048576.0");
    }

    #[test]
    fn an_edge_terminal_that_is_a_drive_or_lies_beyond_the_image_is_refused() {
        assert!(refused("output_device = 7", "output_device = 3").contains("the drive of axis `joint 2`"));
        assert!(refused("rising_byte = 3", "rising_byte = 9223372036854775807").contains("edge.rising_byte"));
        assert!(refused("rising_byte = 3", "rising_byte = 2").contains("overlap"));
        assert!(refused("count_byte = 1", "count_byte = 10").contains("overlap"));
        accepted("count_byte = 1", "count_byte = 11");
    }

    #[test]
    fn a_layout_has_axes_or_terminals_and_says_which_are_missing() {
        let neither = reason(BuiltIn::Terminals.layout_text().split("[edge]").next().unwrap());
        assert!(neither.contains("no [[axis]] entry and no [edge] table") && neither.contains("Give 6"), "{neither}");
        let (axes, edge) = BuiltIn::Indy7.layout_text().split_once("[edge]").unwrap();
        let five = reason(&format!("{}[edge]{edge}", axes.rsplit_once("[[axis]]").unwrap().0));
        assert!(five.contains("5 [[axis]] entries, the arm has 6 joints") && five.contains("or none"), "{five}");
        let (before, behind) = BuiltIn::Indy7.layout_text().split_once("[motion]").unwrap();
        let rest = &behind[behind.find("[supervision]").unwrap()..];
        let still = reason(&format!("{before}{rest}"));
        assert!(still.contains("no [motion] table") && still.contains("Give the poses"), "{still}");
    }

    #[test]
    fn terminals_without_drives_are_checked_as_those_behind_drives() {
        let said = reason(&changed(BuiltIn::Terminals, "rising_byte = 3", "rising_byte = 2"));
        assert!(said.contains("overlap"), "{said}");
    }

    #[test]
    fn every_other_mistake_has_a_remedy() {
        assert!(refused("period_us = 1000", "period_us = 500").contains("Use 1000"));
        assert!(refused("sync0_after_us = 500", "sync0_after_us = 1000").contains("less than 1000"));
        assert!(refused("device = 2", "device = 1").contains("`joint 0` and `joint 1` both name device 1"));
        assert!(refused("[edge]", "[[axis]]\nname = \"seventh\"").contains("docs/how-to/run-the-motion.md"));
        assert!(refused("[cycle]", "[cycle").contains("docs/how-to/run-the-motion.md"));
    }
}
