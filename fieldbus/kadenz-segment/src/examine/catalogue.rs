// SPDX-License-Identifier: Apache-2.0
//! The cases: which ring, which faults, which features they show.

use crate::error::SegmentError;
use crate::fault::Fault;
use crate::ring::Ring;
use crate::segment::Segment;
use crate::settings::RingFile;
use std::path::{Path, PathBuf};

/// The ring of the cases where the user names none.
pub const RING: &str = include_str!("../../rings/examine.toml");

/// What a case has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// All that a master does without a fault, feature by feature.
    Everything,
    /// All devices are in operation again after the fault.
    Recovery,
    /// The master reads why a device refuses a state.
    Refusal,
    /// The master leads the device back, or ends with a failure.
    FallenDevice,
    /// The mailbox dialogue goes on after the lost request.
    LostRequest,
    /// The master asks for the lost mailbox again.
    LostAnswer,
    /// The dialogue goes on: operation is reached.
    Dialogue,
    /// The emergency is fetched in operation.
    Emergency,
    /// The clocks agree at the end.
    Clocks,
    /// No cycle is lost but those under way.
    Redundancy,
    /// A ring with a device less is refused.
    OtherRing,
}

/// A case of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Feature that it shows; empty where it shows many.
    pub feature: &'static str,
    /// Its fault, with places in braces: `{device}` the first with a mailbox, `{last}`, `{middle}`, and `{request}` and
    /// `{answer}`, where the mailboxes of the first begin.
    pub fault: &'static str,
    /// What it has to show.
    pub asks: Asks,
    /// What happens, in a line.
    pub about: &'static str,
}

const fn case(name: &'static str, feature: &'static str, fault: &'static str, asks: Asks, about: &'static str) -> Case {
    Case { name, feature, fault, asks, about }
}

/// All cases. The first decides whether the others can show anything.
#[rustfmt::skip]
pub const CASES: &[Case] = &[
    case("operation", "", "", Asks::Everything,
        "no fault: from power-on to operation"),
    case("state-refused", "104", "refuse-state@frame=1,device={device},state=4,code=0x1d", Asks::Refusal,
        "a device refuses SAFE-OP with code 0x001D"),
    case("bring-up-frame-lost", "105", "lose-return@frame=20", Asks::Recovery,
        "the 20th frame is worked on and does not come back"),
    case("frame-lost", "105", "lose-return@healthy=100", Asks::Recovery,
        "in operation a frame with process data does not come back"),
    case("frames-lost", "105", "lose-frame@healthy=100,count=3", Asks::Recovery,
        "three frames in a row never reach the devices"),
    case("frame-late", "105", "late-frame@healthy=100,delay_us=5000", Asks::Recovery,
        "a frame comes back 5 ms late"),
    case("frame-doubled", "105", "double-frame@healthy=100", Asks::Recovery,
        "a frame comes back twice"),
    case("frame-damaged", "105", "corrupt-frame@healthy=100,byte=17", Asks::Recovery,
        "a frame comes back with another index in its first datagram"),
    case("counter-wrong", "105", "wrong-counter@healthy=100,delta=-1", Asks::Recovery,
        "a working counter is one too low"),
    case("device-falls", "105", "al-error@healthy=100,device={last},state=4,code=0x1b", Asks::FallenDevice,
        "in operation a device falls to SAFE-OP with code 0x001B"),
    case("shorter-ring", "302", "", Asks::OtherRing,
        "the last device of the ring is not there"),
    case("answer-late", "401", "late-answer@request=2,device={device},delay_us=20000", Asks::Dialogue,
        "an answer comes 20 ms late"),
    case("request-lost", "402", "lose-return@datagram=1,register={request},device={device}", Asks::LostRequest,
        "the device has a request, and the frame that wrote it does not come back"),
    case("answer-lost", "402", "lose-return@datagram=1,register={answer},device={device}", Asks::LostAnswer,
        "an answer is read, and the frame that read it does not come back"),
    case("answer-doubled", "402", "double-answer@request=2,device={device}", Asks::Dialogue,
        "an answer comes twice, with its counter"),
    case("sdo-refused", "501", "abort-request@request=2,device={device},abort=0x08000000", Asks::Dialogue,
        "an SDO request is answered by an abort code"),
    case("emergency", "505", "emergency@healthy=100,device={device},code=0x8110", Asks::Emergency,
        "in operation a device has an emergency"),
    case("emergency-in-dialogue", "505", "emergency-during-request@request=2,device={device},code=0x8110", Asks::Dialogue,
        "an emergency comes in front of an answer"),
    case("clock-drifts", "1101", "clock-drift@healthy=100,device={last},ppm=200", Asks::Clocks,
        "in operation the oscillator of a device changes to 200 ppm"),
    case("cable-broken", "redundancy", "break-cable@healthy=100,device={middle},lasting_ms=500", Asks::Redundancy,
        "a cable of a ring with two ends breaks for 500 ms"),
    case("device-returns", "hot-connect", "device-gone@healthy=100,device={last},lasting_ms=500", Asks::Recovery,
        "the last device has no power for 500 ms"),
];

