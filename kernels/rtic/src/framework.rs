// SPDX-License-Identifier: Apache-2.0
//! What the benchmarks use of RTIC: its asynchronous tasks, its wakers, and `Signal`, `Channel` and
//! the SysTick monotonic of its companion crates.

use core::ffi::CStr;
use core::future::Future;

use kadenz_suite::framework::{
    suspend, Flag, Framework, Gate, Receiver, Role, Seat, Sender, Waiter,
};
use kadenz_suite::{for_each_size, resting_link, Point};
use rtic_common::waker_registration::CriticalSectionWakerRegistration;
use rtic_monotonics::Timebase;
use rtic_sync::channel;
use rtic_sync::signal::{Signal, SignalReader};

use crate::app;
use crate::machine::{self, Mono};

pub struct Rtic;

impl Framework for Rtic {
    type Gate = WakerGate;
    type Flag = SignalFlag;

    const NO_TURNS: Option<&'static CStr> = machine::NO_TURNS;

    fn gates() -> &'static [WakerGate; 2] {
        static GATES: [WakerGate; 2] =
            [const { WakerGate(CriticalSectionWakerRegistration::new()) }; 2];
        &GATES
    }

    fn flags() -> &'static [SignalFlag; 2] {
        static FLAGS: [SignalFlag; 2] = [const { SignalFlag(Signal::new()) }; 2];
        &FLAGS
    }

    fn now() -> u32 {
        machine::now()
    }

    fn until(tick: u32) -> impl Future<Output = ()> {
        Mono::delay_until(<Mono as Timebase>::Instant::from_ticks(tick))
    }

    fn start(seat: Seat, role: Role, point: Point) {
        app::start(seat, role, point);
    }
}

/// The waker of a suspended task.
pub struct WakerGate(CriticalSectionWakerRegistration);

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

pub struct SignalFlag(Signal<()>);

impl Flag for SignalFlag {
    type Waiter = SignalEnd;

    #[inline(always)]
    fn raise(&self) {
        self.0.writer().write(());
    }

    fn waiter(&'static self) -> Self::Waiter {
        SignalEnd(self.0.take_reader())
    }
}

/// The waiting end of a [`SignalFlag`].
pub struct SignalEnd(SignalReader<'static, ()>);

impl Waiter for SignalEnd {
    #[inline(always)]
    fn wait(&mut self) -> impl Future<Output = ()> {
        self.0.wait()
    }
}

/// The sending end of a channel.
pub struct SendEnd<const N: usize>(channel::Sender<'static, [u8; N], 1>);

impl<const N: usize> Sender<N> for SendEnd<N> {
    type Sent = Result<(), channel::NoReceiver<[u8; N]>>;

    #[inline(always)]
    fn send(&mut self, item: [u8; N]) -> impl Future<Output = Self::Sent> {
        self.0.send(item)
    }
}

/// The receiving end of a channel.
pub struct ReceiveEnd<const N: usize>(channel::Receiver<'static, [u8; N], 1>);

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    type Received = Result<[u8; N], channel::ReceiveError>;

    #[inline(always)]
    fn receive(&mut self) -> impl Future<Output = Self::Received> {
        self.0.recv()
    }

    fn item(received: Self::Received) -> Option<[u8; N]> {
        received.ok()
    }
}

macro_rules! links {
    ($($bytes:literal),+) => { $(resting_link!(Rtic, $bytes, machine::channel!($bytes));)+ };
}
for_each_size!(links);
