// SPDX-License-Identifier: Apache-2.0
//! Replays a recording against a segment and compares every returned frame, byte by byte.

use super::outbox::Outbox;
use crate::error::SegmentError;
use crate::happening::Happening;
use crate::pcap::{Direction, Packet};
use crate::segment::Segment;
use crate::topology::End;
use std::collections::HashMap;

/// Counters of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Frames from the master.
    pub sent: usize,
    /// Frames that came back, all equal to the recording's.
    pub returned: usize,
    /// What happened to cables and what faults did, as the log of the run has it.
    pub happenings: Vec<Happening>,
}

/// Feeds the recorded frames at their recorded times; a recording without any is an error, since it shows nothing. A
/// late frame is compared by the number of the frame it answers.
pub fn replay(segment: &mut Segment, packets: &[Packet]) -> Result<Replayed, SegmentError> {
    let mut expected: HashMap<u64, Vec<&Packet>> = HashMap::new();
    for packet in packets.iter().filter(|packet| packet.direction == Direction::Out) {
        expected.entry(packet.number).or_default().push(packet);
    }
    let differs = |message: String| SegmentError::ReplayDiffers { message };
    let mut replayed = Replayed::default();
    let mut compare = |number: u64, leaves: End, bytes: &[u8]| {
        let Some(recorded) = expected.get_mut(&number).and_then(Vec::pop) else {
            return Err(differs(format!("frame {number} came back, in the recording it did not")));
        };
        if recorded.end != leaves {
            return Err(differs(format!("frame {number} left at the other interface")));
        }
        if recorded.bytes != bytes {
            let at = recorded
                .bytes
                .iter()
                .zip(bytes)
                .position(|(a, b)| a != b)
                .unwrap_or(recorded.bytes.len().min(bytes.len()));
            return Err(differs(format!("frame {number}, byte {at}")));
        }
        replayed.returned += 1;
        Ok(())
    };
    let (mut outbox, mut sent, mut happenings) = (Outbox::default(), 0, Vec::new());
    for packet in packets.iter().filter(|packet| packet.direction == Direction::In) {
        let mut bytes = packet.bytes.clone();
        let passed = segment.process_from(packet.end, &mut bytes, packet.time_ns);
        outbox.post(passed, &bytes, packet.number, packet.time_ns, |bytes| {
            compare(packet.number, passed.leaves, bytes)
        })?;
        segment.settle(packet.time_ns);
        happenings.extend(segment.take_happenings());
        sent += 1;
    }
    while let Some(waiting) = outbox.take_due(u64::MAX) {
        compare(waiting.number, waiting.leaves, &waiting.bytes)?;
    }
    if let Some(number) = expected.iter().filter(|(_, left)| !left.is_empty()).map(|(number, _)| *number).min() {
        return Err(differs(format!("frame {number} did not come back, in the recording it did")));
    }
    if sent == 0 {
        return Err(SegmentError::NothingToReplay);
    }
    (replayed.sent, replayed.happenings) = (sent, happenings);
    Ok(replayed)
}
