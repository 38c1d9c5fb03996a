// SPDX-License-Identifier: Apache-2.0
//! The message queues between the tasks (yoo2024, figure 14): each task's ends of them.

use kadenz_rt::{Queue, QueueError, Receiver, Sender};

use crate::message::{CycleSample, Events, Order, Setpoints, TaskSample, TorqueRequest, Torques, BATCH};

/// Messages the trajectory task may be ahead of main. The queue is kept full, so that main never waits for a task of
/// lower priority, and is full again soon after a pause in which main has passed over setpoints.
pub const AHEAD: usize = 3;
/// Enough between two tasks that run every millisecond.
const SHORT: usize = 4;
/// To the log task, which looks every 100 ms: what Linux allows without privilege.
const LONG: usize = 10;

/// The main task's ends.
#[derive(Debug)]
pub struct MainQueues {
    /// From the trajectory task.
    pub setpoints: Receiver<Setpoints>,
    /// From the dynamic task.
    pub torques: Receiver<Torques>,
    /// To the dynamic task.
    pub requests: Sender<TorqueRequest>,
    /// To the trajectory task.
    pub orders: Sender<Order>,
    /// To the log task.
    pub cycles: Sender<CycleSample, BATCH>,
    /// To the log task.
    pub events: Sender<Events>,
}

/// The dynamic task's ends.
#[derive(Debug)]
pub struct DynamicsQueues {
    /// From the main task.
    pub requests: Receiver<TorqueRequest>,
    /// To the main task.
    pub torques: Sender<Torques>,
    /// To the log task.
    pub log: Sender<TaskSample, BATCH>,
}

/// The trajectory task's ends.
#[derive(Debug)]
pub struct TrajectoryQueues {
    /// From the main task.
    pub orders: Receiver<Order>,
    /// To the main task.
    pub setpoints: Sender<Setpoints>,
    /// To the log task.
    pub log: Sender<TaskSample, BATCH>,
}

/// The log task's ends.
#[derive(Debug)]
pub struct LogQueues {
    /// From the main task.
    pub cycles: Receiver<CycleSample, BATCH>,
    /// From the main task.
    pub events: Receiver<Events>,
    /// From the dynamic task.
    pub dynamics: Receiver<TaskSample, BATCH>,
    /// From the trajectory task.
    pub trajectory: Receiver<TaskSample, BATCH>,
    /// To the thread that prints events: a terminal or a pipe may block its writer, but not this task.
    pub said: Sender<Events>,
}

/// Both ends of every queue between the tasks.
#[derive(Debug)]
pub struct Queues {
    /// Of the main task.
    pub main: MainQueues,
    /// Of the dynamic task.
    pub dynamics: DynamicsQueues,
    /// Of the trajectory task.
    pub trajectory: TrajectoryQueues,
    /// Of the log task.
    pub log: LogQueues,
    /// Events for the thread that prints them.
    pub to_say: Receiver<Events>,
}

impl Queues {
    /// Opens all nine queues; fails where the limits of Linux are too low (`ulimit -q`).
    pub fn open() -> Result<Self, QueueError> {
        let (setpoints_in, setpoints) = Queue::open("setpoints", AHEAD)?;
        let (torques_in, torques) = Queue::open("torques", SHORT)?;
        let (requests, requests_out) = Queue::open("requests", SHORT)?;
        let (orders, orders_out) = Queue::open("orders", SHORT)?;
        let (cycles_in, cycles) = Queue::open("cycles", LONG)?;
        let (events_in, events) = Queue::open("events", LONG)?;
        let (trajectory_in, trajectory) = Queue::open("trajectory", LONG)?;
        let (dynamics_in, dynamics) = Queue::open("dynamics", LONG)?;
        let (said, to_say) = Queue::open("said", LONG)?;
        Ok(Self {
            main: MainQueues { setpoints, torques, requests, orders, cycles: cycles_in, events: events_in },
            dynamics: DynamicsQueues { requests: requests_out, torques: torques_in, log: dynamics_in },
            trajectory: TrajectoryQueues { orders: orders_out, setpoints: setpoints_in, log: trajectory_in },
            log: LogQueues { cycles, events, dynamics, trajectory, said },
            to_say,
        })
    }
}
