// SPDX-License-Identifier: Apache-2.0
//! Counts allocations of Rust and of C++ alike, by standing in front of the C library's `malloc`.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static OF_THIS_THREAD: Cell<u64> = const { Cell::new(0) };
}

static IN_CYCLIC_PATHS: AtomicU64 = AtomicU64::new(0);

extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

fn note() {
    // A thread that is being torn down has no counter; nobody measures it any more.
    let _ = OF_THIS_THREAD.try_with(|count| count.set(count.get() + 1));
    if kadenz_rt::in_cyclic_path() {
        IN_CYCLIC_PATHS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Allocations inside cyclic paths so far, of all threads.
pub fn in_cyclic_paths() -> u64 {
    IN_CYCLIC_PATHS.load(Ordering::Relaxed)
}

/// Number of allocations this thread makes while `work` runs.
pub fn during(work: impl FnOnce()) -> u64 {
    let before = OF_THIS_THREAD.get();
    work();
    OF_THIS_THREAD.get() - before
}

/// # Safety
/// As the C library's `malloc`.
#[no_mangle]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise, passed on.
    unsafe { __libc_malloc(size) }
}

/// # Safety
/// As the C library's `calloc`.
#[no_mangle]
unsafe extern "C" fn calloc(n: usize, size: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise, passed on.
    unsafe { __libc_calloc(n, size) }
}

/// # Safety
/// As the C library's `realloc`.
#[no_mangle]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise, passed on.
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// As the C library's `aligned_alloc`.
#[no_mangle]
unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    note();
    // SAFETY: the caller's promise, passed on.
    unsafe { __libc_memalign(align, size) }
}
