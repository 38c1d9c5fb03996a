# SPDX-License-Identifier: Apache-2.0
# What Armv6-M and Armv7-M have alike: start-up, system vectors, faults, semihosting, and the clock of
# the instrument `counter`. An architecture adds a core.c.
# A kernel may own reset (KDZ_KERNEL_OWNS_RESET): it defines kdz_reset and does what start.c does.
target_sources(kadenz-suite PRIVATE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:kadenz-suite,KDZ_KERNEL_OWNS_RESET>>>:${CMAKE_CURRENT_LIST_DIR}/start.c>
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S
    ${CMAKE_CURRENT_LIST_DIR}/fault.c
    ${CMAKE_CURRENT_LIST_DIR}/halt.c
    ${CMAKE_CURRENT_LIST_DIR}/loop.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
if(NOT KDZ_INSTRUMENT STREQUAL "scope") # the others read the counter
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter/clock.c)
    target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter)
endif()

# The C library, for what links kadenz-board. Not in the tool chain file: programs that a kernel's
# build makes for itself would get it, and with it picolibc's linker script.
target_compile_options(kadenz-board INTERFACE --specs=picolibc.specs --picolibc-buildtype=release)
target_link_options(kadenz-board INTERFACE --specs=picolibc.specs --picolibc-buildtype=release)

# When a tick of SysTick was due: for ports whose kernel ticks by it.
set(KDZ_ARCH_TICK_DUE ${CMAKE_CURRENT_LIST_DIR}/tick_due.c)
