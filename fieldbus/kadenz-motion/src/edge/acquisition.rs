// SPDX-License-Identifier: Apache-2.0
//! Who reads the stamps of the edges.

use kadenz_record::Value;

use crate::record::Wanted;

/// Name of the parameter.
pub const ACQUISITION: &str = "acquisition";
const SAME: &str = "same";
const SECOND: &str = "second";

/// Who reads the stamps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Acquisition {
    /// The measured master, in its own frames: output and input are on one ring.
    #[default]
    Same,
    /// Another program, on a second ring of its own (cereia2011, section II).
    Second,
}

impl Acquisition {
    /// Of a point of the plan.
    pub fn of(wanted: &Wanted) -> Self {
        match wanted.params.get(ACQUISITION) {
            Some(Value::Word(word)) if word == SECOND => Self::Second,
            _ => Self::Same,
        }
    }

    /// As the parameter names it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => SAME,
            Self::Second => SECOND,
        }
    }

    /// The words of the parameter, the usual one first.
    pub fn words() -> Vec<String> {
        [Self::Same, Self::Second].map(|chosen| chosen.word().to_owned()).into()
    }
}
