// SPDX-License-Identifier: Apache-2.0
//! The command line of `examine`.

use super::catalogue::{by_name, Case, CASES};
use super::report::{visible, Report};
use super::stage::{self, Play, INTERFACE};
use super::{html, junit, run, Outcome, Verdict};
use crate::error::{nearest, SegmentError};
use crate::settings::RingFile;
use clap::Args;
use kadenz_rt::signal::{self, Signal};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

/// Longest duration of a case, s.
const LONGEST: f64 = 600.0;

/// Examine a master: a catalogue of cases, judged by what the segment sees.
#[derive(Debug, Args)]
pub struct Examination {
    /// Command that starts the master, by sh, with {interface} for its interface and, for redundancy, {second}.
    #[arg(long, required_unless_present = "list")]
    master: Option<String>,
    /// Ring file; absent: coupler, two drives, digital output and input.
    #[arg(long)]
    ring: Option<PathBuf>,
    /// Run this case alone. May be repeated.
    #[arg(long)]
    case: Vec<String>,
    /// Longest duration of a case.
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// SCHED_FIFO priority of the segment, with locked memory.
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=99))]
    priority: Option<i32>,
    /// Keep a recording of each case in this folder.
    #[arg(long)]
    record: Option<PathBuf>,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Write the table as HTML.
    #[arg(long)]
    html: Option<PathBuf>,
    /// Write the table as JUnit XML.
    #[arg(long)]
    junit: Option<PathBuf>,
    /// Write the table as Markdown.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// List the cases.
    #[arg(long)]
    list: bool,
}

/// Examines a master and writes the table. False if a case failed.
pub fn examine(examination: &Examination) -> Result<bool, SegmentError> {
    if examination.list {
        let lines = CASES.iter().map(|case| format!("{:<22} {}\n", case.name, case.about));
        print(&lines.collect::<String>());
        return Ok(true);
    }
    let play = play(examination)?;
    let cases = selected(&examination.case)?;
    signal::catch(&[Signal::SIGINT, Signal::SIGTERM]);
    let mut tell = |outcome: &Outcome| {
        let failed = outcome.rows.iter().filter(|row| row.verdict == Verdict::Failed).count();
        let state = if failed == 0 { String::new() } else { format!(", {failed} failed") };
        let _ = writeln!(
            std::io::stderr(),
            "{}: {:.1} s, {} frames, the master {}{state}",
            outcome.case,
            outcome.seconds,
            outcome.frames,
            outcome.master
        );
    };
    let outcomes = run_cases(&cases, &play, examination.record.as_deref(), &mut tell)?;
    let ring = examination.ring.as_ref().map_or("of the catalogue".into(), |path| path.display().to_string());
    let report = Report { master: play.master, ring, version: env!("CARGO_PKG_VERSION"), outcomes };
    write(examination.html.as_deref(), || html::html(&report))?;
    write(examination.junit.as_deref(), || junit::junit(&report))?;
    write(examination.markdown.as_deref(), || report.markdown())?;
    print(&if examination.json { report.json() } else { report.text() });
    Ok(report.count(&Verdict::Failed) == 0 && signal::caught() == 0)
}

/// Each case with a file of its own for the recording.
fn run_cases(
    cases: &[&'static Case],
    play: &Play,
    folder: Option<&Path>,
    tell: &mut dyn FnMut(&Outcome),
) -> Result<Vec<Outcome>, SegmentError> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|source| SegmentError::File {
            action: "create folder",
            path: folder.into(),
            source,
            remedy: "Name a folder that may be written",
        })?;
    }
    run::run(cases, play, folder, tell)
}

fn play(examination: &Examination) -> Result<Play, SegmentError> {
    let usage = |message: String, remedy: &str| SegmentError::Usage { message, remedy: remedy.into() };
    let master = examination.master.clone().unwrap_or_default();
    if !master.contains(INTERFACE) {
        let remedy = "Write {interface} where its interface belongs: --master './master {interface}'";
        return Err(usage(format!("--master '{}' names no interface", visible(&master)), remedy));
    }
    let seconds = examination.seconds;
    if !(1.0..=LONGEST).contains(&seconds) {
        return Err(usage(format!("--seconds {seconds} is out of its range"), "Give 1 to 600 seconds"));
    }
    if let Some(ring) = &examination.ring {
        RingFile::read(ring)?;
    }
    let (ring, priority) = (examination.ring.clone(), examination.priority);
    Ok(Play { case: String::new(), ring, master, seconds, priority, recording: None })
}

fn selected(names: &[String]) -> Result<Vec<&'static Case>, SegmentError> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let case = |name: &String| {
        by_name(name).ok_or_else(|| {
            let known = nearest(name, CASES.iter().map(|case| case.name)).unwrap_or_default();
            let remedy = format!("Did you mean `{known}`? examine --list shows all");
            SegmentError::Usage { message: format!("no case \"{}\"", visible(name)), remedy }
        })
    };
    names.iter().map(case).collect()
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), SegmentError> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).map_err(|source| SegmentError::File {
        action: "write",
        path: path.into(),
        source,
        remedy: "Name a file in a folder that exists and may be written",
    })
}

fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Plays the case of the first line of standard input, and prints its outcome. Not for users.
pub fn play_case() -> Result<(), SegmentError> {
    let wrong = |message: String| SegmentError::Usage { message, remedy: "This is a part of `examine`".into() };
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| wrong(error.to_string()))?;
    let play: Play = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
    let outcome = stage::play(&play)?;
    print(&serde_json::to_string(&outcome).map_err(|error| wrong(error.to_string()))?);
    Ok(())
}
