// SPDX-License-Identifier: Apache-2.0
//! The way up on drives that are not as the simulated ones are.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use common::{Cell, Tamper};
use kadenz_motion::bus::BusError;
use kadenz_motion::layout::Layout;

/// Mailbox replies to the interpolation period: command, object 0x60C2, sub-index.
const READ: [u8; 4] = [0x4F, 0xC2, 0x60, 1];
const WRITTEN: [u8; 3] = [0x60, 0xC2, 0x60];
/// "Object does not exist" (ETG.1000.6, table 41).
const NOT_FOUND: u32 = 0x0602_0000;
const READ_ONLY: u32 = 0x0601_0002;

/// Drives that refuse `reply` with `code`; counts what was written to the interpolation period.
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
    let mut layout = Layout::load(None).unwrap();
    layout.axis.iter_mut().for_each(|axis| axis.interpolation_period = interpolation_period);
    let (tamper, written) = refusing(reply, code);
    let cell = Cell::on(&common::segment(&[]), &layout, Some(tamper));
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
fn the_layout_decides_over_the_interpolation_period_where_it_says_so() {
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
