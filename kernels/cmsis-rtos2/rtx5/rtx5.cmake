# SPDX-License-Identifier: Apache-2.0
# RTX5 5.9, from KDZ_KERNEL_SOURCE: a folder with the trees of CMSIS-RTX and of CMSIS 6 in it, by
# whatever names.
function(kdz_rtx5_find result file)
    file(GLOB found "${KDZ_KERNEL_SOURCE}/*/${file}")
    if(NOT found)
        message(FATAL_ERROR "no */${file} in '${KDZ_KERNEL_SOURCE}'. Pass "
            "-DKDZ_KERNEL_SOURCE=<folder with the trees of CMSIS-RTX and CMSIS 6>.")
    endif()
    list(GET found 0 found)
    string(REGEX REPLACE "/${file}$" "" found "${found}")
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

kdz_rtx5_find(rtx Include/rtx_os.h)
kdz_rtx5_find(cmsis CMSIS/RTOS2/Include/cmsis_os2.h)

# Compiled as its authors wrote it and optimised as the suite is; its warnings are its authors'.
file(GLOB sources ${rtx}/Source/rtx_*.c)
add_library(rtx5 OBJECT
    ${sources}
    ${rtx}/Source/GCC/irq_armv7m.S
    ${cmsis}/CMSIS/RTOS2/Source/os_systick.c)
set_target_properties(rtx5 PROPERTIES C_STANDARD 11)
target_compile_options(rtx5 PRIVATE -g -O2 -ffunction-sections -fdata-sections -w)
target_link_libraries(rtx5 PUBLIC kadenz-board)
target_include_directories(rtx5 SYSTEM PUBLIC
    ${rtx}/Include ${rtx}/Config ${cmsis}/CMSIS/RTOS2/Include ${cmsis}/CMSIS/Core/Include)
target_include_directories(rtx5 PUBLIC ${CMAKE_CURRENT_LIST_DIR})

# RTX_Config.h of the tree, with what a benchmark wants otherwise. Equals do not take turns by the
# tick: a hand-over is the benchmark's own, never the clock's.
target_compile_definitions(rtx5 PUBLIC
    _RTE_
    OS_DYNAMIC_MEM_SIZE=KDZ_BOARD_HEAP_BYTES
    OS_TICK_FREQ=KDZ_BOARD_TICK_HZ
    OS_ROBIN_ENABLE=0
    OS_STACK_CHECK=0
    OS_PRIVILEGE_MODE=1 # 5.9.0 has 0; a benchmark raises its interrupt from a thread
    OS_IDLE_THREAD_STACK_SIZE=512
    OS_TIMER_THREAD_STACK_SIZE=640
    # As many as timer/ has due at one moment, and each is a call from an interrupt: RTX5's own 4
    # and 16 would stop the system there.
    OS_TIMER_CB_QUEUE=32
    OS_ISR_FIFO_QUEUE=64
    EVR_RTX_DISABLE)

target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/hooks.c)
target_link_libraries(kadenz-suite PRIVATE rtx5)
