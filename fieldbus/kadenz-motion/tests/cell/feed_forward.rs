// SPDX-License-Identifier: Apache-2.0
//! Torque feed-forward: off until the layout gives its scale on this drive, and in the direction of its counts.

use crate::common::Cell;
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::BusError;
use kadenz_motion::layout::Layout;
use kadenz_motion::task::Outcome;
use kadenz_motion::AXES;
use kadenz_segment::coe::object::Dictionary;

/// The simulated ring's first drive; the coupler is before it.
const JOINT_0: usize = 1;

fn layout() -> Layout {
    BuiltIn::Indy7.layout().unwrap()
}

fn drive<T>(cell: &Cell, joint: usize, look: impl FnOnce(&mut Dictionary) -> T) -> T {
    look(&mut cell.segment.lock().unwrap().ring_mut().devices[JOINT_0 + joint].dictionary)
}

/// Largest torque offset (0x60B2) of each drive over a whole motion, ‰.
fn offsets(layout: &Layout) -> [i64; AXES] {
    let mut cell = Cell::with_layout(layout, &[]).unwrap();
    let mut largest = [0; AXES];
    while cell.cycle() == kadenz_motion::task::Flow::Continue {
        for (joint, largest) in largest.iter_mut().enumerate() {
            *largest = drive(&cell, joint, |objects| objects.number(0x60B2, 0)).abs().max(*largest);
        }
    }
    assert_eq!(cell.main.outcome(), Outcome::Done, "{:#?}", cell.events);
    largest
}

/// Torque offset of joint 0's drive in each measured cycle, ‰, and its position after all of them in counts.
fn course(counts_per_turn: f64) -> (Vec<i64>, i64) {
    let mut layout = layout();
    layout.axis[0].counts_per_turn = counts_per_turn;
    let mut cell = Cell::with_layout(&layout, &[]).unwrap();
    let mut course = Vec::new();
    while course.len() < 2_000 {
        assert_eq!(cell.cycle(), kadenz_motion::task::Flow::Continue, "{:#?}", cell.events);
        if cell.main.first_measured().is_some() {
            course.push(drive(&cell, 0, |objects| objects.number(0x60B2, 0)));
        }
    }
    (course, drive(&cell, 0, |objects| objects.number(0x6064, 0)))
}

#[test]
fn an_axis_without_feed_forward_in_the_layout_gets_no_torque() {
    let mut layout = layout();
    layout.axis[1].feed_forward = None;
    let offsets = offsets(&layout);
    assert_eq!(offsets[1], 0);
    assert!(offsets[0] > 20 && offsets[2] > 20, "{offsets:?}");
}

#[test]
fn the_built_in_feed_forward_is_for_simulated_drives_only() {
    let mut layout = layout();
    layout.axis.iter_mut().for_each(|axis| {
        let forward = axis.feed_forward.as_mut().unwrap();
        assert_eq!(forward.vendor, Some(kadenz_segment::ring::VENDOR));
        // As if the drives were of another maker.
        forward.vendor = Some(0x1234);
    });
    assert_eq!(offsets(&layout), [0; AXES]);
}

#[test]
fn an_axis_that_counts_the_other_way_is_fed_forward_the_other_way() {
    // Joint 0 turns about the vertical: turned round, its arm needs the same torques with the other sign.
    let ((straight, out), (turned, back)) = (course(1_048_576.0), course(-1_048_576.0));
    assert!(out > 200_000 && back < -200_000, "{out} and {back} counts");
    assert!(straight.iter().any(|permille| *permille > 40), "nothing is fed forward");
    let apart = straight.iter().zip(&turned).map(|(straight, turned)| (straight + turned).abs()).max();
    assert!(apart <= Some(1), "{apart:?} ‰ besides the sign");
}

#[test]
fn a_drive_without_a_rated_torque_is_an_error_with_a_remedy() {
    let segment = crate::common::segment(&[]);
    {
        let mut segment = segment.lock().unwrap();
        let objects = &mut segment.ring_mut().devices[JOINT_0 + 3].dictionary;
        let rated = objects.handle(0x6076, 0).unwrap();
        objects.set(rated, 0);
    }
    let error = Cell::on(&segment, &layout(), None).err().expect("there is nothing to scale by");
    assert!(matches!(error, BusError::NoRatedTorque { position: 4, .. }), "{error}");
    assert!(error.to_string().contains("joint 3") && error.to_string().contains("feed_forward"), "{error}");
}
