# SPDX-License-Identifier: Apache-2.0
# bern-kernel: the crate in this folder, compiled by cargo, and a C part that names it. Its threads
# block, so that the suite's benchmarks in C measure it.
include(${kdz_root}/suite/rust/rust.cmake)

set(bern ${CMAKE_CURRENT_LIST_DIR})
kdz_rust_settings(${bern} bern-kernel bern-arch)
target_sources(kadenz-suite PRIVATE
    ${bern}/port.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
kdz_rust_library(${bern} kadenz_bern)
set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${bern}/kernel_sections.ld)
target_link_options(kadenz-suite BEFORE PRIVATE -L${bern}) # its kernel_sections.ld
target_link_options(kadenz-suite PRIVATE
    # The handlers that the vectors get there: nothing else refers to them.
    -Wl,-u,SVCall,-u,PendSV,-u,SysTick,-u,DefaultHandler
    # bern copies its objects there while it starts, and handles interrupts there.
    -Wl,--defsym=kdz_kernel_stack_bytes=4096)
