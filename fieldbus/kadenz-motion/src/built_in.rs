// SPDX-License-Identifier: Apache-2.0
//! What the program has without a file: layouts, each with the ring that `--segment`, `lab` and `ring` simulate for it.

use std::fmt;
use std::path::Path;

use clap::ValueEnum;
use kadenz_segment::error::SegmentError;
use kadenz_segment::fault::Fault;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;

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
        let name = format!("{self}-ring (built in)");
        let path = Path::new(&name);
        let file = RingFile::parse(self.ring_text(), path)?;
        let ring = match self {
            Self::Indy7 => Ring::with_plant(&file, path, Box::new(Robot::default()))?,
            Self::Terminals => Ring::new(&file, path)?,
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
