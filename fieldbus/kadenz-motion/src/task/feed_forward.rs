// SPDX-License-Identifier: Apache-2.0
//! Feed-forward torques: asked of the dynamic task in one cycle, used in the next.

use kadenz_rt::{Receiver, Sender};

use crate::message::{Reference, TorqueRequest, Torques};
use crate::AXES;

/// The newest torques, and the way to the next ones.
#[derive(Debug)]
pub(super) struct FeedForward {
    torques: Receiver<Torques>,
    requests: Sender<TorqueRequest>,
    newest: Torques,
    /// Cycles since the newest came.
    pub(super) age: u32,
}

impl FeedForward {
    /// Zero, until the first torques come.
    pub(super) fn new(torques: Receiver<Torques>, requests: Sender<TorqueRequest>) -> Self {
        Self { torques, requests, newest: Torques { sent_ns: 0, number: 0, torque_nm: [0.0; AXES] }, age: 0 }
    }

    /// Takes the torques of the dynamic task. Returns when it sent the torques in use, ns.
    pub(super) fn take(&mut self) -> u64 {
        match self.torques.newest() {
            Some(torques) => {
                self.newest = torques;
                self.age = 0;
            }
            None => self.age += 1,
        }
        self.newest.sent_ns
    }

    /// Torque of an axis, N·m.
    pub(super) fn torque_nm(&self, axis: usize) -> f64 {
        self.newest.torque_nm[axis]
    }

    /// Asks for the torques of a point.
    pub(super) fn request(&self, sent_ns: u64, (number, point): (u64, Reference)) {
        self.requests.send(&TorqueRequest { sent_ns, number, point });
    }
}
