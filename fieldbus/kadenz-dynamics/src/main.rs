// SPDX-License-Identifier: Apache-2.0
//! `kadenz-dynamics`: torques of Indy7 for states on standard input, so that another library can be held against KDL.
//!
//! A line holds 18 numbers: six positions (rad), six velocities (rad/s), six accelerations (rad/s²). The answer is a
//! line of six torques (N·m) with every digit of an f64.

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

use kadenz_dynamics::indy7::{arm, JOINTS};

fn main() -> ExitCode {
    match answer(io::stdin().lock(), BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("kadenz-dynamics: {message}");
            ExitCode::from(2)
        }
    }
}

fn answer(input: impl BufRead, mut output: impl Write) -> Result<(), String> {
    let mut arm = arm();
    for (index, line) in input.lines().enumerate() {
        let line = line.map_err(|error| format!("cannot read standard input: {error}"))?;
        let numbers: Vec<f64> = line
            .split_whitespace()
            .map(|word| word.parse().map_err(|_| format!("line {}: `{word}` is not a number", index + 1)))
            .collect::<Result<_, String>>()?;
        if numbers.len() != 3 * JOINTS {
            return Err(format!(
                "line {}: {} numbers. Give {} a line: positions (rad), velocities (rad/s), accelerations (rad/s²)",
                index + 1,
                numbers.len(),
                3 * JOINTS
            ));
        }
        let mut torque = [0.0; JOINTS];
        let (q, rest) = numbers.split_at(JOINTS);
        let (qd, qdd) = rest.split_at(JOINTS);
        arm.inverse(q, qd, qdd, &mut torque).map_err(|error| error.to_string())?;
        let words: Vec<String> = torque.iter().map(|value| format!("{value:?}")).collect();
        writeln!(output, "{}", words.join(" ")).map_err(|error| format!("cannot write: {error}"))?;
    }
    output.flush().map_err(|error| format!("cannot write: {error}"))
}
