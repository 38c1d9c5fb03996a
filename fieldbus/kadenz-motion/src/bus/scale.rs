// SPDX-License-Identifier: Apache-2.0
//! The units, modes and limits that a drive reports, checked against the layout before anything moves (CiA 402-2:
//! objects 0x607D, 0x607E, 0x608F, 0x6091, 0x6092, 0x6502). Objects that a drive lacks are not checked.

use ethercrab::error::{Error, MailboxError};
use ethercrab::{EtherCrabWireReadSized, SubDevice, SubDeviceRef};

use crate::cia402::SUPPORTS_CSP;
use crate::layout::{AxisLayout, Motion};

/// Relative difference allowed between counts: gear ratios are not whole numbers.
const COUNTS_DIFFER: f64 = 1e-4;
/// The same for gears, which data sheets round.
const GEARS_DIFFER: f64 = 1e-3;
/// Position and velocity in 0x607E.
const TURNED_ROUND: u8 = 0xC0;

/// The scale that a drive reports, the scale of the layout, and the remedy where they differ.
#[derive(Debug, PartialEq)]
pub(super) struct Contradiction {
    pub drive: String,
    pub layout: String,
    pub remedy: &'static str,
}

/// A numerator and a denominator of the factor group.
type Ratio = (u32, u32);

/// Values of a drive; none where it has no such object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Said {
    /// 0x608F: encoder increments per turn of the motor.
    resolution: Option<Ratio>,
    /// 0x6091: turns of the motor per turn of the shaft.
    gear: Option<Ratio>,
    /// 0x6092: counts per turn of the shaft.
    feed: Option<Ratio>,
    /// 0x607E: whether position and velocity are reversed; [`TURNED_ROUND`] masks both.
    polarity: Option<u8>,
    /// 0x607D, counts; nothing where positions are shifted by a home offset (0x607C).
    limits: Option<(i32, i32)>,
    /// 0x6502: the modes it supports, [`SUPPORTS_CSP`] among them or not.
    modes: Option<u32>,
}

