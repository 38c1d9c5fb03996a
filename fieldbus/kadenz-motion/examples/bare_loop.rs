// SPDX-License-Identifier: Apache-2.0
//! A bare `tx_rx_dc` loop of the master library at 1 kHz: what an exchange costs without an application around it.
//! `benchmarks/motion.py` compares the main task with it.
//!
//! `bare_loop INTERFACE CYCLES CPU alone|woken OUTPUT.csv` writes a line per cycle, `CPU time in ns,round trip in ns`.
//! The round trip is empty in a cycle without a whole answer. Skipped periods have no line. Needs root.
//!
//! With `alone` the loop pays for waking an idle processor. With `woken` a thread of the dynamic task's priority, which
//! does nothing else, is released at the same moment and pays for it, as the dynamic task does for the main task.

use std::error::Error;
use std::fmt::Write as _;

use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::{Bus, Socket};
use kadenz_motion::realtime::{become_realtime, lock_memory, pin_to_cpu, RealtimeError};
use kadenz_rt::{self as rt, Clock};

const PERIOD_NS: u64 = 1_000_000;
/// As the main task.
const PRIORITY: i32 = 90;
/// As the dynamic task.
const WAKER_PRIORITY: i32 = 95;
/// Cycles the ring may take to reach OP.
const START_CYCLES: u64 = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, interface, cycles, cpu, waking, output] = arguments.as_slice() else {
        return Err("usage: bare_loop INTERFACE CYCLES CPU alone|woken OUTPUT.csv".into());
    };
    let (cycles, cpu): (u64, usize) = (cycles.parse()?, cpu.parse()?);
    let woken = match waking.as_str() {
        "alone" => false,
        "woken" => true,
        other => return Err(format!("`{other}` is neither alone nor woken").into()),
    };
    let layout = BuiltIn::Indy7.layout()?;
    pin_to_cpu(cpu)?;
    let mut bus = Bus::bring_up(Socket::open(interface)?, &layout, &layout.axis)?;
    lock_memory()?;
    become_realtime(PRIORITY)?;

    reach_op(&mut bus)?;
    let expected = bus.expected_counter();
    let mut taken: Vec<(u64, Option<u64>)> = Vec::with_capacity(cycles as usize);
    let mut due_ns = rt::now_ns() + PERIOD_NS;
    let end_ns = due_ns + cycles * PERIOD_NS;
    let waker = woken.then(|| std::thread::spawn(move || wake(due_ns, end_ns)));
    let mut used_ns = rt::cpu_time_ns();
    while due_ns < end_ns {
        Clock::Monotonic.sleep_until_ns(due_ns);
        let begin_ns = rt::now_ns();
        due_ns += begin_ns.saturating_sub(due_ns) / PERIOD_NS * PERIOD_NS;
        // The main task's deadline: three quarters of the cycle, an eighth at least.
        let counter = bus.exchange_bare((due_ns + PERIOD_NS * 3 / 4).max(begin_ns + PERIOD_NS / 8));
        let trip_ns = rt::now_ns() - begin_ns;
        let now_used_ns = rt::cpu_time_ns();
        taken.push((now_used_ns - used_ns, (counter == Some(expected)).then_some(trip_ns)));
        used_ns = now_used_ns;
        due_ns += PERIOD_NS;
    }
    if let Some(waker) = waker {
        waker.join().map_err(|_| "the thread that wakes the processor panicked")??;
    }
    bus.leave()?;

    let mut text = String::new();
    for (cpu_ns, trip_ns) in taken {
        writeln!(text, "{cpu_ns},{}", trip_ns.map(|ns| ns.to_string()).unwrap_or_default())?;
    }
    std::fs::write(output, text)?;
    Ok(())
}

/// Exchanges frames until every device is in OP.
fn reach_op(bus: &mut Bus<Socket>) -> Result<(), Box<dyn Error>> {
    let mut due_ns = rt::now_ns();
    for _ in 0..START_CYCLES {
        due_ns = (due_ns + PERIOD_NS).max(rt::now_ns());
        Clock::Monotonic.sleep_until_ns(due_ns);
        if bus.exchange(due_ns + PERIOD_NS).all_op {
            return Ok(());
        }
    }
    Err("the ring did not reach OP within 5 s: is another master on the interface?".into())
}

/// Wakes the processor at every release from `due_ns` until before `end_ns`.
fn wake(mut due_ns: u64, end_ns: u64) -> Result<(), RealtimeError> {
    become_realtime(WAKER_PRIORITY)?;
    while due_ns < end_ns {
        Clock::Monotonic.sleep_until_ns(due_ns);
        due_ns += PERIOD_NS;
    }
    Ok(())
}
