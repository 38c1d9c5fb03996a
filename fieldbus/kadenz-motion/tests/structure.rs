// SPDX-License-Identifier: Apache-2.0
//! No lock across priorities: what the four tasks do every period has no mutex, no condition variable and no channel that
//! may wait, so no task of high priority can wait for one of low priority. What they tell each other goes through
//! non-blocking message queues and single atomic numbers.
//!
//! A lock cannot be seen from outside when it is free, so this reads the source. Inside libraries it cannot see: the
//! master library's locks are spin locks of one task alone, KDL has none, and memory, the one lock all share, is not
//! asked for (`tests/allocation.rs`).

use std::path::{Path, PathBuf};

/// Part of a period of some task.
const CYCLIC: [&str; 39] = [
    "bus/axis.rs",
    "bus/mail.rs",
    "bus/online.rs",
    "bus/overheard.rs",
    "bus/pump.rs",
    "bus/socket.rs",
    "bus/wire.rs",
    "cia402.rs",
    "edge.rs",
    "message.rs",
    "profile/mod.rs",
    "profile/path.rs",
    "profile/scurve.rs",
    "record/column.rs",
    "record/mod.rs",
    "record/series.rs",
    "rt/clock.rs",
    "rt/cyclic.rs",
    "rt/mod.rs",
    "rt/queue.rs",
    "rt/thread.rs",
    "supervise/drive_status.rs",
    "supervise/duty.rs",
    "supervise/event.rs",
    "supervise/limits.rs",
    "supervise/mod.rs",
    "supervise/scenarios.rs",
    "supervise/supervisor.rs",
    "supervise/words.rs",
    "task/dynamics.rs",
    "task/log.rs",
    "task/main_task.rs",
    "task/mod.rs",
    "task/outcome.rs",
    "task/periodic.rs",
    "task/phase.rs",
    "task/shared.rs",
    "task/sync0.rs",
    "task/trajectory.rs",
];

/// Before the first period, after the last, in a thread without priority, or simulated hardware.
const ELSEWHERE: [&str; 24] = [
    "bus/beginning.rs",
    "bus/bring_up.rs",
    "bus/error.rs",
    "bus/image.rs",
    "bus/mod.rs",
    "bus/scale.rs",
    "cli.rs",
    "console.rs",
    "error.rs",
    "interrupt.rs",
    "layout.rs",
    "layout/check.rs",
    "lib.rs",
    "main.rs",
    "plan.rs",
    "record/hello.rs",
    "robot.rs",
    "rt/idle.rs",
    "run.rs",
    "simulation/child.rs",
    "simulation/in_process.rs",
    "simulation/mod.rs",
    "simulation/ring.rs",
    "simulation/veth.rs",
];

/// What may wait for another thread, or what speaks and so locks and allocates.
const WAITS: [&str; 16] = [
    "Mutex",
    "RwLock",
    "Condvar",
    "Barrier",
    "OnceLock",
    "LazyLock",
    "OnceCell",
    ".lock()",
    "mpsc::channel",
    ".recv()",
    "recv_timeout",
    ".join()",
    "park()",
    "println!",
    "eprintln!",
    "stderr()",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path.strip_prefix(source()).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn every_file_is_known_to_be_part_of_a_period_or_not() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let unknown: Vec<_> =
        found.iter().map(String::as_str).filter(|f| !CYCLIC.contains(f) && !ELSEWHERE.contains(f)).collect();
    assert!(unknown.is_empty(), "{unknown:?}: say in this file whether a task's period passes through them");
    let gone: Vec<_> = CYCLIC.iter().chain(&ELSEWHERE).filter(|file| !found.iter().any(|f| f == *file)).collect();
    assert!(gone.is_empty(), "{gone:?} are no more");
}

#[test]
fn nothing_a_task_does_in_its_period_waits_for_another_thread() {
    for file in CYCLIC {
        let text = std::fs::read_to_string(source().join(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            // The edge workload joins its task after its last period.
            let after = file == "edge.rs" && line.contains("cyclic.join()");
            let waits = WAITS.iter().find(|word| line.contains(**word) && !after);
            assert_eq!(waits, None, "src/{file}:{}: {line}", number + 1);
        }
    }
}

#[test]
fn nothing_a_task_does_in_its_period_speaks() {
    // `tracing` formats, allocates and writes to whatever standard error is. In a period it is not called at all.
    for file in CYCLIC.iter().filter(|file| **file != "edge.rs") {
        let text = std::fs::read_to_string(source().join(file)).unwrap();
        assert!(!text.contains("tracing::"), "src/{file} speaks");
    }
}
