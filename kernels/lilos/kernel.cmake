# SPDX-License-Identifier: Apache-2.0
# lilos: the crate in this folder, compiled by cargo, and a C part that names it.
include(${kdz_root}/suite/rust/rust.cmake)

kdz_rust_kernel(${CMAKE_CURRENT_LIST_DIR} kadenz_lilos lilos cortex-m)
target_sources(kadenz-suite PRIVATE ${kdz_root}/suite/rust/systick.c)
