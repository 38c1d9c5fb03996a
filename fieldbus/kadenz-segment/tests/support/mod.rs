// SPDX-License-Identifier: Apache-2.0
//! Common parts of the tests: rings, and ethercrab over an in-process link with a time of its own.
#![allow(dead_code)]

pub mod ethernet;
pub mod files;
pub mod master;
pub mod messages;

use ethercrab::error::Error;
use ethercrab::{PduRx, PduTx};
use kadenz_segment::link::in_process::InProcess;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;
use std::cell::RefCell;
use std::future::poll_fn;
use std::path::Path;
use std::rc::Rc;
use std::task::Poll;

pub type Link = Rc<RefCell<InProcess>>;

/// The file of `eight`: cargo runs tests in the folder of their package.
pub const EIGHT: &str = "rings/eight.toml";

/// The ring of coupler, six drives, output and input.
pub fn eight() -> Segment {
    let path = Path::new(EIGHT);
    Segment::new(Ring::new(&RingFile::read(path).unwrap(), path).unwrap())
}

/// The same ring with clocks that are seen without step and noise: for exact comparisons.
pub fn eight_exact() -> Segment {
    segment(&format!("{EXACT}{}", include_str!("../../rings/eight.toml").replace("[ring]", "")))
}

/// Clocks without step and noise.
pub const EXACT: &str = "[ring]\nclock_step_ns = 1\nclock_noise_ns = 0\n";

/// A segment from the text of a ring file.
pub fn segment(text: &str) -> Segment {
    let path = Path::new("test.toml");
    Segment::new(Ring::new(&RingFile::parse(text, path).unwrap(), path).unwrap())
}

/// A ring file of devices of these kinds, named d0, d1 ….
pub fn line(kinds: &[&str]) -> String {
    kinds.iter().enumerate().map(|(k, kind)| format!("[[device]]\nname = \"d{k}\"\nkind = \"{kind}\"\n")).collect()
}

pub fn link(segment: Segment) -> Link {
    Rc::new(RefCell::new(InProcess::new(segment)))
}

/// Time a frame takes to the segment and back, ns.
const FRAME_NS: u64 = 10_000;

/// Carries ethercrab's frames to the segment and back, without end.
pub async fn carry(mut tx: PduTx<'static>, mut rx: PduRx<'static>, link: Link) {
    poll_fn::<(), _>(|context| {
        tx.replace_waker(context.waker());
        while let Some(frame) = tx.next_sendable_frame() {
            let mut link = link.borrow_mut();
            link.advance_ns(FRAME_NS);
            frame
                .send_blocking(|bytes| {
                    link.send(bytes);
                    Ok(bytes.len())
                })
                .unwrap();
            while let Some(back) = link.receive() {
                // A frame that nobody waits for any more, for example a doubled one, is ethercrab's to refuse.
                let _: Result<_, Error> = rx.receive_frame(&back);
            }
        }
        Poll::Pending
    })
    .await;
}

/// Runs `$body` with an ethercrab main device named by the first argument on a segment.
#[macro_export]
macro_rules! with_ethercrab {
    ($link:expr, |$main:ident, $wire:ident| $body:expr) => {{
        static STORAGE: ethercrab::PduStorage<32, { ethercrab::PduStorage::element_size(1100) }> =
            ethercrab::PduStorage::new();
        let (tx, rx, pdu_loop) = STORAGE.try_split().expect("one test, one storage");
        let timeouts = ethercrab::Timeouts {
            // Real time, and this machine may be busy; a frame the segment loses would cost this long.
            pdu: std::time::Duration::from_secs(5),
            state_transition: std::time::Duration::from_secs(30),
            mailbox_response: std::time::Duration::from_secs(10),
            mailbox_echo: std::time::Duration::from_secs(10),
            eeprom: std::time::Duration::from_secs(5),
            wait_loop_delay: std::time::Duration::from_micros(1),
        };
        let config = ethercrab::MainDeviceConfig { dc_static_sync_iterations: 2000, ..Default::default() };
        let $main = ethercrab::MainDevice::new(pdu_loop, timeouts, config);
        let $wire: $crate::support::Link = $link;
        let carrier = $crate::support::carry(tx, rx, $wire.clone());
        smol::block_on(smol::future::or(async { $body.await }, async {
            carrier.await;
            unreachable!("the carrier ends with the test")
        }))
    }};
}
