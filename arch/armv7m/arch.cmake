# SPDX-License-Identifier: Apache-2.0
# Armv7-M: the FPU, the cycle counter, and why a fault came.
include(${kdz_root}/arch/cortexm/cortexm.cmake)
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/core.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)

# What rustc calls this instruction set, and the processor that toolchain.cmake names.
set(KDZ_ARCH_RUST_TARGET thumbv7em-none-eabihf)
set(KDZ_ARCH_RUST_CPU cortex-m4)
