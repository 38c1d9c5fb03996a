// SPDX-License-Identifier: Apache-2.0
//! No lock across priorities: what the four tasks do every period has no mutex, no condition variable and no channel that
//! may wait, so no task of high priority can wait for one of low priority. What they tell each other goes through
//! non-blocking message queues and single atomic numbers.
//!
//! A lock cannot be seen from outside when it is free, so this reads the source. Inside libraries it cannot see: the
//! master library's locks are spin locks of one task alone, KDL has none, and memory, the one lock all share, is not
//! asked for (`rt/tests/allocation.rs`).

use std::path::PathBuf;

/// Part of a period of some task.
const CYCLIC: [&str; 47] = [
    "bus/axis.rs",
    "bus/cable.rs",
    "bus/mail.rs",
    "bus/online.rs",
    "bus/overheard.rs",
    "bus/pump.rs",
    "bus/socket.rs",
    "bus/wire.rs",
    "cia402.rs",
    "edge/collector.rs",
    "edge/operation.rs",
    "edge/poller.rs",
    "edge/task.rs",
    "message.rs",
    "profile/mod.rs",
    "profile/path.rs",
    "profile/scurve.rs",
    "record/column.rs",
    "record/mod.rs",
    "record/series.rs",
    "../../rt/src/cable.rs",
    "../../rt/src/clock.rs",
    "../../rt/src/cyclic.rs",
    "../../rt/src/packet.rs",
    "../../rt/src/queue.rs",
    "supervise/drive_status.rs",
    "supervise/duty.rs",
    "supervise/event.rs",
    "supervise/limits.rs",
    "supervise/mod.rs",
    "supervise/scenarios.rs",
    "supervise/supervisor.rs",
    "supervise/words.rs",
    "task/cycle_log.rs",
    "task/dynamics.rs",
    "task/feed_forward.rs",
    "task/log.rs",
    "task/main_task.rs",
    "task/mod.rs",
    "task/outcome.rs",
    "task/periodic.rs",
    "task/phase.rs",
    "task/queues.rs",
    "task/reference.rs",
    "task/shared.rs",
    "task/sync0.rs",
    "task/trajectory.rs",
];

/// Before the first period, after the last, in a thread without priority, or simulated hardware.
const ELSEWHERE: [&str; 39] = [
    "built_in.rs",
    "bus/beginning.rs",
    "bus/bring_up.rs",
    "bus/error.rs",
    "bus/image.rs",
    "bus/mod.rs",
    "bus/scale.rs",
    "cli.rs",
    "console.rs",
    "edge/account.rs",
    "edge/acquisition.rs",
    "edge/lanes.rs",
    "edge/mod.rs",
    "edge/program.rs",
    "edge/two_rings.rs",
    "error.rs",
    "given.rs",
    "layout.rs",
    "layout/check.rs",
    "lib.rs",
    "main.rs",
    "plan.rs",
    "record/hello.rs",
    "realtime.rs",
    "robot.rs",
    "../../rt/src/idle.rs",
    "../../rt/src/rights.rs",
    "../../rt/src/interface.rs",
    "../../rt/src/lib.rs",
    "../../rt/src/process.rs",
    "../../rt/src/signal.rs",
    "../../rt/src/thread.rs",
    "run.rs",
    "simulation/child.rs",
    "simulation/in_process.rs",
    "simulation/mod.rs",
    "simulation/second.rs",
    "simulation/share.rs",
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
    PathBuf::from("src") // cargo runs tests in the folder of their package
}

/// The files of this crate and of the one below it, relative to this one's source.
fn files(folder: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(source().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(&format!("{path}/"), found);
        } else if path.ends_with(".rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_is_known_to_be_part_of_a_period_or_not() {
    let mut found = Vec::new();
    files("", &mut found);
    files("../../rt/src/", &mut found);
    let unknown: Vec<_> =
        found.iter().map(String::as_str).filter(|f| !CYCLIC.contains(f) && !ELSEWHERE.contains(f)).collect();
    assert!(unknown.is_empty(), "{unknown:?}: say in this file whether a task's period passes through them");
    let gone: Vec<_> = CYCLIC.iter().chain(&ELSEWHERE).filter(|file| !found.iter().any(|f| f == *file)).collect();
    assert!(gone.is_empty(), "{gone:?} are no more");
}

#[test]
fn no_task_waits_for_another_thread_in_its_period() {
    for file in CYCLIC {
        let text = std::fs::read_to_string(source().join(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let waits = WAITS.iter().find(|word| line.contains(**word));
            assert_eq!(waits, None, "src/{file}:{}: {line}", number + 1);
        }
    }
}

#[test]
fn no_task_prints_in_its_period() {
    // `tracing` formats, allocates and writes to whatever standard error is. In a period it is not called at all.
    for file in CYCLIC {
        let text = std::fs::read_to_string(source().join(file)).unwrap();
        assert!(!text.contains("tracing::"), "src/{file} speaks");
    }
}
