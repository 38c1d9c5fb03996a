// SPDX-License-Identifier: Apache-2.0
//! Content of frames: one typed message for each frame type. Unknown keys are errors.

use serde::{Deserialize, Serialize};

use crate::frame::{Frame, FrameType};
use crate::WireError;

/// A map that keeps the order in which it was filled, as bytes on the line do.
pub type Map<V> = indexmap::IndexMap<String, V>;

/// The version these types describe.
pub const WIRE_VERSION: u32 = 2;

/// The clock of the target's stamps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // the keys of the format
pub struct Clock {
    pub name: String,
    pub hz: u64,
    pub bits: u32,
    pub on_target: bool,
}

/// What a HELLO of any version of the format holds, whatever else is in it.
#[derive(Deserialize)]
struct Version {
    wire: u32,
}

/// First frame: the identity of the sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Hello {
    pub wire: u32,
    pub suite: String,
    pub kernel: String,
    pub kernel_version: String,
    pub board: String,
    pub arch: String,
    pub instrument: String,
    pub clock: Clock,
    pub tick_hz: u64,
    pub timer_hz: u64,
    pub cores: u32,
    pub storage: u64,
    pub capabilities: Vec<String>,
    pub settings: Map<String>,
}

/// One benchmark the program offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Bench {
    pub name: String,
    pub begins: String,
    pub ends: String,
    pub source: String,
    pub self_timed: bool,
    /// What a sample is: "span", "periodic", "edges" or "context".
    pub nature: String,
    pub available: bool,
    pub reason: String,
    pub params: Vec<Param>,
}

/// A parameter of a benchmark: name, initial, low, high; where its values are words, these, that of value 0 first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Param {
    Words(String, i64, i64, i64, Vec<String>),
    Number(String, i64, i64, i64),
}

impl Param {
    /// Its name.
    pub fn name(&self) -> &str {
        let (Self::Number(name, ..) | Self::Words(name, ..)) = self;
        name
    }

    /// Its value where a plan has none.
    pub fn initial(&self) -> Value {
        match self {
            Self::Number(_, initial, ..) => Value::Number(*initial),
            Self::Words(_, initial, .., words) => {
                let word = usize::try_from(*initial).ok().and_then(|at| words.get(at));
                Value::Word(word.cloned().unwrap_or_default())
            }
        }
    }
}

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Value {
    Number(i64),
    Word(String),
}

impl Value {
    /// The number; `None` for a word.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Type of a record's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Dtype {
    U4,
    I4,
    F8,
}

/// Opens a record: what is measured, and how much is planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Begin {
    pub record: u16,
    pub bench: String,
    pub planned: u64,
    pub lanes: Vec<String>,
    pub dtype: Dtype,
    pub unit: String,
    pub params: Map<Value>,
    pub ranks: Map<i64>,
}

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Values {
    U4(Vec<u32>),
    I4(Vec<i32>),
    F8(Vec<f64>),
}

impl Values {
    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Self::U4(v) => v.len(),
            Self::I4(v) => v.len(),
            Self::F8(v) => v.len(),
        }
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Values of one lane, `index` being the place of the first.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Samples {
    pub record: u16,
    pub lane: u8,
    pub index: u32,
    pub values: Values,
}

/// How a record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Status {
    Ok,
    Invalid,
    #[serde(rename = "n/a")]
    NotApplicable,
    Failed,
}

/// A lane's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EndLane {
    pub taken: u64,
    pub missed: u64,
    pub overrun: u64,
}

/// Whether the timed event really happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Proof {
    pub checked: u64,
    pub failed: u64,
    pub reason: String,
}

/// Closes a record: its counts and proofs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct End {
    pub record: u16,
    pub status: Status,
    pub reason: String,
    pub lanes: Vec<EndLane>,
    pub proof: Proof,
    pub drains: Vec<u64>,
}

/// The target died: where and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Fault {
    pub kind: String,
    pub message: String,
    pub thread: String,
    pub registers: Map<u64>,
}

/// The last frame of a plan, with the numbers of records and frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Done {
    pub records: u64,
    pub frames: u64,
}

/// A case of the conformance test runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Case {
    pub case: String,
}

/// The result of one case of the conformance test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Conform {
    pub case: String,
    pub result: String,
    pub reason: String,
}

/// A message of any type.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Message {
    Hello(Hello),
    Bench(Bench),
    Begin(Begin),
    Samples(Samples),
    End(End),
    Text(String),
    Fault(Fault),
    Done(Done),
    Conform(Conform),
    Case(Case),
}

/// record u16, lane u8, dtype code u8, index u32
pub(crate) const SAMPLES_HEADER_BYTES: usize = 8;

impl Message {
    /// The message in `frame`.
    pub fn from_frame(frame: &Frame) -> Result<Self, WireError> {
        let body = frame.body.as_slice();
        let kind = frame.kind;
        Ok(match kind {
            FrameType::Hello => {
                let Version { wire: spoken } = unpack(kind, body)?;
                if spoken != WIRE_VERSION {
                    return Err(WireError::Version { spoken });
                }
                Self::Hello(unpack(kind, body)?)
            }
            FrameType::Bench => Self::Bench(unpack(kind, body)?),
            FrameType::Begin => Self::Begin(unpack(kind, body)?),
            FrameType::Samples => Self::Samples(samples(body)?),
            FrameType::End => Self::End(unpack(kind, body)?),
            FrameType::Text => {
                Self::Text(String::from_utf8(frame.body.clone()).map_err(|error| bad(kind, &error.to_string()))?)
            }
            FrameType::Fault => Self::Fault(unpack(kind, body)?),
            FrameType::Done => Self::Done(unpack(kind, body)?),
            FrameType::Conform => Self::Conform(unpack(kind, body)?),
            FrameType::Case => Self::Case(unpack(kind, body)?),
        })
    }
}

fn unpack<'a, T: Deserialize<'a>>(kind: FrameType, body: &'a [u8]) -> Result<T, WireError> {
    rmp_serde::from_slice(body).map_err(|error| bad(kind, &error.to_string()))
}

fn bad(kind: FrameType, why: &str) -> WireError {
    WireError::Body { kind: kind.name(), why: why.to_owned() }
}

fn samples(body: &[u8]) -> Result<Samples, WireError> {
    let Some((header, data)) = body.split_at_checked(SAMPLES_HEADER_BYTES) else {
        return Err(bad(FrameType::Samples, "too short"));
    };
    let width = match header[3] {
        0 | 1 => 4,
        2 => 8,
        code => return Err(bad(FrameType::Samples, &format!("unknown dtype code {code}"))),
    };
    let words = data.chunks_exact(width);
    if !words.remainder().is_empty() {
        return Err(bad(FrameType::Samples, "not a whole number of values"));
    }
    let four = |w: &[u8]| [w[0], w[1], w[2], w[3]];
    let values = match header[3] {
        0 => Values::U4(words.map(|w| u32::from_le_bytes(four(w))).collect()),
        1 => Values::I4(words.map(|w| i32::from_le_bytes(four(w))).collect()),
        _ => Values::F8(words.map(|w| f64::from_le_bytes([w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]])).collect()),
    };
    Ok(Samples {
        record: u16::from_le_bytes([header[0], header[1]]),
        lane: header[2],
        index: u32::from_le_bytes([header[4], header[5], header[6], header[7]]),
        values,
    })
}
