// SPDX-License-Identifier: Apache-2.0
//! Attempts at a bring-up: another one follows if answers were lost on the way.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use ethercrab::{MainDevice, MainDeviceConfig, PduStorage, Timeouts};

use super::bring_up::{bring_up, IMAGE_MAX_BYTES};
use super::online::message_of;
use super::pump::AT_EASE;
use super::{Bus, BusError, Foreign, Pump, Wire};
use crate::layout::{AxisLayout, Layout};

/// Times a bring-up begins whose answers were lost.
const BEGINNINGS: u32 = 3;
const FRAMES: usize = 8;
const FRAME_BYTES: usize = PduStorage::element_size(IMAGE_MAX_BYTES);

/// Before the first frame, ns: a few cycles of the slowest master there may be.
const LISTEN_NS: u64 = 50_000_000;
const LISTENING: &str = "listening before the first frame";

fn second_master(foreign: Foreign, error: BusError) -> BusError {
    let address: Vec<_> = foreign.source.iter().map(|byte| format!("{byte:02x}")).collect();
    let (step, failure) = match error {
        BusError::NoDevice(LISTENING) => (LISTENING, None),
        error => ("bringing up the ring", Some(Box::new(error))),
    };
    BusError::SecondMaster { step, foreign, source_address: address.join(":"), failure }
}

impl<W: Wire> Bus<W> {
    /// Brings the ring to the request for OP; then it needs a frame in every cycle. The ring must have the drives of
    /// `axes`; a workload without drives passes none.
    ///
    /// A frame without an answer is resent. If the first copy had arrived after all, the second may fail: a mailbox that
    /// was read is empty. Then the bring-up starts over.
    ///
    /// The library's storage must live forever, so each attempt leaks about 12 KiB; a program makes few of them.
    pub fn bring_up(mut wire: W, layout: &Layout, axes: &[AxisLayout]) -> Result<Self, BusError> {
        let mut begun = 0;
        loop {
            let (error, pump) = match Self::begin(wire, layout, axes) {
                Ok(bus) => return Ok(bus),
                Err(failed) => *failed,
            };
            // Whatever failed, another master is the reason.
            if pump.overheard.foreign.commands > 0 {
                return Err(second_master(pump.overheard.foreign, error));
            }
            begun += 1;
            let BusError::Master { step, .. } = error else { return Err(error) };
            if pump.resent == 0 || begun == BEGINNINGS {
                return Err(error);
            }
            tracing::warn!(frames = pump.resent, "answers were lost, bring-up starts over: {error}");
            wire = pump.into_quiet_wire().map_err(|stalled| BusError::Stalled { step, stalled })?;
        }
    }

    fn begin(wire: W, layout: &Layout, axes: &[AxisLayout]) -> Result<Self, Box<(BusError, Pump<W>)>> {
        let storage: &'static PduStorage<FRAMES, FRAME_BYTES> = Box::leak(Box::new(PduStorage::new()));
        let step = Cell::new("opening");
        let (tx, rx, frames) = storage.try_split().expect("storage that was never split");
        // Frames get no time-out from the library: the pump keeps time, and no timer is ever registered in a cycle.
        // The others are for dialogues at the start, which on a busy machine take longer than the library expects.
        let timeouts = Timeouts {
            pdu: Duration::MAX,
            eeprom: Duration::from_secs(1),
            mailbox_echo: Duration::from_secs(1),
            mailbox_response: Duration::from_secs(2),
            state_transition: Duration::from_secs(10),
            ..Timeouts::default()
        };
        let master: &'static MainDevice<'static> =
            Box::leak(Box::new(MainDevice::new(frames, timeouts, MainDeviceConfig::default())));
        let mut pump = Pump::new(wire, tx, rx);
        // The first frames lead every device to INIT: another's motion, if there is one, would end without warning.
        match pump.hears_another(LISTEN_NS) {
            Ok(true) => return Err(Box::new((BusError::NoDevice(LISTENING), pump))),
            Ok(false) => {}
            Err(stalled) => return Err(Box::new((BusError::Stalled { step: LISTENING, stalled }, pump))),
        }
        let began_ns = pump.clock().now_ns();
        let work = AssertUnwindSafe(|| pump.run(bring_up(master, layout, axes, began_ns, &step), AT_EASE));
        let found = match catch_unwind(work) {
            Err(panic) => Err(BusError::MasterPanicked { step: step.get(), message: message_of(&*panic) }),
            Ok(Err(stalled)) => Err(BusError::Stalled { step: step.get(), stalled }),
            Ok(Ok(found)) => found,
        };
        match found {
            Ok(found) => Ok(Self::new(pump, master, found)),
            Err(error) => Err(Box::new((error, pump))),
        }
    }
}