/// The case of a name.
pub fn by_name(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// A segment of a case, with the faults as a command line takes them.
pub struct Scene {
    /// The segment, before its first frame.
    pub segment: Segment,
    /// Its faults.
    pub faults: Vec<String>,
}

/// Builds the segment of a case: twice the same. The ring is the catalogue's unless the user names one; `Err(reason)`
/// inside says why the case cannot be played on it.
pub fn build(case: &Case, ring: Option<&Path>) -> Result<Result<Scene, String>, SegmentError> {
    let mut file = match ring {
        Some(path) => RingFile::read(path)?,
        None => RingFile::parse(RING, Path::new("examine.toml"))?,
    };
    let path = ring.map_or_else(|| PathBuf::from("examine.toml"), Path::to_path_buf);
    if case.asks == Asks::OtherRing {
        let Some(left_out) = file.device.pop() else { return Ok(Err("the ring has one device".into())) };
        let is_needed = |device: &crate::settings::DeviceSettings| device.attached_to.as_ref() == Some(&left_out.name);
        if file.device.is_empty() || file.device.iter().any(is_needed) {
            return Ok(Err("the last device of the ring cannot be left out".into()));
        }
        let prefix = format!("{}.", left_out.name);
        file.wire.retain(|wire| !wire.from.starts_with(&prefix) && !wire.to.starts_with(&prefix));
    }
    let mut devices = Ring::new(&file, &path)?;
    if case.asks == Asks::Redundancy {
        devices.close_ring();
    }
    let mut segment = Segment::new(devices);
    let Some(text) = placed(case.fault, segment.ring()) else {
        return Ok(Err("no device of the ring has a mailbox".into()));
    };
    let faults: Vec<String> = if text.is_empty() { Vec::new() } else { vec![text] };
    for fault in &faults {
        segment.add_faults([Fault::from_argument(fault)?])?;
    }
    Ok(Ok(Scene { segment, faults }))
}

/// A fault with the places of a ring; none if it needs a mailbox and no device has one.
fn placed(fault: &str, ring: &Ring) -> Option<String> {
    let name = |at: usize| ring.devices.get(at).map_or("", |device| device.name.as_str());
    let mut text = fault.replace("{last}", name(ring.devices.len().saturating_sub(1)));
    text = text.replace("{middle}", name(ring.devices.len() / 2));
    if !text.contains('{') {
        return Some(text);
    }
    let device = ring.devices.iter().find(|device| device.mailbox.is_some())?;
    let managers = device.description.managers();
    let start = |number: usize| managers.get(number).map_or(String::new(), |manager| format!("{:#06x}", manager.start));
    text = text.replace("{device}", &device.name);
    Some(text.replace("{request}", &start(0)).replace("{answer}", &start(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine::features::feature;

    #[test]
    fn every_case_can_be_played_on_the_ring_of_the_catalogue_and_shows_a_feature_of_the_directive() {
        for case in CASES {
            let scene = build(case, None).expect("the ring of the catalogue").unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(scene.faults.is_empty(), case.fault.is_empty(), "{}", case.name);
            assert!(case.asks == Asks::Everything || feature(case.feature).is_some(), "{}", case.name);
            assert_eq!(by_name(case.name).map(|known| known.about), Some(case.about), "names are unique");
        }
    }
}
