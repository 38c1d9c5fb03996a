# SPDX-License-Identifier: Apache-2.0
# RISC-V, machine mode: start-up, exceptions, and mcycle as the clock of the instrument `counter`.
# A kernel may own reset (KDZ_KERNEL_OWNS_RESET): it defines _start and does what start.S does.
# A core without the direct mode of mtvec sets KDZ_BOARD_TRAPS to `vectored`. KDZ_BOARD_CORES: several.
if(NOT DEFINED KDZ_BOARD_TRAPS)
    set(KDZ_BOARD_TRAPS direct)
endif()
target_sources(kadenz-suite PRIVATE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:kadenz-suite,KDZ_KERNEL_OWNS_RESET>>>:${CMAKE_CURRENT_LIST_DIR}/start.S>
    ${CMAKE_CURRENT_LIST_DIR}/trap.S
    ${CMAKE_CURRENT_LIST_DIR}/atomics$<$<BOOL:${KDZ_BOARD_CORES}>:_cores>.c
    ${CMAKE_CURRENT_LIST_DIR}/traps_${KDZ_BOARD_TRAPS}.S
    ${CMAKE_CURRENT_LIST_DIR}/exception.c
    ${CMAKE_CURRENT_LIST_DIR}/halt.c
    ${CMAKE_CURRENT_LIST_DIR}/loop.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
if(NOT KDZ_INSTRUMENT MATCHES "^(scope|beside)$") # the others read the counter
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter/clock.c)
    target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter)
endif()

# The C library, for what links kadenz-board. Not in the tool chain file: programs that a kernel's
# build makes for itself would get it, and with it picolibc's linker script.
target_compile_options(kadenz-board INTERFACE --specs=picolibc.specs --picolibc-buildtype=release)
target_link_options(kadenz-board INTERFACE --specs=picolibc.specs --picolibc-buildtype=release)

# When a tick was due: for ports whose kernel keeps the moment of the next one in mtimecmp.
set(KDZ_ARCH_TICK_DUE ${CMAKE_CURRENT_LIST_DIR}/tick_due.c)
set_property(SOURCE ${KDZ_ARCH_TICK_DUE} APPEND PROPERTY COMPILE_DEFINITIONS
    KDZ_CLINT_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS})

# What rustc calls this instruction set; there is none without compressed instructions.
if(KDZ_ISA MATCHES "^rv32ima?c$")
    set(KDZ_ARCH_RUST_TARGET riscv${KDZ_ISA}-unknown-none-elf)
    string(REPLACE riscvrv riscv KDZ_ARCH_RUST_TARGET ${KDZ_ARCH_RUST_TARGET})
    set(KDZ_ARCH_RUST_CPU generic-rv32)
    set(KDZ_ARCH_RUST_VALUES
        RISCV_RT_BASE_ISA=rv32i # of the trap entry that riscv-macros makes
        KDZ_BOARD_CLINT_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS})
endif()
