// SPDX-License-Identifier: Apache-2.0
//! POSIX message queues that carry one type of value. Neither end ever waits: a full queue refuses, so that a task of
//! high priority never depends on one of low priority.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use bytemuck::Pod;
use nix::mqueue::{mq_close, mq_open, mq_receive, mq_send, mq_unlink, MQ_OFlag, MqAttr, MqdT};
use nix::sys::stat::Mode;

/// Why a queue could not be opened.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot open message queue `{name}` of {depth} messages of {bytes} bytes: {source}. Raise the limits with \
     `ulimit -q unlimited` and fs.mqueue.msg_max, fs.mqueue.msgsize_max"
)]
pub struct QueueError {
    name: String,
    depth: usize,
    bytes: usize,
    source: std::io::Error,
}

#[derive(Debug)]
struct Descriptor {
    /// `None` only while it is dropped.
    queue: Option<MqdT>,
    /// Messages that found the queue full.
    refused: AtomicU32,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let _ = self.queue.take().map(mq_close);
    }
}

/// Opens queues. The name is unlinked at once, so nothing is left behind when the process is killed.
#[derive(Debug)]
pub struct Queue;

impl Queue {
    /// A queue of `depth` messages of up to `N` values each. Linux allows a depth of 10 without privileges.
    pub fn open<T: Pod, const N: usize>(
        purpose: &str,
        depth: usize,
    ) -> Result<(Sender<T, N>, Receiver<T, N>), QueueError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let serial = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("/kadenz-{}-{serial}-{purpose}", std::process::id());
        let bytes = size_of::<[T; N]>();
        let fail = |error: nix::Error| QueueError { name: name.clone(), depth, bytes, source: error.into() };
        let attributes = MqAttr::new(0, depth as _, bytes as _, 0);
        let flags =
            MQ_OFlag::O_RDWR | MQ_OFlag::O_CREAT | MQ_OFlag::O_EXCL | MQ_OFlag::O_NONBLOCK | MQ_OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let queue = mq_open(name.as_str(), flags, mode, Some(&attributes)).map_err(fail)?;
        let _ = mq_unlink(name.as_str());
        let descriptor = Arc::new(Descriptor { queue: Some(queue), refused: AtomicU32::new(0) });
        Ok((
            Sender { descriptor: Arc::clone(&descriptor), message: PhantomData },
            Receiver { descriptor, message: PhantomData },
        ))
    }
}

/// Up to `N` values that travel as one message.
#[derive(Debug, Clone, Copy)]
pub struct Batch<T, const N: usize> {
    values: [T; N],
    count: usize,
}

impl<T: Pod, const N: usize> Default for Batch<T, N> {
    fn default() -> Self {
        Self { values: [T::zeroed(); N], count: 0 }
    }
}

impl<T: Copy, const N: usize> Batch<T, N> {
    /// Adds a value. False if there is no room for it.
    pub fn push(&mut self, value: T) -> bool {
        let place = self.values.get_mut(self.count);
        let has_room = place.is_some();
        if let Some(place) = place {
            *place = value;
            self.count += 1;
        }
        has_room
    }

    /// The values in the order of their arrival.
    pub fn values(&self) -> &[T] {
        &self.values[..self.count]
    }

    /// No further value has room.
    pub fn is_full(&self) -> bool {
        self.count == N
    }

    /// There is no value.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Empties the batch for the next message.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// The writing end of a queue.
#[derive(Debug)]
pub struct Sender<T, const N: usize = 1> {
    descriptor: Arc<Descriptor>,
    message: PhantomData<fn(T)>,
}

impl<T: Pod, const N: usize> Sender<T, N> {
    /// Sends a batch. False if the queue is full; the message then counts as refused.
    pub fn send_batch(&self, batch: &Batch<T, N>) -> bool {
        self.put(batch.values())
    }

