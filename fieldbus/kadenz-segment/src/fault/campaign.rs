// SPDX-License-Identifier: Apache-2.0
//! Campaigns: faults drawn at random from a seed, so that the same seed gives the same faults.

use super::kind::KINDS;
use super::{Fault, Kind, Place, Scope};
use crate::random::Random;
use serde::Deserialize;

/// The `[[campaign]]` table of a fault file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Seed of the draw.
    pub seed: u64,
    /// Number of faults.
    pub faults: u64,
    /// First and last cycle in which one may begin.
    pub cycle: Option<[u64; 2]>,
    /// First and last frame in which one may begin.
    pub frame: Option<[u64; 2]>,
    /// First and last moment at which one may begin, ms.
    pub time_ms: Option<[u64; 2]>,
    /// Kinds to draw from; absent: all that need no moment of their own.
    pub kinds: Option<Vec<Kind>>,
    /// Devices to draw from; absent: all.
    pub devices: Option<Vec<String>>,
}

impl Campaign {
    /// The mistake in it, whatever the ring is; None if it has none.
    pub(super) fn problem(&self) -> Option<String> {
        let ranges = [self.cycle, self.frame, self.time_ms];
        let given: Vec<[u64; 2]> = ranges.into_iter().flatten().collect();
        let is_empty = |list: Option<usize>| list == Some(0);
        [
            (given.len() != 1, "give one range: cycle, frame or time_ms"),
            (given.iter().any(|[first, last]| last < first), "the range ends before it begins"),
            (
                is_empty(self.kinds.as_ref().map(Vec::len)) || is_empty(self.devices.as_ref().map(Vec::len)),
                "kinds and devices name at least one each",
            ),
            (
                self.kinds.iter().flatten().any(|kind| *kind == Kind::EmergencyDuringRequest),
                "emergency-during-request needs the moment request: write it as a [[fault]]",
            ),
        ]
        .into_iter()
        .find_map(|(is_wrong, message)| is_wrong.then(|| message.to_owned()))
    }

    /// Draws the faults, in the order of the draw. The error is (message, remedy): no device fits a kind, or there is none
    /// of a name.
    pub(super) fn draw(&self, places: &[Place]) -> Result<Vec<Fault>, (String, String)> {
        let names: Vec<&String> = match &self.devices {
            Some(names) => names.iter().collect(),
            None => places.iter().map(|place| &place.name).collect(),
        };
        for name in &names {
            let mut probe = Fault::new(Kind::DeviceDeaf);
            probe.device = Some((*name).clone());
            probe
                .places_in(places)
                .map_err(|(message, remedy)| (message.replace("device-deaf", "campaign"), remedy))?;
        }
        let all = || KINDS.iter().map(|(_, kind)| *kind).filter(|kind| *kind != Kind::EmergencyDuringRequest).collect();
        let kinds: Vec<Kind> = self.kinds.clone().unwrap_or_else(all);
        let fitting: Vec<(Kind, Vec<&String>)> = kinds
            .into_iter()
            .map(|kind| (kind, names.iter().copied().filter(|name| fits(kind, name, places)).collect()))
            .collect();
        if let Some((kind, _)) = fitting.iter().find(|(_, names)| names.is_empty()).filter(|_| self.kinds.is_some()) {
            let message = format!("campaign: {} fits none of the devices", kind.name());
            return Err((message, "Name another kind, or a device that has what it needs".into()));
        }
        let fitting: Vec<_> = fitting.into_iter().filter(|(_, names)| !names.is_empty()).collect();
        let mut random = Random::new(self.seed);
        Ok((0..self.faults).filter_map(|_| self.draw_fault(&fitting, &mut random)).collect())
    }

    fn draw_fault(&self, fitting: &[(Kind, Vec<&String>)], random: &mut Random) -> Option<Fault> {
        // All are drawn for every fault, so that one more key moves none of the others.
        let [kind, device, moment, length, code, state] = std::array::from_fn(|_| random.bits());
        let (kind, names) = fitting.get(kind as usize % fitting.len().max(1))?;
        let within = |[first, last]: [u64; 2]| first + moment % (last - first).saturating_add(1);
        let mut fault = Fault::new(*kind);
        fault.device = has_device(*kind).then(|| names[device as usize % names.len()].clone());
        (fault.cycle, fault.frame) = (self.cycle.map(within), self.frame.map(within));
        fault.time_ms = self.time_ms.map(|range| within(range) as f64);
        match kind.scope() {
            Scope::Device if self.time_ms.is_some() => fault.lasting_ms = Some((1 + length % 200) as f64),
            Scope::Device => fault.count = Some(1 + length % 200),
            Scope::Frame | Scope::Mailbox => fault.count = Some(1 + length % 3),
        }
        for key in kind.needs() {
            match key {
                "delay_us" => fault.delay_us = Some(1 + (code % 5000) as u32),
                "delta" => fault.delta = Some([-3, -2, -1, 1, 2, 3][code as usize % 6]),
                "code" => fault.code = Some([0x0011, 0x001B, 0x3210, 0x8110][code as usize % 4]),
                "abort" => fault.abort = Some([0x0504_0000, 0x0601_0000, 0x0602_0000, 0x0800_0022][code as usize % 4]),
                "state" => fault.state = Some([2, 4, 8][state as usize % 3]),
                "packet" => fault.packet = Some((state % 8) as u32),
                "times" => fault.times = Some(1 + (code % 3) as u32),
                "ppm" => fault.ppm = Some((code % 2001) as f64 - 1000.0),
                _ => {}
            }
        }
        Some(fault)
    }
}

fn has_device(kind: Kind) -> bool {
    kind.scope() != Scope::Frame || kind.is_at_port()
}

fn fits(kind: Kind, name: &str, places: &[Place]) -> bool {
    let mut fault = Fault::new(kind);
    fault.device = Some(name.to_owned());
    !has_device(kind) || fault.places_in(places).is_ok()
}
