// SPDX-License-Identifier: Apache-2.0
//! The records of a motion run and their columns.

use std::io::Write;

use kadenz_record::{Begin, Dtype, End, EndLane, Map, Proof, RecordError, Status, Value, Writer};

use super::Column;
use crate::message::{CycleSample, TaskSample};
use crate::profile::Way;
use crate::task::{Task, CLOCK_EVERY};
use crate::AXES;

/// Values kept between two writings: more than queues can hold.
const ROOM: usize = 512;

/// How the run ended, for the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// All that was planned was measured.
    pub complete: bool,
    /// Why the record is not valid.
    pub reason: String,
}

/// Response, latency and execution of one task, and the releases that they belong to.
#[derive(Debug)]
struct TaskColumns {
    response: Column<u32>,
    release: Column<u32>,
    latency: Column<u32>,
    execution: Column<u32>,
}

/// Time of each frame, the release of its cycle, and when it left.
#[derive(Debug)]
struct FrameColumns {
    frame: Column<u32>,
    release: Column<u32>,
    sent: Column<u32>,
}

impl FrameColumns {
    fn all(&mut self) -> [&mut Column<u32>; 3] {
        [&mut self.frame, &mut self.release, &mut self.sent]
    }
}

/// Error of one joint on both ways.
#[derive(Debug)]
struct JointColumns {
    position: [Column<f64>; 2],
    /// Raw counts of the encoder at each position.
    encoder: [Column<f64>; 2],
    velocity: [Column<f64>; 2],
}

/// One record that is wanted: what the lab calls a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Number of the record in the plan.
    pub record: u16,
    /// Name of the benchmark.
    pub bench: String,
    /// Parameters; `priority` tells tasks apart, `joint` the joints.
    pub params: Map<Value>,
    /// Samples of each lane.
    pub samples: u64,
}

impl Wanted {
    /// Every record, numbered from 1, for `cycles` cycles of the main task: half of them out, half back.
    pub fn everything(cycles: u64) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut add = |bench: &str, params: &[(&str, i64)], samples| {
            let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            all.push(Self { record: all.len() as u16 + 1, bench: bench.to_owned(), params, samples });
        };
        for task in Task::ALL {
            let params = [("period_us", task.period_ms() as i64 * 1000), ("priority", task.priority().into())];
            for bench in OF_TASKS {
                add(bench, &params, cycles * Task::Main.period_ms() / task.period_ms());
            }
        }
        add(QUEUE_AGE, &[], cycles);
        add(FRAME_TIME, &[], cycles);
        add(CLOCK_DIFFERENCE, &[], cycles / CLOCK_EVERY);
        for joint in 0..AXES {
            for bench in OF_JOINTS {
                add(bench, &[("joint", joint as i64)], cycles / 2);
            }
        }
        all
    }

    /// Cycles of the main task it takes; `None` when there is no such record.
    pub fn cycles(&self) -> Option<u64> {
        let bench = self.bench.as_str();
        if OF_TASKS.contains(&bench) {
            return self.task().map(|task| self.samples * task.period_ms() / Task::Main.period_ms());
        }
        if OF_JOINTS.contains(&bench) {
            return self.joint().map(|_| self.samples * 2);
        }
        match bench {
            QUEUE_AGE | FRAME_TIME => Some(self.samples),
            CLOCK_DIFFERENCE => Some(self.samples * CLOCK_EVERY),
            _ => None,
        }
    }

    /// Time between two samples of a lane, µs; `None` when there is no such record.
    pub fn period_us(&self) -> Option<i64> {
        let one = Self { samples: 1, ..self.clone() };
        one.cycles().map(|cycles| (cycles * Task::Main.period_ms() * 1000) as i64)
    }

    /// A parameter that is a number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.params.get(name).and_then(Value::number)
    }

    fn task(&self) -> Option<Task> {
        let priority = self.number("priority")?;
        Task::ALL.into_iter().find(|task| i64::from(task.priority()) == priority)
    }

    fn joint(&self) -> Option<usize> {
        self.number("joint").and_then(|joint| usize::try_from(joint).ok()).filter(|joint| *joint < AXES)
    }

    fn begin(&self) -> Begin {
        let (lanes, dtype, unit): (Vec<&str>, _, _) = match self.bench.as_str() {
            POSITION_ERROR => (vec!["out", "out:encoder", "back", "back:encoder"], Dtype::F8, "deg"),
            VELOCITY_ERROR => (vec!["out", "back"], Dtype::F8, "deg/s"),
            QUEUE_AGE => (vec!["setpoint", "torque"], Dtype::U4, "ns"),
            CLOCK_DIFFERENCE => (vec!["largest"], Dtype::U4, "ns"),
            FRAME_TIME => (vec!["frame", "frame:release", "frame:sent"], Dtype::U4, "ns"),
            _ => (vec![self.task().map_or("task", Task::name)], Dtype::U4, "ns"),
        };
        let mut lanes: Vec<String> = lanes.into_iter().map(str::to_owned).collect();
        if self.bench == RESPONSE_TIME {
            lanes.push(format!("{}:release", lanes[0]));
        }
        let priority = self.number("priority");
        Begin {
            record: self.record,
            bench: self.bench.clone(),
            planned: self.samples,
            lanes,
            dtype,
            unit: unit.into(),
            params: self.params.clone(),
            ranks: priority.into_iter().map(|value| ("priority".to_owned(), value)).collect(),
        }
    }
}

