// SPDX-License-Identifier: Apache-2.0
//! POSIX message queues that carry one type of message. Neither end ever waits: a full queue is an answer, not a block,
//! so that a task of high priority never depends on one of low priority.

use std::ffi::CString;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// A plain message: copied byte by byte through the kernel.
///
/// # Safety
/// The type has no padding, no pointers, and every bit pattern is a value of it (numbers and arrays of them, `repr(C)`).
pub unsafe trait Message: Copy + Send + 'static {}

/// Why a queue could not be made.
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
    number: libc::mqd_t,
    /// Messages that found the queue full.
    refused: AtomicU32,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and closed once.
        unsafe { libc::mq_close(self.number) };
    }
}

/// Makes queues. The name is unlinked at once, so nothing is left behind when the process is killed.
#[derive(Debug)]
pub struct Queue;

impl Queue {
    /// A queue of `depth` messages; Linux allows 10 without privileges.
    pub fn open<T: Message>(purpose: &str, depth: usize) -> Result<(Sender<T>, Receiver<T>), QueueError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let serial = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("/kadenz-{}-{serial}-{purpose}", std::process::id());
        let bytes = size_of::<T>();
        let fail = |source| QueueError { name: name.clone(), depth, bytes, source };
        let c_name = CString::new(name.as_str()).map_err(|error| fail(error.into()))?;
        // SAFETY: all-zero is a valid mq_attr.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = depth as _;
        attributes.mq_msgsize = bytes as _;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let mode: libc::mode_t = 0o600;
        // SAFETY: name and attributes are valid for the call.
        let number = unsafe { libc::mq_open(c_name.as_ptr(), flags, mode, &mut attributes as *mut libc::mq_attr) };
        if number < 0 {
            return Err(fail(std::io::Error::last_os_error()));
        }
        // SAFETY: the name is valid.
        unsafe { libc::mq_unlink(c_name.as_ptr()) };
        let descriptor = Arc::new(Descriptor { number, refused: AtomicU32::new(0) });
        Ok((
            Sender { descriptor: Arc::clone(&descriptor), message: PhantomData },
            Receiver { descriptor, message: PhantomData },
        ))
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Sender<T> {
    descriptor: Arc<Descriptor>,
    message: PhantomData<fn(T)>,
}

impl<T: Message> Sender<T> {
    /// False when the queue is full; the message is then counted as refused.
    pub fn send(&self, message: &T) -> bool {
        // SAFETY: a Message has no padding, so all its bytes may be read.
        let done =
            unsafe { libc::mq_send(self.descriptor.number, (message as *const T).cast(), size_of::<T>(), 0) } == 0;
        if !done {
            self.descriptor.refused.fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    /// Messages refused so far.
    pub fn refused(&self) -> u32 {
        self.descriptor.refused.load(Ordering::Relaxed)
    }
}

/// The reading end.
#[derive(Debug)]
pub struct Receiver<T> {
    descriptor: Arc<Descriptor>,
    message: PhantomData<fn() -> T>,
}

impl<T: Message> Receiver<T> {
    /// The oldest message, if there is one.
    pub fn receive(&self) -> Option<T> {
        let mut message = MaybeUninit::<T>::uninit();
        // SAFETY: the buffer is as large as the queue's messages.
        let length = unsafe {
            libc::mq_receive(self.descriptor.number, message.as_mut_ptr().cast(), size_of::<T>(), std::ptr::null_mut())
        };
        // SAFETY: a full message was written, and every bit pattern is a value.
        (length == size_of::<T>() as isize).then(|| unsafe { message.assume_init() })
    }

    /// The newest message, discarding older ones.
    pub fn newest(&self) -> Option<T> {
        let mut newest = None;
        while let Some(message) = self.receive() {
            newest = Some(message);
        }
        newest
    }

    /// Messages the sender could not place, as its counter says.
    pub fn refused(&self) -> u32 {
        self.descriptor.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    #[repr(C)]
    struct Pair(u64, [f64; 2]);
    // SAFETY: 64-bit numbers only, no padding.
    unsafe impl Message for Pair {}

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let (sender, receiver) = Queue::open::<Pair>("order", 4).unwrap();
        assert_eq!(receiver.receive(), None);
        assert!(sender.send(&Pair(1, [0.5, -1.0])) && sender.send(&Pair(2, [0.0, 9.0])));
        assert_eq!(receiver.receive(), Some(Pair(1, [0.5, -1.0])));
        assert_eq!(receiver.receive(), Some(Pair(2, [0.0, 9.0])));
        assert_eq!(receiver.receive(), None);
    }

    #[test]
    fn a_full_queue_refuses_and_counts_and_never_waits() {
        let (sender, receiver) = Queue::open::<Pair>("full", 2).unwrap();
        assert!(sender.send(&Pair(1, [0.0; 2])) && sender.send(&Pair(2, [0.0; 2])));
        assert!(!sender.send(&Pair(3, [0.0; 2])));
        assert_eq!((sender.refused(), receiver.refused()), (1, 1));
        assert_eq!(receiver.newest(), Some(Pair(2, [0.0; 2])));
    }

    #[test]
    fn a_queue_the_system_refuses_is_an_error_with_a_remedy() {
        let error = Queue::open::<Pair>("huge", 10_000_000).unwrap_err();
        assert!(error.to_string().contains("ulimit"), "{error}");
    }
}
