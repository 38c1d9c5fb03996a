// SPDX-License-Identifier: Apache-2.0
//! The suite's C ABI: `bench.h`, `clock.h`, `board.h`, `fault.h` and `suite/bench/in_rust.h`.
//!
//! All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use core::ffi::{c_char, CStr};
use core::ptr::{null, NonNull};
use core::sync::atomic::{compiler_fence, Ordering};

// ---- what a benchmark is ------------------------------------------------------------------------
/// `struct kdz_param`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Param {
    name: *const c_char,
    initial: u32,
    low: u32,
    high: u32,
    words: *const *const c_char,
}

// SAFETY: the pointers are those of constants.
unsafe impl Sync for Param {}

impl Param {
    /// A number; the unit is in the name.
    pub const fn new(name: &'static CStr, initial: u32, low: u32, high: u32) -> Self {
        Self {
            name: name.as_ptr(),
            initial,
            low,
            high,
            words: null(),
        }
    }

    /// A parameter of the benchmark in C that has one value here. It is declared, so that points of
    /// both have the same parameters and are compared.
    pub const fn fixed(name: &'static CStr, value: u32) -> Self {
        Self::new(name, value, value, value)
    }

    /// The same for a word.
    pub const fn word(name: &'static CStr, words: &'static [Word; 1]) -> Self {
        Self {
            name: name.as_ptr(),
            initial: 0,
            low: 0,
            high: 0,
            words: words.as_ptr().cast(),
        }
    }
}

/// The name of a lane, or a value of a parameter.
#[repr(transparent)]
pub struct Word(*const c_char);

// SAFETY: the pointer is that of a constant.
unsafe impl Sync for Word {}

impl Word {
    pub const fn new(text: &'static CStr) -> Self {
        Self(text.as_ptr())
    }
}

/// The series of a record.
pub enum Lanes {
    One,
    PerCore,
    Named(&'static [Word]),
}

/// What a sample is: `enum kdz_nature`, as far as the benchmarks in Rust need it.
#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Nature {
    Span = 0,
    Periodic = 1,
}

/// Description of a benchmark in a report: see `struct kdz_bench`.
pub struct About {
    pub name: &'static CStr,
    pub begins: &'static CStr,
    pub ends: &'static CStr,
    pub source: &'static CStr,
    /// Names of `mechanism.h`, parted by spaces: the record is n/a without them.
    pub needs: &'static CStr,
    pub params: &'static [Param],
    pub lanes: Lanes,
    pub self_timed: bool,
    pub nature: Nature,
}

