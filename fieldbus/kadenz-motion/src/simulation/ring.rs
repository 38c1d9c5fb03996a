// SPDX-License-Identifier: Apache-2.0
//! The ring that `--segment` simulates.

use std::path::Path;

use kadenz_segment::error::SegmentError;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;

use crate::robot::Robot;

/// A coupler, six drives, digital outputs wired to time-stamping inputs.
pub const INDY7_RING: &str = include_str!("../../layouts/indy7-ring.toml");

/// The ring file, parsed.
pub fn indy7_ring() -> Result<RingFile, SegmentError> {
    RingFile::parse(INDY7_RING, Path::new("indy7-ring (built in)"))
}

/// The ring with the robot behind its drives.
pub fn indy7_segment(file: &RingFile) -> Result<Segment, SegmentError> {
    let ring = Ring::with_plant(file, Path::new("indy7-ring (built in)"), Box::new(Robot::default()))?;
    Ok(Segment::new(ring))
}
