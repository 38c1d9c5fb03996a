// SPDX-License-Identifier: Apache-2.0
//! Examines a master from outside: what it does with a ring of devices, with faults and without, by feature of ETG.1500.
//!
//! A [`catalogue`] has the cases. Each runs on a [`stage`]: a network namespace with the master at one end of a cable and
//! the segment at the other. The frames are recorded and passed through the same ring again, and a [`witness`] notes what
//! the master did. Judgements read these notes and nothing that the master says.

pub mod catalogue;
pub mod command;
pub mod features;
pub mod html;
pub mod judge;
pub mod junit;
pub mod mail;
pub mod operation;
pub mod report;
pub mod run;
pub mod stage;
pub mod witness;

use serde::{Deserialize, Serialize};

/// Result of one case for one feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The master did what the feature asks for.
    Passed,
    /// It did not.
    Failed,
    /// It never used the feature, or the segment cannot see it.
    NotApplicable,
}

impl Verdict {
    /// As a table shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotApplicable => "n/a",
        }
    }
}

/// A row of the table: a feature, a case, a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Number of the feature in ETG.1500, or the name of a feature pack.
    pub feature: String,
    /// Name of the case.
    pub case: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What was seen.
    pub reason: String,
}

/// What one case gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the case.
    pub case: String,
    /// Faults as the command line of `run` takes them.
    pub faults: Vec<String>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Duration, s.
    pub seconds: f64,
    /// Frames that came from the master.
    pub frames: u64,
    /// How the master ended.
    pub master: String,
    /// What faults did, and the master after them.
    pub log: Vec<String>,
    /// The last lines that the master wrote.
    pub output: Vec<String>,
}
