// SPDX-License-Identifier: Apache-2.0
//! No allocation in a call of the dynamics, nor in the cyclic path of any task, counted in front of the C library's
//! allocator: it sees Rust, KDL and everything else. The tests are here because the counter takes `unsafe`.

mod counting;

use std::io::BufWriter;
use std::sync::{Arc, Mutex};

use kadenz_dynamics::indy7::{arm, links, JOINTS};
use kadenz_dynamics::Arm;
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::console;
use kadenz_motion::record::{MotionRecords, Wanted};
use kadenz_motion::run::{motion, RunOptions, RunReport};
use kadenz_motion::simulation::InProcess;
use kadenz_motion::task::{Movement, Outcome, StopCategory};
use kadenz_record::Writer;
use kadenz_rt::{Clock, CyclicPath};

#[test]
fn calls_of_the_dynamics_allocate_nothing() {
    let mut arm = arm();
    let (q, qd, qdd) = ([0.1; JOINTS], [0.2; JOINTS], [0.3; JOINTS]);
    let (mut torque, mut matrix) = ([0.0; JOINTS], [0.0; JOINTS * JOINTS]);
    let during = counting::during(|| {
        for _ in 0..100 {
            arm.inverse(&q, &qd, &qdd, &mut torque).unwrap();
            arm.mass(&q, &mut matrix).unwrap();
            arm.forward(&q, &qd, &qdd, &mut torque).unwrap();
            arm.gravity(&q, &mut torque).unwrap();
        }
    });
    assert_eq!(during, 0, "allocations of Rust and C++ together");
    // The counter itself sees C++: building an arm allocates there.
    assert!(counting::during(|| drop(Arm::on_floor(&links()))) > 10);
}

#[test]
fn the_cyclic_paths_of_all_tasks_allocate_nothing_in_a_whole_run() {
    // The counter works: an allocation inside a cyclic path is seen.
    let before = counting::in_cyclic_paths();
    let inside = CyclicPath::enter();
    let allocated = std::hint::black_box(Box::new(7));
    drop(inside);
    assert_eq!((counting::in_cyclic_paths() - before, *allocated), (1, 7));

    // Without real-time priorities a busy machine may pause a run for longer than the drives' watchdogs wait. Then the
    // allocations on the way to power-off were counted, and the run is retried.
    for _ in 0..30 {
        let (report, allocations) = one_run();
        assert_eq!(allocations, 0, "{report:?}");
        if report.outcome == Outcome::Done {
            assert!(report.cycles > 5000, "{report:?}");
            assert!(report.events >= 40, "{report:?}: nothing was said, nothing is shown");
            return;
        }
        assert!(report.without_power, "{report:?}");
    }
    panic!("in each of thirty runs the machine paused for longer than drives wait");
}

/// A motion on the ring in this process, and the allocations inside its cyclic paths.
fn one_run() -> (RunReport, u64) {
    // Something to say, again and again.
    let faults = ["lose-frame@cycle=2500,count=40", "emergency@cycle=2700,device=joint-2,code=0x8611"];
    let segment = Arc::new(Mutex::new(BuiltIn::Indy7.segment(&faults).unwrap()));
    let wire = InProcess::new(segment, Clock::Monotonic);
    // Cycles that come late must not stop the run.
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    layout.supervision.late_cycles = u32::MAX;
    layout.supervision.skipped_cycles = u32::MAX;
    layout.supervision.setpoint_cycles = u32::MAX;
    layout.supervision.lost_frames = u32::MAX;
    layout.supervision.following_error_deg = 90.0;
    let options = RunOptions {
        cpu: None,
        realtime: false,
        idle_states_off: None,
        on_interrupt: StopCategory::One,
        movement: Movement::default(),
        provoke_panic_at: None,
        transport: "test".into(),
    };
    let records = MotionRecords::new(Wanted::everything(5000));
    // As the program writes: to a file, behind a buffer.
    let file = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    let writer = Writer::new(BufWriter::with_capacity(1 << 16, file)).unwrap();
    let before = counting::in_cyclic_paths();
    // As the program says events, on standard error. A subscriber formats and so allocates: no task may.
    console::speak(true);
    let (report, _) = motion(wire, &layout, &options, writer, records).unwrap();
    (report, counting::in_cyclic_paths() - before)
}
