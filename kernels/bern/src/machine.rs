// SPDX-License-Identifier: Apache-2.0
//! The Cortex-M under bern, and the calls of `kernel.h`. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::mem::{transmute, MaybeUninit};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use bern_kernel::exec::interrupt::{InterruptHandler, InterruptStack};
use bern_kernel::exec::process::{Context, Process, ProcessMemory};
use bern_kernel::exec::runnable::Priority;
use bern_kernel::exec::thread::{Thread, ThreadBuilder};
use bern_kernel::stack::Stack;
use bern_kernel::time::set_tick_frequency;
use bern_units::frequency::Hertz;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use cortex_m::register::{control, psp};
use cortex_m::{asm, Peripherals};
use kadenz_suite::number::number;

use crate::semaphores;
use crate::threads::{self, RANK_MAX, THREADS};

const TICK_HZ: u32 = number(env!("KDZ_BOARD_TICK_HZ"));
const TIMER_HZ: u32 = number(env!("KDZ_BOARD_TIMER_HZ"));
const SOFTWARE_IRQ: u16 = number(env!("KDZ_BOARD_IRQ")) as u16;
const IRQ_PRIORITY: u8 = number(env!("KDZ_BOARD_IRQ_PRIORITY")) as u8;
const _: () = assert!(TICK_HZ == 1_000); // bern sleeps for milliseconds

mod calls;

// ---- kernel.h -----------------------------------------------------------------------------------
pub type Handle = i16;
pub type Status = i32;

pub const OK: Status = 0;
pub const TIMEOUT: Status = -1;
pub const UNSUPPORTED: Status = -2;
pub const INVALID: Status = -3;
pub const NO_MEMORY: Status = -4;
pub const FOREVER: u32 = u32::MAX;

type Entry = extern "C" fn(*mut c_void);
type IrqHandler = extern "C" fn(*mut c_void);

/// `struct kdz_thread_spec`.
#[repr(C)]
struct Spec {
    name: *const c_char,
    entry: Entry,
    arg: *mut c_void,
    stack_bytes: u32,
    rank: u8,
    core: u8,
    options: *const c_void,
}

/// The work of a thread, and its name.
#[derive(Clone, Copy)]
pub struct Job {
    entry: Entry,
    arg: *mut c_void,
    name: *const c_char,
}

/// What is written once, before bern starts, and read afterwards.
pub struct Late<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: written before the first thread runs.
unsafe impl<T> Sync for Late<T> {}

impl<T> Late<T> {
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    pub fn set(&self, value: T) {
        // SAFETY: called by `prepare` alone, when nothing else runs.
        unsafe { (*self.0.get()).write(value) };
    }

    #[inline(always)]
    pub fn get(&self) -> &T {
        // SAFETY: `prepare` has set all before bern starts.
        unsafe { (*self.0.get()).assume_init_ref() }
    }
}

// ---- stacks -------------------------------------------------------------------------------------
// bern's MPU region of a process: a power of 2, and aligned to it.
const STACK_BYTES: usize = 1024;
const STACKS: usize = 16;
const PROCESS_BYTES: usize = STACKS * STACK_BYTES;
const IDLE: usize = 2; // after the two of the main thread
const FIRST: usize = 3;
const STARTER: usize = STACKS - 1; // ends before a benchmark's thread begins
const _: () = assert!(FIRST + THREADS - 1 <= STARTER);

#[repr(align(16384))]
struct Stacks(UnsafeCell<[[u8; STACK_BYTES]; STACKS]>);

// SAFETY: each thread uses its own.
unsafe impl Sync for Stacks {}

static MEMORY: Stacks = Stacks(UnsafeCell::new([[0; STACK_BYTES]; STACKS]));

/// `count` stacks in one piece, for a thread that does not live yet.
fn stack(first: usize, count: usize) -> Stack {
    let bytes = count * STACK_BYTES;
    // SAFETY: inside MEMORY; the place of the thread is claimed, and its last thread has ended.
    let memory = unsafe {
        core::slice::from_raw_parts_mut(MEMORY.0.get().cast::<u8>().add(first * STACK_BYTES), bytes)
    };
    Stack::new(memory, bytes)
}

/// The place of the thread that runs, or that was interrupted; `None`: no thread of the suite.
pub fn this_thread() -> Option<usize> {
    let offset = (psp::read() as usize).wrapping_sub(MEMORY.0.get() as usize);
    let stack = offset / STACK_BYTES;
    let place = stack.saturating_sub(FIRST - 1); // the main thread's is 0

    Some(place).filter(|at| stack != IDLE && *at < THREADS)
}

// ---- the process --------------------------------------------------------------------------------
/// For what bern allocates in a process: a handler without variables takes nothing.
static HEAP: Late<[u32; 16]> = Late::new();

#[link_section = ".kernel.process"]
static PROCESS: Process = Process::new(ProcessMemory {
    size: PROCESS_BYTES,
    data_start: (&raw const MEMORY).cast(),
    data_end: (&raw const MEMORY).cast(), // nothing to copy
    data_load: (&raw const MEMORY).cast(),
    heap_start: (&raw const HEAP).cast(),
    heap_end: (&raw const HEAP)
        .cast::<u8>()
        .wrapping_add(size_of::<[u32; 16]>()),
});

/// A builder for each place: bern gives out the process that a thread belongs to only before it
/// starts.
struct Builders(UnsafeCell<[MaybeUninit<ThreadBuilder>; THREADS]>);

// SAFETY: who has claimed a place uses its builder.
unsafe impl Sync for Builders {}

static BUILDERS: Builders = Builders(UnsafeCell::new([const { MaybeUninit::uninit() }; THREADS]));

/// Whose name a fault report tells.
static NAMES: [AtomicPtr<c_char>; THREADS] = [const { AtomicPtr::new(null_mut()) }; THREADS];

