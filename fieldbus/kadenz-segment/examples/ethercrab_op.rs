// SPDX-License-Identifier: Apache-2.0
//! ethercrab on a network interface: brings whatever is there to OP with distributed clocks, runs cycles, and says what
//! it saw. `cargo run --example ethercrab_op -- veth0 [cycles]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ethercrab::error::Error;
use ethercrab::std::{ethercat_now, tx_rx_task};
use ethercrab::subdevice_group::DcConfiguration;
use ethercrab::{DcSync, MainDevice, MainDeviceConfig, PduStorage, RetryBehaviour, Timeouts};
use std::time::Duration;

static STORAGE: PduStorage<32, { PduStorage::element_size(1100) }> = PduStorage::new();
const CYCLE: Duration = Duration::from_millis(1);

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let interface = arguments.next().expect("usage: ethercrab_op INTERFACE [CYCLES]");
    let cycles: usize = arguments.next().map_or(1000, |text| text.parse().expect("CYCLES is a number"));
    let (tx, rx, pdu_loop) = STORAGE.try_split().expect("split once");
    let timeouts = Timeouts {
        pdu: Duration::from_millis(100),
        eeprom: Duration::from_secs(1),
        state_transition: Duration::from_secs(10),
        ..Timeouts::default()
    };
    let config = MainDeviceConfig { dc_static_sync_iterations: 2000, retry_behaviour: RetryBehaviour::Count(5) };
    let main_device = MainDevice::new(pdu_loop, timeouts, config);
    let carrier = tx_rx_task(&interface, tx, rx).expect("open the interface");
    smol::block_on(smol::future::or(operate(&main_device, cycles), async {
        carrier.await?;
        Ok(())
    }))
}

async fn operate(main_device: &MainDevice<'_>, cycles: usize) -> Result<(), Error> {
    let mut group = main_device.init_single_group::<16, 512>(ethercat_now).await?;
    for mut device in group.iter_mut(main_device) {
        device.set_dc_sync(DcSync::Sync0);
    }
    println!("{} devices", group.len());
    let group = group.into_pre_op_pdi(main_device).await?;
    for _ in 0..200 {
        group.tx_rx_sync_system_time(main_device).await?;
        smol::Timer::after(CYCLE).await;
    }
    let dc = DcConfiguration { start_delay: Duration::from_millis(100), sync0_period: CYCLE, sync0_shift: CYCLE / 2 };
    let group = group.configure_dc_sync(main_device, dc).await?;
    let group = group.into_safe_op(main_device).await?;
    let group = group.request_into_op(main_device).await?;
    while !group.tx_rx_dc(main_device).await?.all_op() {
        smol::Timer::after(CYCLE).await;
    }
    println!("all in OP");
    let mut counters = std::collections::BTreeMap::new();
    for _ in 0..cycles {
        let response = group.tx_rx_dc(main_device).await?;
        *counters.entry(response.working_counter).or_insert(0_usize) += 1;
        smol::Timer::after(response.extra.next_cycle_wait).await;
    }
    for (counter, times) in counters {
        println!("working counter {counter}: {times} cycles");
    }
    Ok(())
}
