// SPDX-License-Identifier: Apache-2.0
//! A third master: etherage 0.5.1, which writes PDO mappings and assignments of its own over CoE and shares one frame
//! between several tasks. In process, in real time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bilge::prelude::u2;
use etherage::data::Field;
use etherage::mapping::{Config, Group, Mapping};
use etherage::sdo::{self, OperationMode, Sdo};
use etherage::{CommunicationState, EthercatSocket, Master, Slave, SlaveAddress};
use kadenz_segment::link::in_process::InProcess;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;

const RING: &str = "[[device]]\nname = \"coupler\"\nkind = \"coupler\"\n\
                    [[device]]\nname = \"left\"\nkind = \"drive\"\n[[device]]\nname = \"right\"\nkind = \"drive\"\n";
/// Station addresses etherage gives the drives.
const DRIVES: [u16; 2] = [2, 3];
const ETHERNET_HEADER: [u8; 14] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x88, 0xA4];

/// The ring's time goes on with this machine's, but for pauses of the machine: no watchdog runs out for those.
const LONGEST: Duration = Duration::from_millis(20);

/// The segment as etherage's socket: frames without their Ethernet header.
struct Socket {
    inside: Mutex<Inside>,
}

struct Inside {
    link: InProcess,
    last: Instant,
    back: VecDeque<Vec<u8>>,
    reader: Option<Waker>,
}

impl Socket {
    fn new() -> Self {
        let path = Path::new("ring.toml");
        let link = InProcess::new(Segment::new(Ring::new(&RingFile::parse(RING, path).unwrap(), path).unwrap()));
        Self { inside: Mutex::new(Inside { link, last: Instant::now(), back: VecDeque::new(), reader: None }) }
    }
}

impl EthercatSocket for Socket {
    fn poll_receive(&self, context: &mut Context<'_>, data: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut inside = self.inside.lock().unwrap();
        let Some(frame) = inside.back.pop_front() else {
            inside.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let body = &frame[ETHERNET_HEADER.len()..];
        data[..body.len()].copy_from_slice(body);
        Poll::Ready(Ok(body.len()))
    }

    fn poll_send(&self, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<()>> {
        let mut guard = self.inside.lock().unwrap();
        let inside = &mut *guard;
        inside.link.advance_ns(inside.last.elapsed().min(LONGEST).as_nanos() as u64);
        inside.last = Instant::now();
        inside.link.send(&[&ETHERNET_HEADER, data].concat());
        while let Some(frame) = inside.link.receive() {
            inside.back.push_back(frame);
        }
        if let Some(reader) = inside.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(()))
    }

    fn max_frame(&self) -> usize {
        1500
    }
}

/// What is mapped of one drive.
struct Axis {
    controlword: Field<sdo::ControlWord>,
    mode: Field<OperationMode>,
    target: Field<i32>,
    statusword: Field<sdo::StatusWord>,
    position: Field<i32>,
}

/// Three entries out and two back: not the mapping that the drive has at first.
fn map(mapping: &Mapping<'_>, address: u16) -> Axis {
    let mut slave = mapping.slave(address);
    let mut outputs = slave.channel(sdo::sync_manager.logical_write(), 0x1100..0x1400);
    let mut pdo = outputs.push(sdo::Pdo::with_capacity(0x1600, false, 10));
    let controlword = pdo.push(sdo::cia402::controlword);
    let mode = pdo.push(sdo::cia402::target::mode);
    let target = pdo.push(sdo::cia402::target::position);
    let mut inputs = slave.channel(sdo::sync_manager.logical_read(), 0x1500..0x1800);
    let mut pdo = inputs.push(sdo::Pdo::with_capacity(0x1A00, false, 10));
    let statusword = pdo.push(sdo::cia402::statusword);
    let position = pdo.push(sdo::cia402::current::position);
    Axis { controlword, mode, target, statusword, position }
}

/// The next controlword on the way to operation.
fn towards_enabled(status: sdo::StatusWord) -> Option<sdo::ControlWord> {
    if status.operation_enabled() {
        return None;
    }
    let mut control = sdo::ControlWord::default();
    control.set_quick_stop(true);
    control.set_enable_voltage(true);
    control.set_switch_on(status.ready_switch_on());
    control.set_enable_operation(status.switched_on());
    Some(control)
}

async fn cycle(group: &Group<'_>) {
    group.data().await.exchange().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn position(slave: &Slave<'_>) -> i32 {
    // The library's own constant asks for complete access, which an object of one value does not have.
    let object = Sdo::<i32>::sub(0x6064, 0, 0);
    slave.coe().await.sdo_read(&object, u2::new(1)).await.expect("an SDO in operation")
}

async fn bring_up_and_move() -> [i32; 2] {
    let master = Arc::new(Master::new(Socket::new()));
    master.switch(CommunicationState::Init).await.expect("INIT");
    master.reset_addresses().await;
    master.reset_logical().await;
    master.reset_mailboxes().await;
    let mut drives = Vec::new();
    let mut found = master.discover().await;
    let mut devices = 0;
    while let Some(mut slave) = found.next().await {
        let SlaveAddress::AutoIncremented(place) = slave.address() else { panic!("a fixed address after the reset") };
        slave.expect(CommunicationState::Init);
        slave.set_address(place + 1).await.expect("station address");
        devices += 1;
        if place > 0 {
            slave.init_coe().await.expect("mailbox");
            drives.push(slave);
        }
    }
    assert_eq!(devices, 3);
    master.switch(CommunicationState::PreOperational).await.expect("PRE-OP");
    master.init_clock().await.expect("distributed clocks");
    let config = Config::default();
    let mapping = Mapping::new(&config);
    let axes = DRIVES.map(|address| map(&mapping, address));
    let group = master.group(&mapping).await;
    for slave in &mut drives {
        slave.expect(CommunicationState::PreOperational);
        group.configure(slave).await.expect("mapping over CoE");
    }
    master.switch(CommunicationState::SafeOperational).await.expect("SAFE-OP");
    cycle(&group).await;
    master.switch(CommunicationState::Operational).await.expect("OP");

    let clock = master.clock().await;
    let (mut steps, mut targets) = (0, [0; 2]);
    for turn in 0..3000 {
        clock.sync().await;
        cycle(&group).await;
        let mut data = group.data().await;
        let mut enabled = true;
        for (drive, axis) in axes.iter().enumerate() {
            let status = data.get(axis.statusword);
            data.set(axis.mode, OperationMode::SynchronousPosition);
            match towards_enabled(status) {
                Some(control) => {
                    targets[drive] = data.get(axis.position);
                    data.set(axis.target, targets[drive]);
                    data.set(axis.controlword, control);
                    enabled = false;
                }
                None => {
                    // The two go apart, so that one drive's data can not pass for the other's.
                    targets[drive] += [40, -40][drive];
                    data.set(axis.target, targets[drive]);
                }
            }
        }
        steps += i32::from(enabled);
        if steps == 300 {
            break;
        }
        assert!(turn < 2999, "the drives were not enabled");
    }
    [position(&drives[0]).await, position(&drives[1]).await]
}

#[test]
fn etherage_maps_its_own_process_data_reaches_op_with_clocks_and_moves_two_axes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limit = Duration::from_secs(120);
    let [left, right] =
        runtime.block_on(async { tokio::time::timeout(limit, bring_up_and_move()).await }).expect("in two minutes");
    // 300 steps of 40 counts, give or take what the loops are behind or swing over.
    assert!((11_500..=12_500).contains(&left) && (-12_500..=-11_500).contains(&right), "{left}, {right}");
}