    fn put(&self, values: &[T]) -> bool {
        let bytes = bytemuck::cast_slice(values);
        let sent = self.descriptor.queue.as_ref().is_some_and(|queue| mq_send(queue, bytes, 0).is_ok());
        if !sent {
            self.descriptor.refused.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    /// Messages refused so far.
    pub fn refused(&self) -> u32 {
        self.descriptor.refused.load(Ordering::Relaxed)
    }
}

impl<T: Pod> Sender<T, 1> {
    /// Sends one value. False if the queue is full; the message then counts as refused.
    pub fn send(&self, value: &T) -> bool {
        self.put(std::slice::from_ref(value))
    }
}

/// The reading end of a queue.
#[derive(Debug)]
pub struct Receiver<T, const N: usize = 1> {
    descriptor: Arc<Descriptor>,
    message: PhantomData<fn() -> T>,
}

impl<T: Pod, const N: usize> Receiver<T, N> {
    /// The oldest message, if there is one.
    pub fn receive_batch(&self) -> Option<Batch<T, N>> {
        let mut batch = Batch::default();
        let buffer = bytemuck::cast_slice_mut(&mut batch.values);
        let length = mq_receive(self.descriptor.queue.as_ref()?, buffer, &mut 0).ok()?;
        batch.count = length / size_of::<T>();
        Some(batch)
    }

    /// Messages that the sender could not place.
    pub fn refused(&self) -> u32 {
        self.descriptor.refused.load(Ordering::Relaxed)
    }
}

impl<T: Pod> Receiver<T, 1> {
    /// The oldest value, if there is one.
    pub fn receive(&self) -> Option<T> {
        self.receive_batch().map(|batch| batch.values[0])
    }

    /// The newest value; older ones are discarded.
    pub fn newest(&self) -> Option<T> {
        let mut newest = None;
        while let Some(value) = self.receive() {
            newest = Some(value);
        }
        newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Pair(u64, [f64; 2]);

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let (sender, receiver) = Queue::open::<Pair, 1>("order", 4).unwrap();
        assert_eq!(receiver.receive(), None);
        assert!(sender.send(&Pair(1, [0.5, -1.0])) && sender.send(&Pair(2, [0.0, 9.0])));
        assert_eq!(receiver.receive(), Some(Pair(1, [0.5, -1.0])));
        assert_eq!(receiver.receive(), Some(Pair(2, [0.0, 9.0])));
        assert_eq!(receiver.receive(), None);
    }

    #[test]
    fn a_batch_arrives_with_as_many_values_as_were_pushed() {
        let (sender, receiver) = Queue::open::<u32, 3>("batch", 4).unwrap();
        let mut batch = Batch::default();
        for sent in [&[1, 2, 3][..], &[4]] {
            batch.clear();
            assert!(sent.iter().all(|value| batch.push(*value)));
            assert!(sender.send_batch(&batch));
            assert_eq!(receiver.receive_batch().unwrap().values(), sent);
        }
        assert!(batch.push(5) && batch.push(6) && batch.is_full() && !batch.push(7));
        assert_eq!(batch.values(), [4, 5, 6]);
    }

    #[test]
    fn a_full_queue_refuses_and_counts_and_never_waits() {
        let (sender, receiver) = Queue::open::<Pair, 1>("full", 2).unwrap();
        assert!(sender.send(&Pair(1, [0.0; 2])) && sender.send(&Pair(2, [0.0; 2])));
        assert!(!sender.send(&Pair(3, [0.0; 2])));
        assert_eq!((sender.refused(), receiver.refused()), (1, 1));
        assert_eq!(receiver.newest(), Some(Pair(2, [0.0; 2])));
    }

    #[test]
    fn a_refused_queue_is_an_error_with_a_remedy() {
        let error = Queue::open::<Pair, 1>("huge", 10_000_000).unwrap_err();
        assert!(error.to_string().contains("ulimit"), "{error}");
    }
}
