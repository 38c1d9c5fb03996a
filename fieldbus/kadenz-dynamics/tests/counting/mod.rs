// SPDX-License-Identifier: Apache-2.0
//! Counts allocations of this thread, of Rust and of C++ alike: by standing in front of the C library's `malloc`.

use std::cell::Cell;
use std::ffi::c_void;

thread_local! {
    static COUNT: Cell<Option<u64>> = const { Cell::new(None) };
}

extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

fn count() {
    // A thread that is being torn down has no counter; it is not the one measured.
    let _ = COUNT.try_with(|count| count.set(count.get().map(|n| n + 1)));
}

/// # Safety
/// As the C library's `malloc`.
#[no_mangle]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    count();
    unsafe { __libc_malloc(size) }
}

/// # Safety
/// As the C library's `calloc`.
#[no_mangle]
unsafe extern "C" fn calloc(n: usize, size: usize) -> *mut c_void {
    count();
    unsafe { __libc_calloc(n, size) }
}

/// # Safety
/// As the C library's `realloc`.
#[no_mangle]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    count();
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// As the C library's `aligned_alloc`.
#[no_mangle]
unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    count();
    unsafe { __libc_memalign(align, size) }
}

/// Number of allocations this thread makes while `work` runs.
pub fn allocations(work: impl FnOnce()) -> u64 {
    COUNT.with(|count| count.set(Some(0)));
    work();
    COUNT.with(|count| count.replace(None)).unwrap_or(0)
}
