// SPDX-License-Identifier: Apache-2.0
//! Bring-up with drives that differ from the simulated ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::common::{Cell, Tamper};
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::BusError;
use kadenz_motion::layout::Layout;

/// Mailbox replies to the interpolation period: command, object 0x60C2, sub-index.
const READ: [u8; 4] = [0x4F, 0xC2, 0x60, 1];
const WRITTEN: [u8; 3] = [0x60, 0xC2, 0x60];
/// SDO abort code "object does not exist" (ETG.1000.6).
const NOT_FOUND: u32 = 0x0602_0000;
const READ_ONLY: u32 = 0x0601_0002;

/// Drives that refuse `reply` with `code`; counts writes to the interpolation period.
fn refusing(reply: &'static [u8], code: u32) -> (Tamper, Arc<AtomicUsize>) {
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let tamper: Tamper = Box::new(move |mut frame, out| {
        let find = |frame: &[u8], what: &[u8]| frame.windows(what.len()).position(|part| part == what);
        if find(&frame, &WRITTEN).is_some() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(at) = find(&frame, reply) {
            frame[at] = 0x80;
            frame[at + 4..at + 8].copy_from_slice(&code.to_le_bytes());
        }
        out.push_back(frame);
    });
    (tamper, written)
}

fn up(interpolation_period: Option<bool>, reply: &'static [u8], code: u32) -> (Result<Cell, BusError>, usize) {
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    layout.axis.iter_mut().for_each(|axis| axis.interpolation_period = interpolation_period);
    let (tamper, written) = refusing(reply, code);
    let cell = Cell::on(&crate::common::segment(&[]), &layout, Some(tamper));
    (cell, written.load(Ordering::Relaxed))
}

/// No reply begins like this.
const NOTHING: &[u8] = &[0xFF; 32];

#[test]
fn the_interpolation_period_is_written_where_the_drive_has_it() {
    let (cell, written) = up(None, NOTHING, 0);
    assert!(cell.is_ok());
    assert_eq!(written, 2 * 6, "mantissa and exponent of six drives");
}

#[test]
fn a_drive_without_an_interpolation_period_comes_up_without_it() {
    let (cell, written) = up(None, &READ, NOT_FOUND);
    assert!(cell.is_ok());
    assert_eq!(written, 0);
}

#[test]
fn the_layout_may_decide_on_the_interpolation_period() {
    let (cell, written) = up(Some(false), NOTHING, 0);
    assert_eq!((cell.is_ok(), written), (true, 0));
    // Written without asking first.
    let (cell, written) = up(Some(true), &READ, NOT_FOUND);
    assert_eq!((cell.is_ok(), written), (true, 12));
}

#[test]
fn an_interpolation_period_that_is_refused_is_an_error_that_names_it() {
    let (cell, _) = up(None, &WRITTEN, READ_ONLY);
    let error = cell.err().expect("it cannot be written");
    assert!(matches!(error, BusError::Master { .. }) && error.to_string().contains("0x60C2"), "{error}");
}

/// The error for a ring whose first drive has this number in an object, with a changed layout.
fn refused(object: Option<(u16, u8, i64)>, change: impl FnOnce(&mut Layout)) -> String {
    let segment = crate::common::segment(&[]);
    if let Some((index, sub, number)) = object {
        let mut segment = segment.lock().unwrap();
        // The coupler is before it.
        let objects = &mut segment.ring_mut().devices[1].dictionary;
        let handle = objects.handle(index, sub).unwrap();
        objects.set(handle, number);
    }
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    change(&mut layout);
    let error = Cell::on(&segment, &layout, None).err().expect("it contradicts the drive");
    assert!(matches!(error, BusError::Contradiction { position: 1, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("joint 0 (device 1, `"), "{said}");
    said
}

#[test]
fn a_layout_whose_scale_is_not_the_drives_is_refused_with_both_values() {
    let said = refused(None, |layout| layout.axis[0].counts_per_turn *= 2.0);
    for words in ["1048576 counts", "0x6092", "2097152", "Correct counts_per_turn", "shaft_turns"] {
        assert!(said.contains(words), "no `{words}` in: {said}");
    }
    let said = refused(Some((0x6092, 1, 524_288)), |_| ());
    assert!(said.contains("524288 counts") && said.contains("1048576"), "{said}");
}

#[test]
fn a_drive_that_cannot_follow_positions_or_turns_some_of_them_round_is_refused() {
    assert!(refused(Some((0x6502, 0, 0x60)), |_| ()).contains("0x6502 = 0x60"));
    assert!(refused(Some((0x607E, 0, 0xC0)), |_| ()).contains("Set 0x607E to 0"));
    assert!(refused(Some((0x6091, 1, 101)), |_| ()).contains("feed_forward.gear = 121"));
}

#[test]
fn a_motion_beyond_the_limits_of_a_drive_is_refused_with_both_values() {
    let said = refused(Some((0x607D, 2, 200_000)), |_| ());
    assert!(said.contains("200000 counts") && said.contains("motion.high_deg = 90"), "{said}");
}

#[test]
fn an_axis_that_is_a_coupler_is_refused_as_no_drive() {
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    layout.axis[0].device = 0;
    let error = Cell::with_layout(&layout, &[]).err().expect("a coupler has no axis");
    assert!(matches!(error, BusError::NoDrive { position: 0, .. }), "{error}");
    assert!(error.to_string().contains("joint 0 is device 0 (`kadenz coupler`)"), "{error}");
}
