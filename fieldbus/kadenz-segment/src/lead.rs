// SPDX-License-Identifier: Apache-2.0
//! A signal between two segments: a digital output of one is wired to an input of the other.
//!
//! Both segments have the same world time. The input's clock is its terminal's own.

use crate::device::digital_output::Edge;
use crate::device::Function;
use crate::error::SegmentError;
use crate::ring::Ring;
use std::sync::mpsc::{channel, Receiver, Sender};

/// The end of a wire outside of the ring whose output it begins at.
#[derive(Debug)]
pub struct Lead(Receiver<Edge>);

/// At the ring of the output.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Device and channel, from 1.
    pub(crate) from: (usize, u8),
    to: Sender<Edge>,
}

/// At the ring of the input.
#[derive(Debug)]
pub(crate) struct Incoming {
    lead: Lead,
    to: (usize, u8),
    delay_ns: u64,
}

impl Outgoing {
    /// The other segment may be gone: a wire that ends nowhere.
    pub(crate) fn carry(&self, edge: Edge) {
        let _ = self.to.send(edge);
    }
}

/// The device and the channel of a terminal, as "outputs.1" names them.
fn terminal(ring: &Ring, end: &str, wanted: &str, fits: fn(&Function) -> bool) -> Result<(usize, u8), SegmentError> {
    let parsed = end.rsplit_once('.').and_then(|(name, channel)| Some((name, channel.parse::<u8>().ok()?)));
    let place = parsed.and_then(|(name, channel)| {
        let at = ring.position(name)?;
        let device = ring.devices.get(at).filter(|device| fits(&device.function))?;
        (1..=device.channels.len()).contains(&usize::from(channel)).then_some((at, channel))
    });
    place.ok_or_else(|| SegmentError::Usage {
        message: format!("\"{end}\" is no {wanted} of this ring"),
        remedy: "Name the terminal and its channel, from 1: \"outputs.1\"".into(),
    })
}

impl Ring {
    /// A wire from a digital output, "outputs.1", out of this ring.
    pub fn lead_out(&mut self, end: &str) -> Result<Lead, SegmentError> {
        let is_output = |function: &Function| matches!(function, Function::DigitalOutput(_));
        let from = terminal(self, end, "digital output", is_output)?;
        let (to, edges) = channel();
        self.outgoing.push(Outgoing { from, to });
        Ok(Lead(edges))
    }

    /// A wire from another ring reaches a digital input, "inputs.1", `delay_ns` after its edge.
    pub fn lead_in(&mut self, lead: Lead, end: &str, delay_ns: u64) -> Result<(), SegmentError> {
        let is_input = |function: &Function| matches!(function, Function::DigitalInput(_));
        let to = terminal(self, end, "digital input", is_input)?;
        self.incoming.push(Incoming { lead, to, delay_ns });
        Ok(())
    }

    /// The edges that other rings have made until now.
    pub(crate) fn take_leads(&mut self) {
        for Incoming { lead, to, delay_ns } in &self.incoming {
            for edge in lead.0.try_iter() {
                let Some(device) = self.devices.get_mut(to.0) else { continue };
                let Function::DigitalInput(inputs) = &mut device.function else { continue };
                let world_ns = edge.world_ns + delay_ns;
                if inputs.is_full() {
                    // No frame has come for a long time: the terminal counts meanwhile, as hardware does.
                    inputs.publish(&mut device.dictionary, world_ns);
                }
                inputs.edge(to.1, edge.level, world_ns);
            }
        }
    }
}
