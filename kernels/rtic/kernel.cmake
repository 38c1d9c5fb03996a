# SPDX-License-Identifier: Apache-2.0
# RTIC: the crate in this folder, compiled by cargo, and a C part that names it. RTIC makes main.
include(${kdz_root}/suite/rust/rust.cmake)

set(KDZ_KERNEL_OWNS_MAIN ON)
kdz_rust_kernel(${CMAKE_CURRENT_LIST_DIR} kadenz_rtic
    rtic rtic-sync rtic-monotonics cortex-m riscv-slic)
include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}.cmake)
