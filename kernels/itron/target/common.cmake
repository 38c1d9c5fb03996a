# SPDX-License-Identifier: Apache-2.0
# What is the same for every target of the kernel's own build.
set(ours ${CMAKE_CURRENT_LIST_DIR})
list(APPEND ASP3_KERNEL_CFG_TRB_FILES ${ASP3_TARGET_DIR}/target_kernel.py)
list(APPEND ASP3_CHECK_TRB_FILES ${ours}/target_check.py)
list(APPEND ASP3_INCLUDE_DIRS ${ASP3_TARGET_DIR} ${ours} ${ASP3_ROOT_DIR}/kernel)
list(APPEND ASP3_TARGET_C_FILES ${ours}/target_kernel_impl.c)
list(APPEND ASP3_COMPILE_DEFS
    $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_DEFINITIONS>
    OMIT_DEFAULT_EXC_HANDLER # ours end in kdz_fault
    OMIT_DEFAULT_INT_HANDLER
    TOPPERS_OMIT_SYSLOG
    NDEBUG)
# The C library, for its headers alone: cfg1_out, a program that nobody runs, gets no start-up of it.
list(APPEND ASP3_COMPILE_OPTIONS
    $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_OPTIONS> -ffunction-sections -fdata-sections -w)
list(APPEND ASP3_LINK_OPTIONS -nostdlib -nostartfiles)
