// SPDX-License-Identifier: Apache-2.0
//! The dynamic task: feed-forward torques by inverse dynamics (KDL, recursive Newton-Euler).

use std::sync::Arc;

use bytemuck::Pod;
use kadenz_dynamics::{indy7, Arm};
use kadenz_rt::{Batch, Sender};

use super::periodic::{Cyclic, Flow, Release};
use super::{DynamicsQueues, Shared};
use crate::message::{TaskSample, TorqueRequest, Torques, BATCH};
use crate::robot::DriveTrain;
use crate::AXES;

/// The task that computes the torques by inverse dynamics.
pub struct DynamicsTask {
    arm: Arm,
    trains: [DriveTrain; AXES],
    queues: DynamicsQueues,
    batch: Batch<TaskSample, BATCH>,
    shared: Arc<Shared>,
    now_ns: fn() -> u64,
}

impl DynamicsTask {
    /// `trains` gives rotors and friction behind the joints.
    pub fn new(trains: [DriveTrain; AXES], queues: DynamicsQueues, shared: Arc<Shared>) -> Self {
        let batch = Batch::default();
        Self { arm: indy7::arm(), trains, queues, batch, shared, now_ns: kadenz_rt::now_ns }
    }

    /// Torques for one point: links by KDL, rotors and friction by the drive trains.
    fn torque(&mut self, request: &TorqueRequest) -> Option<[f64; AXES]> {
        let point = &request.point;
        let mut torque = [0.0; AXES];
        self.arm.inverse(&point.position, &point.velocity, &point.acceleration, &mut torque).ok()?;
        for ((torque, train), (velocity, acceleration)) in
            torque.iter_mut().zip(&self.trains).zip(point.velocity.iter().zip(&point.acceleration))
        {
            // Friction only once the axis is meant to move: 1 mrad/s, far below any real setpoint.
            let friction = train.viscous_nm_s * velocity + train.coulomb_nm * (velocity / 1e-3).clamp(-1.0, 1.0);
            *torque += train.reflected_kg_m2() * acceleration + friction;
        }
        Some(torque)
    }
}

impl Cyclic for DynamicsTask {
    fn step(&mut self, _: Release) -> Flow {
        if let Some(request) = self.queues.requests.newest() {
            if let Some(torque_nm) = self.torque(&request) {
                // A full queue means main has not taken the last ones: these are newer, but there will be more.
                self.queues.torques.send(&Torques { sent_ns: (self.now_ns)(), number: request.number, torque_nm });
            }
        }
        if self.shared.over() {
            Flow::End
        } else {
            Flow::Continue
        }
    }

    fn record(&mut self, release: Release, sample: TaskSample) {
        let ends = self.shared.over();
        push(&mut self.batch, &self.queues.log, self.shared.measures(release.nominal_ns).then_some(sample), ends);
    }
}

/// Adds a sample to a batch and sends the batch when it is full, or at the end.
pub(super) fn push<S: Pod>(batch: &mut Batch<S, BATCH>, log: &Sender<S, BATCH>, sample: Option<S>, ends: bool) {
    if let Some(sample) = sample {
        batch.push(sample);
    }
    if batch.is_full() || (ends && !batch.is_empty()) {
        // Refused batches are counted by the queue and show as missed samples.
        log.send_batch(batch);
        batch.clear();
    }
}
