// SPDX-License-Identifier: Apache-2.0
//! The records of a motion run and their columns.

use std::collections::BTreeMap;
use std::io::Write;

use kadenz_record::{Begin, Dtype, End, Proof, RecordError, Status, Writer};

use super::Column;
use crate::message::{CycleSample, TaskSample};
use crate::profile::Way;
use crate::task::Task;
use crate::AXES;

/// Values kept between two writings: more than queues can hold.
const ROOM: usize = 512;

/// How the run ended, for the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// All that was planned was measured.
    pub complete: bool,
    /// Why not.
    pub reason: String,
}

/// Response, latency and execution of one task.
#[derive(Debug)]
struct TaskColumns {
    response: Column<u32>,
    latency: Column<u32>,
    execution: Column<u32>,
}

/// Error of one joint on both ways.
#[derive(Debug)]
struct JointColumns {
    position: [Column<f64>; 2],
    velocity: [Column<f64>; 2],
}

/// All records of a run, numbered from 1.
#[derive(Debug)]
pub struct MotionRecords {
    begins: Vec<Begin>,
    tasks: [TaskColumns; 4],
    setpoint_age: Column<u32>,
    torque_age: Column<u32>,
    frame: Column<u32>,
    clock: Column<u32>,
    joints: [JointColumns; AXES],
}

/// Samples of a task in so many cycles of the main task.
fn planned(task: Task, cycles: u64) -> u64 {
    cycles * Task::Main.period_ms() / task.period_ms()
}

impl MotionRecords {
    /// For `cycles` cycles of the main task, half of them out, half back; the difference of clocks is read every
    /// `clock_every` cycles.
    pub fn new(cycles: u64, clock_every: u64) -> Self {
        let mut begins: Vec<Begin> = Vec::new();
        let mut open = |bench: &str, planned: u64, lanes: &[&str], dtype, unit: &str, params: &[(&str, i64)]| {
            let record = begins.len() as u16 + 1;
            let priority = params.iter().find(|(name, _)| *name == "priority").map(|(_, value)| *value);
            begins.push(Begin {
                record,
                bench: bench.into(),
                planned,
                lanes: lanes.iter().map(|lane| (*lane).to_owned()).collect(),
                dtype,
                unit: unit.into(),
                params: params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
                ranks: priority.into_iter().map(|value| ("task".to_owned(), value)).collect(),
            });
            record
        };
        let of_task = |task: Task| [("period_ms", task.period_ms() as i64), ("priority", task.priority().into())];
        let tasks = Task::ALL.map(|task| {
            let count = planned(task, cycles);
            let mut column = |bench| {
                let record = open(bench, count, &[task.name()], Dtype::U4, "ns", &of_task(task));
                Column::new(record, 0, count, ROOM)
            };
            TaskColumns {
                response: column("motion/response-time"),
                latency: column("motion/release-latency"),
                execution: column("motion/execution-time"),
            }
        });
        let ages = open("motion/queue-age", cycles, &["setpoint", "torque"], Dtype::U4, "ns", &[]);
        let frame = open("motion/frame-time", cycles, &["frame"], Dtype::U4, "ns", &[]);
        let readings = cycles / clock_every;
        let clock = open("motion/clock-difference", readings, &["largest"], Dtype::U4, "ns", &[]);
        let joints = std::array::from_fn(|joint| {
            let half = cycles / 2;
            let mut columns = |bench, unit| {
                let record = open(bench, half, &["out", "back"], Dtype::F8, unit, &[("joint", joint as i64)]);
                [0, 1].map(|lane| Column::new(record, lane, half, ROOM))
            };
            JointColumns {
                position: columns("motion/position-error", "deg"),
                velocity: columns("motion/velocity-error", "deg/s"),
            }
        });
        Self {
            begins,
            tasks,
            setpoint_age: Column::new(ages, 0, cycles, ROOM),
            torque_age: Column::new(ages, 1, cycles, ROOM),
            frame: Column::new(frame, 0, cycles, ROOM),
            clock: Column::new(clock, 0, readings, ROOM),
            joints,
        }
    }

    /// Opens all of them.
    pub fn begin<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        self.begins.iter().try_for_each(|begin| writer.begin(begin))
    }

    /// Times of one period of a task.
    pub fn add_task(&mut self, task: Task, sample: &TaskSample) {
        let columns = &mut self.tasks[task as usize];
        columns.response.push(sample.response_ns);
        columns.latency.push(sample.latency_ns);
        columns.execution.push(sample.execution_ns);
        if u64::from(sample.response_ns) > task.period_ns() {
            columns.response.count_overrun();
        }
    }

    /// One cycle of the main task. What was not measured in it is left out and counted as missed.
    pub fn add_cycle(&mut self, sample: &CycleSample) {
        self.add_task(Task::Main, &sample.task);
        self.setpoint_age.push(sample.setpoint_age_ns);
        self.torque_age.push(sample.torque_age_ns);
        if sample.clock_difference_ns != u32::MAX {
            self.clock.push(sample.clock_difference_ns);
        }
        if sample.fresh == 0 {
            return;
        }
        self.frame.push(sample.frame_ns);
        let lane = match Way::from_code(sample.way) {
            Way::Approach => return,
            Way::Out => 0,
            Way::Back => 1,
        };
        for (joint, columns) in self.joints.iter_mut().enumerate() {
            columns.position[lane].push(sample.position_error_deg[joint]);
            columns.velocity[lane].push(sample.velocity_error_deg_s[joint]);
        }
    }

    /// Writes what waits.
    pub fn flush<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        for task in &mut self.tasks {
            for column in [&mut task.response, &mut task.latency, &mut task.execution] {
                column.flush(writer)?;
            }
        }
        for column in [&mut self.setpoint_age, &mut self.torque_age, &mut self.frame, &mut self.clock] {
            column.flush(writer)?;
        }
        for joint in &mut self.joints {
            for column in joint.position.iter_mut().chain(&mut joint.velocity) {
                column.flush(writer)?;
            }
        }
        Ok(())
    }

    /// Closes all of them.
    pub fn end<W: Write>(&mut self, writer: &mut Writer<W>, run: &RunEnd) -> Result<(), RecordError> {
        self.flush(writer)?;
        let mut lanes: Vec<Vec<_>> = Vec::new();
        for task in &self.tasks {
            for column in [&task.response, &task.latency, &task.execution] {
                lanes.push(vec![column.end()]);
            }
        }
        lanes.push(vec![self.setpoint_age.end(), self.torque_age.end()]);
        lanes.push(vec![self.frame.end()]);
        lanes.push(vec![self.clock.end()]);
        for joint in &self.joints {
            lanes.push(joint.position.iter().map(Column::end).collect());
            lanes.push(joint.velocity.iter().map(Column::end).collect());
        }
        for (begin, lanes) in self.begins.iter().zip(lanes) {
            // Every sample carries its own proof: times come from a period that ran to its end, errors and frame times
            // from an exchange that was answered in this cycle.
            let proof = Proof { checked: lanes.iter().map(|lane| lane.taken).sum(), ..Proof::default() };
            let status = if run.complete { Status::Ok } else { Status::Failed };
            let reason = run.reason.clone();
            writer.end(&End { record: begin.record, status, reason, lanes, proof, drains: vec![] })?;
        }
        Ok(())
    }

    /// Settings that belong into the manifest.
    pub fn settings(cycles: u64) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("master".to_owned(), "ethercrab 0.7.1".to_owned()),
            ("dynamics".to_owned(), "KDL 1.5 recursive Newton-Euler".to_owned()),
            ("cycles".to_owned(), cycles.to_string()),
        ])
    }
}