/// Creates the thread of a claimed place.
pub fn spawn(at: usize, priority: u8, job: Job) {
    let memory = if at == 0 {
        stack(0, 2)
    } else {
        stack(FIRST + at - 1, 1)
    };
    // SAFETY: prepared before bern starts; the place is claimed.
    let builder = unsafe { (*BUILDERS.0.get())[at].assume_init_mut() };

    NAMES[at].store(job.name.cast_mut(), Relaxed);
    builder
        .priority(Priority::new(priority))
        .stack(memory)
        .spawn(move || {
            raise(Port::Privilege);
            (job.entry)(job.arg);
            raise(Port::End);
        });
}

/// The lowest thread above bern's idle thread, which would never let an emulator's time jump.
fn idle() {
    raise(Port::Privilege);
    loop {
        asm::wfi();
        threads::watch();
    }
}

// ---- interrupts ---------------------------------------------------------------------------------
/// The two interrupts of the port.
#[derive(Clone, Copy)]
#[repr(u16)]
enum Port {
    Privilege = number(env!("KDZ_BOARD_DISPATCH_IRQ")) as u16,
    End,
}

// SAFETY: the board's table has a vector for each.
unsafe impl InterruptNumber for Port {
    fn number(self) -> u16 {
        self as u16
    }
}

/// Raises one, also without privilege, and lets it come before the return.
fn raise(interrupt: Port) {
    const STIR: *mut u32 = 0xe000_ef00 as *mut u32;

    // SAFETY: the register is open to all code (prepare_interrupts).
    unsafe { STIR.write_volatile(u32::from(interrupt.number())) };
    asm::dsb();
    asm::isb();
}

/// bern's threads run without privilege. The suite's threads read the core's counter and raise an
/// interrupt, which is not open to them; bern saves CONTROL with the other registers of a thread.
#[no_mangle]
extern "C" fn kdz_dispatch_1_entry() {
    let mut of_thread = control::read();

    of_thread.set_npriv(control::Npriv::Privileged);
    // SAFETY: leaves the stack and the FPU of the thread as they are.
    unsafe { control::write(of_thread) };
}

#[no_mangle]
extern "C" fn kdz_dispatch_2_entry() {
    if let Some(at) = this_thread() {
        threads::end(at);
    }
}

fn prepare_interrupts() {
    const USERSETMPEND: u32 = 1 << 1;
    // SAFETY: called once, before bern starts.
    unsafe {
        let mut core = Peripherals::steal();

        core.SCB.ccr.modify(|ccr| ccr | USERSETMPEND);
        for each in [Port::Privilege, Port::End] {
            core.NVIC.set_priority(each, IRQ_PRIORITY);
            NVIC::unmask(each);
        }
    }
}

/// What the suite has connected to the board's software interrupt.
static CONNECTED: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

fn on_interrupt() {
    let connected = CONNECTED.load(Relaxed);

    // SAFETY: kdz_irq_connect has stored a function of this type, or null.
    let handler = unsafe { transmute::<*mut c_void, Option<IrqHandler>>(connected) };

    kadenz_suite::abi::acknowledge_interrupt();
    if let Some(handler) = handler {
        handler(null_mut());
    }
}

#[no_mangle]
extern "C" fn kdz_irq_connect(handler: *mut c_void) -> Status {
    CONNECTED.store(handler, Relaxed);
    OK
}

// ---- start --------------------------------------------------------------------------------------
unsafe extern "C" {
    static __shkernel: u8;
    static __ehkernel: u8;
}

/// Bytes of bern's list elements, from the debug information of an image: bern reports none.
const THREAD_BYTES: usize = 80;
const EVENT_BYTES: usize = 28;
const HANDLER_BYTES: usize = 84;
const EVENTS: usize = semaphores::SEMAPHORES + THREADS;
const OTHER_THREADS: usize = 3; // bern's idle thread, the port's, and the starter

/// How many threads bern's memory takes.
fn most_threads() -> usize {
    // SAFETY: addresses alone.
    let bytes = (&raw const __ehkernel as usize) - (&raw const __shkernel as usize);

    (bytes - HANDLER_BYTES - EVENTS * EVENT_BYTES) / THREAD_BYTES - OTHER_THREADS
}

fn prepare(context: &Context) {
    InterruptHandler::new(context)
        .stack(InterruptStack::Kernel)
        .connect_interrupt(SOFTWARE_IRQ)
        .handler(|_| on_interrupt());
    semaphores::prepare();
    threads::prepare(most_threads());
    // SAFETY: nothing else runs.
    for builder in unsafe { &mut *BUILDERS.0.get() } {
        builder.write(Thread::new(context));
    }
    // bern enters its first thread with a stack pointer that is no multiple of 8: it ends at once.
    Thread::new(context)
        .priority(Priority::new(0))
        .stack(stack(STARTER, 1))
        .spawn(|| {});
    Thread::new(context)
        .priority(Priority::new(RANK_MAX))
        .stack(stack(IDLE, 1))
        .spawn(idle);
}

#[no_mangle]
extern "C" fn kdz_kernel_start(entry: Entry, arg: *mut c_void) -> ! {
    prepare_interrupts();
    bern_kernel::init();
    set_tick_frequency(Hertz(TICK_HZ), Hertz(TIMER_HZ));
    let first = PROCESS.init(|context| {
        prepare(context);
        threads::create_main(Job {
            entry,
            arg,
            name: c"main".as_ptr(),
        });
    });

    assert!(first.is_ok(), "bern does not know the process yet");
    bern_kernel::start()
}

// ---- time ---------------------------------------------------------------------------------------
pub fn now() -> u32 {
    bern_kernel::tick_count() as u32
}