/// From the release of a period to its completion.
pub const RESPONSE_TIME: &str = "motion/response-time";
/// From the release to the start.
pub const RELEASE_LATENCY: &str = "motion/release-latency";
/// CPU time of a period.
pub const EXECUTION_TIME: &str = "motion/execution-time";
/// Age of a message when it is used.
pub const QUEUE_AGE: &str = "motion/queue-age";
/// From handing over the cycle's frame to having its answer.
pub const FRAME_TIME: &str = "motion/frame-time";
/// Of the ring's distributed clocks.
pub const CLOCK_DIFFERENCE: &str = "motion/clock-difference";
/// Error of the position: reference less actual.
pub const POSITION_ERROR: &str = "motion/position-error";
/// Error of the velocity: reference less actual.
pub const VELOCITY_ERROR: &str = "motion/velocity-error";
const OF_TASKS: [&str; 3] = [RESPONSE_TIME, RELEASE_LATENCY, EXECUTION_TIME];
const OF_JOINTS: [&str; 2] = [POSITION_ERROR, VELOCITY_ERROR];

/// The records of a run. What is measured and not wanted is left out.
#[derive(Debug)]
pub struct MotionRecords {
    wanted: Vec<Wanted>,
    tasks: [TaskColumns; 4],
    setpoint_age: Column<u32>,
    torque_age: Column<u32>,
    frame: FrameColumns,
    clock: Column<u32>,
    joints: [JointColumns; AXES],
}

impl MotionRecords {
    /// Room for the wanted records.
    pub fn new(wanted: Vec<Wanted>) -> Self {
        let find = |bench: &str, fits: &dyn Fn(&Wanted) -> bool| {
            let found = wanted.iter().find(|wanted| wanted.bench == bench && fits(wanted));
            // A column for which nothing is planned keeps nothing.
            found.map_or((0, 0), |wanted| (wanted.record, wanted.samples))
        };
        let any = |_: &Wanted| true;
        let tasks = Task::ALL.map(|task| {
            let column = |bench, lane| {
                let (record, planned) = find(bench, &|wanted| wanted.task() == Some(task));
                Column::new(record, lane, planned, ROOM)
            };
            TaskColumns {
                response: column(RESPONSE_TIME, 0),
                release: column(RESPONSE_TIME, 1),
                latency: column(RELEASE_LATENCY, 0),
                execution: column(EXECUTION_TIME, 0),
            }
        });
        let plain = |bench, lane| {
            let (record, planned) = find(bench, &any);
            Column::new(record, lane, planned, ROOM)
        };
        let joints = std::array::from_fn(|joint| {
            let columns = |bench, lanes: [u8; 2]| {
                let (record, planned) = find(bench, &|wanted| wanted.joint() == Some(joint));
                lanes.map(|lane| Column::new(record, lane, planned, ROOM))
            };
            JointColumns {
                position: columns(POSITION_ERROR, [0, 2]),
                encoder: columns(POSITION_ERROR, [1, 3]),
                velocity: columns(VELOCITY_ERROR, [0, 1]),
            }
        });
        Self {
            tasks,
            setpoint_age: plain(QUEUE_AGE, 0),
            torque_age: plain(QUEUE_AGE, 1),
            frame: FrameColumns {
                frame: plain(FRAME_TIME, 0),
                release: plain(FRAME_TIME, 1),
                sent: plain(FRAME_TIME, 2),
            },
            clock: plain(CLOCK_DIFFERENCE, 0),
            joints,
            wanted,
        }
    }

