# SPDX-License-Identifier: Apache-2.0
# Instrument `timer`: the counter, and a timer of the board that BEGIN arms (kadenz/device.h), so that
# an interrupt arrives in a sample. For `kadenz worst` where nobody outside can raise one.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target/arming.c)
target_include_directories(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target ${CMAKE_CURRENT_LIST_DIR}/../shared)
