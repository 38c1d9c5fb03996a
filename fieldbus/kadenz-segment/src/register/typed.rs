// SPDX-License-Identifier: Apache-2.0
//! A register by name: its address and the type of its value.

use std::marker::PhantomData;
use std::ops::Range;

/// A register that holds a `T`, little-endian.
#[derive(Debug)]
pub struct Register<T> {
    address: u16,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Register<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Register<T> {}

impl<T> Register<T> {
    pub(super) const fn new(address: u16) -> Self {
        Self { address, value: PhantomData }
    }

    /// Address of the first byte.
    pub const fn address(self) -> u16 {
        self.address
    }

    /// Length, bytes.
    pub const fn length(self) -> usize {
        size_of::<T>()
    }

    /// Where it is in a controller's memory.
    pub const fn range(self) -> Range<usize> {
        self.address as usize..self.address as usize + size_of::<T>()
    }

    /// One byte of it, from 0.
    pub const fn byte(self, number: usize) -> Register<u8> {
        assert!(number < size_of::<T>());
        Register::new(self.address + number as u16)
    }
}

impl<T, const N: usize> Register<[T; N]> {
    /// One element, from 0.
    pub const fn element(self, index: usize) -> Register<T> {
        assert!(index < N);
        Register::new(self.address + (index * size_of::<T>()) as u16)
    }
}

impl<T> From<Register<T>> for u16 {
    fn from(register: Register<T>) -> Self {
        register.address
    }
}

/// Values that a register can hold.
pub trait Value: Copy {
    /// An array as long as the register.
    type Bytes: AsRef<[u8]>;

    /// From little-endian bytes; 0 if there are too few.
    fn from_le(bytes: &[u8]) -> Self;

    /// To little-endian bytes.
    fn to_le(self) -> Self::Bytes;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Value for $number {
            type Bytes = [u8; size_of::<Self>()];

            #[inline]
            fn from_le(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
            }

            #[inline]
            fn to_le(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        })*
    };
}

numbers! { u8 u16 u32 u64 }

impl<const N: usize> Value for [u8; N] {
    type Bytes = Self;

    #[inline]
    fn from_le(bytes: &[u8]) -> Self {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }

    #[inline]
    fn to_le(self) -> Self::Bytes {
        self
    }
}
