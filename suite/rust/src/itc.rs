// SPDX-License-Identifier: Apache-2.0
//! itc/queue by the framework's channel: yoo2024 algorithm 1, `suite/bench/itc_round_trip.c`.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::abi::{self, About, Benchmark, Lanes, Nature, Param, Point, Refusal, Time};
use crate::for_each_size;
use crate::framework::{
    run, seats, Framework, Link, Links, Period, Receiver, Role, Seat, Sender, Way, PAIR,
};

/// What task 1 times: its receive, its send and receive, or its send until task 2 has received.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Reply,
    Whole,
    OneWay,
}

static ARRIVED: AtomicU32 = AtomicU32::new(0);

const SIZE_BYTES: usize = 0;
const PERIOD_US: usize = 1;
const RANK_A: usize = 2;
const RANK_B: usize = 3;
const PARAMS: &[Param] = &[
    Param::new(c"size_bytes", 60, 4, 600),
    Param::new(c"period_us", 10_000, 0, 1_000_000),
    PAIR[0],
    PAIR[1],
    PAIR[2],
    PAIR[3],
    PAIR[4],
];

/// Each message differs from the one before in every byte.
fn compose<const N: usize>(sequence: u32) -> [u8; N] {
    let mut item = [0; N];

    for (i, byte) in item.iter_mut().enumerate() {
        *byte = (sequence as u8).wrapping_add(i as u8);
    }
    item[..4].copy_from_slice(&sequence.to_le_bytes());
    item
}

macro_rules! sized {
    ($($bytes:literal),+) => {
        const SIZES: &[u32] = &[$($bytes),+];

        /// Task 1: sends messages and checks the replies.
        pub async fn send<F: Links>(point: Point, part: Part) {
            match point.param(SIZE_BYTES) {
                $($bytes => first::<F, $bytes>(point, part).await,)+
                _ => {}
            }
        }

        /// Task 2: sends each message back.
        pub async fn reply<F: Links>(point: Point, part: Part) {
            match point.param(SIZE_BYTES) {
                $($bytes => second::<F, $bytes>(point, part).await,)+
                _ => {}
            }
        }
    };
}
for_each_size!(sized);

async fn first<F: Link<N>, const N: usize>(point: Point, part: Part) {
    let (mut sender, mut receiver) = F::ends(Way::There);
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    for n in 0..point.samples() {
        let sent = compose::<N>(n + 1);
        let (begin, end, received) = match part {
            Part::Reply => time_reply(sent, &mut sender, &mut receiver).await,
            Part::Whole => time_whole(sent, &mut sender, &mut receiver).await,
            Part::OneWay => time_one_way(sent, &mut sender, &mut receiver).await,
        };

        point.prove(
            F::Receiver::item(received) == Some(compose::<N>(n + 1)),
            c"the reply differs from the message",
        );
        period.keep(point, begin, end);
        if !period.next().await {
            period.overrun(point);
        }
    }
    F::put_back(Way::There, sender, receiver);
}

async fn time_reply<R: Receiver<N>, const N: usize>(
    sent: [u8; N],
    sender: &mut impl Sender<N>,
    receiver: &mut R,
) -> (Time, Time, R::Received) {
    sender.send(sent).await;
    let begin = abi::begin();
    let received = receiver.receive().await;
    let end = abi::end();
    (begin, end, received)
}

async fn time_whole<R: Receiver<N>, const N: usize>(
    sent: [u8; N],
    sender: &mut impl Sender<N>,
    receiver: &mut R,
) -> (Time, Time, R::Received) {
    let begin = abi::begin();
    sender.send(sent).await;
    let received = receiver.receive().await;
    let end = abi::end();
    (begin, end, received)
}

async fn time_one_way<R: Receiver<N>, const N: usize>(
    sent: [u8; N],
    sender: &mut impl Sender<N>,
    receiver: &mut R,
) -> (Time, Time, R::Received) {
    let begin = abi::begin();
    sender.send(sent).await;
    let received = receiver.receive().await;
    (begin, ARRIVED.load(Relaxed), received)
}

async fn second<F: Link<N>, const N: usize>(point: Point, part: Part) {
    let (mut sender, mut receiver) = F::ends(Way::Back);

    for _ in 0..point.samples() {
        let received = receiver.receive().await;
        if part == Part::OneWay {
            ARRIVED.store(abi::end(), Relaxed);
        }
        if let Some(item) = F::Receiver::item(received) {
            sender.send(item).await;
        }
    }
    F::put_back(Way::Back, sender, receiver);
}

// ---- the benchmarks -----------------------------------------------------------------------------
/// The seats of task 1 and task 2.
fn wanted(point: Point) -> Result<(Seat, Seat), Refusal> {
    if !SIZES.contains(&point.param(SIZE_BYTES)) {
        return Err(Refusal::Unsupported(
            c"a channel's item is a type: this image has 4 bytes, and 60 to 600 in steps of 60",
        ));
    }
    seats(point.param(RANK_A), point.param(RANK_B))
}

/// One of the benchmarks below.
pub struct Exchange<F, T>(PhantomData<(F, T)>);

/// The part that a benchmark times, and how its report describes it.
pub trait Timed {
    const PART: Part;
    const NAME: &'static CStr;
    const BEGINS: &'static CStr = c"before task 1's send";
    const ENDS: &'static CStr = c"return of task 1's receive of the reply";
}

impl<F: Framework, T: Timed> Benchmark for Exchange<F, T> {
    const ABOUT: About = About {
        name: T::NAME,
        begins: T::BEGINS,
        ends: T::ENDS,
        source: c"yoo2024 algorithm 1",
        needs: c"",
        params: PARAMS,
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        wanted(point).map(|_| ())
    }

    fn measure(point: Point) {
        if let Ok((a, b)) = wanted(point) {
            run::<F>(
                point,
                &[(b, Role::Reply(T::PART)), (a, Role::Send(T::PART))],
            );
        }
    }
}

pub type Queue<F> = Exchange<F, Reply>;
pub struct Reply;

impl Timed for Reply {
    const PART: Part = Part::Reply;
    const NAME: &'static CStr = c"itc/queue";
    const BEGINS: &'static CStr = c"return of task 1's send";
}

pub type QueueRoundTrip<F> = Exchange<F, RoundTrip>;
pub struct RoundTrip;

impl Timed for RoundTrip {
    const PART: Part = Part::Whole;
    const NAME: &'static CStr = c"itc/queue-round-trip";
}

pub type QueueOneWay<F> = Exchange<F, OneWay>;
pub struct OneWay;

impl Timed for OneWay {
    const PART: Part = Part::OneWay;
    const NAME: &'static CStr = c"itc/queue-one-way";
    const ENDS: &'static CStr = c"return of task 2's receive";
}