/// Why a set-up ends without a measurement.
pub enum Refusal {
    /// The record is n/a.
    Unsupported(&'static CStr),
    /// The parameters do not fit together: the record fails.
    Invalid(&'static CStr),
}

/// One thing measured. `register!` puts it into the image.
pub trait Benchmark {
    const ABOUT: About;

    fn setup(_point: Point) -> Result<(), Refusal> {
        Ok(())
    }

    fn measure(point: Point);
}

/// `struct kdz_bench` of `kadenz/bench.h`, field by field.
#[repr(C)]
pub struct Registered {
    name: *const c_char,
    begins: *const c_char,
    ends: *const c_char,
    source: *const c_char,
    needs: *const c_char,
    params: *const Param,
    param_count: u8,
    lane_count: u8,
    lanes: *const Word,
    shape: *const (),
    self_timed: bool,
    nature: u8,
    setup: extern "C" fn(NonNull<RawPoint>) -> i32,
    measure: extern "C" fn(NonNull<RawPoint>),
    teardown: *const (),
}

// SAFETY: the pointers are those of constants and functions.
unsafe impl Sync for Registered {}

impl Registered {
    /// The structure of benchmark `B`.
    pub const fn of<B: Benchmark>() -> Self {
        let about = &B::ABOUT;
        let (lane_count, lanes) = match &about.lanes {
            Lanes::One => (1, null()),
            Lanes::PerCore => (0, null()),
            Lanes::Named(names) => (names.len() as u8, names.as_ptr()),
        };
        Self {
            name: about.name.as_ptr(),
            begins: about.begins.as_ptr(),
            ends: about.ends.as_ptr(),
            source: about.source.as_ptr(),
            needs: about.needs.as_ptr(),
            params: about.params.as_ptr(),
            param_count: about.params.len() as u8,
            lane_count,
            lanes,
            shape: null(),
            self_timed: about.self_timed,
            nature: about.nature as u8,
            setup: setup::<B>,
            measure: measure::<B>,
            teardown: null(),
        }
    }
}

extern "C" fn setup<B: Benchmark>(point: NonNull<RawPoint>) -> i32 {
    const UNSUPPORTED: i32 = -2;
    const INVALID: i32 = -3;
    let (status, reason) = match B::setup(Point(point)) {
        Ok(()) => return 0,
        Err(Refusal::Unsupported(reason)) => (UNSUPPORTED, reason),
        Err(Refusal::Invalid(reason)) => (INVALID, reason),
    };
    // SAFETY: the runner's point; the reason is a constant.
    unsafe { kdz_rust_refuse(point, reason.as_ptr()) };
    status
}

extern "C" fn measure<B: Benchmark>(point: NonNull<RawPoint>) {
    B::measure(Point(point));
}

/// Registers benchmarks as `KDZ_BENCH` does: pointers in the linker section `kdz_bench`.
#[macro_export]
macro_rules! register {
    ($($name:ident: $benchmark:ty,)+) => { $(
        // SAFETY (of the section): it holds pointers to `struct kdz_bench` and nothing else.
        #[allow(unsafe_code)]
        #[used]
        #[link_section = "kdz_bench"]
        static $name: &$crate::abi::Registered = {
            static REGISTERED: $crate::abi::Registered = $crate::abi::Registered::of::<$benchmark>();
            &REGISTERED
        };
    )+ };
}

/// Defines the suite's main thread of a framework's minimal application.
#[cfg(feature = "minimal")]
#[macro_export]
macro_rules! minimal {
    ($framework:ty) => {
        // SAFETY (of the name): no other object of the image has it.
        #[allow(unsafe_code)]
        #[no_mangle]
        extern "C" fn kdz_suite_main(_: *mut ()) {
            $crate::minimal::main::<$framework>()
        }
    };
}

// ---- a point of the plan ------------------------------------------------------------------------
/// `struct kdz_point`: only C looks inside.
#[repr(C)]
pub struct RawPoint {
    _opaque: [u8; 0],
}

/// One point of the plan while it is measured. Copies name the same point.
#[derive(Clone, Copy)]
pub struct Point(NonNull<RawPoint>);

#[cfg(feature = "minimal")]
impl Point {
    /// For a task that measures nothing.
    pub const fn of_nothing() -> Self {
        Self(NonNull::dangling())
    }
}

// SAFETY: the runner's only point, which outlives all tasks of a benchmark (`framework::run` waits
// for them). Tasks of several priorities take turns with it by the benchmark's own order: C has the
// same rule.
unsafe impl Send for Point {}
// SAFETY: as above.
unsafe impl Sync for Point {}

unsafe extern "C" {
    fn kdz_rust_samples(point: NonNull<RawPoint>) -> u32;
    fn kdz_rust_param(point: NonNull<RawPoint>, index: u32) -> u32;
    fn kdz_rust_period_ticks(period_us: u32) -> u32;
    fn kdz_rust_refuse(point: NonNull<RawPoint>, reason: *const c_char);
    fn kdz_rust_prove(point: NonNull<RawPoint>, holds: bool, reason: *const c_char);
    fn kdz_rust_keep(point: NonNull<RawPoint>, lane: u32, begin: u32, end: u32) -> bool;
    fn kdz_rust_batches();
    fn kdz_rust_keep_batch(point: NonNull<RawPoint>, lane: u32, begin: u32, end: u32) -> bool;
    fn kdz_rust_missed(point: NonNull<RawPoint>);
    fn kdz_rust_overrun(point: NonNull<RawPoint>);
    fn kdz_rust_woke(point: NonNull<RawPoint>, wake: u32, period: u32, woke: Time) -> bool;
    fn kdz_board_irq_raise();
    fn kdz_board_irq_acknowledge();
    fn kdz_fault(
        kind: *const c_char,
        message: *const c_char,
        registers: *const Register,
        count: usize,
    ) -> !;
}

// SAFETY of each call below: the point is the runner's, texts are constants that end with a zero,
// and the functions of C keep no pointer to anything else.
impl Point {
    pub fn samples(self) -> u32 {
        unsafe { kdz_rust_samples(self.0) }
    }

    /// The value at `index` of the benchmark's own parameters.
    pub fn param(self, index: usize) -> u32 {
        unsafe { kdz_rust_param(self.0, index as u32) }
    }

    /// A parameter in us as ticks, rounded.
    pub fn ticks(self, index: usize) -> u32 {
        unsafe { kdz_rust_period_ticks(self.param(index)) }
    }

    /// Counts one check; the first failure keeps its reason.
    pub fn prove(self, holds: bool, reason: &'static CStr) {
        unsafe { kdz_rust_prove(self.0, holds, reason.as_ptr()) }
    }

    /// Adds a sample to a lane. True when the lane was full and has been sent, which took its time.
    pub fn keep(self, lane: usize, begin: Time, end: Time) -> bool {
        unsafe { kdz_rust_keep(self.0, lane as u32, begin, end) }
    }

    /// Called before the first of the values that `keep_batch` takes.
    pub fn start_batches(self) {
        unsafe { kdz_rust_batches() }
    }

    /// As `keep`, with a proof that the clock could tell a span of that length.
    pub fn keep_batch(self, lane: usize, begin: Time, end: Time) -> bool {
        unsafe { kdz_rust_keep_batch(self.0, lane as u32, begin, end) }
    }

    /// Counts a planned sample that was not measured.
    pub fn missed(self) {
        unsafe { kdz_rust_missed(self.0) }
    }

    /// Counts a sample that took longer than its period.
    pub fn overrun(self) {
        unsafe { kdz_rust_overrun(self.0) }
    }

    /// Adds the sample of a wake-up due at tick `wake`. Returns as [`Point::keep`].
    pub fn woke(self, wake: u32, period: u32, woke: Time) -> bool {
        unsafe { kdz_rust_woke(self.0, wake, period, woke) }
    }
}

// ---- the clock ----------------------------------------------------------------------------------
/// `kdz_time` of the boards.
pub type Time = u32;

/// The moment before the timed operation.
#[inline(always)]
pub fn begin() -> Time {
    stamp(1)
}

/// The moment after it.
#[inline(always)]
pub fn end() -> Time {
    stamp(2)
}

/// `kdz_stamp` of `arch/cortexm/counter/kdz_stamp.h`, load by load.
#[cfg(all(feature = "counter", target_arch = "arm"))]
#[inline(always)]
fn stamp(_mark: u32) -> Time {
    unsafe extern "C" {
        static mut kdz_counter: *const u32;
    }
    // SAFETY: kdz_clock_init has set the pointer to a register that is always readable.
    unsafe {
        compiler_fence(Ordering::SeqCst);
        let now = (&raw const kdz_counter).read_volatile().read_volatile();
        compiler_fence(Ordering::SeqCst);
        now
    }
}

/// `kdz_stamp` of `arch/riscv/counter/kdz_stamp.h`.
#[cfg(all(feature = "counter", target_arch = "riscv32"))]
#[inline(always)]
fn stamp(_mark: u32) -> Time {
    let now;
    compiler_fence(Ordering::SeqCst);
    // SAFETY: reads a counter.
    unsafe { core::arch::asm!("csrr {}, mcycle", out(reg) now) };
    compiler_fence(Ordering::SeqCst);
    now
}

/// `kdz_stamp` of `instruments/scope/on_target/kdz_stamp.h`: one store.
#[cfg(feature = "scope")]
#[inline(always)]
fn stamp(mark: u32) -> Time {
    unsafe extern "C" {
        static mut kdz_scope_marker: u32;
    }
    compiler_fence(Ordering::SeqCst);
    // SAFETY: nobody on the target reads it.
    unsafe { (&raw mut kdz_scope_marker).write_volatile(mark) };
    compiler_fence(Ordering::SeqCst);
    0
}

// ---- the board ----------------------------------------------------------------------------------
/// Raises the board's software interrupt.
#[inline(always)]
pub fn raise_interrupt() {
    // SAFETY: callable from any context.
    unsafe { kdz_board_irq_raise() }
}

/// Acknowledges it: the first call of its handler.
#[inline(always)]
pub fn acknowledge_interrupt() {
    // SAFETY: callable from the handler.
    unsafe { kdz_board_irq_acknowledge() }
}

/// Sleeps until an interrupt; lets an emulator's time jump to it.
pub fn sleep() {
    // SAFETY: has no effect on memory.
    unsafe { core::arch::asm!("wfi") }
}

// ---- the stack ----------------------------------------------------------------------------------
/// Words at the end of the board's stack that nobody may reach.
const GUARD: usize = 64;
const GUARD_WORD: u32 = 0x6b64_7a21;

/// The marked end of the board's stack, on which all tasks run.
pub struct Stack(());

unsafe extern "C" {
    static mut kdz_stack_end: [u32; GUARD];
}

impl Stack {
    /// Writes the mark, before the first task runs.
    pub fn mark() -> Self {
        // SAFETY: the linker script reserves these words, and nothing of Rust is there.
        unsafe { (&raw mut kdz_stack_end).write_volatile([GUARD_WORD; GUARD]) };
        Self(())
    }

    /// Ends the run with a fault when the mark is gone.
    pub fn check(self) {
        // SAFETY: as above.
        let now = unsafe { (&raw const kdz_stack_end).read_volatile() };
        if now != [GUARD_WORD; GUARD] {
            let message = c"the tasks used the stack to its end: raise kdz_kernel_stack_bytes";
            // SAFETY: constants; no registers.
            unsafe { kdz_fault(c"stack-overflow".as_ptr(), message.as_ptr(), null(), 0) }
        }
    }
}

// ---- the end ------------------------------------------------------------------------------------
/// `struct kdz_register`.
#[repr(C)]
struct Register {
    name: *const c_char,
    value: u32,
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let line = info.location().map_or(0, core::panic::Location::line);
    let register = Register {
        name: c"line".as_ptr(),
        value: line,
    };
    // SAFETY: constants, and a register that outlives the call, which does not return.
    unsafe {
        kdz_fault(
            c"assert".as_ptr(),
            c"Rust code panicked".as_ptr(),
            &register,
            1,
        )
    }
}