/// An object that a drive may lack, or may not give.
pub(super) async fn optional<T, S>(device: &SubDeviceRef<'_, S>, index: u16, sub: u8) -> Result<Option<T>, Error>
where
    T: EtherCrabWireReadSized,
    S: std::ops::Deref<Target = SubDevice>,
{
    match device.sdo_read(index, sub).await {
        Ok(value) => Ok(Some(value)),
        Err(Error::Mailbox(MailboxError::Aborted { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Said {
    /// Reads them from the drive.
    pub async fn read(device: &SubDeviceRef<'_, &SubDevice>) -> Result<Self, Error> {
        let homed = optional::<i32, _>(device, 0x607C, 0).await?.is_some_and(|offset| offset != 0);
        let (low, high) = (optional(device, 0x607D, 1).await?, optional(device, 0x607D, 2).await?);
        Ok(Self {
            resolution: ratio(device, 0x608F).await?,
            gear: ratio(device, 0x6091).await?,
            feed: ratio(device, 0x6092).await?,
            polarity: optional(device, 0x607E, 0).await?,
            limits: low.zip(high).filter(|(low, high)| low < high && !homed),
            modes: optional(device, 0x6502, 0).await?,
        })
    }

    /// Counts of one turn of the shaft, and by which objects: the feed constant, or the encoder and the gear.
    fn counts_of_a_turn(&self) -> Option<(f64, String)> {
        if let Some(feed) = self.feed {
            return Some((quotient(feed), format!("feed constant 0x6092 = {}/{}", feed.0, feed.1)));
        }
        let resolution = self.resolution?;
        let gear = self.gear.unwrap_or((1, 1));
        let said = format!(
            "encoder resolution 0x608F = {}/{}, gear ratio 0x6091 = {}/{}",
            resolution.0, resolution.1, gear.0, gear.1
        );
        Some((quotient(resolution) * quotient(gear), said))
    }

    /// The drive gives its scale.
    pub fn has_scale(&self) -> bool {
        self.counts_of_a_turn().is_some()
    }

    /// The first contradiction. `feeds_forward`: the drive gets torques.
    pub fn contradicts(&self, axis: &AxisLayout, motion: &Motion, feeds_forward: bool) -> Option<Contradiction> {
        self.mode()
            .or_else(|| self.counts(axis))
            .or_else(|| self.gear(axis).filter(|_| feeds_forward))
            .or_else(|| self.polarity(axis, feeds_forward))
            .or_else(|| self.limits(axis, motion))
    }

    fn mode(&self) -> Option<Contradiction> {
        let modes = self.modes.filter(|modes| modes & SUPPORTS_CSP == 0)?;
        Some(Contradiction {
            drive: format!("that it lacks cyclic synchronous position (supported modes 0x6502 = {modes:#x})"),
            layout: "that it is an axis".into(),
            remedy: "Give the device of a drive that has this mode, or set the drive up for it",
        })
    }

    fn counts(&self, axis: &AxisLayout) -> Option<Contradiction> {
        let (counts, objects) = self.counts_of_a_turn()?;
        let layout = axis.counts_per_turn.abs() / axis.shaft_turns;
        if (layout / counts - 1.0).abs() <= COUNTS_DIFFER {
            return None;
        }
        Some(Contradiction {
            drive: format!("{counts} counts per turn of its shaft ({objects})"),
            layout: format!(
                "{layout} (counts_per_turn = {}, shaft_turns = {})",
                axis.counts_per_turn, axis.shaft_turns
            ),
            remedy: "Correct counts_per_turn, or the drive's objects; where a gear follows the drive's shaft, set \
                     shaft_turns to the shaft's turns per turn of the joint",
        })
    }

    /// A ratio of 1 to 1 means that the drive knows of no gear.
    fn gear(&self, axis: &AxisLayout) -> Option<Contradiction> {
        let (gear, forward) = (self.gear.filter(|gear| gear.0 != gear.1)?, axis.feed_forward?);
        let turns = quotient(gear) * axis.shaft_turns;
        if (forward.gear / turns - 1.0).abs() <= GEARS_DIFFER {
            return None;
        }
        Some(Contradiction {
            drive: format!(
                "{turns} turns of the motor per turn of the joint (gear ratio 0x6091 = {}/{})",
                gear.0, gear.1
            ),
            layout: format!("feed_forward.gear = {}, shaft_turns = {}", forward.gear, axis.shaft_turns),
            remedy: "Correct feed_forward.gear, which scales the torques, or the drive's gear ratio",
        })
    }

    fn polarity(&self, axis: &AxisLayout, feeds_forward: bool) -> Option<Contradiction> {
        let turned = self.polarity? & TURNED_ROUND;
        let halfway = turned != 0 && turned != TURNED_ROUND;
        if turned == 0 || !(halfway || feeds_forward) {
            return None;
        }
        Some(Contradiction {
            drive: format!("that it reverses position or velocity, and perhaps not torque (0x607E = {turned:#04x})"),
            layout: format!("counts_per_turn = {}, for all of them", axis.counts_per_turn),
            remedy: "Set 0x607E to 0 and give counts_per_turn the sign",
        })
    }

    fn limits(&self, axis: &AxisLayout, motion: &Motion) -> Option<Contradiction> {
        let (low, high) = self.limits?;
        let counts = |degrees: f64| degrees / 360.0 * axis.counts_per_turn;
        let ends = [("low_deg", motion.low_deg), ("high_deg", motion.high_deg)];
        let beyond = |at: f64| at < f64::from(low) - 1.0 || at > f64::from(high) + 1.0;
        let (name, degrees) = ends.into_iter().find(|(_, degrees)| beyond(counts(*degrees)))?;
        let limits = [low, high].map(|at| f64::from(at) / axis.counts_per_turn * 360.0);
        Some(Contradiction {
            drive: format!(
                "software limits at {low} and {high} counts (0x607D), {:.2} and {:.2} degrees of the joint",
                limits[0], limits[1]
            ),
            layout: format!("motion.{name} = {degrees}"),
            remedy: "Choose ends inside, or correct counts_per_turn or the drive's limits",
        })
    }
}

fn quotient(ratio: Ratio) -> f64 {
    f64::from(ratio.0) / f64::from(ratio.1)
}

/// Both entries of an object; one with a zero means nothing.
async fn ratio(device: &SubDeviceRef<'_, &SubDevice>, index: u16) -> Result<Option<Ratio>, Error> {
    let (above, below) = (optional::<u32, _>(device, index, 1).await?, optional::<u32, _>(device, index, 2).await?);
    Ok(above.zip(below).filter(|(above, below)| *above > 0 && *below > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::BuiltIn;

    const TURN: u32 = 1 << 20;

    /// Words about joint 0 of the built-in layout, changed.
    fn said(said: Said, feeds_forward: bool, change: impl FnOnce(&mut AxisLayout)) -> Option<String> {
        let mut layout = BuiltIn::Indy7.layout().unwrap();
        change(&mut layout.axis[0]);
        let found = said.contradicts(&layout.axis[0], &layout.motion, feeds_forward)?;
        assert!(!found.remedy.is_empty());
        Some(format!("{} | {}", found.drive, found.layout))
    }

    #[test]
    fn counts_are_compared_with_the_feed_constant_or_encoder_and_gear() {
        let by_feed = Said { feed: Some((TURN, 1)), resolution: Some((4096, 1)), ..Said::default() };
        assert_eq!(said(by_feed, true, |_| ()), None);
        assert_eq!(said(by_feed, true, |axis| axis.counts_per_turn *= -1.0), None, "the sign is the layout's");
        let twice = said(by_feed, true, |axis| axis.counts_per_turn *= 2.0).unwrap();
        assert!(twice.contains("1048576 counts") && twice.contains("0x6092") && twice.contains("2097152"), "{twice}");
        let by_gear = Said { resolution: Some((8192, 1)), gear: Some((128, 1)), ..Said::default() };
        assert_eq!(said(by_gear, false, |_| ()), None);
        let bare = Said { resolution: Some((8192, 1)), ..Said::default() };
        assert!(
            said(bare, false, |_| ()).is_some_and(|words| words.contains("8192 counts") && words.contains("0x608F"))
        );
        assert_eq!(said(bare, false, |axis| axis.shaft_turns = 128.0), None, "a gear the drive does not know of");
        assert_eq!(said(Said::default(), true, |axis| axis.counts_per_turn *= 2.0), None, "it does not say");
    }

    #[test]
    fn a_gear_that_scales_torques_is_compared_with_the_drives() {
        let drive = Said { gear: Some((101, 1)), ..Said::default() };
        assert!(said(drive, true, |_| ()).is_some_and(|words| words.contains("101") && words.contains("121")));
        assert_eq!(said(drive, false, |_| ()), None);
        assert_eq!(said(Said { gear: Some((1, 1)), ..drive }, true, |_| ()), None, "it knows of none");
    }

    #[test]
    fn a_polarity_that_torque_may_not_share_is_refused() {
        let with = |polarity| Said { polarity: Some(polarity), ..Said::default() };
        assert!(said(with(0xC0), true, |_| ()).is_some());
        assert_eq!(said(with(0xC0), false, |_| ()), None);
        assert!(said(with(0x80), false, |_| ()).is_some(), "position without velocity");
        assert_eq!(said(with(0), true, |_| ()), None);
    }

    #[test]
    fn a_motion_beyond_the_drives_limits_is_refused() {
        let with = |low, high| Said { limits: Some((low, high)), ..Said::default() };
        assert_eq!(said(with(-10, 262_144), true, |_| ()), None, "the limit itself");
        let beyond = said(with(-10, 200_000), true, |_| ()).unwrap();
        assert!(beyond.contains("200000") && beyond.contains("motion.high_deg = 90"), "{beyond}");
        assert!(said(with(-10, 262_144), true, |axis| axis.counts_per_turn *= -1.0).is_some());
    }

    #[test]
    fn a_drive_without_the_mode_is_refused() {
        assert!(said(Said { modes: Some(0x60), ..Said::default() }, true, |_| ()).unwrap().contains("0x60"));
        assert_eq!(said(Said { modes: Some(0x80), ..Said::default() }, true, |_| ()), None);
    }
}
