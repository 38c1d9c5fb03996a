# SPDX-License-Identifier: Apache-2.0
# Included by the kernel's own build: what it asks of a target.
list(APPEND ASP3_CFG_FILES ${ASP3_TARGET_DIR}/target_kernel.cfg)
list(APPEND ASP3_KERNEL_CFG_TRB_FILES ${ASP3_TARGET_DIR}/target_kernel.py)
list(APPEND ASP3_CHECK_TRB_FILES ${ASP3_TARGET_DIR}/target_check.py)
list(APPEND ASP3_INCLUDE_DIRS ${ASP3_TARGET_DIR} ${ASP3_ROOT_DIR}/kernel)
list(APPEND ASP3_COMPILE_DEFS
    $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_DEFINITIONS>
    __TARGET_ARCH_THUMB=4
    TOPPERS_CORTEX_M4
    TOPPERS_FPU_ENABLE       # a task's context has the FPU's registers if it used them, as on the
    TOPPERS_FPU_CONTEXT      # other kernels
    TOPPERS_FPU_LAZYSTACKING
    USE_SYSTICK_AS_TIMETICK
    OMIT_BSS_INIT            # arch/armv7m did both
    OMIT_DATA_INIT
    OMIT_DEFAULT_EXC_HANDLER # ours end in kdz_fault
    OMIT_DEFAULT_INT_HANDLER
    TOPPERS_OMIT_SYSLOG
    NDEBUG)
# The C library, for its headers alone: cfg1_out, a program that nobody runs, gets no start-up of it.
list(APPEND ASP3_COMPILE_OPTIONS
    $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_OPTIONS> -ffunction-sections -fdata-sections -w)
list(APPEND ASP3_LINK_OPTIONS -nostdlib -nostartfiles)
list(APPEND ASP3_TARGET_C_FILES
    ${ASP3_ROOT_DIR}/arch/arm_m_gcc/common/core_timer.c
    ${ASP3_TARGET_DIR}/target_kernel_impl.c)
include(${ASP3_ROOT_DIR}/arch/arm_m_gcc/common/arch.cmake)
