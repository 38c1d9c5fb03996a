// SPDX-License-Identifier: Apache-2.0
//! For channels that their framework splits once: between two records the ends rest here.

use core::cell::RefCell;

use critical_section::Mutex;

use crate::framework::Way;

/// What each of the two tasks has of a pair of channels.
pub struct Resting<E>(Mutex<RefCell<[Option<E>; 2]>>);

impl<E> Resting<E> {
    pub const fn new() -> Self {
        Self(Mutex::new(RefCell::new([None, None])))
    }

    /// The ends of the task that sends `way`; the first call splits the channels, into those of
    /// `Way::There` and of `Way::Back`.
    pub fn take(&self, way: Way, split: impl FnOnce() -> (E, E)) -> E {
        if let Some(ends) = self.lift(way) {
            return ends;
        }
        let (there, back) = split();
        self.put(Way::There, there);
        self.put(Way::Back, back);
        match self.lift(way) {
            Some(ends) => ends,
            None => panic!("a channel's ends are taken twice"),
        }
    }

    /// Keeps the ends of the task that sends `way` until the next record takes them.
    pub fn put(&self, way: Way, ends: E) {
        critical_section::with(|cs| self.0.borrow_ref_mut(cs)[way as usize] = Some(ends));
    }

    fn lift(&self, way: Way) -> Option<E> {
        critical_section::with(|cs| self.0.borrow_ref_mut(cs)[way as usize].take())
    }
}

impl<E> Default for Resting<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// `Link` of a framework for items of one size: `channel` makes a channel as its two ends, once for
/// each expansion. The framework's `SendEnd` and `ReceiveEnd` hold them.
#[macro_export]
macro_rules! resting_link {
    ($framework:ty, $bytes:literal, $channel:expr) => {
        const _: () = {
            type Ends = (SendEnd<$bytes>, ReceiveEnd<$bytes>);
            static RESTING: $crate::resting::Resting<Ends> = $crate::resting::Resting::new();

            impl $crate::framework::Link<$bytes> for $framework {
                type Sender = SendEnd<$bytes>;
                type Receiver = ReceiveEnd<$bytes>;

                fn ends(way: $crate::framework::Way) -> Ends {
                    RESTING.take(way, || {
                        let there = $channel;
                        let back = $channel;
                        (
                            (SendEnd(there.0), ReceiveEnd(back.1)),
                            (SendEnd(back.0), ReceiveEnd(there.1)),
                        )
                    })
                }

                fn put_back(
                    way: $crate::framework::Way,
                    sender: SendEnd<$bytes>,
                    receiver: ReceiveEnd<$bytes>,
                ) {
                    RESTING.put(way, (sender, receiver));
                }
            }
        };
    };
}
