// SPDX-License-Identifier: Apache-2.0
//! Analogue terminals: sixteen-bit values.

use super::channels::{Channel, Place};
use crate::coe::object::Dictionary;
use crate::description::{entry, DataType, Pdo};
use serde::Deserialize;

/// Process data of analogue outputs: sixteen bits a channel.
pub fn output_pdos(channels: u8) -> Vec<Pdo> {
    let entries = (1..=channels).map(|k| entry(0x7010, k, DataType::I16, format!("output {k}"))).collect();
    vec![Pdo { index: 0x1600, name: "outputs".into(), entries }]
}

/// Process data of analogue inputs: sixteen bits a channel.
pub fn input_pdos(channels: u8) -> Vec<Pdo> {
    let entries = (1..=channels).map(|k| entry(0x6010, k, DataType::I16, format!("input {k}"))).collect();
    vec![Pdo { index: 0x1A00, name: "inputs".into(), entries }]
}

/// Outputs of an analogue terminal: each keeps its last value until it is switched off.
pub struct AnalogOutput {
    channels: Vec<Channel>,
    values: Vec<i16>,
}

impl AnalogOutput {
    /// All outputs at zero.
    pub fn new(places: &[Place], dictionary: &Dictionary) -> Self {
        Self { channels: Channel::find(places, dictionary), values: vec![0; places.len()] }
    }

    /// Value of a channel, from 1.
    pub fn value(&self, channel: u8) -> i16 {
        usize::from(channel).checked_sub(1).and_then(|at| self.values.get(at)).copied().unwrap_or(0)
    }

    pub(super) fn update(&mut self, dictionary: &Dictionary) {
        for (value, channel) in self.values.iter_mut().zip(&self.channels) {
            *value = channel.get(dictionary) as i16;
        }
    }

    pub(super) fn switch_off(&mut self) {
        self.values.fill(0);
    }
}

/// Signal at an analogue input without a wire: a sine.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Signal {
    /// Amplitude, least significant bits.
    pub amplitude: f64,
    /// Mean, least significant bits.
    pub offset: f64,
    /// Frequency of the signal, Hz.
    pub hz: f64,
}

impl Default for Signal {
    fn default() -> Self {
        Self { amplitude: 16_000.0, offset: 0.0, hz: 1.0 }
    }
}

/// Inputs of an analogue terminal: the value on the wire, else the signal.
pub struct AnalogInput {
    channels: Vec<Channel>,
    wired: Vec<Option<i16>>,
    signal: Signal,
}

impl AnalogInput {
    /// Inputs that see `signal` until a wire says otherwise.
    pub fn new(places: &[Place], signal: Signal, dictionary: &Dictionary) -> Self {
        Self { channels: Channel::find(places, dictionary), wired: vec![None; places.len()], signal }
    }

    /// The value a wire brings to a channel, from 1.
    pub fn set(&mut self, channel: u8, value: i16) {
        if let Some(place) = usize::from(channel).checked_sub(1).and_then(|at| self.wired.get_mut(at)) {
            *place = Some(value);
        }
    }

    pub(super) fn publish(&mut self, dictionary: &mut Dictionary, world_ns: u64) {
        let phase = (world_ns as f64 * 1.0e-9 * self.signal.hz).fract() * std::f64::consts::TAU;
        let seen = (self.signal.offset + self.signal.amplitude * phase.sin()) as i16;
        for (wired, channel) in self.wired.iter().zip(&self.channels) {
            channel.set(dictionary, i64::from(wired.unwrap_or(seen)));
        }
    }
}
