# SPDX-License-Identifier: Apache-2.0
# Embassy: the crate in this folder, compiled by cargo, and a C part that names it.
include(${kdz_root}/suite/rust/rust.cmake)

kdz_rust_kernel(${CMAKE_CURRENT_LIST_DIR} kadenz_embassy
    embassy-executor embassy-sync embassy-time cortex-m)
