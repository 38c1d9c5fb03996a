// SPDX-License-Identifier: Apache-2.0
//! The application, as RTIC's users write one: its tasks, their priorities, and the interrupts that
//! dispatch them. RTIC makes `main` from it.

use crate::framework::Rtic;
use kadenz_suite::framework::{Role, Seat};
use kadenz_suite::Point;

/// RTIC's priorities: a larger number is more urgent, and 0 is idle's.
pub const LOWER_PRIORITY: u8 = 1;
pub const UPPER_PRIORITY: u8 = 2;

#[cfg_attr(target_arch = "arm", rtic::app(
    device = crate::machine,
    peripherals = false,
    dispatchers = [kdz_dispatch_1_entry, kdz_dispatch_2_entry]
))]
#[cfg_attr(target_arch = "riscv32", rtic::app(
    device = machine,
    peripherals = false,
    backend = H0
))]
mod application {
    use super::{Point, Role, Rtic};
    use crate::machine;
    use kadenz_suite::framework::perform;

    #[shared]
    struct Shared {}

    #[local]
    struct Local {}

    #[init]
    fn init(_: init::Context) -> (Shared, Local) {
        machine::start_board();
        (Shared {}, Local {})
    }

    #[idle]
    fn idle(_: idle::Context) -> ! {
        machine::run_suite()
    }

    /// The software interrupt, at the priority that the board gives it.
    #[task(binds = kdz_irq_entry, priority = 8)]
    fn handler(_: handler::Context) {
        kadenz_suite::irq::handle::<Rtic>();
    }

    #[task(priority = 1)]
    async fn lower(_: lower::Context, role: Role, point: Point) {
        perform::<Rtic>(role, point).await;
    }

    #[task(priority = 1)]
    async fn peer(_: peer::Context, role: Role, point: Point) {
        perform::<Rtic>(role, point).await;
    }

    #[task(priority = 2)]
    async fn upper(_: upper::Context, role: Role, point: Point) {
        perform::<Rtic>(role, point).await;
    }
}

/// Starts the task of a seat.
pub fn start(seat: Seat, role: Role, point: Point) {
    let started = match seat {
        Seat::Lower => application::lower::spawn(role, point),
        Seat::Peer => application::peer::spawn(role, point),
        Seat::Upper => application::upper::spawn(role, point),
    };
    assert!(started.is_ok(), "a task is started twice");
}

/// Requests the handler of the software interrupt: RTIC's controller knows its own interrupts only.
#[cfg(target_arch = "riscv32")]
pub fn raise_handler() {
    rtic::export::pend(application::slic::SoftwareInterrupt::kdz_irq_entry);
}
