# SPDX-License-Identifier: Apache-2.0
# Embassy: the crate in this folder, compiled by cargo, and a C part that names it.
include(${kdz_root}/suite/rust/rust.cmake)

foreach(pinned embassy-executor:EMBASSY_EXECUTOR embassy-sync:EMBASSY_SYNC embassy-time:EMBASSY_TIME
        cortex-m:CORTEX_M)
    string(REPLACE ":" ";" pinned ${pinned})
    list(GET pinned 0 crate)
    list(GET pinned 1 name)
    kdz_crate_version(${CMAKE_CURRENT_LIST_DIR}/Cargo.lock ${crate} version)
    target_compile_definitions(kadenz-suite PRIVATE KDZ_${name}="${version}")
endforeach()
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/port.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
kdz_rust_library(${CMAKE_CURRENT_LIST_DIR} kadenz_embassy)
# All tasks run on the board's one stack, in handlers; those of a channel hold its items there.
target_link_options(kadenz-suite PRIVATE -Wl,--defsym=kdz_kernel_stack_bytes=24576)
