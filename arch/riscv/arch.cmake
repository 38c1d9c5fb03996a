# SPDX-License-Identifier: Apache-2.0
# RISC-V, machine mode: start-up, exceptions, and mcycle as the clock of the instrument `counter`.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.S
    ${CMAKE_CURRENT_LIST_DIR}/trap.S
    ${CMAKE_CURRENT_LIST_DIR}/exception.c
    ${CMAKE_CURRENT_LIST_DIR}/halt.c
    ${CMAKE_CURRENT_LIST_DIR}/loop.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
if(KDZ_INSTRUMENT STREQUAL "counter")
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter/clock.c)
    target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter)
endif()
