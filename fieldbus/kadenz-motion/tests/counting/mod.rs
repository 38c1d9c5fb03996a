// SPDX-License-Identifier: Apache-2.0
//! Counts allocations inside cyclic paths, of Rust and of C++ alike, by standing in front of the C library's `malloc`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

fn note() {
    if kadenz_motion::rt::in_cyclic_path() {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

/// Allocations inside cyclic paths so far, of all threads.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// # Safety
/// As the C library's `malloc`.
#[no_mangle]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    note();
    unsafe { __libc_malloc(size) }
}

/// # Safety
/// As the C library's `calloc`.
#[no_mangle]
unsafe extern "C" fn calloc(n: usize, size: usize) -> *mut c_void {
    note();
    unsafe { __libc_calloc(n, size) }
}

/// # Safety
/// As the C library's `realloc`.
#[no_mangle]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    note();
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// As the C library's `aligned_alloc`.
#[no_mangle]
unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    note();
    unsafe { __libc_memalign(align, size) }
}
