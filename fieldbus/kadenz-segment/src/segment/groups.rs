// SPDX-License-Identifier: Apache-2.0
//! Hot-connect groups that join and leave by faults, and the log of it.

use super::Segment;
use crate::fault::{Change, Fault, Kind};
use crate::happening::What;
use std::sync::Arc;

impl Segment {
    /// Begins or ends a fault that lets a group join or leave. The end undoes the beginning, where it still stands.
    pub(super) fn move_group(&mut self, fault: &Fault, label: &Arc<str>, head: usize, change: Change, now_ns: u64) {
        let joins = (fault.kind == Kind::Join) == (change == Change::Begins);
        if !joins {
            let size = self.ring.group(head).len();
            match self.ring.leave(head) {
                Some(place) => self.tell_group(head, size, false, place, now_ns),
                None => self.tell(label, "is not in the segment".into(), now_ns),
            }
            return;
        }
        let device = fault.attached_to.as_deref().and_then(|name| self.ring.position(name));
        let place = device.map(|device| (device, usize::from(fault.port.unwrap_or(1))));
        match self.ring.join(head, place) {
            Ok(place) => {
                let size = self.ring.group(head).len();
                self.tell_group(head, size, true, place, now_ns);
            }
            Err(problem) => self.tell(label, format!("does not join: {problem}"), now_ns),
        }
    }

    fn tell_group(&mut self, head: usize, size: usize, joins: bool, place: (usize, usize), now_ns: u64) {
        let name = |device: usize| self.ring.devices.get(device).map_or_else(String::new, |device| device.name.clone());
        let what = What::Group { head: name(head), size, device: name(place.0), port: place.1, joins };
        self.happen(now_ns, what);
    }

    fn tell(&mut self, label: &Arc<str>, text: String, now_ns: u64) {
        self.happen(now_ns, What::Fault { label: Arc::clone(label), text });
    }
}
