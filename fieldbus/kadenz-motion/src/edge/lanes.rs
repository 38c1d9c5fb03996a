// SPDX-License-Identifier: Apache-2.0
//! The record of the edge workload.

use std::io::Write;
use std::sync::mpsc::Receiver;

use kadenz_record::{Begin, Dtype, End, EndLane, Proof, RecordError, Status, Value, Writer};

use super::collector::Edge;
use super::{EdgeOptions, ACQUISITION, EDGE_JITTER, PERIOD_US, ROOM};
use crate::record::Column;
use crate::task::Task;

/// The lanes of the record: times, and beside each the number of its pulse.
pub(super) struct Lanes {
    record: u16,
    planned: u64,
    times: Column<f64>,
    numbers: Column<f64>,
}

fn params(options: &EdgeOptions) -> [(&'static str, Value); 5] {
    [
        ("period_us", PERIOD_US.into()),
        ("n", (options.edges as i64).into()),
        ("phase_us", (options.phase_us as i64).into()),
        ("soft_timer", i64::from(options.soft_timer).into()),
        (ACQUISITION, Value::Word(options.acquisition.word().into())),
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
        Ok(Self { record, planned, times: column(0), numbers: column(1) })
    }

    /// Writes the edges that have arrived; does not wait for more.
    pub(super) fn take<O: Write>(&mut self, edges: &Receiver<Edge>, writer: &mut Writer<O>) -> Result<(), RecordError> {
        self.write(edges.try_iter(), writer)
    }

    /// Writes edges; those beyond the plan are left out.
    pub(super) fn write<O: Write>(
        &mut self,
        edges: impl Iterator<Item = Edge>,
        writer: &mut Writer<O>,
    ) -> Result<(), RecordError> {
        for edge in edges.filter(|edge| edge.number < self.planned as f64) {
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
        uncounted: u64,
        reason: &str,
        disagreement: &str,
    ) -> Result<EndLane, RecordError> {
        let (record, lane) = (self.record, self.times.end());
        // Each time belongs to an edge the terminal counted, and each of these to a pulse of the output.
        let doubt = match uncounted {
            0 => disagreement,
            _ => "a time changed although no edge was counted",
        };
        let failed = if uncounted > 0 { uncounted } else { u64::from(!doubt.is_empty()) };
        let proof = Proof { checked: lane.taken, failed, reason: doubt.into() };
        let (status, reason) = match (reason.is_empty(), doubt.is_empty()) {
            (true, true) => (Status::Ok, ""),
            (true, false) => (Status::Invalid, doubt),
            (false, _) => (Status::Failed, reason),
        };
        writer.end(&End { record, status, reason: reason.into(), lanes: vec![lane], proof, drains: vec![] })?;
        Ok(lane)
    }
}
