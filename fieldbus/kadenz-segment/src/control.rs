// SPDX-License-Identifier: Apache-2.0
//! Control while a segment is served: faults are injected, listed and cleared over a Unix socket.
//!
//! A thread of its own speaks with the clients. It parses and checks, and hands the loop of the frames one order at a time,
//! through a channel with one place each way; the loop looks there without waiting. A client that is slow, silent or
//! hostile holds up the thread alone, and for [`server::PATIENCE`] at most.

pub mod client;
pub mod server;

use crate::fault::{Fault, Progress, State};
use crate::segment::{Counters, Segment};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};

/// Longest message of a client, bytes.
pub const LONGEST_MESSAGE: usize = 1024;
/// Faults in one part of a list.
const PART: usize = 256;

/// What a client wants of the segment.
#[derive(Debug)]
pub enum Order {
    /// A checked fault, with the positions of its device and of the device of its event.
    Inject(Box<Fault>, (usize, usize)),
    /// Faults to end: one by its number, or all.
    Clear(Option<u32>),
    /// Faults from this number on, into a list that has room for as many as are wanted.
    List(u32, Vec<Progress>),
    /// Counters.
    Status,
}

/// What the segment answers.
#[derive(Debug)]
pub enum Reply {
    /// Number of the fault; none if too many wait.
    Injected(Option<u32>),
    /// How many faults have ended.
    Cleared(usize),
    /// The part of the list.
    List(Vec<Progress>),
    /// Time since the segment began to serve, ns; frames; faults that wait, are active, are over.
    Status(u64, Counters, [usize; 3]),
}

/// The loop's end: orders come in, replies go out.
#[derive(Debug)]
pub struct Desk {
    orders: Receiver<Order>,
    replies: SyncSender<Reply>,
}

/// The clients' end.
#[derive(Debug)]
pub struct Counter {
    orders: SyncSender<Order>,
    replies: Receiver<Reply>,
}

/// Both ends, with one place in each direction.
pub fn channel() -> (Desk, Counter) {
    let ((orders, from_clients), (replies, to_clients)) = (sync_channel(1), sync_channel(1));
    (Desk { orders: from_clients, replies }, Counter { orders, replies: to_clients })
}

impl Segment {
    /// Takes orders from `desk` from now on.
    pub fn attend(&mut self, desk: Desk) {
        self.desk = Some(desk);
    }

    /// Carries out an order if one waits. Never blocks.
    #[inline]
    pub fn take_order(&mut self, now_ns: u64) {
        if self.desk.is_some() {
            self.carry_out(now_ns);
        }
    }

    fn carry_out(&mut self, now_ns: u64) {
        let Some(desk) = self.desk.take() else { return };
        if let Ok(order) = desk.orders.try_recv() {
            let reply = match order {
                Order::Inject(fault, positions) => Reply::Injected(self.inject(*fault, positions, now_ns)),
                Order::Clear(number) => Reply::Cleared(self.clear_faults(number, now_ns)),
                Order::List(from, mut part) => {
                    let room = part.capacity().min(PART);
                    let listed = self.faults().iter().filter(|running| running.number >= from).take(room);
                    part.extend(listed.map(|running| running.progress()));
                    Reply::List(part)
                }
                Order::Status => {
                    let mut states = [0; 3];
                    for running in self.faults() {
                        let [waits, active, over] = &mut states;
                        *match running.progress().state {
                            State::Waits => waits,
                            State::Active => active,
                            State::Over => over,
                        } += 1;
                    }
                    Reply::Status(now_ns, self.counters(), states)
                }
            };
            // The place is free: a client's thread waits for each reply before the next order.
            let _ = desk.replies.try_send(reply);
        }
        self.desk = Some(desk);
    }
}
