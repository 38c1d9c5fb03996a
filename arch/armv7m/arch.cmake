# SPDX-License-Identifier: Apache-2.0
# Armv7-M: start-up, system vectors, faults, and the clock of the instrument `counter`.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S
    ${CMAKE_CURRENT_LIST_DIR}/dwt.c
    ${CMAKE_CURRENT_LIST_DIR}/fault.c
    ${CMAKE_CURRENT_LIST_DIR}/halt.c
    ${CMAKE_CURRENT_LIST_DIR}/loop.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
if(KDZ_INSTRUMENT STREQUAL "counter")
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter/clock.c)
    target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/counter)
endif()
