# SPDX-License-Identifier: Apache-2.0
# Included by the kernel's own build: what it asks of a target.
list(APPEND ASP3_CFG_FILES ${ASP3_TARGET_DIR}/target_kernel.cfg)
list(APPEND ASP3_COMPILE_DEFS
    __TARGET_ARCH_THUMB=4
    TOPPERS_CORTEX_M4
    TOPPERS_FPU_ENABLE       # a task's context has the FPU's registers if it used them, as on the
    TOPPERS_FPU_CONTEXT      # other kernels
    TOPPERS_FPU_LAZYSTACKING
    USE_SYSTICK_AS_TIMETICK
    OMIT_BSS_INIT            # arch/cortexm did both
    OMIT_DATA_INIT)
list(APPEND ASP3_TARGET_C_FILES
    ${ASP3_ROOT_DIR}/arch/arm_m_gcc/common/core_timer.c
    ${ASP3_TARGET_DIR}/target_handlers.c)
include(${ASP3_TARGET_DIR}/../target/common.cmake)
include(${ASP3_ROOT_DIR}/arch/arm_m_gcc/common/arch.cmake)
