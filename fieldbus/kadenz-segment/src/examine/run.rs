// SPDX-License-Identifier: Apache-2.0
//! Runs the cases, each in namespaces of its own: a network, and a process namespace whose end ends every process in it.
//!
//! util-linux' `unshare` makes them. They have no name, so that nothing is left behind however a case or this program
//! ends: its child ends with the pipe to its standard input.

use super::catalogue::{Case, CASES};
use super::stage::Play;
use super::{Outcome, Row, Verdict};
use crate::error::SegmentError;
use kadenz_rt::process::is_root;
use kadenz_rt::signal;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time beyond that of a case for its namespaces and its judgement.
const ROOM: Duration = Duration::from_secs(30);
/// Longest answer of a case, bytes.
const LONGEST: u64 = 4 << 20;
/// Command of this program that plays one case.
pub const PLAY: &str = "play-case";

/// Runs cases in order, and tells each outcome. Ctrl-C ends the case and leaves the rest out.
/// `folder` keeps a recording of each.
pub fn run(
    cases: &[&'static Case],
    play: &Play,
    folder: Option<&Path>,
    tell: &mut dyn FnMut(&Outcome),
) -> Result<Vec<Outcome>, SegmentError> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for case in cases {
        let blocked = outcomes.first().and_then(reason_to_stop);
        let outcome = match blocked {
            _ if signal::caught() > 0 => without(case, Verdict::NotApplicable, "not run: interrupted".into()),
            Some(reason) => without(case, Verdict::NotApplicable, reason),
            None => perform(case, play, folder)?,
        };
        tell(&outcome);
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Without operation no other case can show anything.
fn reason_to_stop(first: &Outcome) -> Option<String> {
    let is_reached = first.rows.iter().any(|row| row.feature == "104" && row.verdict == Verdict::Passed);
    (first.case == CASES[0].name && !is_reached).then(|| format!("not run: `{}` did not reach OP", first.case))
}

fn without(case: &Case, verdict: Verdict, reason: String) -> Outcome {
    let feature = if case.feature.is_empty() { "104" } else { case.feature };
    Outcome {
        case: case.name.into(),
        faults: Vec::new(),
        rows: vec![Row { feature: feature.into(), case: case.name.into(), verdict, reason }],
        seconds: 0.0,
        frames: 0,
        master: "was not started".into(),
        log: Vec::new(),
        output: Vec::new(),
    }
}

fn failed(source: std::io::Error) -> SegmentError {
    SegmentError::File {
        action: "start",
        path: "unshare".into(),
        source,
        remedy: "Install util-linux, and run as root or where user namespaces are allowed",
    }
}

/// Plays one case in a process of its own.
fn perform(case: &'static Case, play: &Play, folder: Option<&Path>) -> Result<Outcome, SegmentError> {
    let recording = folder.map(|folder| folder.join(format!("{}.pcapng", case.name)));
    let play = Play { case: case.name.into(), recording, ..play.clone() };
    let mut child = spawn(&play)?;
    let output = child.stdout.take().map(read_on);
    let errors = child.stderr.take().map(read_on);
    let deadline = Instant::now() + Duration::from_secs_f64(play.seconds) + ROOM;
    let mut is_over = false;
    while child.try_wait().map_err(failed)?.is_none() {
        if Instant::now() > deadline || signal::caught() > 0 {
            is_over = true;
            // Its child is the first process of the namespace: with it all others end.
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = |reader: Option<Reader>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let (output, errors) = (text(output), text(errors));
    if is_over {
        let reason = if signal::caught() > 0 { "not run: interrupted" } else { "the case did not end in time" };
        let verdict = if signal::caught() > 0 { Verdict::NotApplicable } else { Verdict::Failed };
        return Ok(without(case, verdict, reason.into()));
    }
    match serde_json::from_str(&output) {
        Ok(outcome) => Ok(outcome),
        Err(_) if errors.contains("unshare") => Err(failed(std::io::Error::other(errors.trim().to_owned()))),
        Err(_) => Ok(without(case, Verdict::Failed, format!("the segment ended: {}", errors.trim()))),
    }
}

fn spawn(play: &Play) -> Result<Child, SegmentError> {
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]);
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--").arg(program).arg(PLAY);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(failed)?;
    let line = serde_json::to_string(play).map_err(std::io::Error::other).map_err(failed)?;
    // The pipe stays open: its end ends the case.
    if let Some(input) = child.stdin.as_mut() {
        let _ = writeln!(input, "{line}");
    }
    Ok(child)
}

type Reader = std::thread::JoinHandle<String>;

fn read_on(pipe: impl Read + Send + 'static) -> Reader {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(LONGEST).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
