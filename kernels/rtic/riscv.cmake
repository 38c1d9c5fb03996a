# SPDX-License-Identifier: Apache-2.0
# The trap entry is riscv-rt's, made by its macros.
target_link_options(kadenz-suite PRIVATE -Wl,--defsym=kdz_riscv_handler=_default_start_trap)
target_compile_definitions(kadenz-suite PRIVATE
    "KDZ_RTIC_BACKEND=\"riscv-clint (riscv-slic \" KDZ_RISCV_SLIC \")\""
    KDZ_RTIC_DISPATCH="priorities in software, by the core's software interrupt"
    KDZ_RTIC_TICK="mtime, in the port"
    KDZ_RTIC_CRITICAL_SECTION="mstatus.MIE")
