// SPDX-License-Identifier: Apache-2.0
//! No allocation in the cyclic path of any task, counted by an allocator in front of the C library's, so that Rust, KDL
//! and everything else is seen.

mod counting;

use std::sync::{Arc, Mutex};

use kadenz_motion::layout::Layout;
use kadenz_motion::record::{MotionRecords, Wanted};
use kadenz_motion::rt::CyclicPath;
use kadenz_motion::run::{motion, RunOptions};
use kadenz_motion::simulation::{indy7_ring, indy7_segment, InProcess, Time};
use kadenz_motion::task::{Outcome, StopCategory};
use kadenz_record::Writer;

#[test]
fn the_cyclic_paths_of_all_tasks_allocate_nothing_in_a_whole_run() {
    // The counter works: an allocation inside a cyclic path is seen.
    let before = counting::count();
    let inside = CyclicPath::enter();
    let allocated = std::hint::black_box(Box::new(7));
    drop(inside);
    assert_eq!((counting::count() - before, *allocated), (1, 7));

    let segment = Arc::new(Mutex::new(indy7_segment(&indy7_ring().unwrap()).unwrap()));
    let wire = InProcess::new(segment, Time::Real);
    // On a busy machine without real-time priorities cycles come late; that must not stop the run.
    let mut layout = Layout::load(None).unwrap();
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
        provoke_panic_at: None,
        transport: "test".into(),
    };
    let records = MotionRecords::new(Wanted::everything(5000));
    let writer = Writer::new(std::io::sink()).unwrap();
    let before = counting::count();
    let (report, _) = motion(wire, &layout, &options, writer, records).unwrap();
    let during = counting::count() - before;
    assert!(report.cycles > 5000, "{report:?}");
    assert_eq!(during, 0, "{report:?}");
    if let Outcome::Faulted { cause, .. } = report.outcome {
        // A drive may dislike a late setpoint; then the way to power-off was counted too.
        assert!(report.without_power, "{cause}");
    }
}
