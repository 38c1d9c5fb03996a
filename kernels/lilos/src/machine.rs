// SPDX-License-Identifier: Apache-2.0
//! The Cortex-M under lilos: the tick, the software interrupt, and a stack for the suite's main
//! thread. All `unsafe` code of this crate is here.
//!
//! lilos's executor never returns and a task cannot block. The suite's main thread therefore has a
//! stack of its own. The executor's idle hook changes to it when tasks have been started or have
//! ended: never while one is timed.
#![allow(unsafe_code)]

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::Relaxed};

use cortex_m::{asm, interrupt, Peripherals};
use kadenz_suite::number::number;
use lilos::time::initialize_sys_tick;

use crate::framework::{self, Lilos};

const TICK_HZ: u32 = number(env!("KDZ_BOARD_TICK_HZ"));
const TIMER_HZ: u32 = number(env!("KDZ_BOARD_TIMER_HZ"));
const _: () = assert!(TICK_HZ == 1_000); // lilos's ticks are milliseconds

type Entry = extern "C" fn(*mut ());

/// The main thread's function, and its argument.
static ENTRY: AtomicPtr<()> = AtomicPtr::new(null_mut());
static ARGUMENT: AtomicPtr<()> = AtomicPtr::new(null_mut());

// ---- two stacks ---------------------------------------------------------------------------------
/// The main thread's: the suite in C, without tasks.
const STACK_WORDS: usize = 1024;
const GUARD_WORD: u32 = 0x6b64_7a21;

#[repr(align(8))]
struct MainStack([u32; STACK_WORDS]);

static mut MAIN_STACK: MainStack = MainStack([0; STACK_WORDS]);

/// The stack pointer of whichever of the two does not run.
static RESTING: AtomicU32 = AtomicU32::new(0);

/// True when the main thread runs as soon as no task can.
static MAIN_IS_NEXT: AtomicBool = AtomicBool::new(true);

// A new thread's registers: s16 to s31, r4 to r11, and where it begins.
const SAVED_WORDS: usize = 16 + 8 + 1;

core::arch::global_asm!(
    ".section .text.kdz_lilos_switch, \"ax\", %progbits",
    ".fpu fpv4-sp-d16",
    ".global kdz_lilos_switch",
    ".type kdz_lilos_switch, %function",
    ".thumb_func",
    "kdz_lilos_switch:",
    "push {{r4-r11, lr}}",
    "vpush {{s16-s31}}",
    "ldr r1, [r0]",
    "mov r2, sp",
    "str r2, [r0]",
    "mov sp, r1",
    "vpop {{s16-s31}}",
    "pop {{r4-r11, pc}}",
    ".size kdz_lilos_switch, . - kdz_lilos_switch",
);

unsafe extern "C" {
    /// Saves the calling side's registers on its stack, exchanges the stack pointer with the one in
    /// memory, and returns on the other side.
    fn kdz_lilos_switch(resting: *mut u32);
}

fn switch() {
    // SAFETY: RESTING holds the stack pointer that the other side left here, or that of `begin_main`.
    // Interrupts use whichever stack is current, and change nothing here.
    unsafe { kdz_lilos_switch(RESTING.as_ptr()) }
}

/// Prepares the main thread's stack: it begins with the first switch.
fn prepare_main() {
    let begin = main_thread as extern "C" fn() -> ! as usize as u32;

    // SAFETY: called once, before anything runs on that stack. The words are inside it.
    unsafe {
        let words = (&raw mut MAIN_STACK.0).cast::<u32>();
        words.write_volatile(GUARD_WORD);
        words.add(STACK_WORDS - 1).write_volatile(begin);
        RESTING.store(words.add(STACK_WORDS - SAVED_WORDS) as u32, Relaxed);
    }
}

extern "C" fn main_thread() -> ! {
    // SAFETY: kdz_kernel_start has stored a function of this type.
    let entry = unsafe { core::mem::transmute::<*mut (), Entry>(ENTRY.load(Relaxed)) };

    entry(ARGUMENT.load(Relaxed));
    panic!("the suite returned");
}

/// When the main thread runs again: always while no task can run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    AllWait,
    /// …and one has ended.
    SomeEnds,
}

/// Called by the main thread: lets tasks run.
pub fn run_tasks(until: Until) {
    // SAFETY: reads a word of the main thread's own stack.
    let guard = unsafe { (&raw const MAIN_STACK.0).cast::<u32>().read_volatile() };

    assert!(guard == GUARD_WORD, "the main thread's stack is too small");
    MAIN_IS_NEXT.store(until == Until::AllWait, Relaxed);
    switch();
}

/// A task has ended: the main thread has to check for which others it waits.
pub fn wake_main() {
    MAIN_IS_NEXT.store(true, Relaxed);
}

/// lilos calls it when no task can run, with interrupts masked.
fn idle() {
    if MAIN_IS_NEXT.load(Relaxed) {
        // SAFETY: the executor holds no critical section around its idle hook, only its own mask.
        unsafe { interrupt::enable() };
        switch();
        interrupt::disable();
    } else {
        asm::wfi();
        asm::isb(); // as lilos's own hook
    }
}

// ---- lilos --------------------------------------------------------------------------------------
/// Starts the tick, and lilos with its tasks. The suite's main thread runs first when all wait.
#[no_mangle]
extern "C" fn kdz_kernel_start(entry: Entry, argument: *mut ()) -> ! {
    ENTRY.store(entry as *mut (), Relaxed);
    ARGUMENT.store(argument, Relaxed);
    prepare_main();
    // SAFETY: called once, and nothing else in the image uses SysTick through cortex-m.
    let mut core = unsafe { Peripherals::steal() };
    initialize_sys_tick(&mut core.SYST, TIMER_HZ);
    framework::run(idle)
}

#[no_mangle]
extern "C" fn kdz_irq_entry() {
    kadenz_suite::irq::handle::<Lilos>();
}

#[no_mangle]
extern "C" fn kdz_tick_now() -> u32 {
    framework::now()
}

/// A rank's place in a round: the index of its task.
#[no_mangle]
extern "C" fn kdz_rank_native(rank: u8) -> i32 {
    match u32::from(rank) {
        kadenz_suite::framework::RANK_HIGH.. => 0,
        _ => 1,
    }
}

/// A queue that is split once: its two ends. lilos's ring holds an item less than its storage.
macro_rules! queue {
    ($bytes:literal) => {{
        #[allow(unsafe_code)] // of cortex_m's macro, which guards against a second call
        {
            use core::mem::MaybeUninit;
            type Item = [u8; $bytes];
            let storage = cortex_m::singleton!(
                : [MaybeUninit<Item>; 2] = [const { MaybeUninit::uninit() }; 2]);
            let queue = storage.and_then(|storage| {
                cortex_m::singleton!(: Queue<'static, Item> = Queue::new(storage))
            });
            match queue {
                Some(queue) => queue.split(),
                None => panic!("a queue is split twice"),
            }
        }
    }};
}
pub(crate) use queue;
