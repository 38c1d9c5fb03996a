// SPDX-License-Identifier: Apache-2.0
//! What the program has without a file: layouts, each with the ring that `--segment`, `lab` and `ring` simulate for it.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kadenz_segment::error::SegmentError;
use kadenz_segment::fault::Fault;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::{Kind, RingFile};

use crate::layout::{Layout, LayoutError};
use crate::robot::Robot;

/// A layout and its simulated ring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BuiltIn {
    /// The six drives of an Indy7 and the terminals of the edge workload.
    #[default]
    Indy7,
    /// The terminals of the edge workload alone, for `edge` and `ethercat/edge-jitter`.
    Terminals,
}

impl fmt::Display for BuiltIn {
    /// As the command line names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

impl BuiltIn {
    /// Name of the layout in messages and in the manifest.
    pub fn label(self) -> String {
        format!("{self} (built in)")
    }

    /// Text of the layout file.
    pub fn layout_text(self) -> &'static str {
        match self {
            Self::Indy7 => include_str!("../layouts/indy7.toml"),
            Self::Terminals => include_str!("../layouts/terminals.toml"),
        }
    }

    /// Text of the ring file.
    pub fn ring_text(self) -> &'static str {
        match self {
            Self::Indy7 => include_str!("../layouts/indy7-ring.toml"),
            Self::Terminals => include_str!("../layouts/terminals-ring.toml"),
        }
    }

    /// The layout, parsed and checked.
    pub fn layout(self) -> Result<Layout, LayoutError> {
        Layout::parse(self.layout_text(), Path::new(&self.label()))
    }

    /// The ring with these faults, each as `kind@moment=value,…`; the robot is behind the drives where there are any.
    pub fn segment<T: AsRef<str>>(self, faults: &[T]) -> Result<Segment, SegmentError> {
        let (file, path) = self.ring_file()?;
        self.build(&file, &path, faults)
    }

    /// The ring without its stamping input, and a second one that has it: its signal is the output of the first. The faults
    /// are those of the first ring.
    pub fn two_segments<T: AsRef<str>>(self, faults: &[T]) -> Result<(Segment, Segment), SegmentError> {
        let (mut file, path) = self.ring_file()?;
        file.device.retain(|device| device.kind != Kind::DigitalInput);
        let names: Vec<_> = file.device.iter().map(|device| device.name.clone()).collect();
        let wires = std::mem::take(&mut file.wire);
        let (inside, between): (Vec<_>, Vec<_>) = wires.into_iter().partition(|wire| {
            wire.to.rsplit_once('.').is_some_and(|(device, _)| names.iter().any(|name| name == device))
        });
        file.wire = inside;
        let mut first = self.build(&file, &path, faults)?;
        let path = Path::new("acquisition-ring (built in)");
        let mut second = Ring::new(&RingFile::parse(include_str!("../layouts/acquisition-ring.toml"), path)?, path)?;
        for wire in between {
            let lead = first.ring_mut().lead_out(&wire.from)?;
            second.lead_in(lead, &wire.to, wire.delay_ns)?;
        }
        Ok((first, Segment::new(second)))
    }

    fn ring_file(self) -> Result<(RingFile, PathBuf), SegmentError> {
        let path = PathBuf::from(format!("{self}-ring (built in)"));
        Ok((RingFile::parse(self.ring_text(), &path)?, path))
    }

    fn build<T: AsRef<str>>(self, file: &RingFile, path: &Path, faults: &[T]) -> Result<Segment, SegmentError> {
        let ring = match self {
            Self::Indy7 => Ring::with_plant(file, path, Box::new(Robot::default()))?,
            Self::Terminals => Ring::new(file, path)?,
        };
        let mut segment = Segment::new(ring);
        let faults = faults.iter().map(|text| Fault::from_argument(text.as_ref())).collect::<Result<Vec<_>, _>>()?;
        segment.add_faults(faults)?;
        Ok(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AXES;

    #[test]
    fn every_built_in_layout_and_ring_is_valid() {
        for built_in in BuiltIn::value_variants() {
            let axes = built_in.layout().unwrap().axis.len();
            assert!([0, AXES].contains(&axes), "{built_in}: {axes} axes");
            let segment = built_in.segment::<&str>(&[]).unwrap();
            assert_eq!(segment.ring().plant().axes(), axes, "{built_in}");
        }
    }

    #[test]
    fn the_terminals_without_drives_are_those_behind_the_drives() {
        let parts = |built_in: BuiltIn| {
            let mut file = RingFile::parse(built_in.ring_text(), Path::new("ring.toml")).unwrap();
            file.device.retain(|device| device.drive.is_none());
            format!("{file:?}")
        };
        assert_eq!(parts(BuiltIn::Terminals), parts(BuiltIn::Indy7));
    }
}
