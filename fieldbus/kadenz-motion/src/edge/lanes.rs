// SPDX-License-Identifier: Apache-2.0
//! The record of the edge workload.

use std::io::Write;
use std::sync::mpsc::Receiver;

use kadenz_record::{Begin, Dtype, End, EndLane, Proof, RecordError, Status, Writer};

use super::collector::{Collector, Edge};
use super::{EdgeOptions, EDGE_JITTER, PERIOD_US, ROOM};
use crate::record::Column;
use crate::task::Task;

/// The lanes of the record: times, and beside each the number of its pulse.
pub(super) struct Lanes {
    record: u16,
    times: Column<f64>,
    numbers: Column<f64>,
}

fn params(options: &EdgeOptions) -> [(&'static str, i64); 4] {
    [
        ("period_us", PERIOD_US),
        ("n", options.edges as i64),
        ("phase_us", options.phase_us as i64),
        ("soft_timer", options.soft_timer.into()),
    ]
}

impl Lanes {
    /// Opens the record and flushes, so that a listener knows how many edges will come.
    pub(super) fn begin<O: Write>(
        writer: &mut Writer<O>,
        record: u16,
        options: &EdgeOptions,
    ) -> Result<Self, RecordError> {
        let planned = options.edges;
        writer.begin(&Begin {
            record,
            bench: EDGE_JITTER.into(),
            planned,
            lanes: vec!["rising".into(), "rising:cycle".into()],
            dtype: Dtype::F8,
            unit: "ns".into(),
            params: params(options).map(|(name, value)| (name.to_owned(), value)).into(),
            ranks: [("priority".to_owned(), Task::Main.priority().into())].into(),
        })?;
        // A listener knows from now on how long it will take.
        writer.flush()?;
        let column = |lane| Column::new(record, lane, planned, ROOM);
        Ok(Self { record, times: column(0), numbers: column(1) })
    }

    /// Writes the edges that have arrived; does not wait for more.
    pub(super) fn take<O: Write>(&mut self, edges: &Receiver<Edge>, writer: &mut Writer<O>) -> Result<(), RecordError> {
        for edge in edges.try_iter() {
            self.times.push(edge.time_ns);
            self.numbers.push(edge.number);
        }
        self.times.flush(writer)?;
        self.numbers.flush(writer)?;
        writer.flush()
    }

    pub(super) fn close<O: Write>(
        &self,
        writer: &mut Writer<O>,
        collector: &Collector,
        reason: &str,
    ) -> Result<EndLane, RecordError> {
        let (record, lane) = (self.record, self.times.end());
        // Each time belongs to an edge the terminal counted.
        let proof = Proof {
            checked: lane.taken,
            failed: collector.uncounted,
            reason: if collector.uncounted > 0 {
                "a time changed although no edge was counted".into()
            } else {
                String::new()
            },
        };
        let status = match (reason.is_empty(), collector.uncounted) {
            (true, 0) => Status::Ok,
            (true, _) => Status::Invalid,
            (false, _) => Status::Failed,
        };
        let reason = if status == Status::Invalid { &proof.reason } else { reason };
        writer.end(&End { record, status, reason: reason.into(), lanes: vec![lane], proof, drains: vec![] })?;
        Ok(lane)
    }
}
