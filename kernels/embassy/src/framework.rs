// SPDX-License-Identifier: Apache-2.0
//! What the benchmarks use of Embassy: its executor's tasks, its wakers, `Signal`, `Channel` and
//! `Timer`.

use core::future::Future;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_sync::waitqueue::AtomicWaker;
use embassy_time::{Instant, Timer};
use kadenz_suite::framework::{
    perform, suspend, Flag, Framework, Gate, Link, Receiver, Role, Seat, Sender, Waiter, Way,
};
use kadenz_suite::{for_each_size, Point};

use crate::{machine, time};

pub struct Embassy;

impl Framework for Embassy {
    type Gate = WakerGate;
    type Flag = SignalFlag;

    fn gates() -> &'static [WakerGate; 2] {
        static GATES: [WakerGate; 2] = [const { WakerGate(AtomicWaker::new()) }; 2];
        &GATES
    }

    fn flags() -> &'static [SignalFlag; 2] {
        static FLAGS: [SignalFlag; 2] = [const { SignalFlag(Signal::new()) }; 2];
        &FLAGS
    }

    fn now() -> u32 {
        time::now()
    }

    fn until(tick: u32) -> impl Future<Output = ()> {
        Timer::at(Instant::from_ticks(u64::from(tick)))
    }

    fn start(seat: Seat, role: Role, point: Point) {
        let task = match seat {
            Seat::Lower => return machine::lower().spawn(spawned(lower(role, point))),
            Seat::Peer => return machine::lower().spawn(spawned(peer(role, point))),
            Seat::Upper => upper(role, point),
        };
        machine::upper().spawn(spawned(task));
    }
}

/// Each task is started again only after it has ended.
fn spawned<T, E>(token: Result<T, E>) -> T {
    match token {
        Ok(token) => token,
        Err(_) => panic!("a task is started twice"),
    }
}

#[embassy_executor::task]
async fn lower(role: Role, point: Point) {
    perform::<Embassy>(role, point).await;
}

#[embassy_executor::task]
async fn peer(role: Role, point: Point) {
    perform::<Embassy>(role, point).await;
}

#[embassy_executor::task]
async fn upper(role: Role, point: Point) {
    perform::<Embassy>(role, point).await;
}

/// The waker of a suspended task.
pub struct WakerGate(AtomicWaker);

impl Gate for WakerGate {
    #[inline(always)]
    fn open(&self) {
        self.0.wake();
    }

    #[inline(always)]
    fn pass(&self) -> impl Future<Output = ()> {
        suspend(|waker| self.0.register(waker))
    }
}

pub struct SignalFlag(Signal<CriticalSectionRawMutex, ()>);

impl Flag for SignalFlag {
    type Waiter = &'static SignalFlag;

    #[inline(always)]
    fn raise(&self) {
        self.0.signal(());
    }

    fn waiter(&'static self) -> Self::Waiter {
        self
    }
}

impl Waiter for &'static SignalFlag {
    #[inline(always)]
    fn wait(&mut self) -> impl Future<Output = ()> {
        self.0.wait()
    }
}

type ByteChannel<const N: usize> = Channel<CriticalSectionRawMutex, [u8; N], 1>;

/// One end of a channel.
pub struct End<const N: usize>(&'static ByteChannel<N>);

impl<const N: usize> Sender<N> for End<N> {
    type Sent = ();

    #[inline(always)]
    fn send(&mut self, item: [u8; N]) -> impl Future<Output = ()> {
        self.0.send(item)
    }
}

impl<const N: usize> Receiver<N> for End<N> {
    type Received = [u8; N];

    #[inline(always)]
    fn receive(&mut self) -> impl Future<Output = [u8; N]> {
        self.0.receive()
    }

    fn item(received: [u8; N]) -> Option<[u8; N]> {
        Some(received)
    }
}

macro_rules! links {
    ($($bytes:literal),+) => { $(
        impl Link<$bytes> for Embassy {
            type Sender = End<$bytes>;
            type Receiver = End<$bytes>;

            fn ends(way: Way) -> (End<$bytes>, End<$bytes>) {
                static THERE: ByteChannel<$bytes> = Channel::new();
                static BACK: ByteChannel<$bytes> = Channel::new();

                match way {
                    Way::There => (End(&THERE), End(&BACK)),
                    Way::Back => (End(&BACK), End(&THERE)),
                }
            }

            fn put_back(_way: Way, _sender: End<$bytes>, _receiver: End<$bytes>) {}
        }
    )+ };
}
for_each_size!(links);
