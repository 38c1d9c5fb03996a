# SPDX-License-Identifier: Apache-2.0
target_sources(kadenz-suite PRIVATE ${kdz_root}/suite/rust/systick.c)
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_RTIC_BACKEND="thumbv7 (BASEPRI)"
    KDZ_RTIC_DISPATCH="one interrupt a priority"
    KDZ_RTIC_TICK="SysTick"
    "KDZ_RTIC_CRITICAL_SECTION=\"PRIMASK (cortex-m \" KDZ_CORTEX_M \")\"")
