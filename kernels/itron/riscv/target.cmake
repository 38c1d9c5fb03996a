# SPDX-License-Identifier: Apache-2.0
# Included by the kernel's own build: what it asks of a target. RV32 with the core-local timer and
# software interrupt alone; no interrupt of a peripheral is used.
list(APPEND ASP3_CFG_FILES ${ASP3_TARGET_DIR}/target_kernel.cfg)
list(APPEND ASP3_COMPILE_DEFS
    TOPPERS_CUSTOM_IDLE # waits for an interrupt
    OMIT_XLOG_SYS)
list(APPEND ASP3_TARGET_C_FILES
    ${ASP3_TARGET_DIR}/target_interrupts.c
    ${ASP3_TARGET_DIR}/target_traps.S
    ${ASP3_TARGET_DIR}/target_timer.c)
include(${ASP3_TARGET_DIR}/../target/common.cmake)
set(ASP3_RISCV_OMIT_PLIC_MTIMER ON)
include(${ASP3_ROOT_DIR}/arch/riscv_gcc/common/arch.cmake)
set(ASP3_START_FILES "") # arch/riscv is at reset
set(ASP3_LINK_LIBS gcc)
