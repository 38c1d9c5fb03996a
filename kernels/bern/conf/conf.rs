// SPDX-License-Identifier: Apache-2.0
//! What bern is built for: an STM32F405, and threads of the suite's ranks.
#![no_std]

use bern_conf_type::{Conf, DataPlacement, Kernel, Memory, MemoryMap, Shared};
use bern_units::memory_size::Byte;

pub const CONF: Conf<0> = Conf {
    kernel: Kernel {
        // 12 ranks, the port's thread that waits for interrupts, bern's own idle thread. A switch
        // looks at them one by one.
        priorities: 14,
        memory_size: Byte::from_kB(48), // bern.ld has the same
    },
    // bern's default. The threads of the suite are privileged and need no region for their data.
    shared: Shared {
        size: Byte::from_kB(4),
    },
    memory_map: MemoryMap {
        flash: Memory {
            link_name: "flash",
            start_address: 0x0800_0000,
            size: Byte::from_MB(1),
        },
        sram: Memory {
            link_name: "sram",
            start_address: 0x2000_0000,
            size: Byte::from_kB(128),
        },
        peripheral: Memory {
            link_name: "",
            start_address: 0x4000_0000,
            size: Byte::from_MB(512),
        },
        additional: [],
    },
    data_placement: DataPlacement {
        kernel: "sram",
        processes: "sram",
        shared: "sram",
    },
};
