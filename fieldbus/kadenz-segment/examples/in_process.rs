// SPDX-License-Identifier: Apache-2.0
//! ethercrab and a segment in one process: no socket, no right, and a time that passes only with frames.
//! `cargo run --example in_process`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use ethercrab::error::Error;
use ethercrab::std::ethercat_now;
use ethercrab::{MainDevice, MainDeviceConfig, PduRx, PduStorage, PduTx, Timeouts};
use kadenz_segment::{InProcess, Segment, State};
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

static STORAGE: PduStorage<16, { PduStorage::element_size(1100) }> = PduStorage::new();
/// Time that passes with each frame, ns.
const FRAME_NS: u64 = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);
const RING: &str = r#"
[[device]]
name = "j0"
kind = "drive"

[[device]]
name = "outputs"
kind = "digital-output"
channels = 8
"#;

fn main() -> Result<(), Error> {
    let mut segment = Segment::from_text(RING).expect("the ring above");
    segment.add_fault("al-error@healthy=100,device=j0,state=4,code=0x1b").expect("a fault of that ring");
    let link = Rc::new(RefCell::new(InProcess::new(segment)));
    let (tx, rx, pdu_loop) = STORAGE.try_split().expect("split once");
    let timeouts = Timeouts {
        // Of real time, which a busy machine may take.
        pdu: PATIENCE,
        eeprom: PATIENCE,
        state_transition: PATIENCE,
        mailbox_echo: PATIENCE,
        mailbox_response: PATIENCE,
        wait_loop_delay: Duration::from_micros(1),
    };
    let main_device = MainDevice::new(pdu_loop, timeouts, MainDeviceConfig::default());
    let carrier = carry(tx, rx, Rc::clone(&link));
    smol::block_on(smol::future::or(operate(&main_device, &link), async {
        carrier.await;
        Ok(())
    }))
}

/// To OP, then 200 cycles: the state of the drive before and after its fault.
async fn operate(main_device: &MainDevice<'_>, link: &RefCell<InProcess>) -> Result<(), Error> {
    let group = main_device.init_single_group::<4, 64>(ethercat_now).await?;
    let group = group.into_op(main_device).await?;
    let state = || link.borrow().segment().state_of("j0");
    assert_eq!(state(), Some(State::Op));
    println!("{} devices, j0 in {:?}", group.len(), state().expect("a device"));
    for _ in 0..200 {
        group.tx_rx(main_device).await?;
    }
    println!("after 200 cycles: j0 in {:?}", state().expect("a device"));
    for happening in link.borrow_mut().segment_mut().take_happenings().iter().take(1) {
        println!("{}", happening.to_string().split_once(" s: ").map_or("", |(_, text)| text));
    }
    Ok(())
}

/// Carries frames to the segment and back, without end.
async fn carry(mut tx: PduTx<'static>, mut rx: PduRx<'static>, link: Rc<RefCell<InProcess>>) {
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
                .expect("a frame that was claimed");
            while let Some(back) = link.receive() {
                // A frame that nobody waits for any more is ethercrab's to refuse.
                let _: Result<_, Error> = rx.receive_frame(&back);
            }
        }
        Poll::Pending
    })
    .await;
}