    /// Cycles of the main task that give all that is wanted.
    pub fn cycles(&self) -> u64 {
        self.wanted.iter().filter_map(Wanted::cycles).max().unwrap_or(0)
    }

    /// Opens all of them.
    pub fn begin<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        self.wanted.iter().try_for_each(|wanted| writer.begin(&wanted.begin()))
    }

    /// Times of one period of a task.
    pub fn add_task(&mut self, task: Task, sample: &TaskSample) {
        let columns = &mut self.tasks[task as usize];
        columns.response.push(sample.response_ns);
        columns.release.push(sample.release);
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
        if sample.frame_ns == u32::MAX {
            return;
        }
        self.frame.frame.push(sample.frame_ns);
        self.frame.release.push(sample.task.release);
        self.frame.sent.push(sample.sent_ns);
        let lane = match Way::from_code(sample.way) {
            Way::Approach => return,
            Way::Out => 0,
            Way::Back => 1,
        };
        for (joint, columns) in self.joints.iter_mut().enumerate() {
            columns.position[lane].push(sample.position_error_deg[joint]);
            columns.encoder[lane].push(sample.position_counts[joint].into());
            columns.velocity[lane].push(sample.velocity_error_deg_s[joint]);
        }
    }

    /// Writes the samples that wait.
    pub fn flush<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        for task in &mut self.tasks {
            for column in [&mut task.response, &mut task.release, &mut task.latency, &mut task.execution] {
                column.flush(writer)?;
            }
        }
        for column in [&mut self.setpoint_age, &mut self.torque_age, &mut self.clock] {
            column.flush(writer)?;
        }
        for column in self.frame.all() {
            column.flush(writer)?;
        }
        for joint in &mut self.joints {
            for column in joint.position.iter_mut().chain(&mut joint.encoder).chain(&mut joint.velocity) {
                column.flush(writer)?;
            }
        }
        Ok(())
    }

    /// Closes all of them.
    pub fn end<W: Write>(&mut self, writer: &mut Writer<W>, run: &RunEnd) -> Result<(), RecordError> {
        self.flush(writer)?;
        for wanted in &self.wanted {
            let lanes = self.lanes(wanted);
            // Every sample carries its own proof: times come from a period that ran to its end, errors and frame times
            // from an exchange that was answered in this cycle.
            let proof = Proof { checked: lanes.iter().map(|lane| lane.taken).sum(), ..Proof::default() };
            let status = if run.complete { Status::Ok } else { Status::Failed };
            let reason = run.reason.clone();
            writer.end(&End { record: wanted.record, status, reason, lanes, proof, drains: vec![] })?;
        }
        Ok(())
    }

    fn lanes(&self, wanted: &Wanted) -> Vec<EndLane> {
        let task = wanted.task().map(|task| &self.tasks[task as usize]);
        let joint = wanted.joint().map(|joint| &self.joints[joint]);
        match (wanted.bench.as_str(), task, joint) {
            (RESPONSE_TIME, Some(task), _) => vec![task.response.end()],
            (RELEASE_LATENCY, Some(task), _) => vec![task.latency.end()],
            (EXECUTION_TIME, Some(task), _) => vec![task.execution.end()],
            (POSITION_ERROR, _, Some(joint)) => joint.position.iter().map(Column::end).collect(),
            (VELOCITY_ERROR, _, Some(joint)) => joint.velocity.iter().map(Column::end).collect(),
            (QUEUE_AGE, ..) => vec![self.setpoint_age.end(), self.torque_age.end()],
            (FRAME_TIME, ..) => vec![self.frame.frame.end()],
            (CLOCK_DIFFERENCE, ..) => vec![self.clock.end()],
            _ => vec![],
        }
    }
}
